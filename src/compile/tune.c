// SPDX-License-Identifier: Apache-2.0
// Each operator that several algorithms can do, which its arch knows, is run alone with each of
// them.

#include "compile/tune.h"
#include "compile/runner.h"

#include <float.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/param.h>
#include <lightnet/util.h>

#include "compile/threads.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "pass/choice.h"
#include "pass/firing.h"

// Another algorithm must be faster by this much: less is noise, and the cost model's choice is the
// same on every machine.
#define LEAST_GAIN 0.03

#define LEAST_RUNS     3
#define MOST_RUNS      50
#define ENOUGH_SECONDS 0.03

// ---- One trial ----

// An operator and the packing of its weights, to be run as a model of their own.
typedef struct trial {
    const ln_choice *choice;
    const ln_op *pack, *conv;
    const tl_tensor *src, *weight;
    const char *target;
    const ln_context *owner; // in whose threads: an algorithm may be the fastest in one only
} trial;

static bool read_trial(const ln_op *pack, const ln_op *conv, trial *t)
{
    const ln_tensor_entry *src = ln_op_find_tensor_entry(conv, "src");
    const ln_tensor_entry *weight = ln_op_find_tensor_entry(pack, "weight");
    if (!src || src->is_open || src->tensor->len == 0 || !weight || weight->is_open)
        return false;
    t->pack = pack;
    t->conv = conv;
    t->src = src->tensor;
    t->weight = weight->tensor;
    return true;
}

// The lists become the model's, or are freed. The operator has the name of its type.
static ln_status add_op(ln_context *model, const char *optype, ln_list *ins, ln_list *outs,
                        ln_list *params, bool is_complete)
{
    const ln_op *proto = ln_op_find(optype);
    ln_op *op = proto && is_complete
                    ? ln_op_create_from_proto(proto, optype, ins, outs, params, model->tensor_table)
                    : NULL;
    if (op) {
        ln_status status = ln_context_append_op(model, op);
        if (status != LN_OK)
            ln_op_free_lists_too(op);
        return status;
    }
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return proto ? LN_NO_MEMORY : LN_FAIL(LN_NOT_FOUND, "there is no operator '%s'", optype);
}

// A tensor of floats like `t`: an input, or random numbers that stay.
static ln_status add_source(ln_context *model, const tl_tensor *t, const char *name, bool is_input)
{
    ln_list *outs = ln_tensor_list_append(NULL, "dst", name);
    ln_list *params = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(t->dtype));
    params = ln_param_list_append_array_int(params, "dims", t->ndim, t->dims);
    if (!is_input)
        params = ln_param_list_append_array_int(params, "ran", 2, (const int[]){-1, 1});
    return add_op(model, is_input ? "input" : "create", NULL, outs, params,
                  outs && ln_list_length(params) == (is_input ? 2 : 3));
}

// `op` as it is, but for its tensors and the algorithm.
static ln_status add_copy(ln_context *model, const trial *t, const ln_op *op, ln_list *ins,
                          ln_list *outs, const char *algorithm, bool is_complete)
{
    ln_list *params = ln_param_list_copy(op->op_arg->params);
    is_complete = is_complete && ln_list_length(params) == ln_list_length(op->op_arg->params) &&
                  ln_choice_make(t->choice, op, algorithm, &params) == LN_OK;
    return add_op(model, op->op_arg->optype, ins, outs, params, is_complete);
}

static ln_status add_ops(ln_context *model, const trial *t, const char *algorithm)
{
    LN_TRY(add_source(model, t->src, "src", true));
    LN_TRY(add_source(model, t->weight, "weight", false));
    ln_list *ins = ln_tensor_list_append(NULL, "weight", "weight");
    ln_list *outs = ln_tensor_list_append(NULL, "dst", "packed");
    LN_TRY(add_copy(model, t, t->pack, ins, outs, algorithm, ins && outs));
    ins = ln_tensor_list_append(NULL, "src", "src");
    ins = ln_tensor_list_append(ins, "packed", "packed");
    outs = ln_tensor_list_append(NULL, "dst", "dst");
    LN_TRY(add_copy(model, t, t->conv, ins, outs, algorithm, ln_list_length(ins) == 2 && outs));
    return ln_context_init_ops(model);
}

static ln_context *create_model(const trial *t, const char *algorithm)
{
    ln_context *model = ln_context_create();
    if (model)
        ln_context_share_threads(model, t->owner);
    if (model && add_ops(model, t, algorithm) == LN_OK &&
        ln_context_compile(model, t->target) == LN_OK && ln_context_load(model, NULL) == LN_OK)
        return model;
    ln_context_free(model);
    return NULL;
}

