// SPDX-License-Identifier: Apache-2.0
// Compiling: the passes, then the memory plan.

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/optimize.h>

#include "base/sized.h"
#include "compile/context_device.h"
#include "compile/context_plan.h"
#include "compile/failover.h"
#include "compile/limits.h"
#include "compile/reshape.h"
#include "compile/tune.h"
#include "ir/compiled.h"
#include "ir/context.h"
#include "ir/graph_order.h"
#include "ir/op_life.h"
#include "ir/phase.h"
#include "ir/symbols.h"
#include "pass/firing.h"
#include "pass/pass.h"

static ln_status check_ready(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state == LN_CONTEXT_EMPTY)
        return LN_FAIL(LN_STATE, "the context holds no model to compile");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "the model is compiled already");
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        LN_TRY(ln_op_check_waiting(op));
    return LN_OK;
}

static ln_status rewrite(ln_context *ctx, const char *target, const ln_optimize_options *options)
{
    ln_compilation compilation;
    ln_status status = ln_compilation_init(&compilation, ctx, target, options);
    compilation.tune = options && options->tunes ? ln_tune : NULL;
    if (status == LN_OK)
        status = ln_passes_run(&compilation);
    if (status == LN_OK && !compilation.is_rechecked)
        status = ln_context_rerun_ops(ctx);
    ln_compilation_deinit(&compilation);
    return status;
}

ln_status ln_context_optimize_with_sized(ln_context *ctx, const char *target,
                                         const ln_optimize_options *options, size_t byte_count)
{
    LN_TRY(check_ready(ctx));
    ln_optimize_options whole;
    LN_TRY(ln_optimize_options_read(options, byte_count, &whole));
    return rewrite(ctx, target, &whole);
}

// For programs that were linked before the structure's size came along, as is its like below.
ln_status(ln_context_optimize_with)(ln_context *ctx, const char *target,
                                    const ln_optimize_options *options)
{
    return ln_context_optimize_with_sized(ctx, target, options,
                                          LN_SIZE_UP_TO(ln_optimize_options, avoids_winograd));
}

static ln_plan_reuse reuse_of(const ln_optimize_options *options)
{
    if (options && (options->keeps_tensors || options->stays_as_read))
        return LN_PLAN_REUSE_NOTHING;
    return options && options->freezes_constants ? LN_PLAN_REUSE_CONSTANTS : LN_PLAN_REUSE_ALL;
}

static ln_status compile_graph(ln_context *graph, const char *target,
                               const ln_optimize_options *options)
{
    // Planned by an attempt that failed later.
    if (graph->state == LN_CONTEXT_PLANNED)
        return LN_OK;
    LN_TRY(ln_context_compile_with(graph, target, options));
    ln_context_note_random(graph); // operators without readers may be gone
    return LN_OK;
}

// Inner ones first: an operator is lowered once it is known whether its graphs are random.
static ln_status compile_graphs(ln_context *ctx, const char *target,
                                const ln_optimize_options *options)
{
    ln_named_graph *graphs;
    size_t count;
    LN_TRY(ln_graph_order_create(ctx, &graphs, &count));
    ln_status status = LN_OK;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = compile_graph(graphs[i].graph, target, options);
    ln_free(graphs);
    return status;
}

static ln_status add_memory(ln_context *graph, void *user)
{
    double *byte_counts = user;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        byte_counts[m] += (double)graph->mem_sizes[m];
    return LN_OK;
}

// Each plan is within the limit, but all graphs have their memory at once.
static ln_status check_sum(ln_context *ctx)
{
    if (!ctx->graphs)
        return LN_OK;
    double byte_counts[LN_MEM_TYPE_SIZE] = {0}, most = 0;
    (void)add_memory(ctx, byte_counts);
    LN_TRY(ln_context_each_graph(ctx, add_memory, byte_counts));
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        most = byte_counts[m] > most ? byte_counts[m] : most;
    if (most <= (double)ctx->limits.memory_byte_count)
        return LN_OK;
    ln_context_forget_plan(ctx);
    ctx->state = LN_CONTEXT_READY;
    return LN_FAIL(LN_LIMIT,
                   "the model needs %.0f bytes together with its graphs, the limit is %zu", most,
                   ctx->limits.memory_byte_count);
}

ln_status ln_context_plan_once(ln_context *ctx, const char *target,
                               const ln_optimize_options *options)
{
    LN_TRY(ln_context_check_limits(ctx));
    LN_TRY(ln_context_plan_memory(ctx, target, reuse_of(options)));
    ln_status status = ln_context_check_first_run(ctx);
    if (status != LN_OK) {
        ln_context_forget_plan(ctx);
        ctx->state = LN_CONTEXT_READY;
        return status;
    }
    return check_sum(ctx);
}

