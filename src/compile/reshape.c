// SPDX-License-Identifier: Apache-2.0
// Planning a compiled model again for other shapes of its inputs.
//
// Compiling rewrites the operators, so a context whose inputs have open dimensions keeps a copy of
// the model as it was read. For each set of shapes there is a plan, a context compiled from that
// copy:
//
//     ctx  ->  plans:   model as read | "x=1x3" compiled | "x=2x3" (is ctx now) | ...
//
// To change over, the contents of `ctx` and of a plan change places, so pointers to `ctx` stay
// right. A plan that was loaded once stays so: constants that plans have in common are in memory
// once (constants.h), and one workspace serves all of them, as only one is in use. Models with
// graphs, and plans whose constants were set, are loaded each time.

#include <lightnet/context.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "base/error_state.h"
#include "base/text.h"
#include "compile/constants.h"
#include "compile/context_plan.h"
#include "compile/exchange.h"
#include "compile/instance.h"
#include "compile/plan_source.h"
#include "compile/reshape.h"
#include "compile/runner.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/phase.h"

typedef struct shape_plan {
    char *key;
    ln_context *ctx; // PLANNED or LOADED, then maybe without workspace; NULL while it is in use
    size_t last_use;
    unsigned constants_version; // when it was loaded
    unsigned params_version;
} shape_plan;

typedef struct shape_plans {
    struct ln_plans base;
    ln_plan_source *source;
    shape_plan plans[LN_PLANS_KEPT];
    size_t count;
    size_t current;
    size_t use_count;
    bool has_constants;      // of the first plan, enough that other shapes are worth plans
    ln_constants *constants; // what all plans may share; NULL: nothing yet
    ln_memory *statics;      // where that is
    ln_memory *workspace;    // of the plan in use; the others have the same, or none
    ln_instance_constants of_instances; // of a program; the plans above have their own
} shape_plans;

// ---- Memory ----

static void forget_constants(shape_plans *p, ln_context *ctx)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->plans[i].ctx)
            p->plans[i].ctx->constants = NULL;
    if (ctx)
        ctx->constants = NULL;
    ln_constants_destroy(p->constants);
    p->constants = NULL;
    ln_memory_leave(p->statics);
    ln_memory_release(p->statics);
    p->statics = NULL;
}

static void drop_follower(struct ln_plans *base)
{
    if (base->follower)
        base->follower->destroy(base->follower);
    base->follower = NULL;
}

static void unload(struct ln_plans *base, ln_context *ctx)
{
    shape_plans *p = (shape_plans *)base;
    drop_follower(base);
    for (size_t i = 0; i < p->count; i++)
        if (p->plans[i].ctx)
            ln_context_unload_alone(p->plans[i].ctx);
    forget_constants(p, ctx);
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

// A plan that is not in use gets the new one when it is its turn.
static ln_status need_workspace(shape_plans *p, const ln_context *ctx)
{
    if (ln_memory_has_room(p->workspace, ctx->static_sizes, ctx->mem_sizes))
        return LN_OK;
    size_t sizes[LN_MEM_TYPE_SIZE];
    ln_memory *workspace;
    find_workspace_sizes(p, ctx, sizes);
    LN_TRY(ln_memory_create(NULL, sizes, &workspace));
    for (size_t i = 0; i < p->count; i++)
        if (p->plans[i].ctx)
            ln_context_take_workspace(p->plans[i].ctx);
    ln_memory_release(p->workspace);
    p->workspace = workspace;
    return LN_OK;
}

// Of the plans that are not in use and hold memory: the one unused for longest. NULL: none.
static shape_plan *oldest_loaded(shape_plans *p)
{
    shape_plan *oldest = NULL;
    for (size_t i = 0; i < p->count; i++) {
        shape_plan *row = &p->plans[i];
        bool is_loaded = row->ctx && row->ctx->state == LN_CONTEXT_LOADED;
        if (is_loaded && (!oldest || row->last_use < oldest->last_use))
            oldest = row;
    }
    return oldest;
}

// Whether the constants that only plans out of use have, and what `ctx` has planned, are within
// the limit for each memory.
static bool is_within_limit(const shape_plans *p, const ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        size_t sum = ctx->mem_sizes[m];
        for (size_t i = 0; i < p->count; i++) {
            const ln_context *other = p->plans[i].ctx;
            bool has_own = other && other->static_memory != p->statics;
            size_t own = has_own ? ln_memory_size(other->static_memory, (ln_mem_type)m) : 0;
            if (!ln_size_add(sum, own, &sum))
                return false;
        }
        if (sum > ctx->limits.memory_byte_count)
            return false;
    }
    return true;
}

