// SPDX-License-Identifier: Apache-2.0
// The plan checker, first half: what can be said about the records without following the steps.
//
// Nothing here is shared with liveness, arena or pool, so that one mistake cannot be made twice.
// Each function relies on what the ones before it, in the order of ln_plan_check, have proved.

#include "plan/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "plan/mem_use.h"

#define NOBODY UINT32_MAX

typedef struct checker {
    const ln_plan *plan;
    uint32_t *owners; // of each value: its direct owner, itself when it has none
    uint32_t *roots;  // of each value: the end of its chain of owners
} checker;

static uint32_t end_step(const ln_plan *plan)
{
    return plan->step_count ? (uint32_t)plan->step_count - 1 : 0;
}

// ---- Records one by one ----

static ln_status check_value(const ln_plan *plan, size_t i)
{
    const ln_plan_value *v = &plan->values[i];
    size_t end, align = ln_mem_type_align(v->mtype);
    if (!v->name)
        return LN_FAIL(LN_INVALID, "value %zu of the plan has no name", i);
    if (v->mtype == LN_MEM_NONE || !ln_mem_type_is_used(v->mtype))
        return LN_FAIL(LN_INVALID, "'%.200s' has memory type %d, which holds nothing", v->name,
                       (int)v->mtype);
    if (!ln_size_add(v->offset, v->byte_count, &end) || !ln_size_align(end, align, &end))
        return LN_FAIL(LN_INVALID, "'%.200s': offset %zu and %zu bytes overflow", v->name,
                       v->offset, v->byte_count);
    if (v->offset == 0)
        return LN_FAIL(LN_INVALID, "'%.200s' has no offset", v->name);
    if (!v->owner && v->offset % align != 0)
        return LN_FAIL(LN_INVALID, PLAN_VALUE " is not aligned to %zu", PLAN_VALUE_ARGS(v), align);
    if (v->is_static && v->is_input)
        return LN_FAIL(LN_INVALID, "'%.200s' is an input and static", v->name);
    if (v->is_load && (!v->is_static || v->is_output))
        return LN_FAIL(LN_INVALID, "'%.200s' is there while loading only, but %s", v->name,
                       v->is_output ? "an output" : "not static");
    if (v->first_step > v->last_step || v->last_step > end_step(plan))
        return LN_FAIL(LN_INVALID, "'%.200s' lives from step %u to %u of %zu steps", v->name,
                       v->first_step, v->last_step, plan->step_count);
    return LN_OK;
}

static ln_status check_overs(const ln_plan_step *step, uint32_t at)
{
    if (step->over_count && !step->overs)
        return LN_FAIL(LN_INVALID, PLAN_STEP " has a count without a list", at, step->op);
    for (size_t k = 0; k < step->over_count; k++) {
        ln_plan_over o = step->overs[k], last = k > 0 ? step->overs[k - 1] : o;
        bool is_rising = o.write > last.write || (o.write == last.write && o.read > last.read);
        if (o.write >= step->write_count || o.read >= step->read_count || (k > 0 && !is_rising))
            return LN_FAIL(LN_INVALID,
                           PLAN_STEP
                           " has the pair of result %u of %zu and operand %u of %zu, which "
                           "is out of range or out of order",
                           at, step->op, o.write, step->write_count, o.read, step->read_count);
    }
    return LN_OK;
}

