// SPDX-License-Identifier: Apache-2.0
// From a context to a tree.

#include "serial/model_tree.h"

#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "ir/attached.h"
#include "ir/compiled.h"
#include "ir/open.h"
#include "serial/param_fit.h"

static const ln_place nowhere = {.file = ""};

static ln_status add_string(ln_document *doc, ln_value *parent, const char *key, const char *text)
{
    return ln_value_append(doc, parent, key, ln_value_new_string(doc, text, nowhere));
}

static ln_status add_number(ln_document *doc, ln_value *parent, const char *key, double number)
{
    return ln_value_append(doc, parent, key, ln_value_new_number(doc, number, nowhere));
}

// A new array or object that is already in its parent; NULL on failure.
static ln_value *add_parent(ln_document *doc, ln_value *parent, const char *key, ln_value_kind kind)
{
    ln_value *value = ln_value_new(doc, kind, nowhere);
    return ln_value_append(doc, parent, key, value) == LN_OK ? value : NULL;
}

static ln_status make_plan_facts(ln_document *doc, ln_value *out, const ln_tensor_entry *entry)
{
    const tl_tensor *tensor = ln_entry_planned_tensor(entry);
    LN_TRY(add_string(doc, out, "dtype", tl_dtype_name(tensor->dtype)));
    ln_value *dims = add_parent(doc, out, "dims", LN_VALUE_ARRAY);
    if (!dims)
        return ln_error_status();
    for (int i = 0; i < tensor->ndim; i++)
        LN_TRY(add_number(doc, dims, NULL, tensor->dims[i]));
    LN_TRY(add_string(doc, out, "mtype", ln_mem_type_name(entry->mtype)));
    LN_TRY(
        ln_value_append(doc, out, "static", ln_value_new_bool(doc, entry->isstatic != 0, nowhere)));
    if (entry->is_load)
        LN_TRY(ln_value_append(doc, out, "load", ln_value_new_bool(doc, 1, nowhere)));
    LN_TRY(add_number(doc, out, "offset", (double)entry->offset));
    const char *owner = ln_entry_planned_owner(entry);
    return owner ? add_string(doc, out, "owner", owner) : LN_OK;
}

static ln_status make_tensors(const ln_context *ctx, ln_document *doc, ln_value *op_value,
                              const char *key, const ln_list *tensors, int with_plan)
{
    ln_value *array = add_parent(doc, op_value, key, LN_VALUE_ARRAY);
    if (!array)
        return ln_error_status();
    for (const ln_list *l = tensors; l; l = l->next) {
        const ln_tensor_list_entry *tensor = l->data;
        ln_value *row = add_parent(doc, array, NULL, LN_VALUE_OBJECT);
        if (!row)
            return ln_error_status();
        LN_TRY(add_string(doc, row, "arg_name", tensor->arg_name));
        LN_TRY(add_string(doc, row, "name", tensor->name));
        if (!with_plan)
            continue;
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tensor->name);
        if (!entry)
            return LN_FAIL(LN_INTERNAL, "tensor '%s' is not in the tensor table", tensor->name);
        LN_TRY(make_plan_facts(doc, row, entry));
    }
    return LN_OK;
}

static ln_value *make_number(ln_document *doc, double number)
{
    const char *word = ln_number_word(number);
    return word ? ln_value_new_string(doc, word, nowhere)
                : ln_value_new_number(doc, number, nowhere);
}

static ln_value *make_param_value(ln_document *doc, const ln_param_entry *param)
{
    ln_value *array = NULL;
    switch (param->type) {
    case LN_PARAM_STRING: return ln_value_new_string(doc, param->value_string, nowhere);
    case LN_PARAM_NUMBER: return make_number(doc, param->value_double);
    case LN_PARAM_BOOL: return ln_value_new_bool(doc, param->value_bool != 0, nowhere);
    case LN_PARAM_ARRAY_STRING:
    case LN_PARAM_ARRAY_NUMBER:
    case LN_PARAM_ARRAY_BOOL: array = ln_value_new(doc, LN_VALUE_ARRAY, nowhere); break;
    default: return ln_value_new(doc, LN_VALUE_NULL, nowhere);
    }
    for (int i = 0; array && i < param->array_len; i++) {
        ln_value *element = param->type == LN_PARAM_ARRAY_STRING
                                ? ln_value_new_string(doc, param->value_array_string[i], nowhere)
                            : param->type == LN_PARAM_ARRAY_NUMBER
                                ? make_number(doc, param->value_array_double[i])
                                : ln_value_new_bool(doc, param->value_array_bool[i] != 0, nowhere);
        if (ln_value_append(doc, array, NULL, element) != LN_OK)
            return NULL;
    }
    return array;
}

static int is_text(const ln_param_entry *param)
{
    if (param->type == LN_PARAM_STRING)
        return ln_value_is_utf8(param->value_string);
    for (int i = 0; param->type == LN_PARAM_ARRAY_STRING && i < param->array_len; i++) {
        if (!ln_value_is_utf8(param->value_array_string[i]))
            return 0;
    }
    return 1;
}

