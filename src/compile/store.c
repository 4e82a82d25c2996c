// SPDX-License-Identifier: Apache-2.0
// Storing what is computed once: the constants that a run reads go into a file, and come from there
// by `create` operators in the place of those that computed them.
//
//     create(w) -> conv2d_pack(w) -> p -> conv2d_nhwc    becomes
//     create(p) -> conv2d_nhwc
//
// What the text can say as well stays there: short lists of numbers, and views.

#include <lightnet/context.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/param.h>
#include <lightnet/tensor_file.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "compile/beside.h"
#include "compile/context_plan.h"
#include "compile/exchange.h"
#include "compile/failover.h"
#include "compile/given_again.h"
#include "compile/load_part.h"
#include "compile/reshape.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/fill.h"

// Constants of so few elements stay numbers in the text, if they are that already.
#define MAX_TEXT_ELEMENTS 256

typedef struct store {
    ln_context *ctx;
    const char *datafile; // of the weights; NULL: they are attached to the model
    ln_tensor_file *file; // the same, opened when a graph needs it
    ln_list_builder read; // tensors that were read from it
    ln_hash *kept;        // names of weights that operators go on reading from a file -> tensors
    ln_op **ops;          // in the order of the list
    size_t op_count;      //
    bool *is_stored;      // of each: its outputs come from the file, or nobody needs them
    ln_hash *needed;      // names of tensors that the operators that stay read
    ln_named_tensor *tensors;
    size_t tensor_count;
    ln_list_builder old_ops;
    ln_list_builder new_ops;
    ln_list_builder list; // the operators from now on
} store;

static const ln_tensor_entry *entry_of(const store *s, const ln_tensor_list_entry *listed)
{
    return ln_tensor_table_find(s->ctx->tensor_table, listed->name);
}

// ---- Weights that stay weights: those of graphs, and what is not stored otherwise ----

static void free_tensor(void *tensor)
{
    tl_tensor_free_data_too(tensor);
}

static ln_status read_from_file(store *s, const char *name, tl_dtype dtype,
                                const tl_tensor **out_tensor)
{
    if (!s->file)
        LN_TRY(ln_tensor_file_open(s->datafile, &s->file));
    int index = ln_tensor_file_find(s->file, name);
    if (index < 0)
        return LN_FAIL(LN_NOT_FOUND, "%s: tensor '%s' is missing", s->datafile, name);
    const tl_tensor *known = ln_tensor_file_describe(s->file, index);
    if (known->dtype == dtype) {
        *out_tensor = ln_tensor_file_tensor(s->file, index);
        return *out_tensor ? LN_OK : ln_error_status();
    }
    tl_tensor *tensor = tl_tensor_zeros(known->ndim, known->dims, dtype);
    if (!tensor)
        return LN_NO_MEMORY;
    ln_status status = ln_tensor_file_read_as(s->file, index, dtype, tensor->data);
    if (status == LN_OK)
        status = ln_list_builder_push(&s->read, tensor);
    if (status != LN_OK) {
        tl_tensor_free_data_too(tensor);
        return status;
    }
    *out_tensor = tensor;
    return LN_OK;
}

// A graph may read the same tensor as another, or as the model around it.
static ln_status keep_weight(store *s, const char *name, tl_dtype dtype)
{
    const tl_tensor *tensor = ln_hash_find(s->kept, name);
    if (tensor && tensor->dtype != dtype)
        return LN_FAIL(LN_UNSUPPORTED,
                       "tensor '%s' of the data file is read as %s and, in another graph, as %s, "
                       "but the stored file holds it once; give one of them another name",
                       name, tl_dtype_title(tensor->dtype), tl_dtype_title(dtype));
    if (tensor)
        return LN_OK;
    tensor = ln_attached_find(s->ctx->attached, name);
    if (!tensor)
        LN_TRY(read_from_file(s, name, dtype, &tensor));
    if (ln_hash_insert(s->kept, (void *)(uintptr_t)name, (void *)(uintptr_t)tensor) < 0)
        return ln_error_status();
    return LN_OK;
}

