// SPDX-License-Identifier: Apache-2.0
// Decision trees laid out for runs: breadth first, a comparison in 16 bytes, eight walks at once.

#ifndef LN_ARCH_REF_ONNX_ML_TREES_H
#define LN_ARCH_REF_ONNX_ML_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/ref/onnx/ml_forest.h"

// `x <= value`, or NaN where the flag is set, goes to branch `yes`, all else to the one after it.
// A leaf goes to itself.
typedef struct ln_ml_branch {
    double value;
    uint32_t feature; // LN_ML_NAN_IS_YES is its top bit
    uint32_t yes;
} ln_ml_branch;

#define LN_ML_NAN_IS_YES ((uint32_t)1 << 31)

typedef struct ln_ml_range {
    uint32_t start, end;
} ln_ml_range;

// Immutable, in what `prepare` keeps.
typedef struct ln_ml_trees {
    ln_ml_forest forest; // as it was read; `nodes` NULL: all is in the following
    size_t root_count;
    const ln_ml_branch *branches; // NULL: `forest` counts, since not all modes have an order, or
                                  // nodes are shared
    const uint32_t *roots;
    const ln_ml_range *ranges; // the votes of each branch that is a leaf
    const ln_ml_vote *votes;
} ln_ml_trees;

// Lays `forest`, in scratch memory, out. In `prepare`.
ln_status ln_ml_trees_keep(ln_call *call, const ln_ml_forest *forest, ln_ml_trees *out_trees);

// The votes of `count` rows, tree by tree in order: calls `vote` with the row and each range of
// votes.
typedef void (*ln_ml_voter)(void *user, size_t row, const ln_ml_vote *votes, size_t count);

ln_status ln_ml_trees_walk(ln_call *call, const ln_ml_trees *trees, const double *rows,
                           size_t columns, size_t count, ln_ml_voter voter, void *user);

#endif