static ln_status allocate(struct ln_plans *base, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace)
{
    shape_plans *p = (shape_plans *)base;
    const size_t *begins = ctx->constants ? ln_constants_ends(ctx->constants) : NULL;
    *out_workspace = NULL;
    shape_plan *oldest;
    while (!is_within_limit(p, ctx) && (oldest = oldest_loaded(p)))
        ln_context_unload_alone(oldest->ctx);
    LN_TRY(
        ln_memory_create_after(begins ? p->statics : NULL, begins, ctx->static_sizes, out_statics));
    ln_status status = need_workspace(p, ctx);
    if (status == LN_OK)
        status =
            ln_memory_create_window(p->workspace, ctx->static_sizes, ctx->mem_sizes, out_workspace);
    if (status != LN_OK) {
        ln_memory_release(*out_statics);
        *out_statics = NULL;
        return status;
    }
    p->plans[p->current].constants_version = ctx->constants_version;
    p->plans[p->current].params_version = ctx->params_version;
    return LN_OK;
}

// ---- Plans for shapes ----

static bool is_as_loaded(const shape_plans *p, const ln_context *ctx)
{
    const shape_plan *row = &p->plans[p->current];
    return row->constants_version == ctx->constants_version &&
           row->params_version == ctx->params_version;
}

static bool has_open_inputs(const ln_context *ctx)
{
    bool is_any = false;
    for (size_t i = 0; !is_any && ln_context_input(ctx, i); i++)
        is_any = ln_context_input_is_open(ctx, i);
    return is_any;
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
static ln_status make_in_range(const shape_plans *p, const ln_context *ctx,
                               const ln_context *caller, ln_constants *constants, size_t count,
                               const ln_input_shape *shapes, ln_context **out_plan)
{
    const ln_range *range = ln_plan_source_range(p->source);
    *out_plan = NULL;
    if (range)
        LN_TRY(ln_range_check(range, ln_plan_source_model(p->source), count, shapes));
    LN_TRY(ln_plan_source_make(p->source, ctx, caller, constants, count, shapes, out_plan));
    if (is_in_workspace(range, *out_plan))
        return LN_OK;
    // Where some tensor is larger than in all shapes that were looked at, others may be smaller:
    // the shape has a plan of its own.
    ln_context_free(*out_plan);
    *out_plan = NULL;
    LN_TRY(ln_plan_source_make_alone(p->source, ctx, caller, constants, count, shapes, out_plan));
    if (is_in_workspace(range, *out_plan))
        return LN_OK;
    ln_status status = fail_in_range(range, *out_plan);
    ln_context_free(*out_plan);
    *out_plan = NULL;
    return status;
}

// ---- Instances of a program ----

// Constants of fewer bytes are not worth a plan for each shape that runs.
#define MIN_CONSTANT_BYTES (256 << 10)

// Those that stay after loading, in memory of the model or in its file: which it is depends on how
// that is laid out.
static bool has_constants(const ln_context *ctx)
{
    size_t sum = 0, cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (entry->isstatic && !entry->is_load && !entry->is_input && !entry->owner &&
            entry->mtype == LN_MEM_CPU)
            sum += tl_tensor_size(entry->tensor);
    }
    return sum >= MIN_CONSTANT_BYTES;
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
    return p && !ctx->graphs && ctx->plan_reuse != LN_PLAN_REUSE_NOTHING && is_as_loaded(p, ctx);
}

bool ln_plans_follow(const ln_context *ctx)
{
    return can_have_instances(ctx) && ((const shape_plans *)ctx->plans)->has_constants &&
           has_open_inputs(ctx) && has_plain_inputs(ctx) &&
           !ln_plan_source_range(((const shape_plans *)ctx->plans)->source);
}

bool ln_plans_have_instances(const ln_context *ctx)
{
    return has_open_inputs(ctx) ? ln_plans_follow(ctx) : can_have_instances(ctx);
}

ln_status ln_plans_make_instance(const ln_context *ctx, const ln_context *caller, size_t count,
                                 const ln_input_shape *shapes, ln_context **out_instance)
{
    shape_plans *p = (shape_plans *)ctx->plans;
    return make_in_range(p, ctx, caller, ln_instance_constants_latest(&p->of_instances), count,
                         shapes, out_instance);
}

ln_status ln_plans_load_instance(const ln_context *ctx, ln_context *instance)
{
    return ln_instance_load(&((shape_plans *)ctx->plans)->of_instances, ctx, instance);
}

ln_status ln_plans_share_constants(const ln_context *ctx, const ln_context *first)
{
    return ln_instance_constants_share(&((shape_plans *)ctx->plans)->of_instances, first);
}

