// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of a model.
//
// Who walks them asks for one after the other, in models that have tens of thousands; so they are
// listed when they are first asked for, and the list is dropped when the operators change. It holds
// places in the operators, not tensors, which come anew whenever an operator is checked again.

#include "ir/context.h"

#include <stdint.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"

typedef const ln_tensor_list_entry end; // names a tensor

struct ln_ends {
    const ln_list *ops; // the first, as it was
    end **inputs;
    end **outputs;
    size_t input_count;
    size_t output_count;
};

// ---- Finding them ----

// Calls `take` for each, in order, up to the first for which it returns 1.
typedef int take_end(end *found, void *user);

// What `output` operators name.
static void each_marked(const ln_context *ctx, take_end *take, void *user)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_is_type(op->op_arg, "output") && take(op->op_arg->tensors_in->data, user))
            return;
}

static int is_output(const ln_context *ctx, const ln_op *op, end *out)
{
    return !ln_op_is_scratch(op->op_arg, out->arg_name) && !ln_dfg_next(ctx->dfg, op, out->name);
}

static void each_end(const ln_context *ctx, int is_for_outputs, take_end *take, void *user)
{
    if (is_for_outputs && ctx->has_output) {
        each_marked(ctx, take, user);
        return;
    }
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!is_for_outputs && !ln_op_is_input(op->op_arg))
            continue;
        end *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            if ((!is_for_outputs || is_output(ctx, op, out)) && take(out, user))
                return;
    }
}

// ---- The list ----

typedef struct listing {
    end **ends; // NULL: they are only counted
    size_t count;
} listing;

static int list_end(end *found, void *user)
{
    listing *l = user;
    if (l->ends)
        l->ends[l->count] = found;
    l->count++;
    return 0;
}

static end **list_ends(const ln_context *ctx, int is_for_outputs, size_t *out_count)
{
    listing l = {0};
    each_end(ctx, is_for_outputs, list_end, &l);
    l.ends = ln_alloc_array(l.count + 1, sizeof *l.ends);
    l.count = 0;
    if (l.ends)
        each_end(ctx, is_for_outputs, list_end, &l);
    *out_count = l.count;
    return l.ends;
}

void ln_context_forget_ends(ln_context *ctx)
{
    if (ctx->ends) {
        ln_free(ctx->ends->inputs);
        ln_free(ctx->ends->outputs);
    }
    ln_free(ctx->ends);
    ctx->ends = NULL;
}

static int list_both(ln_context *ctx)
{
    ctx->ends = ln_alloc(sizeof *ctx->ends);
    if (!ctx->ends)
        return 0;
    ctx->ends->ops = ctx->ops;
    ctx->ends->inputs = list_ends(ctx, 0, &ctx->ends->input_count);
    ctx->ends->outputs = list_ends(ctx, 1, &ctx->ends->output_count);
    return ctx->ends->inputs && ctx->ends->outputs;
}

// NULL when memory is gone, which is no failure of who asks.
static const struct ln_ends *ends_of(const ln_context *ctx)
{
    if (ctx->ends && ctx->ends->ops == ctx->ops)
        return ctx->ends;
    ln_context *kept = (ln_context *)(uintptr_t)ctx; // the list is no part of what it is
    ln_error_state state;
    ln_error_save(&state);
    ln_context_forget_ends(kept);
    if (!list_both(kept))
        ln_context_forget_ends(kept);
    ln_error_restore(&state);
    return kept->ends;
}

// ---- Without the list ----

typedef struct search {
    size_t left;
    end *found;
} search;

static int pass_end(end *found, void *user)
{
    search *s = user;
    s->found = found;
    return s->left-- == 0;
}

static end *search_end(const ln_context *ctx, int is_for_outputs, size_t index)
{
    search s = {.left = index};
    each_end(ctx, is_for_outputs, pass_end, &s);
    return s.left == SIZE_MAX ? s.found : NULL;
}

static size_t count_ends(const ln_context *ctx, int is_for_outputs)
{
    listing l = {0};
    each_end(ctx, is_for_outputs, list_end, &l);
    return l.count;
}

// ---- Asking ----

static const ln_tensor_entry *end_tensor(const ln_context *ctx, int is_for_outputs, size_t index)
{
    if (!ctx)
        return NULL;
    const struct ln_ends *ends = ends_of(ctx);
    end *found = NULL;
    if (!ends)
        found = search_end(ctx, is_for_outputs, index);
    else if (index < (is_for_outputs ? ends->output_count : ends->input_count))
        found = (is_for_outputs ? ends->outputs : ends->inputs)[index];
    return found ? ln_tensor_table_find(ctx->tensor_table, found->name) : NULL;
}

size_t ln_context_input_count(const ln_context *ctx)
{
    const struct ln_ends *ends = ctx ? ends_of(ctx) : NULL;
    if (ends)
        return ends->input_count;
    return ctx ? count_ends(ctx, 0) : 0;
}

const ln_tensor_entry *ln_context_input(const ln_context *ctx, size_t index)
{
    return end_tensor(ctx, 0, index);
}

size_t ln_context_output_count(const ln_context *ctx)
{
    const struct ln_ends *ends = ctx ? ends_of(ctx) : NULL;
    if (ends)
        return ends->output_count;
    return ctx ? count_ends(ctx, 1) : 0;
}

const ln_tensor_entry *ln_context_output(const ln_context *ctx, size_t index)
{
    return end_tensor(ctx, 1, index);
}

// ---- Checking ----

ln_status ln_context_check_ends(const ln_context *ctx)
{
    if (!ctx->ends || ctx->ends->ops != ctx->ops)
        return LN_OK;
    for (int is_for_outputs = 0; is_for_outputs < 2; is_for_outputs++) {
        end **known = is_for_outputs ? ctx->ends->outputs : ctx->ends->inputs;
        size_t known_count = is_for_outputs ? ctx->ends->output_count : ctx->ends->input_count;
        size_t count;
        end **ends = list_ends(ctx, is_for_outputs, &count);
        if (!ends)
            return LN_NO_MEMORY;
        int is_same = count == known_count;
        for (size_t i = 0; i < count && is_same; i++)
            is_same = ends[i] == known[i];
        ln_free(ends);
        if (!is_same)
            return LN_FAIL(LN_INTERNAL, "the list of inputs and outputs is out of date");
    }
    return LN_OK;
}
