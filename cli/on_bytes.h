// SPDX-License-Identifier: Apache-2.0
// What a compiled model computes on integers of 8 bits, and where it rounds to them.

#ifndef LN_CLI_ON_BYTES_H
#define LN_CLI_ON_BYTES_H

#include <stddef.h>

#include <lightnet/context.h>

// Operators that multiply and accumulate, such as convolutions, without those of dynamic shapes.
typedef struct on_bytes {
    size_t product_count, byte_count; // in all; those whose first input is of 8 bits
    double macs, byte_macs;
} on_bytes;

on_bytes on_bytes_of(const ln_context *ctx);

// Operators that round numbers of the run to whole ones, as quantized models do, and the type of
// the first, which lives as long as the model; NULL: there is none.
size_t count_rounding(const ln_context *ctx, const char **out_optype);

#endif