ln_status ln_plans_extend_constants(const ln_context *ctx, const ln_context *instance,
                                    bool *out_has_joined)
{
    return ln_instance_constants_extend(&((shape_plans *)ctx->plans)->of_instances, instance,
                                        out_has_joined);
}

// ---- Life ----

static void plans_destroy(struct ln_plans *base)
{
    shape_plans *p = (shape_plans *)base;
    if (!p)
        return;
    unload(base, NULL);
    ln_instance_constants_deinit(&p->of_instances);
    ln_plan_source_release(p->source);
    for (size_t i = 0; i < p->count; i++) {
        ln_free(p->plans[i].key);
        ln_context_free(p->plans[i].ctx);
    }
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

// "x=1x3x224x224;y=?;", in the order of the inputs, with `shapes` instead of what is bound now.
static char *make_key(const ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_text text = {0};
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        int ndim = entry->is_open ? -1 : entry->tensor->ndim;
        const int *dims = entry->tensor->dims;
        for (size_t k = 0; k < count; k++) {
            if (!ln_streq(shapes[k].tname, entry->name))
                continue;
            ndim = shapes[k].ndim;
            dims = shapes[k].dims;
        }
        ln_text_printf(&text, "%s=%s", entry->name, ndim < 0 ? "?" : "");
        for (int d = 0; d < ndim; d++)
            ln_text_printf(&text, "%s%d", d ? "x" : "", dims[d]);
        ln_text_puts(&text, ";");
    }
    char *key = text.status == LN_OK ? ln_strdup(text.bytes ? text.bytes : "") : NULL;
    ln_text_deinit(&text);
    return key;
}

// With the plan that `ctx` has, or is about to get, as the only one.
static ln_status plans_create(const ln_context *ctx, ln_plan_source *source, shape_plans **out_p)
{
    shape_plans *p = ln_alloc(sizeof *p);
    *out_p = p;
    if (!p)
        return LN_NO_MEMORY;
    p->base = (struct ln_plans){.destroy = plans_destroy, .allocate = allocate, .unload = unload};
    p->source = ln_plan_source_retain(source);
    p->count = 1;
    p->plans[0].key = make_key(ctx, 0, NULL);
    if (p->plans[0].key)
        return LN_OK;
    plans_destroy(&p->base);
    *out_p = NULL;
    return LN_NO_MEMORY;
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
    ln_status status = plans_create(ctx, source, &p);
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
    LN_TRY(plans_create(clone, from->source, &p));
    p->plans[0].constants_version = from->plans[from->current].constants_version;
    p->plans[0].params_version = from->plans[from->current].params_version;
    p->has_constants = from->has_constants;
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
    LN_TRY(ln_plan_source_compile(p->source, ctx, options));
    p->has_constants = has_constants(ctx);
    return LN_OK;
}

// ---- Changing over ----

// A free row, or that of the plan unused for longest.
static shape_plan *take_row(shape_plans *p)
{
    if (p->count < LN_PLANS_KEPT)
        return &p->plans[p->count++];
    size_t oldest = p->current == 0;
    for (size_t i = 0; i < p->count; i++)
        if (i != p->current && p->plans[i].last_use < p->plans[oldest].last_use)
            oldest = i;
    ln_free(p->plans[oldest].key);
    ln_context_free(p->plans[oldest].ctx);
    p->plans[oldest] = (shape_plan){0};
    return &p->plans[oldest];
}

static ln_status find_plan(ln_context *ctx, shape_plans *p, char *key, size_t count,
                           const ln_input_shape *shapes, shape_plan **out_row)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!ln_streq(p->plans[i].key, key))
            continue;
        *out_row = &p->plans[i];
        ln_free(key);
        return LN_OK;
    }
    ln_context *plan;
    ln_status status = make_in_range(p, ctx, ctx, p->constants, count, shapes, &plan);
    if (status != LN_OK) {
        ln_free(key);
        return status;
    }
    *out_row = take_row(p);
    **out_row = (shape_plan){.key = key, .ctx = plan};
    return LN_OK;
}

// The first plan with shapes that is loaded, be it in use or not; NULL: there is none. Without
// shapes, weights are not packed as the others want them.
static const ln_context *find_first_loaded(const shape_plans *p, const ln_context *ctx)
{
    if (!has_open_inputs(ctx))
        return is_as_loaded(p, ctx) ? ctx : NULL;
    for (size_t i = 0; i < p->count; i++) {
        const ln_context *other = p->plans[i].ctx;
        if (other && other->state == LN_CONTEXT_LOADED && !has_open_inputs(other))
            return other;
    }
    return NULL;
}

