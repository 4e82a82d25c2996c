// SPDX-License-Identifier: Apache-2.0
// Layout: lifetimes first, then per memory type the static values in a row and the rest in an
// arena after them; views follow their owners.

#include "plan/layout.h"

#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/mem.h>

#include "base/checked.h"
#include "plan/arena.h"
#include "plan/liveness.h"
#include "plan/mem_use.h"

typedef struct layout {
    ln_plan_value *values; // a copy, handed over at the end
    const uint32_t *owners;
    size_t count;
    ln_live_value *lives;
    ln_interval *intervals; // of one arena ...
    uint32_t *interval_of;  // ... and the value of each
    bool *is_placed;        // of each value
    ln_plan_totals totals[LN_MEM_TYPE_SIZE];
} layout;

static ln_status check_values(const layout *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const ln_plan_value *v = &l->values[i];
        const char *name = v->name ? v->name : "";
        if (v->mtype == LN_MEM_NONE || !ln_mem_type_is_used(v->mtype))
            return LN_FAIL(LN_INVALID, "value %zu '%.200s' has memory type %d, which holds nothing",
                           i, name, (int)v->mtype);
        if (l->owners[i] >= l->count)
            return LN_FAIL(LN_INVALID, "value %zu '%.200s' is in value %u of %zu", i, name,
                           l->owners[i], l->count);
        const ln_plan_value *owner = &l->values[l->owners[i]];
        size_t end;
        if (owner == v)
            continue;
        if (v->mtype != owner->mtype)
            return LN_FAIL(LN_INVALID, "value %zu '%.200s' and its owner differ in memory type", i,
                           name);
        if (!ln_size_add(v->offset, v->byte_count, &end) || end > owner->byte_count)
            return LN_FAIL(LN_INVALID,
                           "value %zu '%.200s': %zu bytes from %zu on are not inside its owner of "
                           "%zu",
                           i, name, v->byte_count, v->offset, owner->byte_count);
    }
    return LN_OK;
}

static ln_status find_lifetimes(layout *l, const ln_plan_step *steps, size_t step_count)
{
    for (size_t i = 0; i < l->count; i++) {
        const ln_plan_value *v = &l->values[i];
        l->lives[i] = (ln_live_value){.name = v->name,
                                      .root = l->owners[i],
                                      .is_input = v->is_input,
                                      .is_output = v->is_output,
                                      .is_static = v->is_static && !v->is_load};
    }
    return ln_plan_liveness(l->lives, l->count, steps, step_count);
}

static ln_status place_statics(layout *l, ln_mem_type mtype, size_t *out_end)
{
    size_t align = ln_mem_type_align(mtype), end = align;
    for (size_t i = 0; i < l->count; i++) {
        ln_plan_value *v = &l->values[i];
        if (v->mtype != mtype || !v->is_static || v->is_load || l->lives[i].root != i)
            continue;
        v->offset = end;
        if (!ln_size_add(end, v->byte_count, &end) || !ln_size_align(end, align, &end))
            return LN_FAIL(LN_LIMIT, "the static values up to '%.200s' overflow",
                           v->name ? v->name : "");
    }
    *out_end = end;
    return LN_OK;
}

// Values of the workspace, or those that are there while loading: each has its lifetime.
static bool is_in_arena(const ln_plan_value *v, ln_mem_type mtype, bool is_load)
{
    return v->mtype == mtype && (is_load ? v->is_load : !v->is_static);
}

static ln_status place_arena(layout *l, ln_mem_type mtype, bool is_load, size_t first_offset,
                             size_t *out_byte_count)
{
    size_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const ln_plan_value *v = &l->values[i];
        if (!is_in_arena(v, mtype, is_load) || l->lives[i].root != i)
            continue;
        l->interval_of[count] = i;
        l->intervals[count++] = (ln_interval){.byte_count = v->byte_count,
                                              .first_step = l->lives[i].first_step,
                                              .last_step = l->lives[i].last_step};
    }
    size_t align = ln_mem_type_align(mtype);
    LN_TRY(ln_plan_arena(l->intervals, count, align, first_offset, out_byte_count));
    for (size_t k = 0; k < count; k++)
        l->values[l->interval_of[k]].offset = l->intervals[k].offset;
    return LN_OK;
}

