// SPDX-License-Identifier: Apache-2.0
// Inputs and parameters of a call, as its functions ask for them.

#include "op/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/context.h>
#include <lightnet/msg.h>

#include "ir/context.h"
#include "ir/param_words.h"

#define MESSAGE_BYTES 2048

ln_status ln_call_fail(ln_call *call, ln_status status, const char *fmt, ...)
{
    char message[MESSAGE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return ln_op_fail(call->op_arg, status, "%s", message);
}

// A model is checked often: as it was read, as variants on archs are tried, and in runs.
static bool is_first_check(const ln_call *call)
{
    return !call->is_run && !call->is_checking && strcmp(call->op_arg->arch, "none") == 0 &&
           (call->out_count == 0 || !call->outs[0].entry);
}

ln_status ln_call_tolerate(ln_call *call, const char *fmt, ...)
{
    ln_context *ctx = call->op_arg->context;
    bool is_strict = ctx && ln_context_root(ctx)->is_strict;
    if (!is_strict && !is_first_check(call))
        return LN_OK;
    char message[MESSAGE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (is_strict)
        return ln_op_fail(call->op_arg, LN_INVALID, "%s", message);
    ln_msg_warn("%s: `%s` %s", call->op_arg->optype, call->op_arg->name, message);
    return LN_OK;
}

int ln_call_since(const ln_call *call)
{
    return call->since;
}

int ln_call_is_run(const ln_call *call)
{
    ((ln_call *)(uintptr_t)call)->has_read_values = true; // or will, in a run
    return call->is_run;
}

// ---- Inputs ----

int ln_call_in_count(const ln_call *call)
{
    return call->in_count;
}

static const ln_tensor_entry *entry_at(const ln_call *call, int index)
{
    return index >= 0 && index < call->in_count ? call->ins[index] : NULL;
}

static const tl_tensor *tensor_at(const ln_call *call, int index)
{
    return index >= 0 && index < call->in_count ? call->step.tensors[index] : NULL;
}

static const ln_tensor_entry *entry_named(const ln_call *call, const char *arg_name)
{
    return ln_tensor_list_find_entry(call->op_arg->tensors_in, call->op_arg->tensor_table,
                                     arg_name);
}

// `tensor` is that of the entry, or of the frame that the call is in.
static const void *value_of(const ln_call *call, const ln_tensor_entry *entry,
                            const tl_tensor *tensor)
{
    if (!entry)
        return NULL;
    bool is_constant = entry->isstatic && !entry->is_input;
    ln_call *noted = (ln_call *)(uintptr_t)call;
    *(is_constant ? &noted->has_read_constants : &noted->has_read_values) = true;
    bool is_elsewhere = entry->mtype > LN_MEM_CPU; // where this cannot read it
    if (call->is_run && !is_elsewhere)
        return tensor->len == 0 ? (const void *)tensor->dims : tensor->data;
    return entry->is_input ? NULL : entry->known;
}

const tl_tensor *ln_call_in(const ln_call *call, int index)
{
    if (call->is_preparing)
        ((ln_call *)(uintptr_t)call)->has_read_shapes = true; // perhaps
    return tensor_at(call, index);
}

tl_dtype ln_call_in_dtype(const ln_call *call, int index)
{
    const tl_tensor *tensor = tensor_at(call, index);
    return tensor ? tensor->dtype : TL_DTYPE_INVALID;
}

const tl_tensor *ln_call_in_named(const ln_call *call, const char *arg_name)
{
    const ln_tensor_entry *entry = entry_named(call, arg_name);
    return entry ? entry->tensor : NULL;
}

const void *ln_call_value(const ln_call *call, int index)
{
    return value_of(call, entry_at(call, index), tensor_at(call, index));
}

const void *ln_call_value_named(const ln_call *call, const char *arg_name)
{
    const ln_tensor_entry *entry = entry_named(call, arg_name);
    return value_of(call, entry, entry ? entry->tensor : NULL);
}

int ln_call_value_ints(ln_call *call, int index, int capacity, int64_t *out_values)
{
    const tl_tensor *tensor = ln_call_in(call, index);
    const void *value = ln_call_value(call, index);
    if (!tensor || !value)
        return -1;
    if (tensor->dtype != TL_INT64 && tensor->dtype != TL_INT32) {
        (void)ln_call_fail(call, LN_INVALID, "input %d should hold int64 or int32, but is %s",
                           index, tl_dtype_title(tensor->dtype));
        return -2;
    }
    if (tensor->len > capacity) {
        (void)ln_call_fail(call, LN_LIMIT, "input %d has %d elements, at most %d make sense", index,
                           tensor->len, capacity);
        return -2;
    }
    for (int i = 0; i < tensor->len; i++)
        out_values[i] =
            tensor->dtype == TL_INT64 ? ((const int64_t *)value)[i] : ((const int32_t *)value)[i];
    return tensor->len;
}

ln_object *ln_call_object(const ln_call *call, int index)
{
    const ln_tensor_entry *entry = entry_at(call, index);
    if (!entry || !entry->held || entry->tensor->dtype != TL_OBJECT)
        return NULL;
    return entry->held;
}

ln_object *ln_call_in_object(ln_call *call, int index)
{
    const ln_tensor_entry *entry = entry_at(call, index);
    if (!entry) {
        (void)ln_call_fail(call, LN_INVALID, "input %d is missing", index);
        return NULL;
    }
    if (entry->held)
        return ln_object_retain(entry->held);
    return ln_object_copy_tensor(tensor_at(call, index), ln_call_meter(call));
}

// ---- Parameters ----

// What the model says, else the default, else NULL.
static const ln_param_entry *find_param(const ln_call *call, const char *name)
{
    const ln_param_entry *given = ln_param_list_find(call->op_arg->params, name);
    if (given)
        return given;
    for (const ln_param_info *info = call->info->params; info->arg_name; info++)
        if (*info->arg_name == *name && strcmp(info->arg_name, name) == 0)
            return info->default_entry;
    return NULL;
}

int64_t ln_call_to_int(double x)
{
    if (!(x > -9223372036854775808.0)) // NaN too
        return x != x ? 0 : INT64_MIN;
    return x >= 9223372036854775808.0 ? INT64_MAX : (int64_t)x;
}

int ln_call_has(const ln_call *call, const char *param)
{
    return find_param(call, param) != NULL;
}

int64_t ln_call_int(const ln_call *call, const char *param)
{
    return ln_call_to_int(ln_call_float(call, param));
}

double ln_call_float(const ln_call *call, const char *param)
{
    const ln_param_entry *entry = find_param(call, param);
    if (entry && entry->type == LN_PARAM_BOOL)
        return entry->value_bool != 0;
    return entry && entry->type == LN_PARAM_NUMBER ? entry->value_double : 0;
}

const char *ln_call_string(const ln_call *call, const char *param)
{
    const ln_param_entry *entry = find_param(call, param);
    return entry && entry->type == LN_PARAM_STRING ? entry->value_string : NULL;
}

int ln_call_count(const ln_call *call, const char *param)
{
    const ln_param_entry *entry = find_param(call, param);
    return entry ? entry->array_len : 0;
}

int64_t ln_call_int_at(const ln_call *call, const char *param, int index)
{
    return ln_call_to_int(ln_call_float_at(call, param, index));
}

double ln_call_float_at(const ln_call *call, const char *param, int index)
{
    const ln_param_entry *entry = find_param(call, param);
    bool is_there =
        entry && entry->type == LN_PARAM_ARRAY_NUMBER && index >= 0 && index < entry->array_len;
    return is_there ? entry->value_array_double[index] : 0;
}

const char *ln_call_string_at(const ln_call *call, const char *param, int index)
{
    const ln_param_entry *entry = find_param(call, param);
    bool is_there =
        entry && entry->type == LN_PARAM_ARRAY_STRING && index >= 0 && index < entry->array_len;
    return is_there ? entry->value_array_string[index] : NULL;
}

const double *ln_call_floats(const ln_call *call, const char *param, size_t *out_count)
{
    const ln_param_entry *entry = find_param(call, param);
    bool is_there = entry && entry->type == LN_PARAM_ARRAY_NUMBER && entry->array_len > 0;
    *out_count = is_there ? (size_t)entry->array_len : 0;
    return is_there ? entry->value_array_double : NULL;
}

const char *const *ln_call_strings(const ln_call *call, const char *param, size_t *out_count)
{
    const ln_param_entry *entry = find_param(call, param);
    bool is_there = entry && entry->type == LN_PARAM_ARRAY_STRING && entry->array_len > 0;
    *out_count = is_there ? (size_t)entry->array_len : 0;
    return is_there ? (const char *const *)entry->value_array_string : NULL;
}

ln_status ln_call_check_axis(ln_call *call, const char *what, int64_t axis, int ndim, int *out_axis)
{
    *out_axis = 0;
    if (axis < -ndim || axis >= ndim)
        return ln_call_fail(call, LN_INVALID, "%s %lld is outside rank %d", what, (long long)axis,
                            ndim);
    *out_axis = (int)(axis < 0 ? axis + ndim : axis);
    return LN_OK;
}

ln_status ln_call_axis(ln_call *call, const char *param, int ndim, int *out_axis)
{
    return ln_call_check_axis(call, param, ln_call_int(call, param), ndim, out_axis);
}

// Numbers of TensorProto.DataType, by position.
static const tl_dtype onnx_dtypes[] = {
    TL_DTYPE_INVALID,  TL_FLOAT,    TL_UINT8,        TL_INT8,           TL_UINT16,
    TL_INT16,          TL_INT32,    TL_INT64,        TL_STRING,         TL_BOOL,
    TL_FLOAT16,        TL_DOUBLE,   TL_UINT32,       TL_UINT64,         TL_COMPLEX64,
    TL_COMPLEX128,     TL_BFLOAT16, TL_FLOAT8E4M3FN, TL_FLOAT8E4M3FNUZ, TL_FLOAT8E5M2,
    TL_FLOAT8E5M2FNUZ, TL_UINT4,    TL_INT4,         TL_FLOAT4E2M1,     TL_FLOAT8E8M0,
    TL_UINT2,          TL_INT2,
};

tl_dtype ln_onnx_dtype_from_number(int64_t number)
{
    int64_t count = (int64_t)(sizeof onnx_dtypes / sizeof onnx_dtypes[0]);
    return number >= 0 && number < count ? onnx_dtypes[number] : TL_DTYPE_INVALID;
}

int ln_onnx_dtype_to_number(tl_dtype dtype)
{
    int count = (int)(sizeof onnx_dtypes / sizeof onnx_dtypes[0]);
    for (int i = 1; i < count; i++)
        if (onnx_dtypes[i] == dtype)
            return i;
    return 0;
}

tl_dtype ln_onnx_dtype_from_name(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    char full[40] = "TL_";
    if (!name || len > 32)
        return TL_DTYPE_INVALID;
    if (strncmp(name, "TL_", 3) == 0)
        return tl_dtype_from_str(name);
    memcpy(full + 3, name, len + 1);
    return tl_dtype_from_str(full);
}

ln_status ln_call_dtype(ln_call *call, const char *param, tl_dtype *out_dtype)
{
    const char *name = ln_call_string(call, param);
    *out_dtype =
        name ? ln_onnx_dtype_from_name(name) : ln_onnx_dtype_from_number(ln_call_int(call, param));
    if (*out_dtype != TL_DTYPE_INVALID)
        return LN_OK;
    char words[512];
    if (name)
        return ln_call_fail(call, LN_INVALID, "param '%s': '%s' is no element type%s", param, name,
                            ln_dtype_words(name, words, sizeof words));
    return ln_call_fail(call, LN_INVALID, "param '%s' should name an element type, and is %lld",
                        param, (long long)ln_call_int(call, param));
}

// ---- Geometry ----

ln_status ln_call_broadcast(ln_call *call, int count, const tl_tensor *const *tensors,
                            int *out_ndim, int *out_dims)
{
    int ndim = 0;
    for (int i = 0; i < count; i++)
        if (tensors[i]->ndim > ndim)
            ndim = tensors[i]->ndim;
    for (int d = 0; d < ndim; d++)
        out_dims[d] = 1;
    for (int i = 0; i < count; i++) {
        const tl_tensor *t = tensors[i];
        for (int d = 0; d < t->ndim; d++) {
            int *out = &out_dims[ndim - t->ndim + d];
            if (t->dims[d] != 1 && *out != 1 && t->dims[d] != *out)
                return ln_call_fail(
                    call, LN_INVALID,
                    "dimension %d of input %d is %d, which does not broadcast to %d", d, i,
                    t->dims[d], *out);
            if (t->dims[d] != 1)
                *out = t->dims[d];
        }
    }
    *out_ndim = ndim;
    return LN_OK;
}

void ln_broadcast_strides(const tl_tensor *t, int ndim, int64_t *out_strides)
{
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int own = d - (ndim - t->ndim);
        out_strides[d] = own < 0 || t->dims[own] == 1 ? 0 : stride;
        if (own >= 0)
            stride *= t->dims[own];
    }
}
