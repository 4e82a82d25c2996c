// SPDX-License-Identifier: Apache-2.0
// The budget of memory. A refusal names what to change: the largest tensors where the plan peaks.

#include "compile/budget.h"

#include <stdio.h>

#include <lightnet/allocator.h>

#define NAMED 3 // tensors in the message

static int is_own_workspace(const ln_plan_value *value, ln_mem_type mtype)
{
    return value->mtype == mtype && !value->owner && !value->is_static;
}

// The step at which most bytes are alive; 0 if memory is short, for then any will do.
static uint32_t find_peak(const ln_plan *plan, ln_mem_type mtype)
{
    double *changes = ln_alloc_array(plan->step_count + 1, sizeof *changes);
    if (!changes)
        return 0;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *value = &plan->values[i];
        if (!is_own_workspace(value, mtype) || value->last_step >= plan->step_count)
            continue;
        changes[value->first_step] += (double)value->byte_count;
        changes[value->last_step + 1] -= (double)value->byte_count;
    }
    double live = 0, most = 0;
    uint32_t peak = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        live += changes[s];
        if (live > most) {
            most = live;
            peak = s;
        }
    }
    ln_free(changes);
    return peak;
}

// The largest values alive at `step`, largest first; returns how many.
static size_t find_largest(const ln_plan *plan, ln_mem_type mtype, uint32_t step,
                           const ln_plan_value *out_largest[NAMED])
{
    size_t count = 0;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *value = &plan->values[i];
        if (!is_own_workspace(value, mtype) || value->first_step > step || value->last_step < step)
            continue;
        size_t place = count < NAMED ? count++ : NAMED;
        for (; place > 0 && out_largest[place - 1]->byte_count < value->byte_count; place--) {
            if (place < NAMED)
                out_largest[place] = out_largest[place - 1];
        }
        if (place < NAMED)
            out_largest[place] = value;
    }
    return count;
}

static void print_largest(const ln_plan *plan, ln_mem_type mtype, char *buf, size_t size)
{
    const ln_plan_value *largest[NAMED];
    uint32_t step = find_peak(plan, mtype);
    size_t count = find_largest(plan, mtype, step, largest), used = 0;
    buf[0] = '\0';
    if (count > 0)
        used = (size_t)snprintf(buf, size, "; it peaks at operator '%.64s' with",
                                plan->steps[step].op);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s '%.64s' (%zu bytes)", i ? "," : "",
                                 largest[i]->name, largest[i]->byte_count);
}

static ln_status check_load(const ln_plan_totals *totals, ln_mem_type mtype, size_t byte_count)
{
    if (totals->static_byte_count <= byte_count &&
        totals->load_byte_count <= byte_count - totals->static_byte_count)
        return LN_OK;
    // A double, as the sum may wrap.
    return LN_FAIL(LN_LIMIT,
                   "the model needs %.0f bytes of %s while it is loaded (static %zu, loading %zu), "
                   "the limit is %zu; raise it (`--budget=%.0f`, or `ln_limits` in a program)",
                   (double)totals->static_byte_count + (double)totals->load_byte_count,
                   ln_mem_type_title(mtype), totals->static_byte_count, totals->load_byte_count,
                   byte_count, (double)totals->static_byte_count + (double)totals->load_byte_count);
}

ln_status ln_plan_check_budget(const ln_plan *plan, size_t byte_count)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        if (totals->peak_byte_count <= byte_count) {
            LN_TRY(check_load(totals, (ln_mem_type)m, byte_count));
            continue;
        }
        char largest[512];
        print_largest(plan, (ln_mem_type)m, largest, sizeof largest);
        return LN_FAIL(LN_LIMIT,
                       "the model needs %zu bytes of %s (static %zu, workspace %zu), the limit is "
                       "%zu%s; take a smaller input, or raise the limit (`--budget=%zu`, or "
                       "`ln_limits` in a program)",
                       totals->peak_byte_count, ln_mem_type_title((ln_mem_type)m),
                       totals->static_byte_count, totals->workspace_byte_count, byte_count, largest,
                       totals->peak_byte_count);
    }
    return LN_OK;
}
