// SPDX-License-Identifier: Apache-2.0
// Operators with a parameter `algorithm`, whose weights are packed for each algorithm in another
// way: what an arch tells about them, so that the pass `tune` can measure.

#ifndef LN_PASS_CHOICE_H
#define LN_PASS_CHOICE_H

#include <stdbool.h>

#include <lightnet/op.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef struct ln_choice {
    const char *optype;            // reads `src` and `packed`
    const char *pack_type;         // makes `packed` of `weight`, with the same parameter
    const char *const *algorithms; // names; the first is the default, the last is NULL
    // Whether the algorithm, by its index, can do what `op` says.
    bool (*fits)(const ln_op *op, const tl_tensor *weight, int algorithm);
} ln_choice;

LN_CPPEND

#endif
