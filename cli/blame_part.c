// SPDX-License-Identifier: Apache-2.0
// A part of a model as a model of its own, with stand-ins for what it reads from the rest.

#include "blame_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MAX_RECORDED_NUMBER 512 // elements of one tensor that are written down

static int is_from_file(const ln_op_arg *arg)
{
    const ln_param_entry *param = ln_param_list_find(arg->params, "from_file");
    return param && param->type == LN_PARAM_BOOL && param->value_bool;
}

static int resized_dim(const part *p, int dim)
{
    for (size_t i = 0; i < p->resized_count; i++)
        if (p->resized[i].from == dim)
            return p->resized[i].to;
    return dim;
}

// The least and greatest finite number of a tensor.
static void find_range(const tl_tensor *tensor, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int i = 0; i < tensor->len; i++) {
        double value = 0;
        (void)tl_convert(&value, TL_DOUBLE, tl_padd(tensor->data, i, tl_size_of(tensor->dtype)),
                         tensor->dtype);
        if (!isfinite(value))
            continue;
        range[0] = value < range[0] ? value : range[0];
        range[1] = value > range[1] ? value : range[1];
    }
    if (range[0] > range[1])
        range[0] = range[1] = 0;
}

static ln_status add_array(ln_list **params, const char *name, const double *numbers, int count)
{
    *params = ln_param_list_append_array_double(*params, name, count, numbers);
    return ln_param_list_find(*params, name) ? LN_OK : LN_NO_MEMORY;
}

static ln_status add_string(ln_list **params, const char *name, const char *text)
{
    *params = ln_param_list_append_string(*params, name, text);
    return ln_param_list_find(*params, name) ? LN_OK : LN_NO_MEMORY;
}

static ln_status add_shape(const part *p, const tl_tensor *tensor, ln_list **params)
{
    double dims[LN_MAXDIM];
    for (int i = 0; i < tensor->ndim; i++)
        dims[i] = resized_dim(p, tensor->dims[i]);
    LN_TRY(add_string(params, "dtype", tl_dtype_name(tensor->dtype)));
    return add_array(params, "dims", dims, tensor->ndim);
}

// Recorded numbers as `data`, or random ones in the same range.
static ln_status add_numbers(const tl_tensor *tensor, int is_recorded, ln_list **params)
{
    double range[2] = {0, 0}, zero = 0;
    if (!is_recorded)
        find_range(tensor, range);
    LN_TRY(add_array(params, "ran", range, 2));
    if (!is_recorded)
        return add_array(params, "data", &zero, 1);
    double *numbers = ln_alloc_array((size_t)tensor->len + 1, sizeof *numbers);
    if (!numbers)
        return LN_NO_MEMORY;
    ln_status status =
        tl_convert_n(numbers, TL_DOUBLE, tensor->data, tensor->dtype, (size_t)tensor->len);
    for (int i = 0; i < tensor->len && status == LN_OK; i++)
        if (!isfinite(numbers[i]))
            status = LN_FAIL(LN_UNSUPPORTED, "only finite numbers can be written down");
    if (status == LN_OK)
        status = add_array(params, "data", numbers, tensor->len);
    ln_free(numbers);
    return status;
}

// A new operator of type `optype` that makes `tname`; the lists are the operator's, or freed.
static ln_status append_op(ln_context *ctx, const char *optype, const char *tname, ln_list *ins,
                           ln_list *params)
{
    char name[LN_MAX_NAME_LEN + 16];
    snprintf(name, sizeof name, "%s of %s", optype, tname);
    name[LN_MAX_NAME_LEN - 1] = '\0';
    const ln_op *proto = ln_op_find(optype);
    ln_list *outs = NULL;
    ln_op *op = proto && ln_tensor_list_push(&outs, "dst", tname) == LN_OK
                    ? ln_op_create_from_proto(proto, name, ins, outs, params, ctx->tensor_table)
                    : NULL;
    if (!op) {
        ln_tensor_list_free(ins);
        ln_tensor_list_free(outs);
        ln_param_list_free(params);
        return proto ? LN_NO_MEMORY : LN_FAIL(LN_NOT_FOUND, "there is no operator '%s'", optype);
    }
    ln_status status = ln_context_append_op(ctx, op);
    if (status != LN_OK)
        ln_op_free_lists_too(op);
    return status;
}

static ln_status append_given(ln_context *ctx, const part *p, const char *optype, const char *tname,
                              const tl_tensor *tensor, int is_recorded)
{
    ln_list *params = NULL;
    ln_status status = add_shape(p, tensor, &params);
    if (status == LN_OK && strcmp(optype, "create") == 0)
        status = add_numbers(tensor, is_recorded, &params);
    if (status != LN_OK) {
        ln_param_list_free(params);
        return status;
    }
    return append_op(ctx, optype, tname, NULL, params);
}