static ln_status keep_outputs(store *s, const ln_context *graph, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(graph->tensor_table, out->name);
        LN_TRY(keep_weight(s, out->name, entry->tensor->dtype));
    }
    return LN_OK;
}

// Bodies of loops and branches keep their operators.
static ln_status keep_weights(ln_context *graph, void *user)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops) {
        if (ln_op_is_from_file(op))
            LN_TRY(keep_outputs(user, graph, op));
    }
    return LN_OK;
}

// ---- What is stored ----

static bool is_text(const store *s, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    return !op->op_arg->tensors_in && outs && !ln_op_is_from_file(op) &&
           entry_of(s, outs->data)->tensor->len <= MAX_TEXT_ELEMENTS;
}

static bool is_needed(const store *s, const ln_op *op, const ln_tensor_list_entry *out)
{
    return !ln_op_is_scratch(op->op_arg, out->arg_name) &&
           ln_hash_find(s->needed, out->name) != NULL;
}

static bool has_needed(const store *s, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (is_needed(s, op, out))
            return true;
    }
    return false;
}

// The elements as they are in memory; those that are there no more, as the model brought them.
static const tl_tensor *find_tensor(const store *s, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(s->ctx->tensor_table, tname);
    return entry->tensor->data ? entry->tensor : ln_attached_find(s->ctx->attached, tname);
}

// A weight of a graph that is called the same, and is not the same.
static bool is_taken(const store *s, const ln_op *op, const ln_tensor_list_entry *out)
{
    const tl_tensor *tensor = ln_hash_find(s->kept, out->name);
    return tensor && (!ln_op_is_from_file(op) || tensor->dtype != entry_of(s, out)->tensor->dtype);
}

// What is needed of its outputs can be in a file, in the bytes that they have in memory.
static bool can_store(const store *s, const ln_op *op)
{
    if (is_text(s, op))
        return false;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = entry_of(s, out);
        bool is_view = entry->owner && !entry->is_placed;
        if (is_needed(s, op, out) &&
            (is_view || is_taken(s, op, out) || entry->mtype != LN_MEM_CPU ||
             entry->tensor->dtype == TL_OBJECT || entry->tensor->dtype == TL_STRING ||
             tl_tensor_size(entry->tensor) == 0 || !find_tensor(s, out->name)))
            return false;
    }
    return true;
}

