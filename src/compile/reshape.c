// SPDX-License-Identifier: Apache-2.0
// Plans of a compiled model for other shapes of its inputs.
//
// Compiling rewrites the operators, so a context whose inputs have dynamic dimensions keeps the
// model as it was read and how it was compiled, the source of plans, which its clones and programs
// share. So they do constants: what one plan has packed is in memory once (constants.h).
//
// Plans that are loaded are kept by `program/`. Here are the memory of the plan that the context
// has, and the plans for others.

#include <lightnet/context.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>

#include "base/checked.h"
#include "compile/context_plan.h"
#include "compile/exchange.h"
#include "compile/instance.h"
#include "compile/plan_source.h"
#include "compile/reshape.h"
#include "compile/runner.h"
#include "ir/context.h"
#include "ir/open.h"
#include "pass/place.h"

typedef struct shape_plans {
    struct ln_plans base;
    ln_plan_source *source;
    bool has_few_constants; // so that each plan may have its own
    // Of the plan that the context has, when it was loaded.
    unsigned constants_version, params_version;
    ln_instance_constants *constants; // of plans for other shapes; NULL: it is not loaded
    ln_memory *workspace;             // of the plan in use; those that are not may keep windows
} shape_plans;

// ---- Memory ----

static void drop_follower(struct ln_plans *base)
{
    if (base->follower)
        base->follower->destroy(base->follower);
    base->follower = NULL;
}

static void forget_constants(shape_plans *p)
{
    ln_instance_constants_release(p->constants);
    p->constants = NULL;
}

static void unload(struct ln_plans *base, ln_context *ctx)
{
    shape_plans *p = (shape_plans *)base;
    drop_follower(base);
    if (ctx)
        ctx->constants = NULL;
    forget_constants(p);
    ln_memory_release(p->workspace);
    p->workspace = NULL;
}

// What a plan needs and, so that lengths that grow by one do not each move it, a quarter more than
// there was, if the limit allows that.
static void find_workspace_sizes(const shape_plans *p, const ln_context *ctx,
                                 size_t sizes[LN_MEM_TYPE_SIZE])
{
    const ln_range *range = ln_plan_source_range(p->source);
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        size_t need = ctx->mem_sizes[m] - ctx->static_sizes[m];
        if (range) {
            sizes[m] = ln_range_workspace(range)[m];
            continue;
        }
        size_t had = ln_memory_size(p->workspace, (ln_mem_type)m), more = had + had / 4;
        size_t limit = ctx->limits.memory_byte_count;
        size_t most = limit > ctx->static_sizes[m] ? limit - ctx->static_sizes[m] : 0;
        more = more < most ? more : most;
        sizes[m] = ln_size_align(more, LN_MEM_ALIGN, &more) && had > 0 && more > need ? more : need;
    }
}

static ln_status need_workspace(shape_plans *p, const ln_context *ctx)
{
    if (ln_memory_has_room(p->workspace, ctx->static_sizes, ctx->mem_sizes))
        return LN_OK;
    size_t sizes[LN_MEM_TYPE_SIZE];
    ln_memory *workspace;
    find_workspace_sizes(p, ctx, sizes);
    LN_TRY(ln_memory_create(ctx->devices, NULL, sizes, &workspace));
    ln_memory_release(p->workspace);
    p->workspace = workspace;
    return LN_OK;
}

static ln_status allocate(struct ln_plans *base, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace)
{
    shape_plans *p = (shape_plans *)base;
    *out_workspace = NULL;
    if (!p->constants)
        LN_TRY(ln_instance_constants_create(&p->constants));
    LN_TRY(ln_memory_create(ctx->devices, NULL, ctx->static_sizes, out_statics));
    ln_status status = need_workspace(p, ctx);
    if (status == LN_OK)
        status =
            ln_memory_create_window(p->workspace, ctx->static_sizes, ctx->mem_sizes, out_workspace);
    if (status != LN_OK) {
        ln_memory_release(*out_statics);
        *out_statics = NULL;
        return status;
    }
    ln_plans_note_loaded(ctx);
    return LN_OK;
}