static ln_status check_step(const ln_plan *plan, size_t i)
{
    const ln_plan_step *step = &plan->steps[i];
    if (!step->op)
        return LN_FAIL(LN_INVALID, "step %zu of the plan has no operator", i);
    if ((step->read_count && !step->reads) || (step->write_count && !step->writes))
        return LN_FAIL(LN_INVALID, PLAN_STEP " has a count without a list", (uint32_t)i, step->op);
    if ((int)step->aliasing < LN_PLAN_APART || (int)step->aliasing > LN_PLAN_JOIN)
        return LN_FAIL(LN_INVALID, PLAN_STEP " has the unknown aliasing %d", (uint32_t)i, step->op,
                       (int)step->aliasing);
    if (step->aliasing == LN_PLAN_JOIN && step->write_count != 1)
        return LN_FAIL(LN_INVALID, PLAN_STEP " joins values, but writes %zu instead of 1",
                       (uint32_t)i, step->op, step->write_count);
    LN_TRY(check_overs(step, (uint32_t)i));
    for (size_t k = 0; k < step->read_count; k++) {
        if (step->reads[k] >= plan->value_count)
            return LN_FAIL(LN_INVALID, PLAN_STEP " reads value %u of %zu", (uint32_t)i, step->op,
                           step->reads[k], plan->value_count);
    }
    for (size_t k = 0; k < step->write_count; k++) {
        if (step->writes[k] >= plan->value_count)
            return LN_FAIL(LN_INVALID, PLAN_STEP " writes value %u of %zu", (uint32_t)i, step->op,
                           step->writes[k], plan->value_count);
    }
    return LN_OK;
}

static ln_status check_records(const ln_plan *plan)
{
    if ((plan->value_count && !plan->values) || (plan->step_count && !plan->steps))
        return LN_FAIL(LN_INVALID, "the plan has %zu values and %zu steps, but not both lists",
                       plan->value_count, plan->step_count);
    if (plan->value_count >= NOBODY || plan->step_count >= NOBODY)
        return LN_FAIL(LN_INVALID, "the plan has too many values (%zu) or steps (%zu)",
                       plan->value_count, plan->step_count);
    for (size_t i = 0; i < plan->value_count; i++)
        LN_TRY(check_value(plan, i));
    for (size_t i = 0; i < plan->step_count; i++)
        LN_TRY(check_step(plan, i));
    return LN_OK;
}

// ---- Owners ----

typedef struct name_row {
    const char *name;
    uint32_t index;
} name_row;

static int by_name(const void *a, const void *b)
{
    const name_row *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static ln_status find_owners(checker *c, name_row *rows)
{
    const ln_plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->value_count; i++)
        rows[i] = (name_row){plan->values[i].name, i};
    qsort(rows, plan->value_count, sizeof *rows, by_name);
    for (size_t i = 1; i < plan->value_count; i++) {
        if (strcmp(rows[i - 1].name, rows[i].name) == 0)
            return LN_FAIL(LN_INVALID, "two values are called '%.200s'", rows[i].name);
    }
    for (uint32_t i = 0; i < plan->value_count; i++) {
        c->owners[i] = i;
        if (!plan->values[i].owner)
            continue;
        name_row wanted = {.name = plan->values[i].owner};
        const name_row *found = bsearch(&wanted, rows, plan->value_count, sizeof *rows, by_name);
        if (!found)
            return LN_FAIL(LN_INVALID, "the owner '%.200s' of '%.200s' is not in the plan",
                           wanted.name, plan->values[i].name);
        if (found->index == i)
            return LN_FAIL(LN_INVALID, "'%.200s' is its own owner", wanted.name);
        c->owners[i] = found->index;
    }
    return LN_OK;
}

// Walks up from each value to a known root, then down the same way to note it.
static ln_status find_roots(checker *c)
{
    size_t count = c->plan->value_count;
    for (uint32_t i = 0; i < count; i++)
        c->roots[i] = c->owners[i] == i ? i : NOBODY;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (size_t length = 0; c->roots[at] == NOBODY; length++) {
            if (length > count)
                return LN_FAIL(LN_INVALID, "the owners of '%.200s' lead round in a circle",
                               c->plan->values[i].name);
            at = c->owners[at];
        }
        uint32_t root = c->roots[at];
        for (at = i; c->roots[at] == NOBODY; at = c->owners[at])
            c->roots[at] = root;
    }
    return LN_OK;
}