static ln_status need_inputs(store *s, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_hash_insert(s->needed, in->name, s) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

// A tensor that nobody reads is an output.
static ln_status need_outputs(store *s, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        ln_dfg_readers readers = ln_dfg_find_readers(s->ctx->dfg, out->name);
        if (!ln_dfg_next_reader(&readers) && ln_hash_insert(s->needed, out->name, s) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

// From the last operator to the first, so that all readers are known.
static ln_status find_stored(store *s)
{
    for (size_t k = s->op_count; k-- > 0;) {
        const ln_op *op = s->ops[k];
        bool is_load = ln_op_is_load(s->ctx, op);
        if (is_load)
            LN_TRY(need_outputs(s, op));
        s->is_stored[k] = is_load && (!has_needed(s, op) || can_store(s, op));
        if (s->is_stored[k])
            continue;
        LN_TRY(need_inputs(s, op));
        if (ln_op_takes_weights(s->ctx, op))
            LN_TRY(keep_outputs(s, s->ctx, op));
    }
    return LN_OK;
}

// ---- The file ----

static ln_status add_tensor(store *s, const char *name, const tl_tensor *tensor)
{
    ln_named_tensor *tensors = ln_realloc(s->tensors, (s->tensor_count + 1) * sizeof *s->tensors);
    if (!tensors)
        return LN_NO_MEMORY;
    s->tensors = tensors;
    s->tensors[s->tensor_count++] = (ln_named_tensor){name, tensor};
    return LN_OK;
}

static ln_status add_outputs(store *s, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (is_needed(s, op, out))
            LN_TRY(add_tensor(s, out->name, find_tensor(s, out->name)));
    }
    return LN_OK;
}

// What the root stores of the same name is the same.
static ln_status add_kept(store *s)
{
    size_t cursor = 0, own_count = s->tensor_count;
    const void *name;
    void *tensor;
    while (ln_hash_next(s->kept, &cursor, &name, &tensor)) {
        bool is_there = false;
        for (size_t i = 0; i < own_count && !is_there; i++)
            is_there = strcmp(s->tensors[i].name, name) == 0;
        if (!is_there)
            LN_TRY(add_tensor(s, name, tensor));
    }
    return LN_OK;
}

// The largest power of two, up to the alignment of memory, that divides the size.
static size_t alignment_of(const ln_named_tensor *named)
{
    size_t size = tl_tensor_size(named->tensor), align = LN_MEM_ALIGN;
    while (size % align != 0)
        align /= 2;
    return align;
}

// Data follow each other without gaps: after sizes that keep the alignment come those that do not.
static int by_alignment(const void *a, const void *b)
{
    size_t x = alignment_of(a), y = alignment_of(b);
    if (x != y)
        return x > y ? -1 : 1;
    const ln_named_tensor *p = a, *q = b;
    return strcmp(p->name, q->name);
}

static ln_status save(store *s, const char *path)
{
    for (size_t k = 0; k < s->op_count; k++) {
        if (s->is_stored[k])
            LN_TRY(add_outputs(s, s->ops[k]));
    }
    LN_TRY(add_kept(s));
    if (s->tensor_count == 0)
        return LN_OK;
    qsort(s->tensors, s->tensor_count, sizeof *s->tensors, by_alignment);
    return ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, s->tensors, s->tensor_count);
}

// ---- The operators ----

static const ln_op *find_create(const ln_context *ctx)
{
    for (const char *name = ctx->target; name && *name;) {
        char type[64];
        size_t len = strcspn(name, ",");
        snprintf(type, sizeof type, "create_%.*s", (int)len, name);
        const ln_op *proto = ln_op_find(type);
        if (proto)
            return proto;
        name += len + (name[len] == ',');
    }
    return ln_op_find_reference("create");
}

static ln_list *make_params(const tl_tensor *t)
{
    ln_list *params = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(t->dtype));
    params = ln_param_list_append_array_int(params, "dims", t->ndim, t->dims);
    params = ln_param_list_append_bool(params, "from_file", 1);
    if (ln_list_length(params) == 3)
        return params;
    ln_param_list_free(params);
    return NULL;
}

// `place` of those with the same maker: the first takes its name.
static ln_status add_create(store *s, const ln_op *maker, const ln_tensor_list_entry *out,
                            int place)
{
    const ln_op *proto = find_create(s->ctx);
    if (!proto)
        return LN_FAIL(LN_UNSUPPORTED, "no arch of '%s' creates tensors", s->ctx->target);
    char name[LN_MAX_NAME_LEN];
    snprintf(name, sizeof name, "%s", maker->op_arg->name);
    for (int i = place; place > 0; i++) {
        snprintf(name, sizeof name, "%.200s_%.200s%d", maker->op_arg->name, out->arg_name, i);
        if (!ln_op_table_find(s->ctx->op_table, name))
            break;
    }
    ln_list *params = make_params(entry_of(s, out)->tensor);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", out->name);
    ln_op *op = params && outs
                    ? ln_op_create_from_proto(proto, name, NULL, outs, params, s->ctx->tensor_table)
                    : NULL;
    if (!op) {
        ln_tensor_list_free(outs);
        ln_param_list_free(params);
        return LN_NO_MEMORY;
    }
    op->op_arg->context = s->ctx;
    ln_status status = ln_list_builder_push(&s->new_ops, op);
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return status;
    }
    return ln_list_builder_push(&s->list, op);
}

