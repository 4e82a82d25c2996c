// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX on their way into a context, one at a time: the last one waits, since its
// outputs may get the names that the file has for them.

#include "serial/tflite/builder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

// Constants of so few elements are in the model's text, the others are attached.
#define MAX_INLINE 16

bool ln_tflite_is_going(const ln_tflite_builder *b)
{
    return b->status == LN_OK && b->file->status == LN_OK && !(b->op && b->op->is_bad);
}

void ln_tflite_stop(ln_tflite_builder *b, ln_status status, const char *fmt, ...)
{
    if (b->status != LN_OK)
        return;
    va_list ap;
    va_start(ap, fmt);
    ln_vfail(status, fmt, ap);
    va_end(ap);
    if (b->op)
        (void)ln_fail_prefix("operator %zu (%s '%s')", b->op->index, b->op->type, b->op->name);
    b->status = ln_fail_prefix("%s", b->file->name);
}

static void check(ln_tflite_builder *b, ln_status status)
{
    if (b->status == LN_OK)
        b->status = status;
}

// ---- Names ----

const char *ln_tflite_claim(ln_tflite_builder *b, ln_hash *taken, const char *wanted)
{
    char name[LN_MAX_NAME_LEN];
    const char *candidate = *wanted ? wanted : "t";
    const char *stem = strlen(candidate) < LN_MAX_NAME_LEN - 32 ? candidate : "t";
    while (ln_hash_find(taken, candidate)) {
        snprintf(name, sizeof name, "%s_%zu", stem, ++b->serial);
        candidate = name;
    }
    char *text = ln_strdup(candidate);
    if (!text || ln_hash_insert(taken, text, text) < 0) {
        ln_free(text);
        check(b, LN_NO_MEMORY);
        return "";
    }
    return text;
}

// A new name of a tensor of the operator that is being read.
static const char *new_tensor(ln_tflite_builder *b)
{
    return ln_tflite_claim(b, b->tensor_names, b->op && *b->op->name ? b->op->name : "t");
}

// ---- Operators ----

void ln_tflite_begin(ln_tflite_builder *b, const char *optype)
{
    ln_tflite_flush(b);
    if (ln_tflite_is_going(b))
        b->node.optype = optype;
}

void ln_tflite_in(ln_tflite_builder *b, const char *tensor)
{
    if (!b->node.optype)
        return;
    if (b->node.in_count == LN_TFLITE_MAX_ARGS)
        ln_tflite_stop(b, LN_LIMIT, "more than %d inputs", LN_TFLITE_MAX_ARGS);
    else
        b->node.ins[b->node.in_count++] = tensor;
}

const char *ln_tflite_out(ln_tflite_builder *b)
{
    if (!b->node.optype)
        return "";
    if (b->node.out_count == LN_TFLITE_MAX_ARGS) {
        ln_tflite_stop(b, LN_LIMIT, "more than %d outputs", LN_TFLITE_MAX_ARGS);
        return "";
    }
    const char *name = new_tensor(b);
    b->node.outs[b->node.out_count++] = name;
    return name;
}