// Seconds of the best run; DBL_MAX if it does not run.
static double measure(const trial *t, const char *algorithm)
{
    ln_context *model = create_model(t, algorithm);
    double best = DBL_MAX, begin = ln_clock();
    for (int i = 0; model && i < MOST_RUNS; i++) {
        double start = ln_clock();
        if (ln_context_run_alone(model) != LN_OK)
            break;
        double end = ln_clock();
        best = i > 0 && end - start < best ? end - start : best; // the first one only warms up
        if (i >= LEAST_RUNS && end - begin > ENOUGH_SECONDS)
            break;
    }
    ln_context_free(model);
    return best;
}

// ---- Choosing ----

// The algorithm that is faster than `expected` by enough; that one itself where none is.
static const char *find_fastest(const trial *t, const char *expected)
{
    const char *const *names = t->choice->algorithms, *best = expected;
    double expected_time = measure(t, expected), best_time = expected_time;
    for (int a = 0; names[a]; a++) {
        if (ln_streq(names[a], expected) || !t->choice->fits(t->conv, t->weight, a))
            continue;
        double time = measure(t, names[a]);
        if (time < best_time && time < expected_time * (1 - LEAST_GAIN)) {
            best = names[a];
            best_time = time;
        }
    }
    return best;
}

static int count_algorithms(const trial *t)
{
    int count = 0;
    for (int a = 0; t->choice->algorithms[a]; a++)
        count += t->choice->fits(t->conv, t->weight, a);
    return count;
}

// ---- Rewriting ----

static ln_op *copy_with(const ln_choice *choice, const ln_op *op, const char *algorithm)
{
    ln_op *copy = ln_op_copy(op);
    if (copy && ln_choice_make(choice, op, algorithm, &copy->op_arg->params) == LN_OK)
        return copy;
    ln_op_free_lists_too(copy);
    return NULL;
}

// Both operators take the algorithm together.
static ln_status exchange(ln_context *ctx, const trial *t, const char *algorithm)
{
    ln_op *new_pack = copy_with(t->choice, t->pack, algorithm);
    ln_op *new_conv = copy_with(t->choice, t->conv, algorithm);
    ln_list *old_ops = NULL, *new_ops = NULL;
    ln_status status = new_pack && new_conv ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_list_push(&old_ops, (void *)(uintptr_t)t->pack);
    if (status == LN_OK)
        status = ln_list_push(&old_ops, (void *)(uintptr_t)t->conv);
    if (status == LN_OK)
        status = ln_list_push(&new_ops, new_pack);
    if (status == LN_OK)
        status = ln_list_push(&new_ops, new_conv);
    if (status == LN_OK)
        status = ln_context_subgraph(ctx, old_ops, new_ops);
    if (status != LN_OK) {
        ln_op_free_lists_too(new_pack);
        ln_op_free_lists_too(new_conv);
    }
    ln_list_free(old_ops);
    ln_list_free(new_ops);
    return status;
}

// The operator that packs weights for this one alone; NULL if there is none.
static const ln_op *find_pack(const ln_context *ctx, const ln_op *conv, const char *pack_type)
{
    const char *packed = ln_tensor_list_find_name(conv->op_arg->tensors_in, "packed");
    const ln_op *pack = ln_dfg_prev(ctx->dfg, conv, packed);
    if (!pack || !ln_streq(pack->op_arg->optype, pack_type))
        return NULL;
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, packed);
    return ln_dfg_next_reader(&readers) && !ln_dfg_next_reader(&readers) ? pack : NULL;
}

// Graphs have the threads of the context that they belong to.
static ln_context *root_of(ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx;
}

static ln_status tune_conv(ln_compilation *compilation, const ln_op *conv)
{
    ln_context *ctx = compilation->ctx;
    const ln_choice *choice = ln_choice_find(conv->op_arg->optype);
    const ln_op *pack = find_pack(ctx, conv, choice->pack_type);
    trial t = {.choice = choice, .target = compilation->archs[0]->arch_name, .owner = root_of(ctx)};
    if (!pack || !read_trial(pack, conv, &t) || count_algorithms(&t) < 2)
        return LN_OK;
    const char *expected = ln_choice_made(choice, conv);
    const char *best = find_fastest(&t, expected);
    if (ln_streq(best, expected))
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass(best, NULL, conv, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    return ln_firing_done(compilation, &firing, exchange(ctx, &t, best));
}

// Names first: rewriting changes the list.
ln_status ln_tune(ln_compilation *compilation)
{
    ln_list *names = NULL;
    ln_status status = ln_context_need_threads(root_of(compilation->ctx));
    const ln_op *op;
    LN_LIST_FOREACH (op, compilation->ctx->ops) {
        const ln_choice *choice = ln_choice_find(op->op_arg->optype);
        if (status != LN_OK || !choice || !choice->fits)
            continue;
        char *name = ln_strdup(op->op_arg->name);
        status = name ? ln_list_push_front(&names, name) : LN_NO_MEMORY;
        if (status != LN_OK)
            ln_free(name);
    }
    for (const ln_list *l = names; l && status == LN_OK; l = l->next)
        status = tune_conv(compilation, ln_op_table_find(compilation->ctx->op_table, l->data));
    ln_list_free_deep(names, ln_free);
    return status;
}