// The plan that is loaded when shapes change first has the constants that others share.
static ln_status begin_sharing(shape_plans *p, const ln_context *ctx)
{
    if (ctx->state != LN_CONTEXT_LOADED || p->constants)
        return LN_OK;
    const ln_context *first = find_first_loaded(p, ctx);
    if (!first)
        return LN_OK;
    LN_TRY(ln_constants_create(first, &p->constants));
    if (!p->constants)
        return LN_OK;
    p->statics = ln_memory_retain(first->static_memory);
    ln_memory_join(p->statics);
    return LN_OK;
}

// Leaves a LOADED plan so that it can be used again as it is, if it can.
static void leave(const shape_plans *p, ln_context *ctx)
{
    if (ctx->graphs || !is_as_loaded(p, ctx)) {
        ln_context_unload_alone(ctx);
        return;
    }
    ln_bound_remove_all(ctx);
}

// `ctx` has been left. The workspace of a clone was made for the plan that came after its first,
// which may need more.
static ln_status enter(shape_plans *p, ln_context *ctx, const char *datafile)
{
    if (ctx->state == LN_CONTEXT_PLANNED && p->constants && ctx->constants != p->constants) {
        ctx->constants = p->constants;
        LN_TRY(ln_context_plan_memory(ctx, ctx->target, (ln_plan_reuse)ctx->plan_reuse));
    }
    if (ctx->state == LN_CONTEXT_PLANNED)
        return ln_context_load(ctx, datafile);
    if (!ctx->memory) {
        ln_memory *window;
        LN_TRY(need_workspace(p, ctx));
        LN_TRY(ln_memory_create_window(p->workspace, ctx->static_sizes, ctx->mem_sizes, &window));
        ln_status status = ln_context_give_workspace(ctx, window);
        ln_memory_release(window);
        LN_TRY(status);
    }
    return ln_context_reset_inputs(ctx);
}

// `ctx` and the plan change places.
static void exchange(ln_context *ctx, shape_plans *p, shape_plan *row)
{
    shape_plan *old = &p->plans[p->current];
    ln_context_exchange(ctx, row->ctx);
    old->ctx = row->ctx;
    row->ctx = NULL;
    p->current = (size_t)(row - p->plans);
}

static ln_status change_over(ln_context *ctx, shape_plans *p, shape_plan *row)
{
    shape_plan *old = &p->plans[p->current];
    if (ctx->state != LN_CONTEXT_LOADED) {
        exchange(ctx, p, row);
        return LN_OK;
    }
    char *datafile = ctx->datafile ? ln_strdup(ctx->datafile) : NULL;
    if (ctx->datafile && !datafile)
        return LN_NO_MEMORY;
    leave(p, ctx);
    exchange(ctx, p, row);
    ln_status status = enter(p, ctx, datafile);
    if (status != LN_OK) {
        ln_error_state reason;
        ln_error_save(&reason);
        ln_context_unload_alone(ctx);
        exchange(ctx, p, old);
        if (enter(p, ctx, datafile) != LN_OK)
            ln_context_unload_alone(ctx);
        ln_error_restore(&reason);
    }
    ln_free(datafile);
    return status;
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
            return LN_FAIL(LN_INVALID, "the shape for input '%s' cannot be", entry->name);
    }
    return LN_OK;
}

// Takes `key` over.
static ln_status change_to(ln_context *ctx, shape_plans *p, char *key, size_t count,
                           const ln_input_shape *shapes)
{
    shape_plan *row;
    drop_follower(&p->base); // its memory is within the limit, too
    ln_status status = begin_sharing(p, ctx);
    if (status != LN_OK) {
        ln_free(key);
        return status;
    }
    LN_TRY(find_plan(ctx, p, key, count, shapes, &row));
    row->last_use = ++p->use_count;
    if (!row->ctx)
        return LN_OK; // in use: an input of any kind has no shape of its own to compare
    return change_over(ctx, p, row);
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
    char *key = make_key(ctx, count, shapes), *now = make_key(ctx, 0, NULL);
    bool is_same = key && now && ln_streq(key, now);
    ln_free(now);
    if (!key || is_same) {
        ln_free(key);
        return is_same ? LN_OK : LN_NO_MEMORY;
    }
    shape_plans *p = (shape_plans *)ctx->plans;
    if (p)
        return change_to(ctx, p, key, count, shapes);
    ln_free(key);
    return LN_FAIL(LN_STATE, "the inputs of this model have fixed shapes, or it was compiled "
                             "elsewhere: its shapes cannot change");
}

ln_status ln_context_reshape(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, reshape(ctx, count, shapes));
}
