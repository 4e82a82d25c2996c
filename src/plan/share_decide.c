// SPDX-License-Identifier: Apache-2.0
// Buffer aliasing by union-find with byte offsets, in two rounds. Round 1 merges values with equal
// contents: inputs of a concat into its output, views into their base tensor. No byte changes, so
// nothing can go wrong. Round 2 runs steps in place, the last step first: allowed when every alias
// of the input is read for the last time before, and the input itself by this step, only as
// operands that it may overwrite.
//
// A set is a tree of owners; each value knows its offset in its owner. Two sets are merged by
// making the root of one an alias inside a value of the other.

#include "plan/share_inside.h"

#include <string.h>

#include <lightnet/mem.h>

#include "base/checked.h"

// Aliases of an input are looked at one by one; an input with more than this is left alone, so that
// the work stays in proportion to the model.
#define MAX_ALIASES 1024

// ---- Trees ----

static uint32_t find_root(ln_sharer *s, uint32_t i, size_t *out_offset)
{
    uint32_t root = i;
    size_t offset = 0;
    for (; s->up[root] != root; root = s->up[root])
        offset += s->distance[root];
    *out_offset = offset;
    while (s->up[i] != root) {
        uint32_t next = s->up[i];
        size_t distance = s->distance[i];
        s->up[i] = root;
        s->distance[i] = offset;
        offset -= distance;
        i = next;
    }
    return root;
}

// Lets `root`, the root of its tree, be in `outer`, which is in another one, at `offset` in it.
static void put_in(ln_sharer *s, uint32_t root, uint32_t outer, size_t offset)
{
    size_t outer_offset;
    uint32_t outer_root = find_root(s, outer, &outer_offset);
    s->owners[root] = outer;
    s->offsets[root] = offset;
    s->up[root] = outer_root;
    s->distance[root] = outer_offset + offset;
    ln_share_tree *t = &s->trees[outer_root];
    t->has_input = t->has_input || s->trees[root].has_input;
    if (s->trees[root].align > t->align)
        t->align = s->trees[root].align;
}

static bool is_ours(const ln_sharer *s, uint32_t i, uint32_t root)
{
    return !s->values[i].is_static && !s->trees[root].is_fixed;
}

// Whether the tree of `inner` may be in that of `outer`, so that `inner` is at `offset` in
// `outer`. It needs a tree with nothing but the bytes of `inner`: where others would come to be in
// `outer`, there is no place for them.
static bool can_join(ln_sharer *s, uint32_t inner, uint32_t outer, size_t offset)
{
    const ln_plan_value *v = &s->values[inner], *w = &s->values[outer];
    size_t inner_offset, outer_offset;
    uint32_t inner_root = find_root(s, inner, &inner_offset);
    uint32_t outer_root = find_root(s, outer, &outer_offset);
    return inner_root != outer_root && s->values[inner_root].byte_count == v->byte_count &&
           is_ours(s, inner, inner_root) && is_ours(s, outer, outer_root) && v->mtype == w->mtype &&
           !s->trees[inner_root].has_input && offset <= w->byte_count &&
           v->byte_count <= w->byte_count - offset &&
           (outer_offset + offset) % s->trees[inner_root].align == 0;
}

static bool join(ln_sharer *s, uint32_t inner, uint32_t outer, size_t offset)
{
    size_t inner_offset;
    if (!can_join(s, inner, outer, offset))
        return false;
    put_in(s, find_root(s, inner, &inner_offset), outer, offset);
    return true;
}

static void plant_trees(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->owners[i] = s->given_owners[i];
        s->offsets[i] = s->values[i].offset;
        s->up[i] = s->owners[i];
        s->distance[i] = s->owners[i] == i ? 0 : s->offsets[i];
        s->trees[i] = (ln_share_tree){.align = s->aligns[i]};
    }
    for (uint32_t i = 0; i < s->count; i++) {
        size_t offset;
        ln_share_tree *t = &s->trees[find_root(s, i, &offset)];
        t->is_fixed = t->is_fixed || s->is_fixed[i];
        t->has_input = t->has_input || s->values[i].is_input;
        if (s->aligns[i] > t->align)
            t->align = s->aligns[i];
    }
}

// ---- First round: the same bytes ----

static bool is_wanted(const ln_sharer *s, size_t k, ln_share_kind kind)
{
    return s->choices[k].kind == kind && !s->is_banned[k] && !s->is_kind_banned[kind];
}

static void join_part(ln_sharer *s, size_t k)
{
    const ln_share *c = &s->choices[k];
    if (is_wanted(s, k, LN_SHARE_AROUND) && s->steps[c->step].write_count == 1)
        s->is_taken[k] = join(s, c->inner, c->outer, c->offset);
}