// ---- Plans for shapes ----

static bool is_as_loaded(const shape_plans *p, const ln_context *ctx)
{
    return p->constants_version == ctx->constants_version &&
           p->params_version == ctx->params_version;
}

static size_t workspace_of(const ln_context *plan, int m)
{
    return plan->mem_sizes[m] - plan->static_sizes[m];
}

// Whether a plan is within what was said of its range; NULL: it has none.
static bool is_in_workspace(const ln_range *range, const ln_context *plan)
{
    for (int m = 0; range && m < LN_MEM_TYPE_SIZE; m++)
        if (workspace_of(plan, m) > ln_range_workspace(range)[m])
            return false;
    return true;
}

static ln_status fail_in_range(const ln_range *range, const ln_context *plan)
{
    int m = 0;
    while (workspace_of(plan, m) <= ln_range_workspace(range)[m])
        m++;
    return LN_FAIL(LN_LIMIT,
                   "these shapes need %zu bytes of workspace, the plan for the range has %zu; "
                   "compile the model for a smaller range",
                   workspace_of(plan, m), ln_range_workspace(range)[m]);
}

// As ln_plan_source_make; LN_INVALID if the shapes are not in range.
static ln_status make_in_range(const shape_plans *p, const ln_plan_request *request,
                               ln_context **out_plan)
{
    const ln_range *range = ln_plan_source_range(p->source);
    *out_plan = NULL;
    if (range)
        LN_TRY(ln_range_check(range, ln_plan_source_model(p->source), request->count,
                              request->shapes));
    LN_TRY(ln_plan_source_make(p->source, request, out_plan));
    if (is_in_workspace(range, *out_plan))
        return LN_OK;
    // Where some tensor is larger than in all shapes that were looked at, others may be smaller:
    // the shape has a plan of its own.
    ln_context_free(*out_plan);
    *out_plan = NULL;
    LN_TRY(ln_plan_source_make_alone(p->source, request, out_plan));
    if (is_in_workspace(range, *out_plan))
        return LN_OK;
    ln_status status = fail_in_range(range, *out_plan);
    ln_context_free(*out_plan);
    *out_plan = NULL;
    return status;
}

// ---- Instances of a program ----

// Plans of a model with graphs inside share no constants, and each takes a compilation.
#define MAX_GRAPH_CONSTANTS (16 << 20)

static ln_status add_constants(ln_context *ctx, void *user)
{
    size_t *sum = user, cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (entry->isstatic && !entry->is_input && !entry->owner)
            *sum += tl_tensor_size(entry->tensor);
    }
    return LN_OK;
}

static bool has_few_constants(ln_context *ctx)
{
    size_t sum = 0;
    (void)add_constants(ctx, &sum);
    (void)ln_context_each_graph(ctx, add_constants, &sum);
    return sum <= MAX_GRAPH_CONSTANTS;
}

// Whether the types of inputs are known, and are numbers, in main memory.
static bool has_plain_inputs(const ln_context *ctx)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        tl_dtype dtype = ln_context_tensor_dtype(ctx, input->name);
        if (input->mtype != LN_MEM_CPU || dtype == TL_DTYPE_INVALID || dtype == TL_STRING ||
            dtype == TL_OBJECT)
            return false;
    }
    return true;
}

static bool can_have_instances(const ln_context *ctx)
{
    const shape_plans *p = (const shape_plans *)ctx->plans;
    return p && ctx->plan_reuse != LN_PLAN_REUSE_NOTHING && is_as_loaded(p, ctx);
}

bool ln_plans_follow(const ln_context *ctx)
{
    const shape_plans *p = (const shape_plans *)ctx->plans;
    return can_have_instances(ctx) && (!ctx->graphs || p->has_few_constants) &&
           ln_context_has_open_input(ctx) && has_plain_inputs(ctx) &&
           !ln_plan_source_range(p->source);
}

bool ln_plans_have_instances(const ln_context *ctx)
{
    return ln_context_has_open_input(ctx) ? ln_plans_follow(ctx) : can_have_instances(ctx);
}

