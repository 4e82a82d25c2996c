// SPDX-License-Identifier: Apache-2.0
// Which choices of sharing are taken is a search: all of them, some kinds only, none; and from the
// best of these on, those are given up that lower the peak by it. share_decide.c makes each
// decision.

#include "plan/share.h"

#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/mem.h>

#include "base/checked.h"
#include "plan/share_inside.h"

// The search ends after so many steps of work, some hundredths of a second, and so many decisions.
#define SEARCH_WORK      ((size_t)1 << 23)
#define SEARCH_DECISIONS 512

// ---- The search ----

// The kinds that are taken, from all to, as the last one, none; the first of the best ones is kept.
typedef struct variant {
    bool is_kind_banned[3]; // over, inside, around
    bool is_early_first;
} variant;

static const variant variants[] = {{{0, 0, 0}, false}, {{0, 0, 0}, true},  {{0, 1, 0}, false},
                                   {{0, 0, 1}, false}, {{0, 1, 1}, false}, {{1, 1, 1}, false}};

static void set_variant(ln_sharer *s, const variant *v)
{
    memcpy(s->is_kind_banned, v->is_kind_banned, sizeof s->is_kind_banned);
    s->is_early_first = v->is_early_first;
}

static void ban(ln_sharer *s, size_t from, size_t to, bool is_banned)
{
    for (size_t k = from; k < to; k++)
        s->is_banned[k] = is_banned;
}

static bool is_over_budget(const ln_sharer *s)
{
    return s->work > SEARCH_WORK || s->decision_count > SEARCH_DECISIONS;
}

// Whether choices [from, to) of one step hold memory at the peak, as the best decision has it.
static bool is_at_peak(const ln_sharer *s, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        if (!s->best_taken[k])
            continue;
        uint32_t root = s->choices[k].inner;
        while (s->best_owners[root] != root)
            root = s->best_owners[root];
        if (s->best_first[root] <= s->best_peak_step && s->best_peak_step <= s->best_last[root])
            return true;
    }
    return false;
}

// Gives up what the best decision takes at the peak, one step's choices after the other, and leaves
// out for good what was better without. Returns whether anything was.
static bool give_up_some(ln_sharer *s)
{
    bool is_better = false;
    for (size_t from = 0, to; from < s->choice_count && !is_over_budget(s); from = to) {
        to = ln_share_end_of_step(s, from);
        if (!is_at_peak(s, from, to))
            continue;
        ban(s, from, to, true);
        if (ln_share_try(s))
            is_better = true;
        else
            ban(s, from, to, false);
    }
    return is_better;
}

// ---- What no decision saves ----

// Marks in `content` the values that may be the same bytes as another one under its own name.
static void mark_shared(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->content[i] = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->given_owners[i] != i)
            s->content[i] = s->content[s->given_owners[i]] = 1;
    for (size_t k = 0; k < s->choice_count; k++)
        if (s->choices[k].kind != LN_SHARE_OVER)
            s->content[s->choices[k].inner] = s->content[s->choices[k].outer] = 1;
}

// Marks in `sharers` the values that a step may write over what it reads.
static void mark_overwriting(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->sharers[i] = 0;
    for (size_t k = 0; k < s->choice_count; k++)
        if (s->choices[k].kind == LN_SHARE_OVER)
            s->sharers[s->choices[k].inner] = 1;
}

static size_t find_floor_of(ln_sharer *s, ln_mem_type mtype)
{
    uint32_t end = s->step_count ? (uint32_t)s->step_count - 1 : 0;
    memset(s->change, 0, (s->step_count + 1) * sizeof *s->change);
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_plan_value *v = &s->values[i];
        uint32_t first = s->first[i] + (s->sharers[i] != 0), last = s->last[i];
        size_t size;
        if (v->is_static || v->mtype != mtype || s->content[i] || s->first[i] > end ||
            first > last || first > end || !ln_size_align(v->byte_count, LN_MEM_ALIGN, &size) ||
            size > INT64_MAX / 2)
            continue;
        s->change[first] += (int64_t)size;
        if (last < end)
            s->change[last + 1] -= (int64_t)size;
    }
    int64_t alive = 0, peak = 0;
    for (uint32_t step = 0; step < s->step_count; step++) {
        alive += s->change[step];
        peak = alive > peak ? alive : peak;
    }
    return (size_t)peak;
}

