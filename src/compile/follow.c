// SPDX-License-Identifier: Apache-2.0
// Leaving home for a run and coming back with the outputs.
//
//     home: inputs hold values  ->  plan for their shapes: values copied in, run  ->  home: outputs
//                                                                                     hold results
//
// All plans of a context share one workspace, so what inputs of fixed shape have is kept aside.

#include "compile/follow.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "compile/context_plan.h"
#include "compile/reshape.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/open.h"

// Constants of fewer bytes are not worth a plan for each shape.
#define MIN_STATIC_BYTES (256 << 10)

// ---- Which runs ----

static bool is_numeric(tl_dtype dtype)
{
    return dtype != TL_DTYPE_INVALID && dtype != TL_STRING && dtype != TL_OBJECT;
}

// An open one shows what it holds.
static bool can_move(const ln_tensor_entry *entry)
{
    return entry->mtype == LN_MEM_CPU && is_numeric(entry->tensor->dtype) &&
           (!entry->is_open || (entry->held && ln_object_tensor(entry->held)));
}

static bool has_plans(const ln_context *ctx)
{
    return ctx->plans && !ctx->graphs && ctx->plan_reuse != LN_PLAN_REUSE_NOTHING &&
           ctx->static_sizes[LN_MEM_CPU] >= MIN_STATIC_BYTES && ln_plans_are_as_loaded(ctx);
}

bool ln_follows(const ln_context *ctx)
{
    if (!has_plans(ctx))
        return false;
    bool is_any_open = false;
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        if (!can_move(input))
            return false;
        is_any_open = is_any_open || input->is_open;
    }
    return is_any_open;
}

bool ln_follows_always(const ln_context *ctx)
{
    if (!has_plans(ctx))
        return false;
    bool is_any_open = false;
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        if (input->mtype != LN_MEM_CPU || !is_numeric(ln_context_tensor_dtype(ctx, input->name)))
            return false;
        is_any_open = is_any_open || input->is_open;
    }
    return is_any_open;
}

// ---- Values that move ----

// The value of an input or output, while another plan is in use.
typedef struct value {
    ln_tensor_entry *entry; // at home
    ln_object *object;      // NULL: none
} value;

typedef struct journey {
    ln_context *ctx;
    value *inputs, *outputs;
    size_t input_count, output_count;
    ln_input_shape *shapes; // of open inputs
    size_t shape_count;
    struct ln_bound *bound;
    ln_meter *meter; // at home
} journey;

static void journey_deinit(journey *j)
{
    for (size_t i = 0; j->inputs && i < j->input_count; i++)
        ln_object_release(j->inputs[i].object);
    for (size_t i = 0; j->outputs && i < j->output_count; i++)
        ln_object_release(j->outputs[i].object);
    ln_free(j->inputs);
    ln_free(j->outputs);
    ln_free(j->shapes);
}

static ln_status take_input(journey *j, size_t i)
{
    value *v = &j->inputs[i];
    v->entry = (ln_tensor_entry *)(uintptr_t)ln_context_input(j->ctx, i);
    if (!v->entry->is_open) {
        v->object = ln_object_copy_tensor(v->entry->tensor, NULL);
        return v->object ? LN_OK : ln_error_status();
    }
    v->object = ln_object_retain(v->entry->held);
    const tl_tensor *held = ln_object_tensor(v->object);
    j->shapes[j->shape_count++] =
        (ln_input_shape){.tname = v->entry->name, .ndim = held->ndim, .dims = held->dims};
    return LN_OK;
}

