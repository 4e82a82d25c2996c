// SPDX-License-Identifier: Apache-2.0
// Random weights: uniform numbers from an integer generator, in a range that fits their use.
//
// A weight gets +-sqrt(gain / fan-in). With gain 3 the sum of fan-in products has the variance of
// the input; relu halves it, so in front of one the gain is 6 (He et al. 2015); a branch that is
// added to what it was made from has a quarter, so that a chain of them does not grow. Deep
// networks neither fade nor overflow. What has a meaning of its own, such as a variance, is known
// by the name of the argument that takes it.

#include "random_weights.h"
#include "random_stream.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

typedef struct range {
    double least;
    double most;
} range;

// Arguments whose numbers have a meaning. A name matches as a whole or after a "_".
static const struct {
    const char *arg_name;
    range range;
} meanings[] = {
    {"var", {0.5, 1.5}},     {"scale", {0.8, 1.2}}, {"mean", {-0.1, 0.1}}, {"bias", {-0.1, 0.1}},
    {"offset", {-0.1, 0.1}}, {"anchor", {8, 64}},   {"anchors", {8, 64}},  {"index", {0, 0}},
};

// The middle of one of 2^24 equal parts of the range: exact but for the last two operations.
static double next_in(uint64_t *state, range r)
{
    double part = ((double)(random_stream_next(state) >> 40) + 0.5) / 16777216.0;
    return r.least + (r.most - r.least) * part;
}

// ---- What a tensor is for ----

// Who reads a tensor, and as what.
typedef struct use {
    const ln_op_arg *op; // NULL: nobody
    const char *arg_name;
    const tl_tensor *tensor; // as it is read, after a reshape
} use;

static int has_type(const ln_op_arg *op, const char *optype)
{
    size_t len = strlen(optype);
    return strncmp(op->optype, optype, len) == 0 &&
           (op->optype[len] == '\0' || op->optype[len] == '_');
}

// The output of an operator that passes its elements on; NULL for others.
static const char *passed_on(const ln_op_arg *op)
{
    if (!has_type(op, "reshape") && !has_type(op, "transpose") && !has_type(op, "forward"))
        return NULL;
    const ln_tensor_list_entry *out = op->tensors_out ? op->tensors_out->data : NULL;
    return out ? out->name : NULL;
}

// The first operator that does something with the tensor. Producers come before readers, so one
// walk is enough.
static use find_use(const ln_context *ctx, const ln_tensor_entry *entry)
{
    use found = {.tensor = entry->tensor};
    const char *name = entry->name;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *op = ((const ln_op *)l->data)->op_arg;
        const ln_tensor_list_entry *in = ln_tensor_list_find_by_name(op->tensors_in, name);
        if (!in)
            continue;
        const char *next = passed_on(op);
        const ln_tensor_entry *next_entry =
            next ? ln_tensor_table_find(ctx->tensor_table, next) : NULL;
        if (!next_entry) {
            found.op = op;
            found.arg_name = in->arg_name;
            return found;
        }
        name = next;
        found.tensor = next_entry->tensor;
    }
    return found;
}

// A parameter's number, or the product of its numbers; 1 if there is none.
static double param_product(const ln_op_arg *op, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op->params, name);
    if (!param || (param->type != LN_PARAM_NUMBER && param->type != LN_PARAM_ARRAY_NUMBER))
        return 1;
    if (param->type == LN_PARAM_NUMBER)
        return param->value_double;
    double product = 1;
    for (int i = 0; i < param->array_len; i++)
        product *= param->value_array_double[i];
    return product;
}

// How many products of the weight are in one sum.
static double fan_in(const use *u)
{
    const tl_tensor *t = u->tensor;
    // [C, O / group, kh, kw]: a channel of dst sums over the C / group channels of its group, and
    // of the windows that spread over an element, one in `stride` covers it.
    if (u->op && (has_type(u->op, "deconv2d") || has_type(u->op, "deconv")))
        return (double)t->len / t->dims[1] / param_product(u->op, "group") /
               param_product(u->op, "stride");
    return (double)t->len / t->dims[0];
}

// The only operator that reads the tensor; NULL if there is none, or several.
static const ln_op_arg *only_reader(const ln_context *ctx, const char *name)
{
    const ln_op_arg *reader = NULL;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *op = ((const ln_op *)l->data)->op_arg;
        if (!ln_tensor_list_find_by_name(op->tensors_in, name))
            continue;
        if (reader)
            return NULL;
        reader = op;
    }
    return reader;
}

static int is_sum(const ln_op_arg *op)
{
    const ln_param_entry *param = ln_param_list_find(op->params, "elew_op");
    return has_type(op, "elew") && param && param->type == LN_PARAM_STRING &&
           strcmp(param->value_string, "TL_SUM") == 0;
}