static ln_status check_views(const checker *c)
{
    for (size_t i = 0; i < c->plan->value_count; i++) {
        const ln_plan_value *v = &c->plan->values[i], *owner = &c->plan->values[c->owners[i]];
        if (v == owner)
            continue;
        if (v->mtype != owner->mtype)
            return LN_FAIL(LN_INVALID, "'%.200s' is in %s, but its owner '%.200s' in %s", v->name,
                           ln_mem_type_name(v->mtype), owner->name, ln_mem_type_name(owner->mtype));
        if (!v->is_static != !owner->is_static || !v->is_load != !owner->is_load)
            return LN_FAIL(
                LN_INVALID, "'%.200s' and its owner '%.200s' are not both static or both not%s",
                v->name, owner->name, !v->is_load != !owner->is_load ? ", or not as long" : "");
        if (v->offset < owner->offset ||
            v->offset + v->byte_count > owner->offset + owner->byte_count)
            return LN_FAIL(LN_INVALID, PLAN_VALUE " is not inside its owner " PLAN_VALUE,
                           PLAN_VALUE_ARGS(v), PLAN_VALUE_ARGS(owner));
        const ln_plan_value *root = &c->plan->values[c->roots[i]];
        if (v->first_step < root->first_step || v->last_step > root->last_step)
            return LN_FAIL(LN_INVALID,
                           "'%.200s' lives from step %u to %u, '%.200s', whose memory it uses, "
                           "only from %u to %u",
                           v->name, v->first_step, v->last_step, root->name, root->first_step,
                           root->last_step);
    }
    return LN_OK;
}

static ln_status check_owners(checker *c)
{
    name_row *rows = ln_alloc_array(c->plan->value_count, sizeof *rows);
    if (!rows)
        return LN_NO_MEMORY;
    ln_status status = find_owners(c, rows);
    ln_free(rows);
    LN_TRY(status);
    LN_TRY(find_roots(c));
    return check_views(c);
}

// ---- Regions and totals ----

static ln_status check_totals_add_up(const ln_plan *plan, ln_mem_type mtype, bool is_used)
{
    const ln_plan_totals *t = &plan->totals[mtype];
    const char *name = ln_mem_type_name(mtype);
    size_t sum;
    if (!ln_size_add(t->static_byte_count, t->workspace_byte_count, &sum) ||
        sum != t->peak_byte_count)
        return LN_FAIL(LN_INVALID, "%s: %zu static and %zu workspace bytes are not the peak of %zu",
                       name, t->static_byte_count, t->workspace_byte_count, t->peak_byte_count);
    if (!is_used && sum != 0)
        return LN_FAIL(LN_INVALID, "%s has no values, but a peak of %zu bytes", name, sum);
    if (is_used && t->static_byte_count < ln_mem_type_align(mtype))
        return LN_FAIL(LN_INVALID,
                       "%s: %zu static bytes leave out the first %zu, which are reserved", name,
                       t->static_byte_count, ln_mem_type_align(mtype));
    return LN_OK;
}

static ln_status check_regions_of(const ln_plan *plan, ln_mem_type mtype)
{
    const ln_plan_totals *t = &plan->totals[mtype];
    bool is_used = false;
    for (size_t i = 0; i < plan->value_count && !is_used; i++)
        is_used = plan->values[i].mtype == mtype;
    LN_TRY(check_totals_add_up(plan, mtype, is_used));
    if (!is_used)
        return LN_OK;

    size_t align = ln_mem_type_align(mtype), static_end = align,
           workspace_end = t->static_byte_count;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        if (v->mtype != mtype || v->is_load)
            continue;
        size_t start = v->is_static ? align : t->static_byte_count;
        size_t end = v->is_static ? t->static_byte_count : t->peak_byte_count;
        size_t v_end = v->offset + v->byte_count;
        if (v->offset < start || v_end > end)
            return LN_FAIL(LN_INVALID, PLAN_VALUE " is outside the %s region [%zu, %zu) of %s",
                           PLAN_VALUE_ARGS(v), v->is_static ? "static" : "workspace", start, end,
                           ln_mem_type_name(mtype));
        size_t *used_end = v->is_static ? &static_end : &workspace_end;
        if (v->byte_count && v_end > *used_end)
            *used_end = v_end;
    }
    ln_size_align(static_end, align, &static_end);
    ln_size_align(workspace_end, align, &workspace_end);
    if (t->static_byte_count != static_end)
        return LN_FAIL(LN_INVALID, "%s: the static region has %zu bytes, its values end at %zu",
                       ln_mem_type_name(mtype), t->static_byte_count, static_end);
    if (t->peak_byte_count != workspace_end)
        return LN_FAIL(LN_INVALID, "%s: the peak is %zu bytes, the values end at %zu",
                       ln_mem_type_name(mtype), t->peak_byte_count, workspace_end);
    return LN_OK;
}

