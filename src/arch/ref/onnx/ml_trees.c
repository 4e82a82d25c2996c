// SPDX-License-Identifier: Apache-2.0
// The layout of decision trees for runs, and the walk.
//
// Every ordering becomes `<=`: x < v is x <= the number before v, and x > v is the opposite of
// x <= v, with the branches exchanged. A walk is a chain of loads, each of which waits for the one
// before; so eight go at once, of eight rows through one tree, or of one row through eight trees.

#include "arch/ref/onnx/ml_trees.h"

#include <math.h>
#include <string.h>

// ---- Layout ----

static bool is_ordering(ln_ml_mode mode)
{
    return mode <= LN_ML_GT || mode == LN_ML_LEAF;
}

static bool can_lay_out(const ln_ml_forest *forest)
{
    if (forest->node_count >= INT32_MAX || forest->root_count >= INT32_MAX)
        return false;
    for (size_t i = 0; i < forest->node_count; i++)
        if (!is_ordering(forest->nodes[i].mode) || forest->nodes[i].vote_end > UINT32_MAX)
            return false;
    return true;
}

// The largest number below `value`; NaN, which nothing is below or equal to, if there is none.
static double number_before(double value)
{
    return value == -INFINITY ? NAN : nextafter(value, -INFINITY);
}

static ln_ml_branch branch_of(const ln_ml_node *node, uint32_t at, uint32_t children)
{
    if (node->mode == LN_ML_LEAF)
        return (ln_ml_branch){INFINITY, LN_ML_NAN_IS_YES, at};
    bool is_less = node->mode == LN_ML_LEQ || node->mode == LN_ML_LT;
    bool is_strict = node->mode == LN_ML_LT || node->mode == LN_ML_GTE;
    // A comparison with NaN is false: it goes to `no`, which is first where all is turned round.
    bool nan_is_first = is_less ? node->nan_is_true : !node->nan_is_true;
    return (ln_ml_branch){is_strict ? number_before(node->value) : node->value,
                          (uint32_t)node->feature | (nan_is_first ? LN_ML_NAN_IS_YES : 0),
                          children};
}

typedef struct layout {
    const ln_ml_forest *forest;
    ln_ml_branch *branches;
    ln_ml_range *ranges;
    uint32_t *roots;
    uint32_t *sources; // of each branch the node; the queue of the walk through each tree
    bool *is_placed;   // of each node
    uint32_t count;    // of branches
} layout;

static bool place(layout *l, size_t node)
{
    if (l->is_placed[node])
        return false;
    l->is_placed[node] = true;
    l->sources[l->count++] = (uint32_t)node;
    return true;
}

// False if a node has two parents: then it is no tree.
static bool lay_out_tree(layout *l, size_t root)
{
    uint32_t at = l->count;
    if (!place(l, root))
        return false;
    for (; at < l->count; at++) {
        const ln_ml_node *node = &l->forest->nodes[l->sources[at]];
        l->branches[at] = branch_of(node, at, l->count);
        if (node->mode == LN_ML_LEAF) {
            l->ranges[at] = (ln_ml_range){(uint32_t)node->votes, (uint32_t)node->vote_end};
            continue;
        }
        bool is_less = node->mode == LN_ML_LEQ || node->mode == LN_ML_LT;
        if (!place(l, is_less ? node->yes : node->no) || !place(l, is_less ? node->no : node->yes))
            return false;
    }
    return true;
}

static size_t count_votes(const ln_ml_forest *forest)
{
    return forest->node_count ? forest->nodes[forest->node_count - 1].vote_end : 0;
}

static const void *keep_copy(ln_call *call, const void *from, size_t count, size_t size)
{
    void *copy = ln_call_keep(call, count + 1, size);
    if (copy && count)
        memcpy(copy, from, count * size);
    return copy;
}

static size_t count_members(const ln_ml_forest *forest)
{
    size_t count = 0;
    for (size_t i = 0; i < forest->node_count; i++)
        if (forest->nodes[i].mode == LN_ML_MEMBER && forest->nodes[i].member_end > count)
            count = forest->nodes[i].member_end;
    return count;
}

// As it is.
static ln_status keep_forest(ln_call *call, const ln_ml_forest *forest, ln_ml_trees *out_trees)
{
    ln_ml_forest *kept = &out_trees->forest;
    *kept = *forest;
    kept->nodes = (ln_ml_node *)(uintptr_t)keep_copy(call, forest->nodes, forest->node_count,
                                                     sizeof *kept->nodes);
    kept->roots = (size_t *)(uintptr_t)keep_copy(call, forest->roots, forest->root_count,
                                                 sizeof *kept->roots);
    kept->members = keep_copy(call, forest->members, count_members(forest), sizeof *kept->members);
    kept->votes = (ln_ml_vote *)(uintptr_t)out_trees->votes;
    return kept->nodes && kept->roots && kept->members ? LN_OK : ln_error_status();
}