// By what follows the operator that uses the weight, as far as one tensor leads to the next.
static double gain(const ln_context *ctx, const ln_op_arg *op)
{
    int has_relu = 0;
    while (op && op->tensors_out) {
        const ln_tensor_list_entry *out = op->tensors_out->data;
        op = only_reader(ctx, out->name);
        if (op && is_sum(op))
            return has_relu ? 1.5 : 0.75;
        if (op && (has_type(op, "relu") || has_type(op, "lrelu")))
            has_relu = 1;
        else if (op && !has_type(op, "batchnorm") && !passed_on(op))
            op = NULL;
    }
    return has_relu ? 6 : 3;
}

static const range *find_meaning(const char *arg_name)
{
    for (size_t i = 0; arg_name && i < sizeof meanings / sizeof meanings[0]; i++) {
        size_t len = strlen(arg_name), wanted = strlen(meanings[i].arg_name);
        if (len >= wanted && strcmp(arg_name + len - wanted, meanings[i].arg_name) == 0 &&
            (len == wanted || arg_name[len - wanted - 1] == '_'))
            return &meanings[i].range;
    }
    return NULL;
}

static range find_range(const ln_context *ctx, const use *u)
{
    // Integers are weights of a quantised model, or sums of them.
    switch (u->tensor->dtype) {
    case TL_BOOL: return (range){0, 1};
    case TL_INT8: return (range){-127, 127};
    case TL_UINT8: return (range){0, 255};
    default: break;
    }
    const range *meaning = find_meaning(u->arg_name);
    if (meaning)
        return *meaning;
    if (u->tensor->dtype != TL_FLOAT && u->tensor->dtype != TL_DOUBLE)
        return tl_dtype_min_double(u->tensor->dtype) < 0 ? (range){-1024, 1024} : (range){0, 1024};
    if (u->tensor->ndim < 2 || u->tensor->len == 0)
        return (range){-0.1, 0.1};
    double limit = sqrt(gain(ctx, u->op) / fmax(fan_in(u), 1));
    return (range){-limit, limit};
}

// ---- Tensors ----

static void fill(tl_tensor *tensor, uint64_t state, range r)
{
    size_t size = tl_size_of(tensor->dtype);
    int is_whole = tensor->dtype != TL_FLOAT && tensor->dtype != TL_DOUBLE;
    for (int i = 0; i < tensor->len; i++) {
        double value = next_in(&state, r);
        if (tensor->dtype == TL_FLOAT) {
            ((float *)tensor->data)[i] = (float)value;
            continue;
        }
        if (is_whole)
            value = floor(value + 0.5);
        (void)tl_convert(tl_padd(tensor->data, i, size), tensor->dtype, &value, TL_DOUBLE);
    }
}

static ln_status add_tensor(const ln_context *ctx, uint64_t seed, const ln_tensor_entry *entry,
                            ln_named_tensor *out)
{
    const use u = find_use(ctx, entry);
    tl_tensor *tensor =
        tl_tensor_zeros(entry->tensor->ndim, entry->tensor->dims, entry->tensor->dtype);
    if (!tensor)
        return ln_error_status();
    fill(tensor, random_stream_start(seed, entry->name), find_range(ctx, &u));
    *out = (ln_named_tensor){entry->name, tensor};
    return LN_OK;
}

// Of constants; an input that may come from the file has data of its own.
static int is_from_file(const ln_op_arg *op)
{
    const ln_param_entry *param = ln_param_list_find(op->params, "from_file");
    return !has_type(op, "input") && param && param->type == LN_PARAM_BOOL && param->value_bool;
}

static size_t count_tensors(const ln_context *ctx)
{
    size_t count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *op = ((const ln_op *)l->data)->op_arg;
        count += is_from_file(op) ? (size_t)ln_tensor_list_length(op->tensors_out) : 0;
    }
    return count;
}

static ln_status add_tensors(const ln_context *ctx, uint64_t seed, ln_named_tensor *tensors,
                             size_t *io_count)
{
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *op = ((const ln_op *)l->data)->op_arg;
        for (const ln_list *out = is_from_file(op) ? op->tensors_out : NULL; out; out = out->next) {
            const ln_tensor_list_entry *listed = out->data;
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
            LN_TRY(add_tensor(ctx, seed, entry, &tensors[*io_count]));
            ++*io_count;
        }
    }
    return LN_OK;
}

ln_status random_weights_create(const ln_context *ctx, uint64_t seed, ln_named_tensor **out_tensors,
                                size_t *out_count)
{
    *out_tensors = NULL;
    *out_count = 0;
    ln_named_tensor *tensors = ln_alloc_array(count_tensors(ctx), sizeof *tensors);
    if (!tensors)
        return LN_NO_MEMORY;
    size_t count = 0;
    ln_status status = add_tensors(ctx, seed, tensors, &count);
    if (status != LN_OK) {
        random_weights_free(tensors, count);
        return status;
    }
    *out_tensors = tensors;
    *out_count = count;
    return LN_OK;
}

void random_weights_free(ln_named_tensor *tensors, size_t count)
{
    for (size_t i = 0; tensors && i < count; i++)
        tl_tensor_free_data_too((tl_tensor *)(uintptr_t)tensors[i].tensor);
    ln_free(tensors);
}
