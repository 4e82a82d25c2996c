// SPDX-License-Identifier: Apache-2.0
// Making plans: from a template where the model has one for such shapes, else by compiling.

#include "compile/plan_source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>

#include "compile/clone.h"
#include "compile/exchange.h"
#include "compile/reshape.h"
#include "compile/template.h"
#include "ir/compiled.h"
#include "ir/context.h"
#include "ir/open.h"
#include "ir/turn.h"
#include "ir/use.h"
#include "pass/firing.h"
#include "pass/rule_file.h"

struct ln_plan_source {
    atomic_size_t holder_count;
    ln_context *model; // READY, as it was read; constant
    char *target;
    ln_optimize_options options;
    ln_uses *uses;             // the archs of the target
    char **rule_files;         // of the options
    char *passes, *stop_after; // of the options
    ln_skips skips;            // of the first plan
    bool is_usual;             // the options hold for any shape
    ln_turn turn;              // at the templates
    ln_templates *templates;
    ln_range *range; // NULL: none
};

// ---- Life ----

static void destroy(ln_plan_source *s)
{
    ln_templates_destroy(s->templates);
    ln_range_release(s->range);
    ln_context_free(s->model);
    ln_free(s->target);
    ln_uses_drop(s->uses);
    for (size_t i = 0; i < s->options.rule_file_count; i++)
        ln_free(s->rule_files[i]);
    ln_free(s->rule_files);
    ln_free(s->passes);
    ln_free(s->stop_after);
    ln_skips_deinit(&s->skips);
    ln_turn_deinit(&s->turn);
    ln_free(s);
}

ln_plan_source *ln_plan_source_retain(ln_plan_source *source)
{
    atomic_fetch_add_explicit(&source->holder_count, 1, memory_order_relaxed);
    return source;
}

void ln_plan_source_release(ln_plan_source *source)
{
    if (source && atomic_fetch_sub_explicit(&source->holder_count, 1, memory_order_acq_rel) == 1)
        destroy(source);
}

// Options that name no rewrites: any shape may be an instance of a template, if rules do not ask.
static bool is_usual(const ln_optimize_options *options)
{
    return !options || (!options->passes && !options->stop_after && options->skip_count == 0 &&
                        options->firing_limit == SIZE_MAX && !options->wants_firing);
}

// Rules of others may compare sizes in any way, which the witnesses of a template do not stand for
// (docs/decisions/0018); the library's own do not.
static bool archs_ask_sizes(const char *names)
{
    char name[LN_MAX_NAME_LEN];
    for (const char *at = names; at && *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        at += len;
        const ln_arch *arch = ln_arch_find(name);
        if (arch && ((arch->rules && !arch->rules->texts && ln_rule_set_asks_sizes(arch->rules)) ||
                     archs_ask_sizes(arch->fallbacks)))
            return true;
    }
    return false;
}

static ln_status find_asks_sizes(const char *target, const ln_optimize_options *options,
                                 bool *out_asks)
{
    *out_asks = archs_ask_sizes(target);
    if (*out_asks || !options || options->rule_file_count == 0)
        return LN_OK;
    ln_rule_set **sets;
    LN_TRY(ln_rule_files_read(options->rule_files, options->rule_file_count, &sets));
    for (ln_rule_set **set = sets; *set; set++)
        *out_asks = *out_asks || ln_rule_set_asks_sizes(*set);
    ln_rule_files_destroy(sets);
    return LN_OK;
}

static ln_status copy_text(const char *text, char **out_copy, const char **out_option)
{
    if (!text)
        return LN_OK;
    *out_option = *out_copy = ln_strdup(text);
    return *out_copy ? LN_OK : LN_NO_MEMORY;
}