// Recorded numbers that are no constant: a constant is added to zeros that are written at each run.
static ln_status append_recorded(ln_context *ctx, const part *p, const char *tname,
                                 const tl_tensor *tensor)
{
    char data[LN_MAX_NAME_LEN + 8], zeros[LN_MAX_NAME_LEN + 8];
    snprintf(data, sizeof data, "%s_data", tname);
    snprintf(zeros, sizeof zeros, "%s_zero", tname);
    LN_TRY(append_given(ctx, p, "create", data, tensor, 1));
    LN_TRY(append_given(ctx, p, "zeros", zeros, tensor, 0));
    ln_list *params = NULL, *ins = NULL;
    ln_status status = add_string(&params, "elew_op", "TL_SUM");
    if (status == LN_OK)
        status = ln_tensor_list_push(&ins, "src1", data);
    if (status == LN_OK)
        status = ln_tensor_list_push(&ins, "src2", zeros);
    if (status != LN_OK) {
        ln_param_list_free(params);
        ln_tensor_list_free(ins);
        return status;
    }
    return append_op(ctx, "elew", tname, ins, params);
}

// Something that makes tensor `tname`, whose operator is left out.
static ln_status append_stand_in(ln_context *ctx, const part *p, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(p->reference->tensor_table, tname);
    if (!entry || !entry->tensor->data || entry->mtype != LN_MEM_CPU)
        return LN_FAIL(LN_NOT_FOUND, "nothing is known about tensor '%s'", tname);
    int can_record = entry->tensor->len <= MAX_RECORDED_NUMBER;
    if (entry->isstatic)
        return append_given(ctx, p, "create", tname, entry->tensor, p->is_recorded && can_record);
    if (!p->is_recorded)
        return append_given(ctx, p, "input", tname, entry->tensor, 0);
    if (!can_record)
        return LN_FAIL(LN_LIMIT, "tensor '%s' is too long to be written down", tname);
    return append_recorded(ctx, p, tname, entry->tensor);
}

// Of the model's own operators that give shapes, these have them as a parameter.
static ln_status resize_op(const part *p, ln_op *op)
{
    if (op->op_arg->tensors_in || p->resized_count == 0)
        return LN_OK;
    ln_param_entry *dims = ln_param_list_find(op->op_arg->params, "dims");
    if (!dims || dims->type != LN_PARAM_ARRAY_NUMBER)
        return LN_OK;
    double numbers[LN_MAXDIM];
    int count = dims->array_len < LN_MAXDIM ? dims->array_len : LN_MAXDIM;
    for (int i = 0; i < count; i++)
        numbers[i] = resized_dim(p, (int)dims->value_array_double[i]);
    return ln_param_set_satu_array_double(dims, count, numbers);
}

static ln_status append_copy(ln_context *ctx, const part *p, const ln_op *op)
{
    ln_op *copy = ln_op_copy(op);
    if (!copy)
        return ln_error_status();
    copy->op_arg->tensor_table = ctx->tensor_table;
    ln_status status = resize_op(p, copy);
    if (status == LN_OK)
        status = ln_context_append_op(ctx, copy);
    if (status != LN_OK)
        ln_op_free_lists_too(copy);
    return status;
}

// Weights come from a file that the reproducer does not have; recorded numbers take the place of
// inputs.
static int is_usable(const part *p, const ln_op *op)
{
    return !is_from_file(op->op_arg) &&
           !(p->is_recorded && strcmp(op->op_arg->optype, "input") == 0);
}

static ln_status append_kept(ln_context *ctx, const part *p, const ln_op *op, ln_hash *made)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, op->op_arg->tensors_in) {
        if (ln_hash_find(made, listed->name))
            continue;
        LN_TRY(append_stand_in(ctx, p, listed->name));
        if (ln_hash_insert(made, listed->name, made) < 0)
            return LN_NO_MEMORY;
    }
    LN_LIST_FOREACH (listed, op->op_arg->tensors_out) {
        if (ln_hash_insert(made, listed->name, made) < 0)
            return LN_NO_MEMORY;
    }
    return append_copy(ctx, p, op);
}

static ln_status append_all(ln_context *ctx, const part *p, ln_hash *made)
{
    for (size_t i = 0; i < p->op_count; i++)
        if (p->is_kept[i] && is_usable(p, p->ops[i]))
            LN_TRY(append_kept(ctx, p, p->ops[i], made));
    return ln_context_init_ops(ctx);
}

ln_status part_open(part *p, const ln_context *model, ln_context *reference)
{
    *p = (part){.model = model, .reference = reference};
    size_t count = (size_t)ln_list_length(model->ops);
    p->ops = malloc((count + 1) * sizeof *p->ops);
    p->is_kept = malloc(count + 1);
    if (!p->ops || !p->is_kept)
        return LN_FAIL(LN_NO_MEMORY, "no memory for a reproducer");
    for (const ln_list *l = model->ops; l; l = l->next)
        p->ops[p->op_count++] = l->data;
    return LN_OK;
}

void part_close(part *p)
{
    free(p->ops);
    free(p->is_kept);
}

ln_status part_build(const part *p, ln_context **out_ctx)
{
    *out_ctx = NULL;
    ln_context *ctx = ln_context_create();
    ln_hash *made = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_status status = ctx && made ? append_all(ctx, p, made) : LN_NO_MEMORY;
    ln_hash_free(made);
    if (status != LN_OK) {
        close_model(ctx);
        return status;
    }
    *out_ctx = ctx;
    return LN_OK;
}
