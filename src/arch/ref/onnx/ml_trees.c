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

typedef struct layout {
    const ln_ml_forest *forest;
    bool is_direct;
    ln_ml_branch *branches;
    bool *nan_is_yes;
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

// What a leaf says of its votes.
static double leaf_value(const ln_ml_forest *forest, const ln_ml_node *node, bool is_direct)
{
    if (is_direct)
        return forest->votes[node->votes].weight;
    return node->vote_end > node->votes ? (double)node->votes + 1 : 0;
}

// False if a node has two parents: then it is no tree.
static bool lay_out_tree(layout *l, size_t root)
{
    uint32_t at = l->count;
    if (!place(l, root))
        return false;
    for (; at < l->count; at++) {
        const ln_ml_node *node = &l->forest->nodes[l->sources[at]];
        if (node->mode == LN_ML_LEAF) {
            l->branches[at] = (ln_ml_branch){leaf_value(l->forest, node, l->is_direct), 0, at};
            continue;
        }
        bool is_less = node->mode == LN_ML_LEQ || node->mode == LN_ML_LT;
        bool is_strict = node->mode == LN_ML_LT || node->mode == LN_ML_GTE;
        l->branches[at] = (ln_ml_branch){is_strict ? number_before(node->value) : node->value,
                                         (uint32_t)node->feature + 1, l->count};
        // A comparison with NaN is false: it goes to `no`, which is first where all is turned
        // round.
        l->nan_is_yes[at] = is_less ? node->nan_is_true : !node->nan_is_true;
        if (!place(l, is_less ? node->yes : node->no) || !place(l, is_less ? node->no : node->yes))
            return false;
    }
    return true;
}

static size_t count_votes(const ln_ml_forest *forest)
{
    return forest->node_count ? forest->nodes[forest->node_count - 1].vote_end : 0;
}

static void *keep_copy(ln_call *call, const void *from, size_t count, size_t size)
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
    kept->nodes = keep_copy(call, forest->nodes, forest->node_count, sizeof *kept->nodes);
    kept->roots = keep_copy(call, forest->roots, forest->root_count, sizeof *kept->roots);
    kept->members = keep_copy(call, forest->members, count_members(forest), sizeof *kept->members);
    out_trees->is_direct = false;
    return kept->nodes && kept->roots && kept->members ? LN_OK : ln_error_status();
}

static ln_status lay_out(ln_call *call, const ln_ml_forest *forest, ln_ml_trees *out_trees)
{
    layout l = {.forest = forest, .is_direct = out_trees->is_direct};
    l.branches = ln_call_keep(call, forest->node_count + 1, sizeof *l.branches);
    l.nan_is_yes = ln_call_keep(call, forest->node_count + 1, sizeof *l.nan_is_yes);
    l.roots = ln_call_keep(call, forest->root_count + 1, sizeof *l.roots);
    l.sources = ln_call_scratch(call, forest->node_count + 1, sizeof *l.sources);
    l.is_placed = ln_call_scratch(call, forest->node_count + 1, sizeof *l.is_placed);
    if (!l.branches || !l.nan_is_yes || !l.roots || !l.sources || !l.is_placed)
        return ln_error_status();
    for (size_t t = 0; t < forest->root_count; t++) {
        l.roots[t] = l.count;
        if (!lay_out_tree(&l, forest->roots[t]))
            return keep_forest(call, forest, out_trees);
    }
    out_trees->branches = l.branches;
    out_trees->nan_is_yes = l.nan_is_yes;
    out_trees->roots = l.roots;
    return LN_OK;
}

// Whether each leaf has one vote, a number for the same target as all others.
static bool is_direct(const ln_ml_forest *forest)
{
    for (size_t i = 0; i < forest->node_count; i++) {
        const ln_ml_node *node = &forest->nodes[i];
        const ln_ml_vote *vote = &forest->votes[node->votes];
        bool is_one = node->vote_end == node->votes + 1 &&
                      vote->target == forest->votes[0].target && !isnan(vote->weight);
        if (node->mode == LN_ML_LEAF && !is_one)
            return false;
    }
    return true;
}

// The votes, after one that is none, for leaves without.
static const ln_ml_vote *keep_votes(ln_call *call, const ln_ml_forest *forest)
{
    ln_ml_vote *votes = ln_call_keep(call, count_votes(forest) + 1, sizeof *votes);
    for (size_t i = 0; votes && i < forest->node_count; i++) {
        const ln_ml_node *node = &forest->nodes[i];
        for (size_t v = node->votes; v < node->vote_end; v++) {
            votes[v + 1] = forest->votes[v];
            votes[v + 1].left = (uint32_t)(node->vote_end - v);
        }
    }
    return votes;
}