// A lower bound of the peak: values that different steps need at one step are apart in every
// decision, unless they may be views or parts of each other, or one is written over the other.
static size_t find_floor(ln_sharer *s)
{
    size_t sum = 0;
    mark_shared(s);
    mark_overwriting(s);
    for (int mtype = LN_MEM_NONE + 1; mtype < LN_MEM_TYPE_SIZE; mtype++)
        if (s->mtypes >> mtype & 1)
            sum += find_floor_of(s, (ln_mem_type)mtype);
    return sum;
}

// Returns the peak without any choice.
static size_t search(ln_sharer *s)
{
    size_t best = 0, floor = find_floor(s);
    s->best_peak = SIZE_MAX;
    // Without choices there is one way only, the last.
    size_t end = sizeof variants / sizeof variants[0], first = s->choice_count ? 0 : end - 1;
    for (size_t i = first; i < end; i++) {
        if (s->best_peak <= floor && i + 1 < end)
            continue;
        set_variant(s, &variants[i]);
        if (ln_share_try(s))
            best = i;
    }
    size_t apart_peak = s->last_peak;
    set_variant(s, &variants[best]);
    while (s->best_peak > floor && !is_over_budget(s) && give_up_some(s))
        continue;
    return apart_peak;
}

// ---- Arguments and facts ----

static ln_status check_owner(const ln_sharer *s, uint32_t i)
{
    const ln_plan_value *v = &s->values[i];
    if (s->given_owners[i] >= s->count)
        return LN_FAIL(LN_INVALID, "value %u is in value %u of %zu", i, s->given_owners[i],
                       s->count);
    const ln_plan_value *owner = &s->values[s->given_owners[i]];
    if (owner != v && (v->offset > owner->byte_count ||
                       v->byte_count > owner->byte_count - v->offset || v->mtype != owner->mtype))
        return LN_FAIL(LN_INVALID, "value %u is not inside its owner %u", i, s->given_owners[i]);
    return LN_OK;
}

// Each walk goes up the owners to what a walk before it has seen; its own traces it must not meet.
static ln_status check_circles(ln_sharer *s)
{
    uint32_t *walks = s->up; // of each value: 1 + the start of the walk that saw it
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = i;
        for (; walks[at] == 0 && s->given_owners[at] != at; at = s->given_owners[at])
            walks[at] = i + 1;
        if (walks[at] == i + 1 && s->given_owners[at] != at)
            return LN_FAIL(LN_INVALID, "the owners of value %u lead round in a circle", i);
    }
    return LN_OK;
}

static ln_status check_arguments(const ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        LN_TRY(check_owner(s, i));
    for (size_t k = 0; k < s->choice_count; k++) {
        const ln_share *c = &s->choices[k];
        if (c->inner >= s->count || c->outer >= s->count || c->step >= s->step_count ||
            (k > 0 && c->step < c[-1].step))
            return LN_FAIL(LN_INVALID, "choice %zu is about step %u, values %u and %u of %zu", k,
                           c->step, c->inner, c->outer, s->count);
    }
    return LN_OK;
}

static ln_status touch(ln_sharer *s, uint32_t i, uint32_t step)
{
    if (i >= s->count)
        return LN_FAIL(LN_INVALID, "step %u touches value %u of %zu", step, i, s->count);
    if (step < s->first[i])
        s->first[i] = step;
    if (step > s->last[i])
        s->last[i] = step;
    return LN_OK;
}