static ln_status check_load_region_of(const ln_plan *plan, ln_mem_type mtype)
{
    size_t total = plan->totals[mtype].load_byte_count, end = 0, align = ln_mem_type_align(mtype);
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        if (v->mtype != mtype || !v->is_load)
            continue;
        if (v->offset < align)
            return LN_FAIL(LN_INVALID, PLAN_VALUE " is in the first %zu bytes, which are reserved",
                           PLAN_VALUE_ARGS(v), align);
        if (v->byte_count && v->offset + v->byte_count > end)
            end = v->offset + v->byte_count;
    }
    ln_size_align(end, align, &end);
    if (total != end)
        return LN_FAIL(LN_INVALID, "%s: loading has %zu bytes, its values end at %zu",
                       ln_mem_type_name(mtype), total, end);
    return LN_OK;
}

static ln_status check_regions(const ln_plan *plan)
{
    for (int mtype = 0; mtype < LN_MEM_TYPE_SIZE; mtype++) {
        LN_TRY(check_regions_of(plan, (ln_mem_type)mtype));
        LN_TRY(check_load_region_of(plan, (ln_mem_type)mtype));
    }
    return LN_OK;
}

// ---- Lifetimes ----

static ln_status check_alive(const ln_plan_value *v, const ln_plan_step *step, uint32_t at,
                             const char *verb)
{
    if (v->first_step <= at && at <= v->last_step)
        return LN_OK;
    return LN_FAIL(LN_INVALID, PLAN_STEP " %s " PLAN_VALUE ", which lives from step %u to %u only",
                   at, step->op, verb, PLAN_VALUE_ARGS(v), v->first_step, v->last_step);
}

static ln_status check_lifetimes(const ln_plan *plan)
{
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *v = &plan->values[i];
        if (v->is_load)
            continue;
        if ((v->is_static || v->is_input) && v->first_step != 0)
            return LN_FAIL(LN_INVALID, "the %s '%.200s' lives from step %u on, not from the start",
                           v->is_static ? "static value" : "input", v->name, v->first_step);
        if ((v->is_static || v->is_input || v->is_output) && v->last_step != end_step(plan))
            return LN_FAIL(LN_INVALID, "the %s '%.200s' lives to step %u, not to the last, %u",
                           v->is_static  ? "static value"
                           : v->is_input ? "input"
                                         : "output",
                           v->name, v->last_step, end_step(plan));
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const ln_plan_step *step = &plan->steps[s];
        for (size_t k = 0; k < step->read_count; k++)
            LN_TRY(check_alive(&plan->values[step->reads[k]], step, s, "reads"));
        for (size_t k = 0; k < step->write_count; k++)
            LN_TRY(check_alive(&plan->values[step->writes[k]], step, s, "writes"));
    }
    return LN_OK;
}

// ---- Overlaps: sweep over the steps, with those alive ordered by offset ----

static int by_first_step(const void *a, const void *b)
{
    const ln_plan_value *x = *(const ln_plan_value *const *)a;
    const ln_plan_value *y = *(const ln_plan_value *const *)b;
    return x->first_step < y->first_step ? -1 : x->first_step > y->first_step;
}