static ln_status replace_op(store *s, ln_op *op)
{
    int place = 0;
    const ln_tensor_list_entry *out;
    LN_TRY(ln_list_builder_push(&s->old_ops, op));
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (is_needed(s, op, out))
            LN_TRY(add_create(s, op, out, place++));
    }
    return LN_OK;
}

static ln_status make_ops(store *s)
{
    for (size_t k = 0; k < s->op_count; k++)
        LN_TRY(s->is_stored[k] ? replace_op(s, s->ops[k])
                               : ln_list_builder_push(&s->list, s->ops[k]));
    return LN_OK;
}

// ---- The whole ----

static ln_status list_ops(store *s)
{
    s->op_count = (size_t)ln_list_length(s->ctx->ops);
    s->ops = ln_alloc_array(s->op_count, sizeof(ln_op *));
    s->is_stored = ln_alloc_array(s->op_count, sizeof *s->is_stored);
    s->needed = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    s->kept = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!s->ops || !s->is_stored || !s->needed || !s->kept)
        return LN_NO_MEMORY;
    size_t k = 0;
    for (const ln_list *l = s->ctx->ops; l; l = l->next)
        s->ops[k++] = l->data;
    return LN_OK;
}

static ln_status plan_graph_again(ln_context *graph, void *user)
{
    char *target = ln_strdup(graph->target);
    if (!target)
        return LN_NO_MEMORY;
    (void)user;
    ln_plan_reuse reuse = (ln_plan_reuse)graph->plan_reuse;
    ln_status status = ln_context_rerun_ops(graph);
    if (status == LN_OK)
        status = ln_context_plan_memory(graph, target, reuse);
    ln_free(target);
    return status;
}

// Reads the file back, so that the plan is that of whoever reads the compiled model.
static ln_status plan_again(ln_context *ctx, const char *path, const char *target)
{
    ln_plan_reuse reuse = (ln_plan_reuse)ctx->plan_reuse;
    ln_attached_release(ctx->attached);
    ctx->attached = NULL;
    LN_TRY(ln_beside_attach(ctx, path, NULL));
    LN_TRY(ln_context_each_graph(ctx, plan_graph_again, NULL));
    LN_TRY(ln_context_rerun_ops(ctx));
    return ln_context_plan_memory(ctx, target, reuse);
}

static ln_status exchange(store *s, const char *path)
{
    ln_context *ctx = s->ctx;
    char *target = ln_strdup(ctx->target), *name = ln_strdup(ln_beside_name(path));
    ln_status status = target && name ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_exchange_ops(ctx, s->old_ops.list,
                                         (size_t)ln_list_length(s->old_ops.list), s->new_ops.list);
    if (status != LN_OK) {
        ln_free(target);
        ln_free(name);
        return status;
    }
    ln_list_free(s->new_ops.list); // whose operators are the context's
    s->new_ops = (ln_list_builder){0};
    ln_list_free(ctx->ops);
    ctx->ops = s->list.list;
    ctx->ops_last = NULL;
    s->list = (ln_list_builder){0};
    ln_free(ctx->weights);
    ctx->weights = name;
    status = plan_again(ctx, path, target);
    ln_free(target);
    return status;
}

typedef struct weight_count {
    size_t count;
    size_t attached_count;
} weight_count;

static ln_status count_weights(ln_context *ctx, void *user)
{
    weight_count *found = user;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_list *out = ln_op_takes_weights(ctx, op) ? op->op_arg->tensors_out : NULL;
        for (; out; out = out->next) {
            const ln_tensor_list_entry *listed = out->data;
            found->count++;
            if (!ln_op_is_from_file(op) ||
                ln_tensor_table_find(ctx->tensor_table, listed->name)->attached)
                found->attached_count++;
        }
    }
    return LN_OK;
}