static ln_status find_facts(ln_sharer *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_plan_value *v = &s->values[i];
        s->first[i] = v->is_input || v->is_static ? 0 : UINT32_MAX;
        s->last[i] = v->is_input || v->is_static || v->is_output ? LN_SHARE_AT_END : 0;
    }
    for (uint32_t at = 0; at < s->step_count; at++) {
        const ln_plan_step *step = &s->steps[at];
        for (size_t k = 0; k < step->read_count; k++)
            LN_TRY(touch(s, step->reads[k], at));
        for (size_t k = 0; k < step->write_count; k++) {
            LN_TRY(touch(s, step->writes[k], at));
            uint32_t i = step->writes[k];
            s->is_fixed[i] = s->given_owners[i] != i && step->aliasing != LN_PLAN_VIEW;
        }
    }
    return LN_OK;
}

static ln_status alloc_all(ln_sharer *s)
{
    size_t n = s->count, k = s->choice_count;
    bool is_whole = true;
#define ALLOC(member, length)                                                                      \
    is_whole = is_whole && (s->member = ln_alloc_array(length, sizeof *s->member)) != NULL
    ALLOC(first, n);
    ALLOC(last, n);
    ALLOC(is_fixed, n);
    ALLOC(is_banned, k);
    ALLOC(owners, n);
    ALLOC(offsets, n);
    ALLOC(is_taken, k);
    ALLOC(up, n);
    ALLOC(distance, n);
    ALLOC(trees, n);
    ALLOC(content, n);
    ALLOC(content_offset, n);
    ALLOC(sharers, n);
    ALLOC(sharers_end, n);
    ALLOC(change, s->step_count + 1);
    ALLOC(tree_first, n);
    ALLOC(tree_last, n);
    ALLOC(best_owners, n);
    ALLOC(best_offsets, n);
    ALLOC(best_taken, k);
    ALLOC(best_first, n);
    ALLOC(best_last, n);
#undef ALLOC
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

static void free_all(ln_sharer *s)
{
    void *all[] = {s->first,      s->last,           s->is_fixed,    s->is_banned,    s->owners,
                   s->offsets,    s->is_taken,       s->up,          s->distance,     s->trees,
                   s->content,    s->content_offset, s->sharers,     s->sharers_end,  s->change,
                   s->tree_first, s->tree_last,      s->best_owners, s->best_offsets, s->best_taken,
                   s->best_first, s->best_last};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ln_free(all[i]);
}

ln_status ln_plan_share(ln_plan_value *values, uint32_t *owners, const uint8_t *aligns,
                        size_t value_count, const ln_plan_step *steps, size_t step_count,
                        const ln_share *choices, size_t choice_count, ln_share_needs *out_needs)
{
    *out_needs = (ln_share_needs){0};
    if (value_count >= UINT32_MAX || step_count >= UINT32_MAX)
        return LN_FAIL(LN_LIMIT, "%zu values and %zu steps are too many", value_count, step_count);
    if (value_count == 0)
        return LN_OK;
    ln_sharer s = {.values = values,
                   .given_owners = owners,
                   .aligns = aligns,
                   .count = value_count,
                   .steps = steps,
                   .step_count = step_count,
                   .choices = choices,
                   .choice_count = choice_count};
    for (size_t i = 0; i < value_count; i++)
        if ((unsigned)values[i].mtype < LN_MEM_TYPE_SIZE)
            s.mtypes |= UINT32_C(1) << values[i].mtype;
    ln_status status = check_arguments(&s);
    if (status == LN_OK)
        status = alloc_all(&s);
    if (status == LN_OK)
        status = check_circles(&s);
    if (status == LN_OK)
        status = find_facts(&s);
    if (status == LN_OK) {
        out_needs->apart = search(&s);
        out_needs->shared = s.best_peak;
        out_needs->decision_count = s.decision_count;
        memcpy(owners, s.best_owners, value_count * sizeof *owners);
        for (size_t i = 0; i < value_count; i++)
            values[i].offset = s.best_offsets[i];
    }
    free_all(&s);
    return status;
}
