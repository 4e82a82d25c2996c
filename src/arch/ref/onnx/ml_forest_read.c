// SPDX-License-Identifier: Apache-2.0
// Reads the trees of TreeEnsembleClassifier and TreeEnsembleRegressor: nodes are known by the
// number of their tree and their number in it, and votes name the leaf that they belong to in the
// same way.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/ref/onnx/ml_forest.h"
#include "op/onnx/param_array.h"

typedef struct node_name {
    int64_t tree, node;
    size_t index;
} node_name;

// The nodes of one tree among the sorted names.
typedef struct tree_run {
    size_t start, end;
    int64_t first; // the number of the first one
    bool is_dense; // numbers rise by 1, so that a node is found by its number
} tree_run;

typedef struct reader {
    ln_call *call;
    ln_ml_forest *forest;
    const int64_t *trees, *numbers, *features, *yes, *no, *nan_is_true;
    size_t nan_count;
    const double *values;
    const char *const *modes;
    node_name *names; // sorted
    tree_run last;    // that was asked for: neighbours mostly ask for the same
} reader;

static int compare_names(const void *left, const void *right)
{
    const node_name *a = left, *b = right;
    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

// Where the nodes of `tree` begin among the names.
static size_t find_start(const reader *r, int64_t tree)
{
    size_t low = 0, high = r->forest->node_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->names[middle].tree < tree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_tree(reader *r, int64_t tree)
{
    tree_run *run = &r->last;
    if (run->start < run->end && r->names[run->start].tree == tree)
        return;
    run->start = find_start(r, tree);
    run->end = tree == INT64_MAX ? r->forest->node_count : find_start(r, tree + 1);
    if (run->start == run->end)
        return;
    run->first = r->names[run->start].node;
    uint64_t span = (uint64_t)r->names[run->end - 1].node - (uint64_t)run->first;
    run->is_dense = span == run->end - run->start - 1;
}

static ln_status find_node(reader *r, int64_t tree, int64_t node, size_t *out_index)
{
    find_tree(r, tree);
    const tree_run *run = &r->last;
    const node_name *found = NULL;
    node_name wanted = {tree, node, 0};
    size_t count = run->end - run->start;
    if (count > 0 && run->is_dense) {
        uint64_t at = (uint64_t)node - (uint64_t)run->first;
        found = at < count ? &r->names[run->start + at] : NULL;
    } else if (count > 0) {
        found = bsearch(&wanted, r->names + run->start, count, sizeof *r->names, compare_names);
    }
    if (!found)
        return ln_call_fail(r->call, LN_INVALID, "tree %lld has no node %lld", (long long)tree,
                            (long long)node);
    *out_index = found->index;
    return LN_OK;
}

static ln_status read_lists(reader *r)
{
    ln_call *call = r->call;
    size_t count, others[6];
    LN_TRY(ln_array_ints(call, "nodes_treeids", &count, &r->trees));
    LN_TRY(ln_array_ints(call, "nodes_nodeids", &others[0], &r->numbers));
    LN_TRY(ln_array_ints(call, "nodes_featureids", &others[1], &r->features));
    LN_TRY(ln_array_ints(call, "nodes_truenodeids", &others[2], &r->yes));
    LN_TRY(ln_array_ints(call, "nodes_falsenodeids", &others[3], &r->no));
    LN_TRY(ln_array_strings(call, "nodes_modes", &others[4], &r->modes));
    LN_TRY(ln_array_reals(call, "nodes_values", "nodes_values_as_tensor", &others[5], &r->values));
    LN_TRY(ln_array_ints(call, "nodes_missing_value_tracks_true", &r->nan_count, &r->nan_is_true));
    for (size_t i = 0; i < 6; i++) {
        if (others[i] != count)
            return ln_call_fail(call, LN_INVALID, "lists for %zu and %zu nodes", count, others[i]);
    }
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "there are no nodes");
    r->forest->node_count = count;
    r->forest->nodes = ln_call_scratch(call, count, sizeof *r->forest->nodes);
    r->forest->roots = ln_call_scratch(call, count, sizeof *r->forest->roots);
    r->names = ln_call_scratch(call, count, sizeof *r->names);
    return r->forest->nodes && r->forest->roots && r->names ? LN_OK : ln_error_status();
}

static ln_status sort_names(reader *r)
{
    size_t count = r->forest->node_count;
    for (size_t i = 0; i < count; i++)
        r->names[i] = (node_name){r->trees[i], r->numbers[i], i};
    bool is_sorted = true; // as most writers list them
    for (size_t i = 1; i < count && is_sorted; i++)
        is_sorted = compare_names(&r->names[i - 1], &r->names[i]) <= 0;
    if (!is_sorted)
        qsort(r->names, count, sizeof *r->names, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (compare_names(&r->names[i - 1], &r->names[i]) == 0)
            return ln_call_fail(r->call, LN_INVALID, "node %lld is twice in tree %lld",
                                (long long)r->names[i].node, (long long)r->names[i].tree);
    }
    return LN_OK;
}

static ln_status read_mode(const reader *r, const char *name, ln_ml_mode *out_mode)
{
    static const char *const names[] = {
        [LN_ML_LEQ] = "BRANCH_LEQ",       [LN_ML_LT] = "BRANCH_LT", [LN_ML_GTE] = "BRANCH_GTE",
        [LN_ML_GT] = "BRANCH_GT",         [LN_ML_EQ] = "BRANCH_EQ", [LN_ML_NEQ] = "BRANCH_NEQ",
        [LN_ML_MEMBER] = "BRANCH_MEMBER", [LN_ML_LEAF] = "LEAF",
    };
    for (int mode = 0; mode <= LN_ML_LEAF; mode++) {
        if (mode == LN_ML_MEMBER || strcmp(name, names[mode]) != 0)
            continue;
        *out_mode = (ln_ml_mode)mode;
        return LN_OK;
    }
    return ln_call_fail(r->call, LN_INVALID, "nodes_modes has \"%s\"", name);
}

static ln_status read_node(reader *r, size_t i)
{
    ln_ml_node *node = &r->forest->nodes[i];
    LN_TRY(read_mode(r, r->modes[i], &node->mode));
    node->value = r->values[i];
    node->nan_is_true = i < r->nan_count && r->nan_is_true[i] != 0;
    if (node->mode == LN_ML_LEAF)
        return LN_OK;
    if (r->features[i] < 0 || r->features[i] > INT32_MAX)
        return ln_call_fail(r->call, LN_INVALID, "node %zu looks at column %lld", i,
                            (long long)r->features[i]);
    node->feature = (size_t)r->features[i];
    ln_ml_forest *forest = r->forest;
    if (node->feature >= forest->nodes[forest->widest].feature)
        forest->widest = i;
    LN_TRY(find_node(r, r->trees[i], r->yes[i], &node->yes));
    return find_node(r, r->trees[i], r->no[i], &node->no);
}

// The first node of each tree is its root.
static void find_roots(reader *r)
{
    ln_ml_forest *forest = r->forest;
    bool is_root = true;
    size_t least = 0;
    for (size_t i = 0; i < forest->node_count; i++) {
        // Names are sorted by tree, so that each tree is one run.
        least = is_root || r->names[i].index < least ? r->names[i].index : least;
        is_root = i + 1 == forest->node_count || r->names[i + 1].tree != r->names[i].tree;
        if (is_root)
            forest->roots[forest->root_count++] = least;
    }
}

// The votes in the order of their leaves, so that each leaf has a run of them.
static ln_status read_votes(reader *r, const char *prefix, size_t target_count)
{
    enum { NAME_ROOM = 64 };
    static const char *const suffixes[] = {"treeids", "nodeids", "ids"};
    ln_call *call = r->call;
    ln_ml_forest *forest = r->forest;
    char name[NAME_ROOM], tensor_name[NAME_ROOM];
    const int64_t *lists[3];
    size_t counts[3], count;
    const double *weights;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s", prefix, suffixes[i]);
        LN_TRY(ln_array_ints(call, name, &counts[i], &lists[i]));
    }
    snprintf(name, sizeof name, "%s_weights", prefix);
    snprintf(tensor_name, sizeof tensor_name, "%s_weights_as_tensor", prefix);
    LN_TRY(ln_array_reals(call, name, tensor_name, &count, &weights));
    if (counts[0] != count || counts[1] != count || counts[2] != count)
        return ln_call_fail(call, LN_INVALID, "lists for %zu, %zu, %zu and %zu votes", counts[0],
                            counts[1], counts[2], count);
    size_t *leaves = ln_call_scratch(call, count + 1, sizeof *leaves);
    forest->votes = ln_call_scratch(call, count + 1, sizeof *forest->votes);
    if (!leaves || !forest->votes)
        return ln_error_status();
    for (size_t i = 0; i < count; i++) {
        if (lists[2][i] < 0 || (uint64_t)lists[2][i] >= target_count)
            return ln_call_fail(call, LN_INVALID, "vote %zu is for %lld of %zu", i,
                                (long long)lists[2][i], target_count);
        LN_TRY(find_node(r, lists[0][i], lists[1][i], &leaves[i]));
        forest->nodes[leaves[i]].vote_end++; // a count; the end once all are counted
    }
    size_t start = 0;
    for (size_t i = 0; i < forest->node_count; i++) {
        ln_ml_node *node = &forest->nodes[i];
        size_t votes = node->vote_end;
        node->votes = node->vote_end = start;
        start += votes;
    }
    for (size_t i = 0; i < count; i++)
        forest->votes[forest->nodes[leaves[i]].vote_end++] =
            (ln_ml_vote){.target = (uint32_t)lists[2][i], .weight = weights[i]};
    return LN_OK;
}

ln_status ln_ml_forest_read(ln_call *call, const char *prefix, size_t target_count,
                            ln_ml_forest *out_forest)
{
    *out_forest = (ln_ml_forest){0};
    reader r = {.call = call, .forest = out_forest};
    LN_TRY(read_lists(&r));
    LN_TRY(sort_names(&r));
    for (size_t i = 0; i < out_forest->node_count; i++)
        LN_TRY(read_node(&r, i));
    find_roots(&r);
    return read_votes(&r, prefix, target_count);
}