static ln_status journey_init(journey *j, ln_context *ctx)
{
    *j = (journey){.ctx = ctx,
                   .meter = ctx->meter,
                   .input_count = ln_context_input_count(ctx),
                   .output_count = ln_context_output_count(ctx)};
    j->inputs = ln_alloc_array(j->input_count, sizeof *j->inputs);
    j->outputs = ln_alloc_array(j->output_count + 1, sizeof *j->outputs);
    j->shapes = ln_alloc_array(j->input_count, sizeof *j->shapes);
    if (!j->inputs || !j->outputs || !j->shapes)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < j->output_count; i++)
        j->outputs[i].entry = (ln_tensor_entry *)(uintptr_t)ln_context_output(ctx, i);
    for (size_t i = 0; i < j->input_count; i++)
        LN_TRY(take_input(j, i));
    return LN_OK;
}

// ---- There ----

static ln_status put_inputs(const journey *j)
{
    for (size_t i = 0; i < j->input_count; i++)
        LN_TRY(ln_context_set_object(j->ctx, j->inputs[i].entry->name, j->inputs[i].object));
    return LN_OK;
}

static ln_status take_output(const journey *j, value *v)
{
    const ln_tensor_entry *made = ln_tensor_table_find(j->ctx->tensor_table, v->entry->name);
    if (!made)
        return LN_FAIL(LN_INTERNAL, "output '%s' is not in the plan for these shapes",
                       v->entry->name);
    if (v->entry->isstatic)
        return LN_OK; // it has been there since loading
    if (!made->is_open && made->mtype == LN_MEM_CPU)
        v->object = ln_object_copy_tensor(made->tensor, j->meter);
    else
        (void)ln_context_get_object(j->ctx, v->entry->name, &v->object);
    return v->object ? LN_OK : ln_error_status();
}

static ln_status run_there(journey *j, ln_status (*run)(const ln_context *ctx))
{
    LN_TRY(put_inputs(j));
    LN_TRY(run(j->ctx));
    for (size_t i = 0; i < j->output_count; i++)
        LN_TRY(take_output(j, &j->outputs[i]));
    return LN_OK;
}

// ---- Home ----

static void put_back(const value *v)
{
    if (v->entry->isstatic)
        return;
    if (v->entry->is_open && v->object)
        ln_open_hold(v->entry, v->object);
    else if (v->entry->is_open)
        ln_open_drop(v->entry);
    else if (v->object)
        memcpy(v->entry->tensor->data, ln_object_tensor(v->object)->data,
               tl_tensor_size(v->entry->tensor));
}

static void unpack(const journey *j)
{
    for (size_t i = 0; i < j->input_count; i++)
        put_back(&j->inputs[i]);
    for (size_t i = 0; i < j->output_count; i++)
        put_back(&j->outputs[i]);
    ln_bound_resume(j->ctx, j->bound);
}

// What says more than that there is no plan for such shapes.
static bool is_fatal(ln_status status)
{
    return status == LN_NO_MEMORY || status == LN_TIMEOUT || status == LN_CANCELLED ||
           status == LN_LIMIT || status == LN_INTERNAL;
}

static ln_status stay(journey *j, ln_status reason, ln_status (*run)(const ln_context *ctx))
{
    if (j->ctx->state == LN_CONTEXT_LOADED)
        unpack(j);
    if (is_fatal(reason) || j->ctx->state != LN_CONTEXT_LOADED)
        return reason;
    ln_error_clear();
    return run(j->ctx);
}

static ln_status travel(journey *j, ln_status (*run)(const ln_context *ctx))
{
    j->bound = ln_bound_suspend(j->ctx);
    ln_status status = ln_plans_leave_home(j->ctx, j->shape_count, j->shapes);
    if (status != LN_OK)
        return stay(j, status, run);
    status = run_there(j, run);
    ln_error_state reason;
    ln_error_save(&reason);
    LN_TRY(ln_plans_go_home(j->ctx));
    unpack(j);
    ln_error_restore(&reason);
    return status;
}

ln_status ln_follow_run(ln_context *ctx, ln_status (*run)(const ln_context *ctx))
{
    journey j;
    ln_status status = journey_init(&j, ctx);
    if (status == LN_OK)
        status = travel(&j, run);
    journey_deinit(&j);
    return status;
}