static ln_status lay_out(ln_call *call, const ln_ml_forest *forest, ln_ml_trees *out_trees)
{
    layout l = {.forest = forest};
    l.branches = ln_call_keep(call, forest->node_count + 1, sizeof *l.branches);
    l.ranges = ln_call_keep(call, forest->node_count + 1, sizeof *l.ranges);
    l.roots = ln_call_keep(call, forest->root_count + 1, sizeof *l.roots);
    l.sources = ln_call_scratch(call, forest->node_count + 1, sizeof *l.sources);
    l.is_placed = ln_call_scratch(call, forest->node_count + 1, sizeof *l.is_placed);
    if (!l.branches || !l.ranges || !l.roots || !l.sources || !l.is_placed)
        return ln_error_status();
    for (size_t t = 0; t < forest->root_count; t++) {
        l.roots[t] = l.count;
        if (!lay_out_tree(&l, forest->roots[t]))
            return keep_forest(call, forest, out_trees);
    }
    out_trees->branches = l.branches;
    out_trees->ranges = l.ranges;
    out_trees->roots = l.roots;
    return LN_OK;
}

ln_status ln_ml_trees_keep(ln_call *call, const ln_ml_forest *forest, ln_ml_trees *out_trees)
{
    *out_trees = (ln_ml_trees){.root_count = forest->root_count};
    out_trees->votes =
        keep_copy(call, forest->votes, count_votes(forest), sizeof *out_trees->votes);
    if (!out_trees->votes)
        return ln_error_status();
    return can_lay_out(forest) ? lay_out(call, forest, out_trees)
                               : keep_forest(call, forest, out_trees);
}

// ---- The walk ----

enum { LANES = 8 };

static inline uint32_t step(const ln_ml_branch *branches, uint32_t at, const double *row)
{
    const ln_ml_branch *b = &branches[at];
    double x = row[b->feature & ~LN_ML_NAN_IS_YES];
    uint32_t is_yes = (uint32_t)(x <= b->value) | ((uint32_t)(x != x) & b->feature >> 31);
    return b->yes + !is_yes;
}

static void walk_lanes(const ln_ml_branch *branches, uint32_t at[LANES],
                       const double *const rows[LANES])
{
    uint32_t moved;
    do {
        moved = 0;
        for (int k = 0; k < LANES; k++) {
            uint32_t next = step(branches, at[k], rows[k]);
            moved |= next ^ at[k];
            at[k] = next;
        }
    } while (moved);
}

static void give_votes(const ln_ml_trees *trees, uint32_t leaf, size_t row, ln_ml_voter voter,
                       void *user)
{
    ln_ml_range range = trees->ranges[leaf];
    voter(user, row, trees->votes + range.start, range.end - range.start);
}

static void walk_row(const ln_ml_trees *trees, const double *row, size_t index, ln_ml_voter voter,
                     void *user)
{
    const double *rows[LANES];
    for (int k = 0; k < LANES; k++)
        rows[k] = row;
    for (size_t t = 0; t < trees->root_count; t += LANES) {
        uint32_t at[LANES];
        for (size_t k = 0; k < LANES; k++)
            at[k] = trees->roots[t + k < trees->root_count ? t + k : t];
        walk_lanes(trees->branches, at, rows);
        for (size_t k = 0; k < LANES && t + k < trees->root_count; k++)
            give_votes(trees, at[k], index, voter, user);
    }
}

static void walk_rows(const ln_ml_trees *trees, const double *rows, size_t columns, size_t count,
                      ln_ml_voter voter, void *user)
{
    for (size_t t = 0; t < trees->root_count; t++) {
        for (size_t r = 0; r < count; r += LANES) {
            uint32_t at[LANES];
            const double *lanes[LANES];
            for (size_t k = 0; k < LANES; k++) {
                at[k] = trees->roots[t];
                lanes[k] = rows + (r + k < count ? r + k : r) * columns;
            }
            walk_lanes(trees->branches, at, lanes);
            for (size_t k = 0; k < LANES && r + k < count; k++)
                give_votes(trees, at[k], r + k, voter, user);
        }
    }
}

static ln_status walk_forest(ln_call *call, const ln_ml_forest *forest, const double *row,
                             size_t index, ln_ml_voter voter, void *user)
{
    for (size_t t = 0; t < forest->root_count; t++) {
        const ln_ml_node *leaf;
        LN_TRY(ln_ml_forest_leaf(call, forest, forest->roots[t], row, &leaf));
        voter(user, index, forest->votes + leaf->votes, leaf->vote_end - leaf->votes);
    }
    return LN_OK;
}

ln_status ln_ml_trees_walk(ln_call *call, const ln_ml_trees *trees, const double *rows,
                           size_t columns, size_t count, ln_ml_voter voter, void *user)
{
    if (trees->branches && count >= LANES) {
        walk_rows(trees, rows, columns, count, voter, user);
        return LN_OK;
    }
    for (size_t r = 0; r < count; r++) {
        if (trees->branches)
            walk_row(trees, rows + r * columns, r, voter, user);
        else
            LN_TRY(walk_forest(call, &trees->forest, rows + r * columns, r, voter, user));
    }
    return LN_OK;
}
