// SPDX-License-Identifier: Apache-2.0
// Operators as the build packs them (base/pack.h): their tables are made when an arch is
// registered, out of a tenth of the bytes. desc/opdesc_pack.c writes what is read here.
//
// The functions of operators cannot be packed; they stand in one array, in the order in which the
// records ask for them. What an operator has in common with the one that it is a variant of is
// taken from there: descriptions of arguments, most of all.

#ifndef LN_IR_PACKED_OPS_H
#define LN_IR_PACKED_OPS_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/op.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef void (*ln_packed_function)(void);

typedef struct ln_packed_ops {
    const unsigned char *bytes;
    const uint64_t *numbers; // constants that records name by index
    const ln_packed_function *functions;
    struct ln_packed_ops *base; // the operators that these are variants of; NULL: none

    // Kept by the functions below.
    ln_op **ops;
    struct ln_document *arena;
    size_t use_count;
} ln_packed_ops;

// Makes the operators, once, and their base's. *out_ops ends with NULL and lasts until the last
// `close`. LN_NO_MEMORY; *out_ops is then NULL. Not thread-safe: registration has a lock.
ln_status ln_packed_ops_open(ln_packed_ops *packed, ln_op ***out_ops);
void ln_packed_ops_close(ln_packed_ops *packed);

LN_CPPEND

#endif