static ln_status make_params(ln_document *doc, ln_value *op_value, const ln_op_arg *arg)
{
    ln_value *array = add_parent(doc, op_value, "params", LN_VALUE_ARRAY);
    if (!array)
        return ln_error_status();
    for (const ln_list *l = arg->params; l; l = l->next) {
        const ln_param_entry *param = l->data;
        if (!is_text(param))
            return LN_FAIL(LN_UNSUPPORTED,
                           "operator '%s': param '%s' is not UTF-8 and cannot be written",
                           arg->name, param->arg_name);
        ln_value *row = add_parent(doc, array, NULL, LN_VALUE_OBJECT);
        if (!row)
            return ln_error_status();
        LN_TRY(add_string(doc, row, "arg_name", param->arg_name));
        LN_TRY(ln_value_append(doc, row, "value", make_param_value(doc, param)));
    }
    return LN_OK;
}

static ln_status make_op(const ln_context *ctx, ln_document *doc, ln_value *ops, const ln_op *op,
                         int with_plan)
{
    ln_value *value = add_parent(doc, ops, NULL, LN_VALUE_OBJECT);
    if (!value)
        return ln_error_status();
    const ln_op_arg *arg = op->op_arg;
    LN_TRY(add_string(doc, value, "name", arg->name));
    LN_TRY(add_string(doc, value, "optype", arg->optype));
    LN_TRY(make_tensors(ctx, doc, value, "tensors_in", arg->tensors_in, 0));
    LN_TRY(make_tensors(ctx, doc, value, "tensors_out", arg->tensors_out, with_plan));
    return make_params(doc, value, arg);
}

static ln_status make_header(const ln_context *ctx, ln_document *doc, ln_value *root)
{
    LN_TRY(add_string(doc, root, "format", LN_COMPILED_FORMAT));
    LN_TRY(add_number(doc, root, "version", LN_COMPILED_VERSION));
    LN_TRY(add_string(doc, root, "target", ctx->compiled ? ctx->compiled->target : ctx->target));
    if (ctx->weights)
        LN_TRY(add_string(doc, root, "weights", ctx->weights));
    if (ctx->weights && ctx->weights_from)
        LN_TRY(add_string(doc, root, "weights_from", ctx->weights_from));
    if (ctx->compiled)
        return ln_model_tree_make_dynamic(ctx->compiled, doc, root);
    ln_value *memory = add_parent(doc, root, "memory", LN_VALUE_ARRAY);
    if (!memory)
        return ln_error_status();
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        if (ctx->mem_sizes[m] == 0)
            continue;
        ln_value *row = add_parent(doc, memory, NULL, LN_VALUE_OBJECT);
        if (!row)
            return ln_error_status();
        LN_TRY(add_string(doc, row, "mtype", ln_mem_type_name((ln_mem_type)m)));
        LN_TRY(add_number(doc, row, "static", (double)ctx->static_sizes[m]));
        LN_TRY(
            add_number(doc, row, "workspace", (double)(ctx->mem_sizes[m] - ctx->static_sizes[m])));
        if (ctx->load_sizes[m])
            LN_TRY(add_number(doc, row, "load", (double)ctx->load_sizes[m]));
    }
    return LN_OK;
}

static ln_status make_model(const ln_context *ctx, int with_plan, ln_document *doc, ln_value *root)
{
    if (with_plan || ctx->compiled)
        LN_TRY(make_header(ctx, doc, root));
    ln_value *ops = add_parent(doc, root, "ops", LN_VALUE_ARRAY);
    if (!ops)
        return ln_error_status();
    for (const ln_list *l = ctx->ops; l; l = l->next)
        LN_TRY(make_op(ctx, doc, ops, l->data, with_plan));
    return LN_OK;
}

static ln_status make_graphs(const ln_context *ctx, int with_plan, ln_document *doc, ln_value *root)
{
    ln_value *graphs = add_parent(doc, root, "graphs", LN_VALUE_ARRAY);
    if (!graphs)
        return ln_error_status();
    size_t cursor = 0;
    const void *name;
    void *graph;
    while (ln_hash_next(ctx->graphs, &cursor, &name, &graph)) {
        ln_value *row = add_parent(doc, graphs, NULL, LN_VALUE_OBJECT);
        if (!row)
            return ln_error_status();
        LN_TRY(add_string(doc, row, "name", name));
        LN_TRY(make_model(graph, with_plan, doc, row));
    }
    return LN_OK;
}

static ln_status make_root(const ln_context *ctx, int with_plan, ln_document *doc)
{
    ln_value *root = ln_value_new(doc, LN_VALUE_OBJECT, nowhere);
    if (!root)
        return LN_NO_MEMORY;
    ln_document_set_root(doc, root);
    LN_TRY(ln_model_tree_make_info(ctx, doc, root));
    LN_TRY(make_model(ctx, with_plan, doc, root));
    return ctx->graphs ? make_graphs(ctx, with_plan, doc, root) : LN_OK;
}

ln_status ln_model_tree_make(const ln_context *ctx, int with_plan, ln_document **out_document)
{
    *out_document = NULL;
    ln_document *document;
    LN_TRY(ln_document_create("", &document));
    ln_status status = make_root(ctx, with_plan, document);
    if (status != LN_OK) {
        ln_document_destroy(document);
        return status;
    }
    *out_document = document;
    return LN_OK;
}
