// SPDX-License-Identifier: Apache-2.0
// Contexts change the shapes of their inputs.

#include <lightnet/context.h>

#include <lightnet/allocator.h>

#include "compile/instance.h"
#include "ir/phase.h"
#include "program/face.h"

static ln_status fail_shape(const ln_input_shape *shape)
{
    char text[LN_SHAPE_TEXT_BYTES] = "no dimensions";
    if (shape->ndim >= 0 && shape->ndim <= TL_MAXDIM && shape->dims)
        ln_sprint_shape(text, sizeof text, shape->ndim, shape->dims);
    return LN_FAIL(LN_INVALID,
                   "input '%s' cannot have rank %d with %s: a rank is 0 to %d, a dimension 0 or "
                   "more, and all elements at most %d",
                   shape->tname, shape->ndim, text, TL_MAXDIM, INT32_MAX);
}

static ln_status check_names(const ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    for (size_t k = 0; k < count; k++) {
        const ln_tensor_entry *entry = NULL;
        size_t i = 0;
        while ((entry = ln_context_input(ctx, i++)) && !ln_streq(entry->name, shapes[k].tname))
            ;
        if (!entry)
            return LN_FAIL(LN_NOT_FOUND, "the model has no input '%s'",
                           shapes[k].tname ? shapes[k].tname : "(null)");
        int len;
        if (shapes[k].ndim < 0 || (shapes[k].ndim > 0 && !shapes[k].dims) ||
            !tl_shape_len(shapes[k].ndim, shapes[k].dims, &len))
            return fail_shape(&shapes[k]);
        for (size_t earlier = 0; earlier < k; earlier++)
            if (ln_streq(shapes[earlier].tname, shapes[k].tname))
                return LN_FAIL(LN_INVALID, "input '%s' is given two shapes in one call",
                               entry->name);
    }
    return LN_OK;
}

// An input of any kind has no shape of its own to compare.
static bool has_shape(const ln_tensor_entry *input, const ln_input_shape *shape)
{
    const tl_tensor *now = input->tensor;
    bool is_same = !input->is_open && now->ndim == shape->ndim;
    for (int d = 0; is_same && d < now->ndim; d++)
        is_same = now->dims[d] == shape->dims[d];
    return is_same;
}

static bool has_shapes(const ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    for (size_t k = 0; k < count; k++)
        if (!has_shape(ln_tensor_table_find(ctx->tensor_table, shapes[k].tname), &shapes[k]))
            return false;
    return true;
}

static ln_status change(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    size_t all_count;
    ln_input_shape *all;
    ln_face *face;
    LN_TRY(ln_face_need(ctx, &face));
    ln_face_end_session(face); // its memory is within the limit, too
    LN_TRY(ln_face_list_shapes(ctx, count, shapes, &all_count, &all));
    ln_status status = ln_instances_change(face->instances, all_count, all, count, shapes);
    ln_free(all);
    return status;
}

static ln_status reshape(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    if (!ctx || (count > 0 && !shapes))
        return LN_FAIL(LN_INVALID, "no context, or no shapes");
    if (ctx->state == LN_CONTEXT_EMPTY)
        return LN_FAIL(LN_STATE, "the context holds no model");
    LN_TRY(check_names(ctx, count, shapes));
    if (ctx->state == LN_CONTEXT_READY)
        return ln_context_set_shapes(ctx, count, shapes);
    if (has_shapes(ctx, count, shapes))
        return LN_OK;
    if (!ctx->plans)
        return LN_FAIL(LN_STATE, "the inputs of this model have fixed shapes, or it was compiled "
                                 "elsewhere: its shapes cannot change");
    if (ctx->failover)
        LN_TRY(ln_context_reshape(ctx->failover, count, shapes));
    return ctx->state == LN_CONTEXT_LOADED ? change(ctx, count, shapes)
                                           : ln_plans_replan(ctx, count, shapes);
}

ln_status ln_context_reshape(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, reshape(ctx, count, shapes));
}