ln_status ln_context_rewrite_once(ln_context *ctx, const char *target,
                                  const ln_optimize_options *options)
{
    ln_skips own = {0}; // numbers of inner graphs, unless the caller keeps them
    const bool is_alone = !ctx->outer && !ctx->skips;
    if (is_alone)
        ctx->skips = &own;
    ln_status status = compile_graphs(ctx, target, options);
    if (status == LN_OK)
        status = ln_context_optimize_with(ctx, target, options);
    if (is_alone)
        ctx->skips = NULL;
    return status;
}

ln_status ln_context_compile_once(ln_context *ctx, const char *target,
                                  const ln_optimize_options *options)
{
    LN_TRY(ln_context_rewrite_once(ctx, target, options));
    return ln_context_plan_once(ctx, target, options);
}

static ln_status compile_model(ln_context *ctx, const char *target,
                               const ln_optimize_options *options)
{
    struct ln_plans *plans;
    LN_TRY(ln_plans_begin(ctx, target, options, &plans));
    ln_status status = plans ? ln_plans_compile(plans, ctx, options)
                             : ln_context_compile_once(ctx, target, options);
    if (status != LN_OK)
        ln_plans_abandon(plans);
    else if (plans)
        ctx->plans = plans;
    return status;
}

static void forget_compiled(ln_context *ctx)
{
    ln_plans_abandon(ctx->plans);
    ctx->plans = NULL;
    ln_context_forget_plan(ctx);
    ctx->state = LN_CONTEXT_READY;
}

static ln_status compile_with(ln_context *ctx, const char *target,
                              const ln_optimize_options *options)
{
    LN_TRY(check_ready(ctx));
    LN_TRY(ln_symbols_check(ctx));
    ctx->had_missing = ctx->had_missing || ln_context_missing(ctx, 0);
    ln_context *failover;
    LN_TRY(ln_failover_compile(ctx, target, options, &failover)); // before it is rewritten
    ln_status status = compile_model(ctx, target, options);
    if (status != LN_OK) {
        ln_context_free(failover);
        return status;
    }
    status = ln_failover_attach(ctx, failover);
    if (status != LN_OK)
        forget_compiled(ctx);
    return status;
}

ln_status ln_context_compile_with_sized(ln_context *ctx, const char *target,
                                        const ln_optimize_options *options, size_t byte_count)
{
    ln_optimize_options whole;
    LN_TRY(ln_optimize_options_read(options, byte_count, &whole));
    char *of_devices = NULL;
    if (!target && ctx)
        LN_TRY(ln_context_target_of_devices(ctx, &of_devices));
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    ln_status status = compile_with(ctx, of_devices ? of_devices : target, &whole);
    ln_free(of_devices);
    return ln_phase_end(&phase, status);
}

static ln_status bind_as_read(ln_context *model, const ln_compiled *compiled)
{
    for (size_t i = 0; i < compiled->shape_count; i++) {
        const ln_compiled_shape *shape = &compiled->shapes[i];
        LN_TRY(ln_context_set_shape(model, shape->name, shape->ndim, shape->dims));
    }
    for (size_t i = 0; i < compiled->range_count; i++) {
        const ln_compiled_range *range = &compiled->ranges[i];
        LN_TRY(ln_context_set_range(model, range->symbol, range->from, range->to));
    }
    return LN_OK;
}

ln_status ln_context_compile_as_read(ln_context *model)
{
    ln_compiled *compiled = model->compiled;
    ln_optimize_options options = ln_optimize_options_default();
#define OPTION(name) options.name = compiled->options.name;
    LN_FILE_OPTIONS(OPTION)
#undef OPTION
    model->compiled = NULL;
    ln_status status = bind_as_read(model, compiled);
    if (status == LN_OK)
        status = ln_context_compile_with(model, compiled->target, &options);
    ln_compiled_destroy(compiled);
    return status;
}

ln_status(ln_context_compile_with)(ln_context *ctx, const char *target,
                                   const ln_optimize_options *options)
{
    return ln_context_compile_with_sized(ctx, target, options,
                                         LN_SIZE_UP_TO(ln_optimize_options, avoids_winograd));
}

ln_status ln_context_optimize(ln_context *ctx, const char *target, const char *passes)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    return ln_context_optimize_with(ctx, target, &options);
}

ln_status ln_context_compile(ln_context *ctx, const char *target)
{
    return ln_context_compile_with(ctx, target, NULL);
}