static int by_last_step(const void *a, const void *b)
{
    const ln_plan_value *x = *(const ln_plan_value *const *)a;
    const ln_plan_value *y = *(const ln_plan_value *const *)b;
    return x->last_step < y->last_step ? -1 : x->last_step > y->last_step;
}

static bool is_below(const ln_plan_value *x, const ln_plan_value *y)
{
    int space_x = PLAN_SPACE(x), space_y = PLAN_SPACE(y);
    return space_x != space_y ? space_x < space_y : x->offset < y->offset;
}

// The first position in `alive` that is not below `v`.
static size_t lower_position(const ln_plan_value *const *alive, size_t count,
                             const ln_plan_value *v)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (is_below(alive[mid], v))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static ln_status check_apart(const ln_plan_value *low, const ln_plan_value *high)
{
    if (PLAN_SPACE(low) != PLAN_SPACE(high) || low->offset + low->byte_count <= high->offset)
        return LN_OK;
    uint32_t step = low->first_step > high->first_step ? low->first_step : high->first_step;
    return LN_FAIL(LN_INVALID,
                   PLAN_VALUE " and " PLAN_VALUE " of %s overlap and are both alive at step %u",
                   PLAN_VALUE_ARGS(low), PLAN_VALUE_ARGS(high), ln_mem_type_name(low->mtype), step);
}

static ln_status sweep(const ln_plan_value **starts, const ln_plan_value **ends, size_t count,
                       const ln_plan_value **alive)
{
    qsort(starts, count, sizeof *starts, by_first_step);
    qsort(ends, count, sizeof *ends, by_last_step);
    size_t alive_count = 0, ended = 0;
    for (size_t i = 0; i < count; i++) {
        const ln_plan_value *v = starts[i];
        for (; ends[ended]->last_step < v->first_step; ended++) {
            size_t at = lower_position(alive, alive_count--, ends[ended]);
            memmove(alive + at, alive + at + 1, (alive_count - at) * sizeof *alive);
        }
        size_t at = lower_position(alive, alive_count, v);
        if (at > 0)
            LN_TRY(check_apart(alive[at - 1], v));
        if (at < alive_count)
            LN_TRY(check_apart(v, alive[at]));
        memmove(alive + at + 1, alive + at, (alive_count++ - at) * sizeof *alive);
        alive[at] = v;
    }
    return LN_OK;
}

static ln_status check_overlaps(const checker *c)
{
    size_t value_count = c->plan->value_count, count = 0;
    const ln_plan_value **starts = ln_alloc_array(value_count, sizeof *starts);
    const ln_plan_value **ends = ln_alloc_array(value_count, sizeof *ends);
    const ln_plan_value **alive = ln_alloc_array(value_count, sizeof *alive);
    ln_status status = starts && ends && alive ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK) {
        for (size_t i = 0; i < value_count; i++) {
            if (c->roots[i] == i && c->plan->values[i].byte_count)
                starts[count++] = &c->plan->values[i];
        }
        memcpy(ends, starts, count * sizeof *ends);
        status = sweep(starts, ends, count, alive);
    }
    ln_free(alive);
    ln_free(ends);
    ln_free(starts);
    return status;
}

static ln_status run_checks(checker *c)
{
    LN_TRY(check_owners(c));
    LN_TRY(check_regions(c->plan));
    LN_TRY(check_lifetimes(c->plan));
    LN_TRY(check_overlaps(c));
    return ln_plan_replay(c->plan, c->roots);
}

ln_status ln_plan_check(const ln_plan *plan)
{
    if (!plan)
        return LN_FAIL(LN_INVALID, "there is no plan to check");
    LN_TRY(check_records(plan));

    checker c = {.plan = plan,
                 .owners = ln_alloc_array(plan->value_count, sizeof *c.owners),
                 .roots = ln_alloc_array(plan->value_count, sizeof *c.roots)};
    ln_status status = c.owners && c.roots ? run_checks(&c) : LN_NO_MEMORY;
    ln_free(c.roots);
    ln_free(c.owners);
    return status;
}
