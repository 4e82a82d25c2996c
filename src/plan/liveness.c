// SPDX-License-Identifier: Apache-2.0
// Liveness: one forward walk over the steps, then views lend their lifetime to their root.
//
// An in-place step needs nothing special: its output is a view of its input, so that the memory
// lives as long as both. Whether nobody reads the input later is a question for whoever decides
// to work in place.

#include "plan/liveness.h"

#include <string.h>

#include <lightnet/allocator.h>

#define NEVER UINT32_MAX

static const char *name_of(const ln_live_value *values, size_t i)
{
    return values[i].name ? values[i].name : "";
}

static const char *op_of(const ln_plan_step *step)
{
    return step->op ? step->op : "";
}

// Replaces each `root` by the end of its chain. Chains are shortened on the way, so that the work
// is linear in practice; a chain longer than the number of values is a cycle.
static ln_status resolve_roots(ln_live_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i].root >= count)
            return LN_FAIL(LN_INVALID, "value %zu '%s' views value %u of %zu", i,
                           name_of(values, i), values[i].root, count);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t root = values[i].root;
        for (size_t length = 0; values[root].root != root; length++) {
            if (length > count)
                return LN_FAIL(LN_INVALID, "value %zu '%s' is a view of itself", i,
                               name_of(values, i));
            root = values[root].root;
        }
        for (uint32_t k = (uint32_t)i, next; values[k].root != root; k = next) {
            next = values[k].root;
            values[k].root = root;
        }
    }
    return LN_OK;
}

static ln_status check_flags(const ln_live_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ln_live_value *v = &values[i];
        if (v->is_scratch && (v->is_input || v->is_output || v->is_static || v->root != i))
            return LN_FAIL(LN_INVALID,
                           "scratch value %zu '%s' is an input, output, static value or view too",
                           i, name_of(values, i));
        if (v->is_input && v->is_static)
            return LN_FAIL(LN_INVALID, "value %zu '%s' is an input and static", i,
                           name_of(values, i));
        if (v->is_static != values[v->root].is_static)
            return LN_FAIL(LN_INVALID, "value %zu '%s' views '%s', but only one of them is static",
                           i, name_of(values, i), name_of(values, v->root));
    }
    return LN_OK;
}

static void touch(ln_live_value *v, uint32_t step)
{
    if (v->first_step == NEVER || step < v->first_step)
        v->first_step = step;
    if (v->last_step == NEVER || step > v->last_step)
        v->last_step = step;
}

static ln_status walk_reads(ln_live_value *values, size_t count, const ln_plan_step *step,
                            uint32_t at, const bool *is_written)
{
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t i = step->reads[k];
        if (i >= count)
            return LN_FAIL(LN_INVALID, "step %u '%s' reads value %u of %zu", at, op_of(step), i,
                           count);
        ln_live_value *v = &values[i];
        if (v->is_scratch)
            return LN_FAIL(LN_INVALID, "step %u '%s' reads the scratch value %u '%s'", at,
                           op_of(step), i, name_of(values, i));
        // Static values may be filled outside of the steps.
        if (!is_written[i] && !v->is_input && !v->is_static)
            return LN_FAIL(LN_INVALID, "step %u '%s' reads value %u '%s' before it is written", at,
                           op_of(step), i, name_of(values, i));
        touch(v, at);
    }
    return LN_OK;
}

static ln_status walk_writes(ln_live_value *values, size_t count, const ln_plan_step *step,
                             uint32_t at, bool *is_written)
{
    for (size_t k = 0; k < step->write_count; k++) {
        uint32_t i = step->writes[k];
        if (i >= count)
            return LN_FAIL(LN_INVALID, "step %u '%s' writes value %u of %zu", at, op_of(step), i,
                           count);
        ln_live_value *v = &values[i];
        if (is_written[i])
            return LN_FAIL(LN_INVALID, "step %u '%s' writes value %u '%s' a second time", at,
                           op_of(step), i, name_of(values, i));
        if (v->is_input)
            return LN_FAIL(LN_INVALID, "step %u '%s' writes the input %u '%s'", at, op_of(step), i,
                           name_of(values, i));
        is_written[i] = true;
        touch(v, at);
    }
    return LN_OK;
}

static ln_status walk_steps(ln_live_value *values, size_t count, const ln_plan_step *steps,
                            size_t step_count, bool *is_written)
{
    for (size_t s = 0; s < step_count; s++) {
        if ((steps[s].read_count && !steps[s].reads) || (steps[s].write_count && !steps[s].writes))
            return LN_FAIL(LN_INVALID, "step %zu '%s' has a count without a list", s,
                           op_of(&steps[s]));
        LN_TRY(walk_reads(values, count, &steps[s], (uint32_t)s, is_written));
        LN_TRY(walk_writes(values, count, &steps[s], (uint32_t)s, is_written));
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_written[i] && !values[i].is_input && !values[i].is_static)
            return LN_FAIL(LN_INVALID, "value %zu '%s' is never written", i, name_of(values, i));
    }
    return LN_OK;
}

static void extend_lifetimes(ln_live_value *values, size_t count, uint32_t end)
{
    for (size_t i = 0; i < count; i++) {
        ln_live_value *v = &values[i];
        if (v->is_input || v->is_static)
            touch(v, 0);
        if (v->is_input || v->is_static || v->is_output)
            touch(v, end);
    }
    for (size_t i = 0; i < count; i++) {
        touch(&values[values[i].root], values[i].first_step);
        touch(&values[values[i].root], values[i].last_step);
    }
}

ln_status ln_plan_liveness(ln_live_value *values, size_t value_count, const ln_plan_step *steps,
                           size_t step_count)
{
    if ((value_count && !values) || (step_count && !steps))
        return LN_FAIL(LN_INVALID, "liveness of %zu values and %zu steps needs both lists",
                       value_count, step_count);
    if (value_count >= NEVER || step_count >= NEVER)
        return LN_FAIL(LN_LIMIT, "%zu values and %zu steps are too many", value_count, step_count);

    bool *is_written = ln_alloc_array(value_count, sizeof *is_written);
    ln_live_value *result = ln_alloc_array(value_count, sizeof *result);
    ln_status status = is_written && result ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK && value_count) {
        memcpy(result, values, value_count * sizeof *result);
        for (size_t i = 0; i < value_count; i++)
            result[i].first_step = result[i].last_step = NEVER;
        status = resolve_roots(result, value_count);
    }
    if (status == LN_OK)
        status = check_flags(result, value_count);
    if (status == LN_OK)
        status = walk_steps(result, value_count, steps, step_count, is_written);
    if (status == LN_OK && value_count) {
        extend_lifetimes(result, value_count, step_count ? (uint32_t)step_count - 1 : 0);
        memcpy(values, result, value_count * sizeof *result);
    }
    ln_free(result);
    ln_free(is_written);
    return status;
}
