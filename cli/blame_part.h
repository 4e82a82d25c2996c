// SPDX-License-Identifier: Apache-2.0
// A part of a model as a model of its own, with stand-ins for what it reads from the rest.

#ifndef LN_CLI_BLAME_PART_H
#define LN_CLI_BLAME_PART_H

#include <stddef.h>

#include <lightnet/context.h>

#define MAX_RESIZED 64 // dimensions changed

// Which operators of the model, and what stands for the others.
typedef struct part {
    const ln_context *model;
    ln_context *reference;
    const ln_op **ops; // all of the model, in order
    char *is_kept;     // of each
    size_t op_count;
    int has_specials; // random inputs hold NaN and the like
    int is_recorded;  // stand-ins hold the numbers that the model had there
    struct {
        int from, to;
    } resized[MAX_RESIZED]; // dimensions that were made smaller
    size_t resized_count;
} part;

// A part without operators. `reference` is the model loaded, with what its tensors hold. Both are
// borrowed.
ln_status part_open(part *p, const ln_context *model, ln_context *reference);
void part_close(part *p); // accepts what failed to open

// The part as a model. A constant becomes a `create` of random numbers in the range that it had,
// anything else that is missing an `input`; recorded numbers are `create`s too. The caller closes
// *out_ctx.
ln_status part_build(const part *p, ln_context **out_ctx);

#endif