// What other plans are compiled with. Firings that are skipped are numbered for one shape, and the
// functions are the caller's: what the first plan left out is noted (pass/firing.h).
static ln_status copy_options(ln_plan_source *s, const ln_optimize_options *options)
{
    if (!options)
        return LN_OK;
#define OPTION(name) s->options.name = options->name;
    LN_FILE_OPTIONS(OPTION)
#undef OPTION
    s->options.freezes_constants = options->freezes_constants && !s->range; // plans share them
    s->options.firing_limit = options->firing_limit;
    LN_TRY(copy_text(options->passes, &s->passes, &s->options.passes));
    LN_TRY(copy_text(options->stop_after, &s->stop_after, &s->options.stop_after));
    s->rule_files = ln_alloc_array(options->rule_file_count + 1, sizeof *s->rule_files);
    if (!s->rule_files)
        return LN_NO_MEMORY;
    s->options.rule_files = (const char *const *)s->rule_files;
    for (size_t i = 0; i < options->rule_file_count; i++) {
        s->options.rule_file_count++;
        s->rule_files[i] = ln_strdup(options->rule_files[i]);
        if (!s->rule_files[i] && options->rule_files[i]) // NULL is refused where files are read
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

ln_status ln_plan_source_create(const ln_context *ctx, const char *target,
                                const ln_optimize_options *options, ln_plan_source **out_source)
{
    *out_source = NULL;
    ln_plan_source *s = ln_alloc(sizeof *s);
    if (!s)
        return LN_NO_MEMORY;
    ln_status status = ln_turn_init(&s->turn);
    if (status != LN_OK) {
        ln_free(s);
        return status;
    }
    atomic_init(&s->holder_count, 1);
    s->range = ln_range_retain(ln_range_of(ctx));
    s->options = ln_optimize_options_default();
    s->is_usual = is_usual(options);
    s->target = ln_strdup(target);
    status = s->target ? copy_options(s, options) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_uses_hold(target, &s->uses);
    bool asks_sizes = false;
    if (status == LN_OK)
        status = find_asks_sizes(target, options, &asks_sizes);
    s->is_usual = s->is_usual && !asks_sizes;
    if (status == LN_OK)
        status = ln_context_clone(ctx, &s->model);
    if (status == LN_OK)
        status = ln_templates_create(s->model, s->target, &s->options, &s->templates);
    if (status != LN_OK) {
        destroy(s);
        return status;
    }
    *out_source = s;
    return LN_OK;
}

const ln_context *ln_plan_source_model(const ln_plan_source *source)
{
    return source->model;
}

// What the file says beside the operators, which have their dynamic dimensions: the shapes that
// inputs were bound to, and the ranges.
static ln_status note_shapes(const ln_plan_source *source, ln_compiled *compiled)
{
    const ln_context *model = source->model;
    compiled->shapes = ln_alloc_array(ln_context_input_count(model) + 1, sizeof *compiled->shapes);
    if (!compiled->shapes)
        return LN_NO_MEMORY;
    const ln_op *op;
    LN_LIST_FOREACH (op, model->ops) {
        const ln_tensor_list_entry *out = ln_op_dynamic_input(op);
        const ln_tensor_entry *entry =
            out ? ln_tensor_table_find(model->tensor_table, out->name) : NULL;
        if (!entry || entry->is_open)
            continue;
        ln_compiled_shape *shape = &compiled->shapes[compiled->shape_count];
        *shape = (ln_compiled_shape){.name = ln_strdup(entry->name), .ndim = entry->tensor->ndim};
        if (!shape->name)
            return LN_NO_MEMORY;
        memcpy(shape->dims, entry->tensor->dims, (size_t)shape->ndim * sizeof *shape->dims);
        compiled->shape_count++;
    }
    int from, to;
    const char *symbol;
    for (size_t i = 0; (symbol = ln_range_symbol(source->range, i, &from, &to)); i++) {
        compiled->ranges[i] = (ln_compiled_range){ln_strdup(symbol), from, to};
        if (!compiled->ranges[i].symbol)
            return LN_NO_MEMORY;
        compiled->range_count++;
    }
    return LN_OK;
}

static ln_status note_compiled(const ln_plan_source *source, ln_context *model)
{
    ln_compiled *compiled = ln_alloc(sizeof *compiled);
    model->compiled = compiled; // cleaned up with the model, half-built or not
    if (!compiled)
        return LN_NO_MEMORY;
#define OPTION(name) .name = source->options.name,
    *compiled = (ln_compiled){.target = ln_strdup(source->target),
                              .is_dynamic = true,
                              .options = {LN_FILE_OPTIONS(OPTION)}};
#undef OPTION
    return compiled->target ? note_shapes(source, compiled) : LN_NO_MEMORY;
}

ln_status ln_plan_source_copy_model(const ln_plan_source *source, bool has_weights,
                                    ln_context **out_model)
{
    *out_model = NULL;
    if (!source->is_usual || source->options.rule_file_count > 0)
        return LN_OK;
    ln_context *model;
    LN_TRY(has_weights ? ln_context_clone(source->model, &model)
                       : ln_context_clone_bare(source->model, &model));
    ln_status status = note_compiled(source, model);
    if (status != LN_OK) {
        ln_context_free(model);
        return status;
    }
    *out_model = model;
    return LN_OK;
}

ln_range *ln_plan_source_range(const ln_plan_source *source)
{
    return source->range;
}

// ---- Plans ----

// The shapes that `ctx` has now, where `shapes` does not say others. The names and dimensions are
// borrowed, the array is the caller's.
static ln_status list_shapes(const ln_context *ctx, size_t count, const ln_input_shape *shapes,
                             size_t *out_total, ln_input_shape **out_all)
{
    size_t total = 0, most = ln_context_input_count(ctx) + count;
    ln_input_shape *all = ln_alloc_array(most, sizeof *all);
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

// *out_instance is NULL if there is no template for such shapes.
static ln_status make_instance(ln_plan_source *s, const ln_plan_request *request,
                               ln_context **out_instance)
{
    const ln_constants *spared_by = request->is_spared ? request->constants : NULL;
    *out_instance = NULL;
    if (!s->is_usual)
        return LN_OK;
    LN_TRY(ln_turn_take(&s->turn, request->caller));
    ln_status status = ln_templates_make(s->templates, request->caller, request->count,
                                         request->shapes, spared_by, out_instance);
    ln_turn_give(&s->turn);
    return status;
}

// `range`: whose envelope the plan has; NULL: none.
static ln_status compile_plan(ln_plan_source *s, const ln_range *range,
                              const ln_plan_request *request, ln_context **out_plan)
{
    LN_TRY(ln_context_clone(s->model, out_plan));
    ln_context *plan = *out_plan;
    (void)ln_context_set_limits(plan, &request->caller->limits);
    plan->timeout = request->caller->timeout;
    plan->constants = request->constants;
    LN_TRY(ln_context_set_run_shapes(plan, request->count, request->shapes));
    if (range)
        ln_range_apply(range, plan);
    ln_skips skips = s->skips; // which are read alone; what is counted is of this plan
    plan->skips = &skips;
    ln_status status = ln_context_compile_once(plan, s->target, &s->options);
    plan->skips = NULL;
    return status;
}

// The request says the shapes of all inputs.
static ln_status make_plan(ln_plan_source *s, const ln_range *range, const ln_plan_request *request,
                           ln_context **out_plan)
{
    LN_TRY(make_instance(s, request, out_plan));
    if (!*out_plan)
        return compile_plan(s, range, request, out_plan);
    (*out_plan)->constants = request->constants;
    if (range)
        ln_range_apply(range, *out_plan);
    return ln_context_plan_once(*out_plan, s->target, &s->options);
}

static ln_status make(ln_plan_source *source, const ln_range *range, const ln_plan_request *request,
                      ln_context **out_plan)
{
    ln_plan_request whole = *request;
    ln_input_shape *all;
    *out_plan = NULL;
    LN_TRY(list_shapes(request->ctx, request->count, request->shapes, &whole.count, &all));
    whole.shapes = all;
    ln_status status = make_plan(source, range, &whole, out_plan);
    ln_free(all);
    if (status == LN_OK)
        return LN_OK;
    ln_context_free(*out_plan);
    *out_plan = NULL;
    return status;
}

ln_status ln_plan_source_make(ln_plan_source *source, const ln_plan_request *request,
                              ln_context **out_plan)
{
    return make(source, source->range, request, out_plan);
}

ln_status ln_plan_source_make_alone(ln_plan_source *source, const ln_plan_request *request,
                                    ln_context **out_plan)
{
    return make(source, NULL, request, out_plan);
}

// ---- The first plan ----

static ln_status take_instance(ln_plan_source *s, ln_context *ctx,
                               const ln_optimize_options *options, ln_context *instance)
{
    if (options && (options->on_firing || options->on_pass))
        LN_TRY(ln_context_optimize_with(ctx, s->target, options));
    if (s->range)
        ln_range_apply(s->range, instance);
    LN_TRY(ln_context_plan_once(instance, s->target, &s->options));
    ln_context_exchange(ctx, instance);
    return LN_OK;
}

// Rewritten first: what it leaves out, the plans that are measured leave out.
static ln_status compile_first(ln_plan_source *source, ln_context *ctx,
                               const ln_optimize_options *options)
{
    source->skips.is_noting = true;
    ctx->skips = &source->skips;
    ln_status status = ln_context_rewrite_once(ctx, source->target, options);
    ctx->skips = NULL;
    source->skips.is_noting = false;
    LN_TRY(status);
    if (source->range) {
        LN_TRY(ln_range_measure(source->range, source, ctx));
        ln_range_apply(source->range, ctx);
    }
    return ln_context_plan_once(ctx, source->target, &source->options);
}

ln_status ln_plan_source_compile(ln_plan_source *source, ln_context *ctx,
                                 const ln_optimize_options *options)
{
    if (!source->is_usual)
        return compile_first(source, ctx, options);
    if (source->range)
        LN_TRY(ln_range_measure(source->range, source, ctx));
    ln_plan_request request = {.ctx = ctx, .caller = ctx};
    ln_input_shape *all;
    ln_context *instance;
    LN_TRY(list_shapes(ctx, 0, NULL, &request.count, &all));
    request.shapes = all;
    ln_status status = make_instance(source, &request, &instance);
    ln_free(all);
    LN_TRY(status);
    if (!instance && source->range)
        ln_range_apply(source->range, ctx);
    if (!instance) {
        LN_TRY(ln_context_rewrite_once(ctx, source->target, options));
        return ln_context_plan_once(ctx, source->target, &source->options);
    }
    status = take_instance(source, ctx, options, instance);
    ln_context_free(instance);
    return status;
}
