// SPDX-License-Identifier: Apache-2.0
// Decision trees of all the forms that ONNX has, as one: nodes that compare, and leaves that vote.

#ifndef LN_ARCH_REF_ONNX_ML_FOREST_H
#define LN_ARCH_REF_ONNX_ML_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

// In the order of TreeEnsemble's numbers.
typedef enum ln_ml_mode {
    LN_ML_LEQ,
    LN_ML_LT,
    LN_ML_GTE,
    LN_ML_GT,
    LN_ML_EQ,
    LN_ML_NEQ,
    LN_ML_MEMBER,
    LN_ML_LEAF,
} ln_ml_mode;

typedef struct ln_ml_node {
    ln_ml_mode mode;
    bool nan_is_true;
    size_t feature;
    double value;
    size_t yes, no;             // nodes
    size_t members, member_end; // LN_ML_MEMBER: of `members` of the forest
    size_t votes, vote_end;     // LN_ML_LEAF: of `votes`
} ln_ml_node;

typedef struct ln_ml_vote {
    uint32_t target;
    uint32_t left; // votes of the leaf from this one on; once they are laid out
    double weight;
} ln_ml_vote;

typedef struct ln_ml_forest {
    size_t node_count, root_count;
    ln_ml_node *nodes;
    size_t *roots;
    const double *members;
    ln_ml_vote *votes;
    size_t widest; // the node with the largest feature
} ln_ml_forest;

// In `prepare`, into what it keeps. The form of TreeEnsembleClassifier and -Regressor, whose votes
// are the parameters "<prefix>_treeids" and so on. Targets are below `target_count`.
ln_status ln_ml_forest_read(ln_call *call, const char *prefix, size_t target_count,
                            ln_ml_forest *out_forest);

// The form of TreeEnsemble.
ln_status ln_ml_forest_read_split(ln_call *call, size_t target_count, ln_ml_forest *out_forest);

// *out_leaf = where a tree ends for `row`, which has as many elements as there are columns.
// LN_INVALID if the tree goes in a circle.
ln_status ln_ml_forest_leaf(ln_call *call, const ln_ml_forest *forest, size_t root,
                            const double *row, const ln_ml_node **out_leaf);

#endif