static void join_parts(ln_sharer *s)
{
    for (size_t k = 0; k < s->choice_count; k++)
        join_part(s, s->is_early_first ? k : s->choice_count - 1 - k);
}

size_t ln_share_end_of_step(const ln_sharer *s, size_t k)
{
    size_t end = k;
    while (end < s->choice_count && s->choices[end].step == s->choices[k].step)
        end++;
    return end;
}

// All outputs of a step become views, or none: a step changes bytes or it does not.
static bool can_be_views(ln_sharer *s, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++) {
        const ln_share *c = &s->choices[k];
        if (c->kind != LN_SHARE_INSIDE)
            continue;
        size_t offset;
        if (!is_wanted(s, k, LN_SHARE_INSIDE) || find_root(s, c->inner, &offset) != c->inner ||
            !can_join(s, c->inner, c->outer, c->offset))
            return false;
        count++;
    }
    return count > 0 && count == s->steps[s->choices[from].step].write_count;
}

static void make_views(ln_sharer *s)
{
    for (size_t from = 0, to; from < s->choice_count; from = to) {
        to = ln_share_end_of_step(s, from);
        if (!can_be_views(s, from, to))
            continue;
        for (size_t k = from; k < to; k++) {
            const ln_share *c = &s->choices[k];
            if (c->kind == LN_SHARE_INSIDE)
                s->is_taken[k] = join(s, c->inner, c->outer, c->offset);
        }
    }
}

// A part may have come into its whole on another way, to another place: the step would then read
// bytes that it writes. False if there is such a step; what it joins is then given up.
static bool check_places(ln_sharer *s)
{
    bool is_right = true;
    for (size_t k = 0; k < s->choice_count; k++) {
        const ln_share *c = &s->choices[k];
        size_t inner_offset, outer_offset;
        if (c->kind == LN_SHARE_OVER ||
            find_root(s, c->inner, &inner_offset) != find_root(s, c->outer, &outer_offset) ||
            inner_offset == outer_offset + c->offset ||
            inner_offset >= outer_offset + s->values[c->outer].byte_count ||
            outer_offset >= inner_offset + s->values[c->inner].byte_count)
            continue;
        for (size_t n = 0; n < s->choice_count; n++) {
            bool is_cause = s->choices[n].inner == c->inner || s->choices[n].outer == c->outer ||
                            s->choices[n].inner == c->outer;
            if (s->choices[n].kind != LN_SHARE_OVER && is_cause)
                s->is_banned[n] = true;
        }
        is_right = false;
        break;
    }
    return is_right;
}

// ---- Second round: over inputs ----

// Lists all values by the root of their tree, which from here on stands for their contents.
static void list_sharers(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->sharers_end[i] = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->content[i] = find_root(s, i, &s->content_offset[i]);
        s->sharers_end[s->content[i]]++;
    }
    uint32_t end = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t count = s->sharers_end[i];
        s->sharers_end[i] = end;
        end += count;
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->sharers[s->sharers_end[s->content[i]]++] = i;
}

// Nobody needs the bytes of `outer` after `step`, nor another name of them at it.
static bool is_free_after(const ln_sharer *s, uint32_t outer, uint32_t step)
{
    uint32_t root = s->content[outer];
    size_t start = s->content_offset[outer], end = start + s->values[outer].byte_count;
    uint32_t from = root == 0 ? 0 : s->sharers_end[root - 1], to = s->sharers_end[root];
    if (s->last[outer] != step || to - from > MAX_ALIASES)
        return false;
    for (uint32_t k = from; k < to; k++) {
        uint32_t i = s->sharers[k];
        size_t i_start = s->content_offset[i], i_end = i_start + s->values[i].byte_count;
        if (i != outer && i_start < end && start < i_end && s->last[i] >= step)
            return false;
    }
    return true;
}

// Whether each operand that is `outer` may be overwritten: each has a choice of its own.
static bool is_choice_for_all(const ln_sharer *s, size_t k)
{
    const ln_share *c = &s->choices[k];
    const ln_plan_step *step = &s->steps[c->step];
    size_t operand_count = 0, choice_count = 0, from = k;
    for (size_t i = 0; i < step->read_count; i++)
        operand_count += step->reads[i] == c->outer;
    while (from > 0 && s->choices[from - 1].step == c->step)
        from--;
    for (size_t n = from; n < s->choice_count && s->choices[n].step == c->step; n++) {
        const ln_share *other = &s->choices[n];
        choice_count += other->kind == LN_SHARE_OVER && other->inner == c->inner &&
                        other->outer == c->outer && other->offset == 0;
    }
    return choice_count >= operand_count;
}

