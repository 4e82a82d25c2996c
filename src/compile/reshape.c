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
#include <lightnet/optimize.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "base/error_state.h"
#include "base/text.h"
#include "compile/constants.h"
#include "compile/context_plan.h"
#include "compile/reshape.h"
#include "compile/runner.h"
#include "compile/template.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/phase.h"

// The plans that a context keeps; the one unused for longest is dropped for a new one.
#define MAX_PLANS 16

typedef struct shape_plan {
    char *key;
    ln_context *ctx; // PLANNED or LOADED, then maybe without workspace; NULL while it is in use
    size_t last_use;
    unsigned constants_version; // when it was loaded
    unsigned params_version;
} shape_plan;

typedef struct shape_plans {
    struct ln_plans base;
    ln_context *model; // READY, as it was read
    ln_templates *templates;
    char *target;
    ln_optimize_options options;
    char **rule_files; // of the options
    shape_plan plans[MAX_PLANS];
    size_t count;
    size_t current;
    size_t use_count;
    ln_constants *constants; // what all plans may share; NULL: nothing yet
    ln_memory *statics;      // where that is
    ln_memory *workspace;    // of the plan in use; the others have the same, or none
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

static void unload(struct ln_plans *base, ln_context *ctx)
{
    shape_plans *p = (shape_plans *)base;
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
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        size_t need = ctx->mem_sizes[m] - ctx->static_sizes[m];
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

// ---- Life ----

static void plans_destroy(struct ln_plans *base)
{
    shape_plans *p = (shape_plans *)base;
    if (!p)
        return;
    unload(base, NULL);
    ln_templates_destroy(p->templates);
    ln_context_free(p->model);
    ln_free(p->target);
    for (size_t i = 0; i < p->options.rule_file_count; i++)
        ln_free(p->rule_files[i]);
    ln_free(p->rule_files);
    for (size_t i = 0; i < p->count; i++) {
        ln_free(p->plans[i].key);
        ln_context_free(p->plans[i].ctx);
    }
    ln_free(p);
}

static bool has_open_dims(const ln_op *op)
{
    if (!ln_op_is_type(op->op_arg, "input"))
        return false;
    const ln_param_entry *open = ln_param_list_find(op->op_arg->params, "open");
    const ln_param_entry *dims = ln_param_list_find(op->op_arg->params, "dims");
    bool is_open = open && open->value_bool;
    for (int d = 0; dims && d < dims->array_len; d++)
        is_open = is_open || dims->value_array_int[d] < 0;
    return is_open;
}

static bool is_reshapable(const ln_context *ctx)
{
    bool is_any = false;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        is_any = is_any || has_open_dims(op);
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

// What holds for any shape. Firings that are skipped are numbered for one shape.
static ln_status copy_options(shape_plans *p, const ln_optimize_options *options)
{
    if (!options)
        return LN_OK;
    p->options.freezes_constants = options->freezes_constants;
    p->options.keeps_tensors = options->keeps_tensors;
    p->options.tunes = options->tunes;
    p->options.avoids_winograd = options->avoids_winograd;
    p->rule_files = ln_alloc_array(options->rule_file_count + 1, sizeof *p->rule_files);
    if (!p->rule_files)
        return LN_NO_MEMORY;
    p->options.rule_files = (const char *const *)p->rule_files;
    for (size_t i = 0; i < options->rule_file_count; i++) {
        p->options.rule_file_count++;
        p->rule_files[i] = ln_strdup(options->rule_files[i]);
        if (!p->rule_files[i] && options->rule_files[i]) // NULL is refused where files are read
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

ln_status ln_plans_begin(ln_context *ctx, const char *target, const ln_optimize_options *options,
                         struct ln_plans **out_plans)
{
    *out_plans = NULL;
    if (!target || ctx->outer || ctx->plans || !is_reshapable(ctx))
        return LN_OK;
    shape_plans *p = ln_alloc(sizeof *p);
    if (!p)
        return LN_NO_MEMORY;
    p->base = (struct ln_plans){plans_destroy, allocate, unload};
    p->options = ln_optimize_options_default();
    p->target = ln_strdup(target);
    p->count = 1;
    p->plans[0].key = make_key(ctx, 0, NULL);
    ln_status status = p->target && p->plans[0].key ? copy_options(p, options) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_clone(ctx, &p->model);
    if (status == LN_OK)
        status = ln_templates_create(p->model, p->target, &p->options, &p->templates);
    if (status != LN_OK) {
        plans_destroy(&p->base);
        return status;
    }
    *out_plans = &p->base;
    return LN_OK;
}

void ln_plans_abandon(struct ln_plans *plans)
{
    plans_destroy(plans);
}

// ---- Exchanging contents ----

static void own_ops(ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        op->op_arg->context = ctx;
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph)) {
        ((ln_context *)graph)->outer = ctx;
        ((ln_context *)graph)->pool = ctx->pool;
    }
}

// Every field of a context: OF_MODEL is exchanged with the plan, OF_CALLER stays where it is, being
// what the program set or what a call is doing.
#define FIELDS(OF_MODEL, OF_CALLER)                                                                \
    OF_MODEL(tensor_table)                                                                         \
    OF_MODEL(op_table)                                                                             \
    OF_MODEL(dfg)                                                                                  \
    OF_MODEL(ops)                                                                                  \
    OF_MODEL(mem_starts)                                                                           \
    OF_MODEL(mem_sizes)                                                                            \
    OF_MODEL(static_sizes)                                                                         \
    OF_MODEL(state)                                                                                \
    OF_CALLER(limits)                                                                              \
    OF_MODEL(source)                                                                               \
    OF_MODEL(target)                                                                               \
    OF_MODEL(runner)                                                                               \
    OF_MODEL(compiled)                                                                             \
    OF_MODEL(ops_last)                                                                             \
    OF_MODEL(memory)                                                                               \
    OF_MODEL(static_memory)                                                                        \
    OF_MODEL(retired)                                                                              \
    OF_MODEL(bound)                                                                                \
    OF_MODEL(has_input)                                                                            \
    OF_MODEL(has_output)                                                                           \
    OF_MODEL(attached)                                                                             \
    OF_MODEL(graphs)                                                                               \
    OF_MODEL(outer)                                                                                \
    OF_MODEL(meter)                                                                                \
    OF_MODEL(known_meter)                                                                          \
    OF_CALLER(work_left)                                                                           \
    OF_MODEL(running_graphs)                                                                       \
    OF_CALLER(plans)                                                                               \
    OF_MODEL(datafile)                                                                             \
    OF_CALLER(pool)                                                                                \
    OF_CALLER(thread_count)                                                                        \
    OF_MODEL(ends)                                                                                 \
    OF_MODEL(load_sizes)                                                                           \
    OF_MODEL(weights)                                                                              \
    OF_CALLER(observer)                                                                            \
    OF_CALLER(is_strict)                                                                           \
    OF_MODEL(scratch)                                                                              \
    OF_MODEL(scratch_byte_count)                                                                   \
    OF_CALLER(writes)                                                                              \
    OF_MODEL(is_storing)                                                                           \
    OF_CALLER(timeout)                                                                             \
    OF_CALLER(work_limit)                                                                          \
    OF_CALLER(start_ns)                                                                            \
    OF_CALLER(phase)                                                                               \
    OF_MODEL(constants_version)                                                                    \
    OF_MODEL(plan_reuse)                                                                           \
    OF_MODEL(is_random)                                                                            \
    OF_MODEL(weights_from)                                                                         \
    OF_CALLER(work_done)                                                                           \
    OF_MODEL(params_version)                                                                       \
    OF_CALLER(cancel)                                                                              \
    OF_MODEL(constants)

// The list has all fields, in their order: else a field of this structure and its namesake are at
// different offsets, or the sizes differ.
typedef struct listed_fields {
#define LISTED(field) __typeof__(((ln_context *)0)->field) field;
    FIELDS(LISTED, LISTED)
#undef LISTED
} listed_fields;
_Static_assert(sizeof(listed_fields) == sizeof(ln_context), "FIELDS lacks a field of ln_context");
#define LISTED(field)                                                                              \
    _Static_assert(offsetof(listed_fields, field) == offsetof(ln_context, field),                  \
                   "FIELDS lacks a field of ln_context before " #field);
FIELDS(LISTED, LISTED)
#undef LISTED

static void swap_contents(ln_context *a, ln_context *b)
{
    const ln_context of_a = *a, of_b = *b;
    *a = of_b;
    *b = of_a;
#define EXCHANGED(field)
#define STAYS(field)                                                                               \
    memcpy(&a->field, &of_a.field, sizeof a->field);                                               \
    memcpy(&b->field, &of_b.field, sizeof b->field);
    FIELDS(EXCHANGED, STAYS)
#undef EXCHANGED
#undef STAYS
    own_ops(a);
    own_ops(b);
}

// ---- Making a plan ----

// The shapes that `ctx` has now, where `shapes` does not say others. The names and dimensions are
// borrowed, the array is the caller's.
static ln_status list_shapes(const ln_context *ctx, size_t count, const ln_input_shape *shapes,
                             size_t *out_total, ln_input_shape **out_all)
{
    size_t total = 0, room = ln_context_input_count(ctx) + count;
    ln_input_shape *all = ln_alloc_array(room, sizeof *all);
    if (!all)
        return LN_NO_MEMORY;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        const tl_tensor *now = entry->tensor;
        bool stays = !entry->is_open;
        for (size_t k = 0; k < count; k++)
            stays = stays && !ln_streq(shapes[k].tname, entry->name);
        if (stays)
            all[total++] =
                (ln_input_shape){.tname = entry->name, .ndim = now->ndim, .dims = now->dims};
    }
    for (size_t k = 0; k < count; k++)
        all[total++] = shapes[k];
    *out_total = total;
    *out_all = all;
    return LN_OK;
}

static ln_status compile_plan(const shape_plans *p, const ln_context *ctx, size_t count,
                              const ln_input_shape *shapes, ln_context **out_plan)
{
    LN_TRY(ln_context_clone(p->model, out_plan));
    (void)ln_context_set_limits(*out_plan, &ctx->limits);
    (*out_plan)->timeout = ctx->timeout;
    (*out_plan)->constants = p->constants;
    LN_TRY(ln_context_set_shapes(*out_plan, count, shapes));
    return ln_context_compile_once(*out_plan, p->target, &p->options);
}

static ln_status plan_instance(const shape_plans *p, ln_context *instance)
{
    instance->constants = p->constants;
    return ln_context_plan_once(instance, p->target, &p->options);
}

static ln_status make_plan(const ln_context *ctx, const shape_plans *p, size_t count,
                           const ln_input_shape *shapes, ln_context **out_plan)
{
    size_t total;
    ln_input_shape *all;
    LN_TRY(list_shapes(ctx, count, shapes, &total, &all));
    ln_status status = ln_templates_make(p->templates, ctx, total, all, out_plan);
    if (status == LN_OK)
        status =
            *out_plan ? plan_instance(p, *out_plan) : compile_plan(p, ctx, total, all, out_plan);
    ln_free(all);
    if (status == LN_OK)
        return LN_OK;
    ln_context_free(*out_plan);
    *out_plan = NULL;
    return status;
}

// Options that hold for any shape. What they tell of is told of this very shape.
static bool is_usual(const ln_optimize_options *options)
{
    return !options || (!options->passes && !options->stop_after && options->skip_count == 0 &&
                        options->firing_limit == SIZE_MAX && !options->wants_firing);
}

static ln_status take_instance(ln_context *ctx, const shape_plans *p,
                               const ln_optimize_options *options, ln_context *instance)
{
    if (options && (options->on_firing || options->on_pass))
        LN_TRY(ln_context_optimize_with(ctx, p->target, options));
    LN_TRY(ln_context_plan_once(instance, p->target, &p->options));
    swap_contents(ctx, instance);
    return LN_OK;
}

ln_status ln_plans_compile(struct ln_plans *plans, ln_context *ctx,
                           const ln_optimize_options *options)
{
    const shape_plans *p = (const shape_plans *)plans;
    ln_context *instance = NULL;
    if (is_usual(options)) {
        size_t total;
        ln_input_shape *all;
        LN_TRY(list_shapes(ctx, 0, NULL, &total, &all));
        ln_status status = ln_templates_make(p->templates, ctx, total, all, &instance);
        ln_free(all);
        LN_TRY(status);
    }
    if (!instance)
        return ln_context_compile_once(ctx, p->target, options);
    ln_status status = take_instance(ctx, p, options, instance);
    ln_context_free(instance);
    return status;
}

// ---- Changing over ----

// A free row, or that of the plan unused for longest.
static shape_plan *take_row(shape_plans *p)
{
    if (p->count < MAX_PLANS)
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
    ln_status status = make_plan(ctx, p, count, shapes, &plan);
    if (status != LN_OK) {
        ln_free(key);
        return status;
    }
    *out_row = take_row(p);
    **out_row = (shape_plan){.key = key, .ctx = plan};
    return LN_OK;
}

static bool is_as_loaded(const shape_plans *p, const ln_context *ctx)
{
    const shape_plan *row = &p->plans[p->current];
    return row->constants_version == ctx->constants_version &&
           row->params_version == ctx->params_version;
}

// The plan that is loaded when shapes change first has the constants that others share.
static ln_status begin_sharing(shape_plans *p, ln_context *ctx)
{
    if (ctx->state != LN_CONTEXT_LOADED || p->constants || !is_as_loaded(p, ctx))
        return LN_OK;
    LN_TRY(ln_constants_create(ctx, &p->constants));
    if (!p->constants)
        return LN_OK;
    p->statics = ln_memory_retain(ctx->static_memory);
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

// `ctx` has been left.
static ln_status enter(const shape_plans *p, ln_context *ctx, const char *datafile)
{
    if (ctx->state == LN_CONTEXT_PLANNED && p->constants && ctx->constants != p->constants) {
        ctx->constants = p->constants;
        LN_TRY(ln_context_plan_memory(ctx, ctx->target, (ln_plan_reuse)ctx->plan_reuse));
    }
    if (ctx->state == LN_CONTEXT_PLANNED)
        return ln_context_load(ctx, datafile);
    if (!ctx->memory) {
        ln_memory *window;
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
    swap_contents(ctx, row->ctx);
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
        (void)enter(p, ctx, datafile); // else it is PLANNED
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
    if (!p) {
        ln_free(key);
        return LN_FAIL(LN_STATE, "the inputs of this model have fixed shapes, or it was compiled "
                                 "elsewhere: its shapes cannot change");
    }
    shape_plan *row;
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

ln_status ln_context_reshape(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, reshape(ctx, count, shapes));
}