// There are weights, of the model or of its graphs, and all of them are at hand.
static bool has_weights(ln_context *ctx, const char *datafile)
{
    weight_count found = {0};
    (void)count_weights(ctx, &found);
    (void)ln_context_each_graph(ctx, count_weights, &found);
    return found.count > 0 && (datafile || found.attached_count == found.count);
}

static ln_status run_store(store *s, const char *path)
{
    LN_TRY(list_ops(s));
    LN_TRY(ln_context_each_graph(s->ctx, keep_weights, s));
    LN_TRY(find_stored(s));
    LN_TRY(save(s, path));
    if (s->tensor_count == 0)
        return LN_OK;
    LN_TRY(make_ops(s));
    if (s->datafile)
        LN_TRY(ln_context_note_datafile(s->ctx, s->datafile));
    ln_context_unload(s->ctx);
    return exchange(s, path);
}

static ln_status store_planned(ln_context *ctx, const char *datafile, const char *path,
                               size_t *out_count)
{
    ctx->is_storing = 1;
    ln_status loaded = ln_context_load(ctx, datafile);
    ctx->is_storing = 0;
    LN_TRY(loaded);
    store s = {.ctx = ctx, .datafile = datafile};
    ln_status status = run_store(&s, path);
    if (status == LN_OK)
        *out_count = s.tensor_count;
    ln_context_unload(ctx);
    ln_op_list_free_lists_too(s.new_ops.list);
    ln_list_free(s.old_ops.list);
    ln_list_free(s.list.list);
    ln_hash_free(s.needed);
    ln_hash_free(s.kept);
    ln_list_free_deep(s.read.list, free_tensor);
    ln_tensor_file_close(s.file);
    ln_free(s.is_stored);
    ln_free(s.tensors);
    ln_free(s.ops);
    return status;
}

// ---- Of a model with dynamic inputs ----

// Lets `ctx` be `model`, READY, as it was compiled, which takes the weights of `ctx` from now on.
static ln_status compile_instead(ln_context *ctx, ln_context *model)
{
    LN_TRY(ln_context_compile_as_read(model));
    struct ln_plans *plans = ctx->plans;
    ctx->plans = model->plans;
    model->plans = plans;
    ln_context_exchange(ctx, model);
    return LN_OK;
}

// What is computed once may depend on shapes: the file has the weights as they are.
static ln_status store_dynamic(ln_context *ctx, ln_context *model, const char *datafile,
                               const char *path, size_t *out_count)
{
    if (datafile)
        LN_TRY(ln_context_carry_file(model, datafile));
    char *name = ln_strdup(ln_beside_name(path));
    if (!name)
        return LN_NO_MEMORY;
    ln_free(model->weights);
    model->weights = name;
    if (datafile)
        LN_TRY(ln_context_note_datafile(model, datafile));
    LN_TRY(ln_context_save_weights(model, path, out_count));
    return compile_instead(ctx, model);
}

ln_status ln_context_store(ln_context *ctx, const char *datafile, const char *path,
                           size_t *out_count)
{
    if (out_count)
        *out_count = 0;
    if (!ctx || !path || !out_count)
        return LN_FAIL(LN_INVALID, "storing constants needs a context, a file and a result");
    if (ctx->state != LN_CONTEXT_PLANNED || ctx->outer)
        return LN_FAIL(LN_STATE, "constants are stored of a model that is compiled and not loaded");
    ln_context *model;
    LN_TRY(ln_plans_copy_model(ctx, true, &model));
    if (!model && ctx->failover)
        return LN_FAIL(LN_UNSUPPORTED, LN_NOT_WRITTEN_WITH_FAILOVER);
    ln_status status = LN_OK;
    if (has_weights(model ? model : ctx, datafile))
        status = model ? store_dynamic(ctx, model, datafile, path, out_count)
                       : store_planned(ctx, datafile, path, out_count);
    ln_context_free(model);
    return status;
}