static ln_status make_instance(const ln_context *ctx, ln_plan_request request,
                               ln_context **out_instance)
{
    const shape_plans *p = (const shape_plans *)ctx->plans;
    request.constants = ln_instance_constants_latest(p->constants);
    return make_in_range(p, &request, out_instance);
}

ln_status ln_plans_make_instance(const ln_context *ctx, const ln_context *caller, size_t count,
                                 const ln_input_shape *shapes, ln_context **out_instance)
{
    return make_instance(
        ctx, (ln_plan_request){.ctx = ctx, .caller = caller, .count = count, .shapes = shapes},
        out_instance);
}

ln_status ln_plans_make_spared(const ln_context *ctx, const ln_context *caller, size_t count,
                               const ln_input_shape *shapes, ln_context **out_instance)
{
    return make_instance(
        ctx,
        (ln_plan_request){
            .ctx = ctx, .caller = caller, .is_spared = true, .count = count, .shapes = shapes},
        out_instance);
}

ln_status ln_plans_make_whole(const ln_context *ctx, const ln_context *caller,
                              const ln_context *spared, ln_context **out_instance)
{
    return make_instance(ctx, (ln_plan_request){.ctx = spared, .caller = caller}, out_instance);
}

ln_status ln_plans_load_instance(const ln_context *ctx, ln_context *instance)
{
    return ln_instance_load(((shape_plans *)ctx->plans)->constants, ctx, instance, NULL);
}

bool ln_plans_have_constants(const ln_context *ctx)
{
    return ln_instance_constants_latest(((const shape_plans *)ctx->plans)->constants) != NULL;
}

ln_status ln_plans_share_constants(const ln_context *ctx, const ln_context *first)
{
    return ln_instance_constants_share(((shape_plans *)ctx->plans)->constants, first);
}

ln_status ln_plans_extend_constants(const ln_context *ctx, const ln_context *instance,
                                    bool *out_has_joined)
{
    return ln_instance_constants_extend(((shape_plans *)ctx->plans)->constants, instance,
                                        out_has_joined);
}

// ---- The plan that a context has ----

void ln_plans_note_loaded(const ln_context *ctx)
{
    shape_plans *p = (shape_plans *)ctx->plans;
    p->constants_version = ctx->constants_version;
    p->params_version = ctx->params_version;
}

bool ln_plans_is_as_loaded(const ln_context *ctx)
{
    return is_as_loaded((const shape_plans *)ctx->plans, ctx);
}

bool ln_plans_have_room(const ln_context *ctx, const ln_context *plan)
{
    const shape_plans *p = (const shape_plans *)ctx->plans;
    return ln_memory_has_room(p->workspace, plan->static_sizes, plan->mem_sizes);
}

ln_status ln_plans_enter(const ln_context *ctx, ln_context *plan)
{
    shape_plans *p = (shape_plans *)ctx->plans;
    LN_TRY(need_workspace(p, plan));
    if (plan->state != LN_CONTEXT_LOADED)
        LN_TRY(ln_instance_load(p->constants, ctx, plan, p->workspace));
    else if (!plan->memory) {
        ln_memory *window;
        LN_TRY(ln_memory_create_window(p->workspace, plan->static_sizes, plan->mem_sizes, &window));
        ln_status status = ln_context_give_workspace(plan, window);
        ln_memory_release(window);
        LN_TRY(status);
    }
    return ln_context_reset_inputs(plan);
}

// ---- Life ----

static void plans_destroy(struct ln_plans *base)
{
    shape_plans *p = (shape_plans *)base;
    if (!p)
        return;
    unload(base, NULL);
    ln_plan_source_release(p->source);
    ln_free(p);
}

const ln_tensor_list_entry *ln_op_dynamic_input(const ln_op *op)
{
    if (!ln_op_is_type(op->op_arg, "input"))
        return NULL;
    const ln_param_entry *open = ln_param_list_find(op->op_arg->params, "open");
    const ln_param_entry *dims = ln_param_list_find(op->op_arg->params, "dims");
    bool is_open = open && open->value_bool;
    for (int d = 0; dims && d < dims->array_len; d++)
        is_open = is_open || dims->value_array_int[d] < 0;
    return is_open ? op->op_arg->tensors_out->data : NULL;
}