static bool write_over(ln_sharer *s, size_t k)
{
    const ln_share *c = &s->choices[k];
    const ln_plan_value *inner = &s->values[c->inner], *outer = &s->values[c->outer];
    size_t offset;
    if (!is_wanted(s, k, LN_SHARE_OVER) || c->offset != 0 || inner->byte_count == 0 ||
        inner->byte_count != outer->byte_count || !is_choice_for_all(s, k) ||
        !is_free_after(s, c->outer, c->step))
        return false;
    // What comes later is in what was there before, unless its place is in a whole.
    if (find_root(s, c->inner, &offset) == c->inner)
        return join(s, c->inner, c->outer, 0);
    if (find_root(s, c->outer, &offset) == c->outer)
        return join(s, c->outer, c->inner, 0);
    return false;
}

static void write_over_inputs(ln_sharer *s)
{
    list_sharers(s);
    for (size_t end = s->choice_count, from; end > 0; end = from) {
        for (from = end - 1; from > 0 && s->choices[from - 1].step == s->choices[end - 1].step;)
            from--;
        bool is_done = false;
        for (size_t k = from; k < end && !is_done; k++)
            is_done = s->is_taken[k] = s->is_taken[k] || write_over(s, k);
    }
}

// ---- A decision and what it needs ----

static void decide(ln_sharer *s)
{
    for (int tries = 0;; tries++) {
        memset(s->is_taken, 0, s->choice_count * sizeof *s->is_taken);
        plant_trees(s);
        if (tries == 16) // values are joined in ways that no model should have
            break;
        join_parts(s);
        make_views(s);
        if (check_places(s))
            break;
    }
    write_over_inputs(s);
}

static uint32_t end_step(const ln_sharer *s)
{
    return s->step_count ? (uint32_t)s->step_count - 1 : 0;
}

static void find_tree_lives(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->tree_first[i] = UINT32_MAX;
        s->tree_last[i] = 0;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        size_t offset;
        uint32_t root = find_root(s, i, &offset);
        uint32_t last = s->last[i] < end_step(s) ? s->last[i] : end_step(s);
        if (s->first[i] < s->tree_first[root])
            s->tree_first[root] = s->first[i];
        if (last > s->tree_last[root])
            s->tree_last[root] = last;
    }
}

// The most bytes of one memory type that are alive at a step, and the first such step.
static size_t measure_type(ln_sharer *s, ln_mem_type mtype, uint32_t *out_step)
{
    *out_step = 0;
    memset(s->change, 0, (s->step_count + 1) * sizeof *s->change);
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_plan_value *v = &s->values[i];
        if (v->is_static || v->mtype != mtype || s->owners[i] != i ||
            s->tree_first[i] > end_step(s))
            continue;
        size_t size;
        if (!ln_size_align(v->byte_count, LN_MEM_ALIGN, &size) || size > INT64_MAX / 2)
            return SIZE_MAX / LN_MEM_TYPE_SIZE; // the layout will say so
        s->change[s->tree_first[i]] += (int64_t)size;
        if (s->tree_last[i] < end_step(s))
            s->change[s->tree_last[i] + 1] -= (int64_t)size;
    }
    int64_t alive = 0, peak = 0;
    for (uint32_t step = 0; step < s->step_count; step++) {
        alive += s->change[step];
        if (alive > peak) {
            peak = alive;
            *out_step = step;
        }
    }
    return (size_t)peak;
}

static size_t measure(ln_sharer *s, uint32_t *out_step)
{
    size_t sum = 0, most = 0;
    *out_step = 0;
    find_tree_lives(s);
    for (int mtype = LN_MEM_NONE + 1; mtype < LN_MEM_TYPE_SIZE; mtype++) {
        if (!(s->mtypes >> mtype & 1))
            continue;
        uint32_t step;
        size_t peak = measure_type(s, (ln_mem_type)mtype, &step);
        sum += peak;
        if (peak > most) {
            most = peak;
            *out_step = step;
        }
    }
    return sum;
}

bool ln_share_try(ln_sharer *s)
{
    uint32_t peak_step;
    decide(s);
    size_t peak = measure(s, &peak_step);
    s->last_peak = peak;
    s->work += s->count * 8 + s->step_count * 3 + s->choice_count * 4;
    s->decision_count++;
    if (peak >= s->best_peak)
        return false;
    memcpy(s->best_owners, s->owners, s->count * sizeof *s->owners);
    memcpy(s->best_offsets, s->offsets, s->count * sizeof *s->offsets);
    memcpy(s->best_taken, s->is_taken, s->choice_count * sizeof *s->is_taken);
    memcpy(s->best_first, s->tree_first, s->count * sizeof *s->tree_first);
    memcpy(s->best_last, s->tree_last, s->count * sizeof *s->tree_last);
    s->best_peak = peak;
    s->best_peak_step = peak_step;
    return true;
}
