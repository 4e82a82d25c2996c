// SPDX-License-Identifier: Apache-2.0
// Decision trees laid out for runs: breadth first, a comparison in 16 bytes, eight walks at once.

#ifndef LN_ARCH_REF_ONNX_ML_TREES_H
#define LN_ARCH_REF_ONNX_ML_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/ref/onnx/ml_forest.h"

// Column `feature` - 1 goes to branch `yes` if it is at most `value`, else to the one after it. A
// leaf goes to itself: its feature is 0, which is less than all values, and `value` says what it
// votes.
typedef struct ln_ml_branch {
    double value;
    uint32_t feature;
    uint32_t yes;
} ln_ml_branch;

// Immutable, in what `prepare` keeps.
typedef struct ln_ml_trees {
    ln_ml_forest forest; // as it was read; `nodes` NULL: all is in the following
    size_t root_count;
    const ln_ml_branch *branches; // NULL: `forest` counts, since not all modes have an order, or
                                  // nodes are shared
    const bool *nan_is_yes;       // of each branch
    const uint32_t *roots;
    const ln_ml_vote *votes; // by leaf; the first one is none
    bool is_direct;          // each leaf has one vote, for `voted`, and says its weight; else where
    size_t voted;            // its votes begin
} ln_ml_trees;

// Lays `forest`, in scratch memory, out. In `prepare`. `can_be_direct`: nothing but the sum of a
// row's votes is asked for.
ln_status ln_ml_trees_keep(ln_call *call, const ln_ml_forest *forest, bool can_be_direct,
                           ln_ml_trees *out_trees);

// Called with what `count` leaves say: the first one of `row`, each of a row `step` after the one
// before.
typedef void (*ln_ml_voter)(void *user, size_t row, size_t step, const double *leaves,
                            size_t count);

// Rows of `columns` numbers, each after one that is less than all.
typedef struct ln_ml_rows {
    const double *values;
    size_t columns, count;
    bool have_nan;
} ln_ml_rows;

// Has `voter` told the leaves of all rows: of each row tree by tree in order.
ln_status ln_ml_trees_walk(ln_call *call, const ln_ml_trees *trees, const ln_ml_rows *rows,
                           ln_ml_voter voter, void *user);

#endif
