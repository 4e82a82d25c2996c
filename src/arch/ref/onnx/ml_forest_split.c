// SPDX-License-Identifier: Apache-2.0
// Reads the trees of TreeEnsemble, which lists nodes and leaves apart. Here leaves are nodes after
// the others: leaf `i` is node `inner_count + i`, and vote `i` is its only one.

#include <math.h>

#include "arch/ref/onnx/ml_forest.h"
#include "op/onnx/param_array.h"
#include "tensor/elem.h"

typedef struct reader {
    ln_call *call;
    ln_ml_forest *forest;
    size_t inner_count, leaf_count;
    const int64_t *features, *yes, *no, *yes_is_leaf, *no_is_leaf, *nan_is_true;
    size_t nan_count;
    const double *values;
    const tl_tensor *modes;
    size_t member_count, members_read;
} reader;

static ln_status read_lists(reader *r)
{
    ln_call *call = r->call;
    ln_ml_forest *forest = r->forest;
    size_t count, others[5];
    r->modes = ln_call_in_named(call, "nodes_modes");
    if (!r->modes)
        return ln_call_fail(call, LN_INVALID, "`nodes_modes` is missing");
    LN_TRY(ln_array_reals(call, "nodes_splits", "nodes_splits", &count, &r->values));
    LN_TRY(ln_array_ints(call, "nodes_featureids", &others[0], &r->features));
    LN_TRY(ln_array_ints(call, "nodes_truenodeids", &others[1], &r->yes));
    LN_TRY(ln_array_ints(call, "nodes_falsenodeids", &others[2], &r->no));
    LN_TRY(ln_array_ints(call, "nodes_trueleafs", &others[3], &r->yes_is_leaf));
    LN_TRY(ln_array_ints(call, "nodes_falseleafs", &others[4], &r->no_is_leaf));
    LN_TRY(ln_array_ints(call, "nodes_missing_value_tracks_true", &r->nan_count, &r->nan_is_true));
    LN_TRY(ln_array_reals(call, "membership_values", "membership_values", &r->member_count,
                          &forest->members));
    for (size_t i = 0; i < 5; i++) {
        if (others[i] != count || (size_t)r->modes->len != count)
            return ln_call_fail(call, LN_INVALID, "lists for %zu and %zu nodes", count, others[i]);
    }
    r->inner_count = count;
    return LN_OK;
}

static ln_status read_leaves(reader *r, size_t target_count)
{
    ln_ml_forest *forest = r->forest;
    const int64_t *targets;
    const double *weights;
    size_t weight_count;
    LN_TRY(ln_array_ints(r->call, "leaf_targetids", &r->leaf_count, &targets));
    LN_TRY(ln_array_reals(r->call, "leaf_weights", "leaf_weights", &weight_count, &weights));
    if (r->leaf_count != weight_count)
        return ln_call_fail(r->call, LN_INVALID, "%zu targets and %zu weights of leaves",
                            r->leaf_count, weight_count);
    forest->node_count = r->inner_count + r->leaf_count;
    forest->nodes = ln_call_scratch(r->call, forest->node_count + 1, sizeof *forest->nodes);
    forest->votes = ln_call_scratch(r->call, r->leaf_count + 1, sizeof *forest->votes);
    if (!forest->nodes || !forest->votes)
        return ln_error_status();
    for (size_t i = 0; i < r->leaf_count; i++) {
        if (targets[i] < 0 || (uint64_t)targets[i] >= target_count)
            return ln_call_fail(r->call, LN_INVALID, "leaf %zu votes for target %lld of %zu", i,
                                (long long)targets[i], target_count);
        forest->votes[i] = (ln_ml_vote){.target = (uint32_t)targets[i], .weight = weights[i]};
        forest->nodes[r->inner_count + i] =
            (ln_ml_node){.mode = LN_ML_LEAF, .votes = i, .vote_end = i + 1};
    }
    return LN_OK;
}

static ln_status find_child(const reader *r, int64_t index, bool is_leaf, size_t *out_node)
{
    size_t count = is_leaf ? r->leaf_count : r->inner_count;
    if (index < 0 || (uint64_t)index >= count)
        return ln_call_fail(r->call, LN_INVALID, "%s %lld of %zu", is_leaf ? "leaf" : "node",
                            (long long)index, count);
    *out_node = (size_t)index + (is_leaf ? r->inner_count : 0);
    return LN_OK;
}

// The next of the sets, which a NaN ends.
static ln_status read_members(reader *r, ln_ml_node *node)
{
    node->members = r->members_read;
    while (r->members_read < r->member_count && !isnan(r->forest->members[r->members_read]))
        r->members_read++;
    node->member_end = r->members_read;
    if (r->members_read == r->member_count)
        return ln_call_fail(r->call, LN_INVALID, "`membership_values` has too few sets");
    r->members_read++;
    return LN_OK;
}

static ln_status read_node(reader *r, size_t i)
{
    ln_ml_node *node = &r->forest->nodes[i];
    int64_t mode = ln_elem_int(r->modes, i), feature = r->features[i];
    if (mode < 0 || mode > LN_ML_MEMBER)
        return ln_call_fail(r->call, LN_INVALID, "node %zu has mode %lld", i, (long long)mode);
    if (feature < 0 || feature > INT32_MAX)
        return ln_call_fail(r->call, LN_INVALID, "node %zu looks at column %lld", i,
                            (long long)feature);
    node->mode = (ln_ml_mode)mode;
    node->feature = (size_t)feature;
    if (node->feature >= r->forest->nodes[r->forest->widest].feature)
        r->forest->widest = i;
    node->value = r->values[i];
    node->nan_is_true = i < r->nan_count && r->nan_is_true[i] != 0;
    LN_TRY(find_child(r, r->yes[i], r->yes_is_leaf[i] != 0, &node->yes));
    LN_TRY(find_child(r, r->no[i], r->no_is_leaf[i] != 0, &node->no));
    return node->mode == LN_ML_MEMBER ? read_members(r, node) : LN_OK;
}

ln_status ln_ml_forest_read_split(ln_call *call, size_t target_count, ln_ml_forest *out_forest)
{
    *out_forest = (ln_ml_forest){0};
    reader r = {.call = call, .forest = out_forest};
    LN_TRY(read_lists(&r));
    LN_TRY(read_leaves(&r, target_count));
    for (size_t i = 0; i < r.inner_count; i++)
        LN_TRY(read_node(&r, i));
    const int64_t *roots;
    LN_TRY(ln_array_ints(call, "tree_roots", &out_forest->root_count, &roots));
    out_forest->roots =
        ln_call_scratch(call, out_forest->root_count + 1, sizeof *out_forest->roots);
    if (!out_forest->roots)
        return ln_error_status();
    for (size_t i = 0; i < out_forest->root_count; i++)
        LN_TRY(find_child(&r, roots[i], false, &out_forest->roots[i]));
    return LN_OK;
}
