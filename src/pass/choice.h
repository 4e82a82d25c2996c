// SPDX-License-Identifier: Apache-2.0
// Operators with a parameter `algorithm`, whose weights are packed for each algorithm in another
// way: what an arch knows about them, for the pass `tune`, which measures, and for templates, which
// choose anew for each shape.

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
    // Whether the algorithm, by its index, can do what `op` says. NULL: `tune` does not measure.
    bool (*fits)(const ln_op *op, const tl_tensor *weight, int algorithm);
    // The index of the one that passes choose if `src` has these dimensions, of which the first,
    // the batch, does not count. An operator that passes make for some algorithms only refuses the
    // others.
    int (*choose)(const ln_op *op, const tl_tensor *weight, const int *src_dims,
                  bool avoids_winograd);
} ln_choice;

// What an arch knows about operators of that type; NULL: nothing to choose.
const ln_choice *ln_choice_find(const char *optype);

// Whether operators of that type pack weights for an algorithm.
bool ln_choice_packs(const char *optype);

// The algorithm that `op` says, or has because it says none.
const char *ln_choice_made(const ln_choice *choice, const ln_op *op);

// Lets `params`, those of `op` or a copy, say the algorithm, of what is chosen for or what packs
// its weights; the default is left out.
ln_status ln_choice_make(const ln_choice *choice, const ln_op *op, const char *algorithm,
                         ln_list **params);

LN_CPPEND

#endif