void ln_tflite_number(ln_tflite_builder *b, const char *param, double value)
{
    if (!b->node.optype)
        return;
    ln_param_entry *entry = ln_param_entry_create(param, LN_PARAM_NUMBER);
    ln_status status = entry ? ln_param_set_satu_number(entry, value) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_param_list_push(&b->node.params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    check(b, status);
}

void ln_tflite_numbers(ln_tflite_builder *b, const char *param, size_t count, const double *values)
{
    if (!b->node.optype)
        return;
    static const double none;
    ln_param_entry *entry = ln_param_entry_create(param, LN_PARAM_ARRAY_NUMBER);
    ln_status status =
        entry ? ln_param_set_satu_array_number(entry, (int)count, count > 0 ? values : &none)
              : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_param_list_push(&b->node.params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    check(b, status);
}

void ln_tflite_string(ln_tflite_builder *b, const char *param, const char *value)
{
    if (!b->node.optype)
        return;
    ln_param_entry *entry = ln_param_entry_create(param, LN_PARAM_STRING);
    ln_status status = entry ? ln_param_set_string(entry, value) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_param_list_push(&b->node.params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    check(b, status);
}

void ln_tflite_flag(ln_tflite_builder *b, const char *param)
{
    if (!b->node.optype)
        return;
    ln_param_entry *entry = ln_param_entry_create(param, LN_PARAM_BOOL);
    ln_status status = entry ? ln_param_set_bool(entry, 1) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_param_list_push(&b->node.params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    check(b, status);
}

void ln_tflite_strings(ln_tflite_builder *b, const char *param, size_t count,
                       const char *const *values)
{
    if (!b->node.optype)
        return;
    ln_param_entry *entry = ln_param_entry_create(param, LN_PARAM_ARRAY_STRING);
    ln_status status = entry ? ln_param_set_array_string(entry, (int)count, values) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_param_list_push(&b->node.params, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    check(b, status);
}

// The name of argument `i`; those of a variadic one, which is the last, are counted.
static const char *arg_name(const ln_arg_info *infos, size_t i, char *buf, size_t size)
{
    size_t k = 0;
    while (k < i && infos[k].arg_name && !(infos[k].flags & LN_ARG_VARIADIC))
        k++;
    if (!infos[k].arg_name)
        return NULL;
    if (!(infos[k].flags & LN_ARG_VARIADIC))
        return infos[k].arg_name;
    snprintf(buf, size, "%s%zu", infos[k].arg_name, i - k + 1);
    return buf;
}

// The last `capture_count` tensors are those that graphs of the operator read.
static ln_status list_args(const ln_arg_info *infos, const char *const *tensors, size_t count,
                           size_t capture_count, ln_list **out_list)
{
    const size_t named = count - capture_count;
    // From the end, since what is added in front is added in no time.
    while (count-- > 0) {
        if (!tensors[count])
            continue;
        char buf[64];
        const char *name = buf;
        if (count < named)
            name = arg_name(infos, count, buf, sizeof buf);
        else
            snprintf(buf, sizeof buf, "capture%zu", count - named + 1);
        if (!name)
            return LN_FAIL(LN_INTERNAL, "an operator has no argument %zu", count);
        ln_tensor_list_entry *entry = ln_tensor_list_entry_create(name, tensors[count]);
        ln_status status = entry ? ln_list_push_front(out_list, entry) : ln_error_status();
        if (status != LN_OK) {
            ln_tensor_list_entry_free(entry);
            return status;
        }
    }
    return LN_OK;
}

static ln_status append(ln_tflite_builder *b, const char *optype, const char *name,
                        const char *const *ins, size_t in_count, size_t capture_count,
                        const char *const *outs, size_t out_count, ln_list **params)
{
    const ln_op *proto = ln_op_find(optype);
    const ln_op_info *info = proto ? proto->op_arg->info : NULL;
    if (!info)
        return LN_FAIL(LN_UNSUPPORTED, "%s: it needs operator '%s', which this library is without",
                       b->file->name, optype);
    char place[512];
    if (b->op)
        snprintf(place, sizeof place, "%.200s: operator %zu (%.60s '%.120s')", b->file->name,
                 b->op->index, b->op->type, b->op->name);
    else
        snprintf(place, sizeof place, "%.200s", b->file->name);
    ln_op_source op = {.name = name, .optype = optype, .own_params = params, .place = place};
    ln_status status = list_args(info->ins, ins, in_count, capture_count, &op.tensors_in);
    if (status == LN_OK)
        status = list_args(info->outs, outs, out_count, 0, &op.tensors_out);
    if (status == LN_OK)
        status = ln_serializer_add_op(b->serializer, b->into, &op);
    ln_tensor_list_free(op.tensors_in);
    ln_tensor_list_free(op.tensors_out);
    return status;
}

void ln_tflite_flush(ln_tflite_builder *b)
{
    ln_tflite_node *node = &b->node;
    if (node->optype && ln_tflite_is_going(b)) {
        const char *wanted = node->out_count > 0  ? node->outs[0]
                             : node->in_count > 0 ? node->ins[0]
                                                  : "";
        const char *name = ln_tflite_claim(b, b->op_names, wanted);
        if (b->status == LN_OK)
            check(b, append(b, node->optype, name, node->ins, node->in_count, node->capture_count,
                            node->outs, node->out_count, &node->params));
    }
    ln_param_list_free(node->params);
    node->optype = NULL;
    node->params = NULL;
    node->in_count = node->out_count = node->capture_count = 0;
}

void ln_tflite_name(ln_tflite_builder *b, const char *tensor, const char *name)
{
    if (!ln_tflite_is_going(b))
        return;
    for (size_t i = 0; b->node.optype && i < b->node.out_count; i++) {
        if (b->node.outs[i] == tensor) {
            b->node.outs[i] = name;
            return;
        }
    }
    ln_tflite_begin(b, "Identity");
    ln_tflite_in(b, tensor);
    ln_tflite_out(b);
    if (b->node.optype)
        b->node.outs[0] = name;
}

// ---- Frequent operators ----

const char *ln_tflite_unary(ln_tflite_builder *b, const char *optype, const char *x)
{
    ln_tflite_begin(b, optype);
    ln_tflite_in(b, x);
    return ln_tflite_out(b);
}

const char *ln_tflite_binary(ln_tflite_builder *b, const char *optype, const char *x, const char *y)
{
    ln_tflite_begin(b, optype);
    ln_tflite_in(b, x);
    ln_tflite_in(b, y);
    return ln_tflite_out(b);
}

const char *ln_tflite_ternary(ln_tflite_builder *b, const char *optype, const char *x,
                              const char *y, const char *z)
{
    const char *out = ln_tflite_binary(b, optype, x, y);
    ln_tflite_in(b, z);
    return out;
}

const char *ln_tflite_along(ln_tflite_builder *b, const char *optype, const char *x, const char *y,
                            int axis)
{
    const char *out = ln_tflite_binary(b, optype, x, y);
    ln_tflite_number(b, "axis", axis);
    return out;
}

const char *ln_tflite_transpose(ln_tflite_builder *b, const char *x, int ndim, const int *perm)
{
    double numbers[TL_MAXDIM];
    for (int i = 0; i < ndim; i++)
        numbers[i] = perm[i];
    const char *y = ln_tflite_unary(b, "Transpose", x);
    ln_tflite_numbers(b, "perm", (size_t)ndim, numbers);
    return y;
}

const char *ln_tflite_reshape(ln_tflite_builder *b, const char *x, int ndim, const int64_t *dims)
{
    const char *shape = ln_tflite_ints(b, (size_t)ndim, dims);
    const char *y = ln_tflite_binary(b, "Reshape", x, shape);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] == 0) {
            ln_tflite_number(b, "allowzero", 1);
            break;
        }
    }
    return y;
}

const char *ln_tflite_cast(ln_tflite_builder *b, const char *x, tl_dtype dtype)
{
    const char *y = ln_tflite_unary(b, "Cast", x);
    ln_tflite_string(b, "to", tl_dtype_name(dtype));
    return y;
}

const char *ln_tflite_clip(ln_tflite_builder *b, const char *x, float low, float high)
{
    const char *least = ln_tflite_scalar(b, TL_FLOAT, low);
    const char *most = ln_tflite_scalar(b, TL_FLOAT, high);
    ln_tflite_begin(b, "Clip");
    ln_tflite_in(b, x);
    ln_tflite_in(b, least);
    ln_tflite_in(b, most);
    return ln_tflite_out(b);
}

const char *ln_tflite_to_nchw(ln_tflite_builder *b, const char *x)
{
    return ln_tflite_transpose(b, x, 4, (const int[]){0, 3, 1, 2});
}

const char *ln_tflite_to_nhwc(ln_tflite_builder *b, const char *x)
{
    return ln_tflite_transpose(b, x, 4, (const int[]){0, 2, 3, 1});
}

// ---- Constants ----

// The elements as numbers that a text gives again to the bit.
static bool is_inline(tl_dtype dtype, size_t count, const void *data, double *out_numbers)
{
    size_t size = tl_size_of(dtype);
    if (!TL_DTYPE_IS_NATIVE(dtype) || count > MAX_INLINE)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t element = 0, again = 0;
        memcpy(&element, (const char *)data + i * size, size);
        double *x = &out_numbers[i];
        if (tl_convert(x, TL_DOUBLE, &element, dtype) != LN_OK ||
            tl_convert(&again, dtype, x, TL_DOUBLE) != LN_OK || !isfinite(*x) ||
            (*x == 0 && signbit(*x)) || memcmp(&element, &again, size) != 0)
            return false;
    }
    return true;
}

static ln_status list_params(ln_tflite_builder *b, const char *name, tl_dtype dtype, int ndim,
                             const int *dims, const void *data, ln_list **params)
{
    double shape[TL_MAXDIM], numbers[MAX_INLINE];
    size_t count = 1;
    for (int i = 0; i < ndim; i++) {
        shape[i] = dims[i];
        count *= (size_t)dims[i];
    }
    b->report->parameter_count += count;
    *params = ln_param_list_append_string(*params, "dtype", tl_dtype_name(dtype));
    *params = ln_param_list_append_array_double(*params, "dims", ndim, shape);
    if (count == 0)
        return ln_param_list_length(*params) == 2 ? LN_OK : LN_NO_MEMORY;
    if (is_inline(dtype, count, data, numbers)) {
        *params = ln_param_list_append_array_double(*params, "data", (int)count, numbers);
    } else {
        LN_TRY(ln_context_carry(b->into, name, dtype, ndim, dims, data));
        *params = ln_param_list_append_bool(*params, "from_file", 1);
    }
    return ln_param_list_length(*params) == 3 ? LN_OK : LN_NO_MEMORY;
}

void ln_tflite_constant(ln_tflite_builder *b, const char *name, tl_dtype dtype, int ndim,
                        const int *dims, const void *data, void *owned)
{
    ln_list *params = NULL;
    const char *op_name = ln_tflite_claim(b, b->op_names, name);
    ln_status status = b->status;
    if (owned && status != LN_OK)
        ln_free(owned);
    else if (owned)
        status = ln_context_keep(b->into, owned, ln_free);
    if (status == LN_OK)
        status = list_params(b, name, dtype, ndim, dims, data, &params);
    if (status == LN_OK)
        status = append(b, "create", op_name, NULL, 0, 0, &name, 1, &params);
    ln_param_list_free(params);
    check(b, status);
}

const char *ln_tflite_scalar(ln_tflite_builder *b, tl_dtype dtype, double value)
{
    char key[64];
    uint64_t bits, element = 0;
    memcpy(&bits, &value, sizeof bits);
    snprintf(key, sizeof key, "%d:%llx", (int)dtype, (unsigned long long)bits);
    const char *name = ln_hash_find(b->numbers, key);
    if (name)
        return name;
    if (!ln_tflite_is_going(b))
        return "";
    check(b, tl_convert(&element, dtype, &value, TL_DOUBLE));
    name = ln_tflite_claim(b, b->tensor_names, dtype == TL_FLOAT ? "number" : "integer");
    // Elements that are attached have to stay.
    uint64_t *kept = ln_alloc(sizeof *kept);
    char *text = ln_strdup(key);
    if (!kept || !text || ln_hash_insert(b->numbers, text, (void *)(uintptr_t)name) < 0) {
        ln_free(kept);
        ln_free(text);
        check(b, LN_NO_MEMORY);
        return "";
    }
    *kept = element;
    ln_tflite_constant(b, name, dtype, 0, NULL, kept, kept);
    return name;
}

const char *ln_tflite_ints(ln_tflite_builder *b, size_t count, const int64_t *values)
{
    if (!ln_tflite_is_going(b))
        return "";
    int64_t *kept = ln_alloc((count + 1) * sizeof *kept);
    if (!kept) {
        check(b, LN_NO_MEMORY);
        return "";
    }
    if (count > 0)
        memcpy(kept, values, count * sizeof *kept);
    const char *name = new_tensor(b);
    int dim = (int)count;
    ln_tflite_constant(b, name, TL_INT64, 1, &dim, kept, kept);
    return name;
}

const char *ln_tflite_steps(ln_tflite_builder *b, int64_t count, int64_t step)
{
    const char *zero = ln_tflite_scalar(b, TL_INT64, 0);
    const char *end = ln_tflite_scalar(b, TL_INT64, (double)count * (double)step);
    return ln_tflite_ternary(b, "Range", zero, end, ln_tflite_scalar(b, TL_INT64, (double)step));
}

const char *ln_tflite_filled(ln_tflite_builder *b, const char *value, int ndim, const int64_t *dims)
{
    return ln_tflite_binary(b, "Expand", value, ln_tflite_ints(b, (size_t)ndim, dims));
}