ln_status ln_ml_trees_keep(ln_call *call, const ln_ml_forest *forest, bool can_be_direct,
                           ln_ml_trees *out_trees)
{
    *out_trees = (ln_ml_trees){.root_count = forest->root_count,
                               .voted = count_votes(forest) ? forest->votes[0].target : 0,
                               .is_direct = can_be_direct && is_direct(forest),
                               .votes = keep_votes(call, forest)};
    if (!out_trees->votes)
        return ln_error_status();
    return can_lay_out(forest) ? lay_out(call, forest, out_trees)
                               : keep_forest(call, forest, out_trees);
}

// ---- The walk ----

enum { LANES = 8 };

#define EACH_LANE _Pragma("GCC unroll 8") for (size_t k = 0; k < LANES; k++)

static inline __attribute__((always_inline)) void walk_lanes(const ln_ml_trees *trees,
                                                             uint32_t at[LANES],
                                                             const double *const rows[LANES],
                                                             bool have_nan)
{
    uint32_t moved;
    do {
        moved = 0;
        EACH_LANE
        {
            const ln_ml_branch *b = &trees->branches[at[k]];
            double x = rows[k][b->feature];
            bool is_yes = x <= b->value || (have_nan && x != x && trees->nan_is_yes[at[k]]);
            uint32_t next = b->yes + !is_yes;
            moved |= next ^ at[k];
            at[k] = next;
        }
    } while (moved);
}

// From `roots` on, to what `count` leaves say.
static void find_leaves(const ln_ml_trees *trees, const uint32_t roots[LANES],
                        const double *const rows[LANES], bool have_nan, double leaves[LANES])
{
    uint32_t at[LANES];
    EACH_LANE at[k] = roots[k];
    if (have_nan)
        walk_lanes(trees, at, rows, true);
    else
        walk_lanes(trees, at, rows, false);
    EACH_LANE leaves[k] = trees->branches[at[k]].value;
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void walk_row(const ln_ml_trees *trees, const ln_ml_rows *rows, size_t row,
                     ln_ml_voter voter, void *user)
{
    const double *lanes[LANES];
    double leaves[LANES];
    EACH_LANE lanes[k] = rows->values + row * (rows->columns + 1);
    for (size_t t = 0; t < trees->root_count; t += LANES) {
        uint32_t roots[LANES];
        EACH_LANE roots[k] = trees->roots[least(t + k, trees->root_count - 1)];
        find_leaves(trees, roots, lanes, rows->have_nan, leaves);
        voter(user, row, 0, leaves, least(LANES, trees->root_count - t));
    }
}

static void walk_rows(const ln_ml_trees *trees, const ln_ml_rows *rows, ln_ml_voter voter,
                      void *user)
{
    for (size_t t = 0; t < trees->root_count; t++) {
        uint32_t roots[LANES];
        EACH_LANE roots[k] = trees->roots[t];
        for (size_t r = 0; r < rows->count; r += LANES) {
            const double *lanes[LANES];
            double leaves[LANES];
            EACH_LANE lanes[k] = rows->values + least(r + k, rows->count - 1) * (rows->columns + 1);
            find_leaves(trees, roots, lanes, rows->have_nan, leaves);
            voter(user, r, 1, leaves, least(LANES, rows->count - r));
        }
    }
}

static ln_status walk_forest(ln_call *call, const ln_ml_trees *trees, const double *row,
                             size_t index, ln_ml_voter voter, void *user)
{
    const ln_ml_forest *forest = &trees->forest;
    for (size_t t = 0; t < forest->root_count; t++) {
        const ln_ml_node *leaf;
        LN_TRY(ln_ml_forest_leaf(call, forest, forest->roots[t], row, &leaf));
        double votes = leaf_value(forest, leaf, false);
        voter(user, index, 0, &votes, 1);
    }
    return LN_OK;
}

ln_status ln_ml_trees_walk(ln_call *call, const ln_ml_trees *trees, const ln_ml_rows *rows,
                           ln_ml_voter voter, void *user)
{
    if (trees->branches && rows->count >= LANES) {
        walk_rows(trees, rows, voter, user);
        return LN_OK;
    }
    for (size_t r = 0; r < rows->count; r++) {
        const double *row = rows->values + r * (rows->columns + 1) + 1;
        if (trees->branches)
            walk_row(trees, rows, r, voter, user);
        else
            LN_TRY(walk_forest(call, trees, row, r, voter, user));
    }
    return LN_OK;
}