static bool is_reshapable(const ln_context *ctx)
{
    bool is_any = false;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        is_any = is_any || ln_op_dynamic_input(op);
    return is_any;
}

static ln_status plans_create(ln_plan_source *source, shape_plans **out_p)
{
    shape_plans *p = ln_alloc(sizeof *p);
    *out_p = p;
    if (!p)
        return LN_NO_MEMORY;
    p->base = (struct ln_plans){.destroy = plans_destroy, .allocate = allocate, .unload = unload};
    p->source = ln_plan_source_retain(source);
    return LN_OK;
}

ln_status ln_plans_begin(ln_context *ctx, const char *target, const ln_optimize_options *options,
                         struct ln_plans **out_plans)
{
    *out_plans = NULL;
    if (!target || ctx->outer || ctx->plans || !is_reshapable(ctx))
        return LN_OK;
    ln_plan_source *source;
    shape_plans *p;
    LN_TRY(ln_plan_source_create(ctx, target, options, &source));
    ln_status status = plans_create(source, &p);
    ln_plan_source_release(source);
    *out_plans = p ? &p->base : NULL;
    return status;
}

ln_status ln_plans_share(const ln_context *ctx, ln_context *clone)
{
    const shape_plans *from = (const shape_plans *)ctx->plans;
    shape_plans *p;
    if (!from)
        return LN_OK;
    LN_TRY(plans_create(from->source, &p));
    p->constants_version = from->constants_version;
    p->params_version = from->params_version;
    p->constants = ln_instance_constants_retain(from->constants);
    p->has_few_constants = from->has_few_constants;
    clone->plans = &p->base;
    return LN_OK;
}

// Whether no dimension was bound that the model leaves open.
static bool is_never_bound(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *out = ln_op_dynamic_input(op);
        if (out && !ln_tensor_table_find(ctx->tensor_table, out->name)->is_open)
            return false;
    }
    return true;
}

ln_status ln_plans_copy_model(const ln_context *ctx, bool has_weights, ln_context **out_model)
{
    const shape_plans *p = (const shape_plans *)ctx->plans;
    *out_model = NULL;
    if (!p || ctx->state < LN_CONTEXT_PLANNED || !is_as_loaded(p, ctx) ||
        (!ln_plan_source_range(p->source) && !is_never_bound(ln_plan_source_model(p->source))))
        return LN_OK;
    LN_TRY(ln_plan_source_copy_model(p->source, has_weights, out_model));
    if (!*out_model || !has_weights)
        return LN_OK;
    const char *const names[] = {ctx->weights, ctx->weights_from};
    char **copies[] = {&(*out_model)->weights, &(*out_model)->weights_from};
    for (int i = 0; i < 2; i++) {
        ln_free(*copies[i]);
        *copies[i] = names[i] ? ln_strdup(names[i]) : NULL;
        if (names[i] && !*copies[i]) {
            ln_context_free(*out_model);
            *out_model = NULL;
            return LN_NO_MEMORY;
        }
    }
    return LN_OK;
}

void ln_plans_abandon(struct ln_plans *plans)
{
    plans_destroy(plans);
}

ln_status ln_plans_compile(struct ln_plans *plans, ln_context *ctx,
                           const ln_optimize_options *options)
{
    shape_plans *p = (shape_plans *)plans;
    p->has_few_constants = has_few_constants(ctx); // as it was read
    return ln_plan_source_compile(p->source, ctx, options);
}

ln_status ln_plans_replan(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_context *plan;
    const ln_plan_request request = {.ctx = ctx, .caller = ctx, .count = count, .shapes = shapes};
    LN_TRY(make_in_range((const shape_plans *)ctx->plans, &request, &plan));
    ln_context_exchange(ctx, plan);
    ln_context_free(plan);
    return LN_OK;
}
