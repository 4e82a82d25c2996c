// SPDX-License-Identifier: Apache-2.0
// Each convolution that several algorithms can do is run alone with each of them.

#include "compile/tune.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/param.h>
#include <lightnet/util.h>

#include "compile/threads.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_param.h"
#include "op/conv_nhwc.h"
#include "pass/firing.h"

// Another algorithm must be faster by this much: less is noise, and the cost model's choice is the
// same on every machine.
#define LEAST_GAIN 0.03

#define LEAST_RUNS     3
#define MOST_RUNS      50
#define ENOUGH_SECONDS 0.03

// ---- One trial ----

static const int *ints_param(const ln_op *op, const char *name, const int *usual)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param ? param->value_array_int : usual;
}

// The convolution as a model of its own.
typedef struct trial {
    int src_dims[4], weight_dims[4], group;
    int stride[2], padding[4], dilation[2];
} trial;

static bool read_trial(const ln_op *op, trial *t)
{
    static const int ones[2] = {1, 1}, zeros[4];
    const ln_tensor_entry *src = ln_op_find_tensor_entry(op, "src");
    if (!src || src->is_open || src->tensor->len == 0)
        return false;
    memcpy(t->src_dims, src->tensor->dims, sizeof t->src_dims);
    int window = ln_op_int_param(op, "src_channels", 0);
    t->group = ln_op_int_param(op, "group", 1);
    ln_conv_nhwc_weight_dims(t->weight_dims, src->tensor, window, t->group,
                             ln_op_int_param(op, "channels", 0), ints_param(op, "size", ones));
    t->src_dims[3] = window ? window : t->src_dims[3];
    memcpy(t->stride, ints_param(op, "stride", ones), sizeof t->stride);
    memcpy(t->dilation, ints_param(op, "dilation", ones), sizeof t->dilation);
    memcpy(t->padding, ints_param(op, "padding", zeros), sizeof t->padding);
    return true;
}

// In the threads of `owner`, because an algorithm may be the fastest in one thread only.
static ln_context *create_model(const trial *t, ln_conv_algorithm algorithm, const char *target,
                                const ln_context *owner)
{
    const int *x = t->src_dims, *w = t->weight_dims, *p = t->padding;
    const char *name = ln_conv_algorithm_name(algorithm);
    char text[2048];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d, %d]);\n"
             "create(| dst=w | dtype=TL_FLOAT, dims=[%d, %d, %d, %d], ran=[-1, 1]);\n"
             "conv2d_pack(weight=w | dst=p | group=%d, algorithm=%s);\n"
             "conv2d_nhwc(src=x, packed=p | dst=y | group=%d, channels=%d, size=[%d, %d], "
             "stride=[%d, %d], padding=[%d, %d, %d, %d], dilation=[%d, %d], algorithm=%s);\n",
             x[0], x[1], x[2], x[3], w[0], w[1], w[2], w[3], t->group, name, t->group, w[0], w[2],
             w[3], t->stride[0], t->stride[1], p[0], p[1], p[2], p[3], t->dilation[0],
             t->dilation[1], name);
    ln_context *model = ln_context_create();
    if (model)
        ln_context_share_threads(model, owner);
    if (model && ln_context_init_mem(model, text, strlen(text), "trial") == LN_OK &&
        ln_context_compile(model, target) == LN_OK && ln_context_load(model, NULL) == LN_OK)
        return model;
    ln_context_free(model);
    return NULL;
}