static ln_status place_type(layout *l, ln_mem_type mtype)
{
    bool is_used = false;
    for (size_t i = 0; i < l->count && !is_used; i++)
        is_used = l->values[i].mtype == mtype;
    if (!is_used)
        return LN_OK;

    ln_plan_totals *t = &l->totals[mtype];
    LN_TRY(place_statics(l, mtype, &t->static_byte_count));
    LN_TRY(place_arena(l, mtype, false, t->static_byte_count, &t->workspace_byte_count));
    t->peak_byte_count = t->static_byte_count + t->workspace_byte_count; // the arena proved it
    size_t align = ln_mem_type_align(mtype);
    LN_TRY(place_arena(l, mtype, true, align, &t->load_byte_count));
    if (t->load_byte_count > 0)
        t->load_byte_count += align; // as well
    return LN_OK;
}

// A view's offset is relative to its direct owner, which may be a view that is not placed yet: each
// walk goes up to an owner that is placed, turning the links round, and down again. They are inside
// each other, so nothing overflows.
static void place_views(layout *l, const ln_plan_value *before)
{
    uint32_t *below = l->interval_of; // no longer needed; of a value on the way: where it came from
    for (uint32_t i = 0; i < l->count; i++)
        l->is_placed[i] = l->owners[i] == i;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at = i;
        while (!l->is_placed[at]) {
            below[l->owners[at]] = at;
            at = l->owners[at];
        }
        while (at != i) {
            uint32_t view = below[at];
            l->values[view].offset = l->values[at].offset + before[view].offset;
            l->is_placed[view] = true;
            at = view;
        }
    }
}

static ln_status run_layout(layout *l, const ln_plan_value *before, const ln_plan_step *steps,
                            size_t step_count)
{
    LN_TRY(check_values(l));
    LN_TRY(find_lifetimes(l, steps, step_count));
    for (int mtype = LN_MEM_NONE + 1; mtype < LN_MEM_TYPE_SIZE; mtype++)
        LN_TRY(place_type(l, (ln_mem_type)mtype));
    place_views(l, before);
    for (size_t i = 0; i < l->count; i++) {
        ln_plan_value *v = &l->values[i];
        v->first_step = l->lives[i].first_step;
        v->last_step = l->lives[i].last_step;
        v->owner = l->owners[i] != i ? l->values[l->owners[i]].name : NULL;
    }
    return LN_OK;
}

ln_status ln_plan_layout(ln_plan_value *values, const uint32_t *owners, size_t value_count,
                         const ln_plan_step *steps, size_t step_count,
                         ln_plan_totals totals[LN_MEM_TYPE_SIZE])
{
    if (!totals || (value_count && (!values || !owners)) || (step_count && !steps))
        return LN_FAIL(LN_INVALID, "a layout of %zu values and %zu steps needs all lists",
                       value_count, step_count);
    memset(totals, 0, LN_MEM_TYPE_SIZE * sizeof *totals);

    layout l = {.owners = owners,
                .count = value_count,
                .values = ln_alloc_array(value_count, sizeof *l.values),
                .lives = ln_alloc_array(value_count, sizeof *l.lives),
                .intervals = ln_alloc_array(value_count, sizeof *l.intervals),
                .interval_of = ln_alloc_array(value_count, sizeof *l.interval_of),
                .is_placed = ln_alloc_array(value_count, sizeof *l.is_placed)};
    bool is_complete = l.values && l.lives && l.intervals && l.interval_of && l.is_placed;
    ln_status status = is_complete ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK && value_count) {
        memcpy(l.values, values, value_count * sizeof *values);
        status = run_layout(&l, values, steps, step_count);
    }
    if (status == LN_OK && value_count) {
        memcpy(values, l.values, value_count * sizeof *values);
        memcpy(totals, l.totals, sizeof l.totals);
    }
    ln_free(l.is_placed);
    ln_free(l.interval_of);
    ln_free(l.intervals);
    ln_free(l.lives);
    ln_free(l.values);
    return status;
}