// Seconds of the best run; DBL_MAX if it does not run.
static double measure(const trial *t, ln_conv_algorithm algorithm, const char *target,
                      const ln_context *owner)
{
    ln_context *model = create_model(t, algorithm, target, owner);
    double best = DBL_MAX, begin = ln_clock();
    for (int i = 0; model && i < MOST_RUNS; i++) {
        double start = ln_clock();
        if (ln_context_run(model) != LN_OK)
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

static ln_conv_algorithm find_fastest(const trial *t, ln_conv_algorithm expected,
                                      const char *target, const ln_context *owner)
{
    double expected_time = measure(t, expected, target, owner), best_time = expected_time;
    ln_conv_algorithm best = expected;
    for (int a = 0; a < LN_CONV_ALGORITHM_COUNT; a++) {
        ln_conv_algorithm algorithm = (ln_conv_algorithm)a;
        if (algorithm == expected ||
            !ln_conv_algorithm_fits(algorithm, t->weight_dims, t->group, t->stride, t->dilation))
            continue;
        double time = measure(t, algorithm, target, owner);
        if (time < best_time && time < expected_time * (1 - LEAST_GAIN)) {
            best = algorithm;
            best_time = time;
        }
    }
    return best;
}

static int count_algorithms(const trial *t)
{
    int count = 0;
    for (int a = 0; a < LN_CONV_ALGORITHM_COUNT; a++)
        count += ln_conv_algorithm_fits((ln_conv_algorithm)a, t->weight_dims, t->group, t->stride,
                                        t->dilation);
    return count;
}

// ---- Rewriting ----

static ln_op *copy_with(const ln_op *op, const char *algorithm)
{
    ln_op *copy = ln_op_copy(op);
    if (!copy)
        return NULL;
    ln_list **params = &copy->op_arg->params;
    ln_param_entry *param = ln_param_list_find(*params, "algorithm");
    if (param && ln_param_set_string(param, algorithm) == LN_OK)
        return copy;
    if (!param)
        *params = ln_param_list_append_string(*params, "algorithm", algorithm);
    if (!param && ln_param_list_find(*params, "algorithm"))
        return copy;
    ln_op_free_lists_too(copy);
    return NULL;
}

// Packing and convolution take the algorithm together.
static ln_status exchange(ln_context *ctx, const ln_op *pack, const ln_op *conv,
                          ln_conv_algorithm algorithm)
{
    const char *name = ln_conv_algorithm_name(algorithm);
    ln_op *new_pack = copy_with(pack, name), *new_conv = copy_with(conv, name);
    ln_list *old_ops = NULL, *new_ops = NULL;
    ln_status status = new_pack && new_conv ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_list_push(&old_ops, (void *)(uintptr_t)pack);
    if (status == LN_OK)
        status = ln_list_push(&old_ops, (void *)(uintptr_t)conv);
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

// The operator that packs weights for this convolution alone; NULL if there is none.
static const ln_op *find_pack(const ln_context *ctx, const ln_op *conv)
{
    const char *packed = ln_tensor_list_find_name(conv->op_arg->tensors_in, "packed");
    const ln_op *pack = ln_dfg_prev(ctx->dfg, conv, packed);
    if (!pack || !ln_streq(pack->op_arg->optype, "conv2d_pack"))
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
    const ln_op *pack = find_pack(ctx, conv);
    trial t;
    if (!pack || !read_trial(conv, &t) || count_algorithms(&t) < 2)
        return LN_OK;
    const ln_param_entry *param = ln_param_list_find(conv->op_arg->params, "algorithm");
    ln_conv_algorithm expected = param ? (ln_conv_algorithm)param->value_int : LN_CONV_DIRECT;
    ln_conv_algorithm best =
        find_fastest(&t, expected, compilation->archs[0]->arch_name, root_of(ctx));
    if (best == expected)
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass(ln_conv_algorithm_name(best), conv, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    return ln_firing_done(compilation, &firing, exchange(ctx, pack, conv, best));
}

// Names first: rewriting changes the list.
ln_status ln_tune(ln_compilation *compilation)
{
    ln_list *names = NULL;
    ln_status status = ln_context_need_threads(root_of(compilation->ctx));
    const ln_op *op;
    LN_LIST_FOREACH (op, compilation->ctx->ops) {
        if (status != LN_OK || !ln_streq(op->op_arg->optype, "conv2d_nhwc"))
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
