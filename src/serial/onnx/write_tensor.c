// SPDX-License-Identifier: Apache-2.0
// Constants as ONNX keeps them. Elements that are stored as ours are are not copied.

#include "serial/onnx/writer.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/call.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "ir/attached.h"
#include "ir/context.h"
#include "serial/onnx/dtype.h"

// TensorProto.DataLocation
#define IN_OTHER_FILE 1

// What is smaller stays in the model; where larger ones begin in the file beside it.
#define LEAST_EXTERNAL 1024
#define ALIGN_EXTERNAL 64

// ---- Elements ----

// Elements of less than a byte, the first in the lowest bits.
static void pack(const uint8_t *from, size_t count, unsigned bits, uint8_t *to)
{
    unsigned per_byte = 8 / bits, mask = (1u << bits) - 1;
    for (size_t i = 0; i < count; i++)
        to[i / per_byte] = (uint8_t)(to[i / per_byte] | (from[i] & mask) << (i % per_byte * bits));
}

// Elements that are in other bytes in files: one byte for a bool, less for what has less bits.
static ln_status put_narrowed(ln_onnx_out *out, const tl_tensor *t, unsigned bits)
{
    size_t count = (size_t)t->len, len = (count * bits + 7) / 8;
    uint8_t *bytes = ln_alloc(len ? len : 1);
    if (!bytes)
        return LN_NO_MEMORY;
    if (t->dtype == TL_BOOL) {
        for (size_t i = 0; i < count; i++) {
            tl_bool element;
            memcpy(&element, (const char *)t->data + i * sizeof element, sizeof element);
            bytes[i] = element != 0;
        }
    } else {
        memset(bytes, 0, len);
        pack(t->data, count, bits, bytes);
    }
    ln_onnx_put_bytes(out, LN_ONNX_tensor_raw_data, bytes, len);
    ln_free(bytes);
    return LN_OK;
}

static void put_entry(ln_onnx_out *out, const char *key, const char *value)
{
    ln_onnx_out entry = {0};
    ln_onnx_put_text(&entry, LN_ONNX_entry_key, key);
    ln_onnx_put_text(&entry, LN_ONNX_entry_value, value);
    ln_onnx_put_message(out, LN_ONNX_tensor_external_data, &entry);
    ln_onnx_out_deinit(&entry);
}

static void put_external(ln_onnx_writer *w, const void *bytes, size_t len)
{
    char number[32];
    size_t end = ln_onnx_out_len(w->external);
    ln_onnx_append_zeros(w->external, (ALIGN_EXTERNAL - end % ALIGN_EXTERNAL) % ALIGN_EXTERNAL);
    put_entry(&w->tensor, "location", w->location);
    snprintf(number, sizeof number, "%zu", ln_onnx_out_len(w->external));
    put_entry(&w->tensor, "offset", number);
    snprintf(number, sizeof number, "%zu", len);
    put_entry(&w->tensor, "length", number);
    ln_onnx_put_int(&w->tensor, LN_ONNX_tensor_data_location, IN_OTHER_FILE);
    ln_onnx_append_piece(w->external, bytes, len);
}

// `stays`: the elements are where they are until all is written.
static ln_status put_elements(ln_onnx_writer *w, const tl_tensor *t, int stays, int may_be_external)
{
    ln_onnx_out *out = &w->tensor;
    unsigned bits = ln_onnx_dtype_of((uint64_t)ln_onnx_dtype_to_number(t->dtype))->bits;
    size_t len = tl_tensor_size(t);
    if (bits < 8 || t->dtype == TL_BOOL)
        return put_narrowed(out, t, bits);
    if (stays && may_be_external && w->external && len >= LEAST_EXTERNAL)
        put_external(w, t->data, len);
    else if (stays)
        ln_onnx_put_piece(out, LN_ONNX_tensor_raw_data, t->data, len);
    else
        ln_onnx_put_bytes(out, LN_ONNX_tensor_raw_data, t->data, len);
    return LN_OK;
}

static ln_status begin_tensor(ln_onnx_writer *w, const char *name, tl_dtype dtype, int ndim,
                              const int *dims)
{
    int number = ln_onnx_dtype_to_number(dtype);
    if (!number)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED, "ONNX has no element type %s",
                                  tl_dtype_name(dtype));
    ln_onnx_out_reset(&w->tensor);
    for (int i = 0; i < ndim; i++)
        ln_onnx_put_int(&w->tensor, LN_ONNX_tensor_dims, dims[i]);
    ln_onnx_put_int(&w->tensor, LN_ONNX_tensor_data_type, number);
    if (name)
        ln_onnx_put_text(&w->tensor, LN_ONNX_tensor_name, name);
    return LN_OK;
}

// ---- Constants of operators ----

static const ln_param_entry *param_of(const ln_op *op, const char *name)
{
    return ln_param_list_find(op->op_arg->params, name);
}

static double number_of(const ln_op *op, const char *name)
{
    const ln_param_entry *param = param_of(op, name);
    return param ? param->value_double : 0;
}

int ln_onnx_is_constant_op(const ln_op *op)
{
    static const char *const types[] = {"create", "strings", "zeros", "arange", "rearange"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(op->op_arg->optype, types[i]) == 0)
            return 1;
    }
    return 0;
}

static ln_status write_strings(ln_onnx_writer *w, const ln_op *op, const char *name)
{
    const ln_param_entry *dims = param_of(op, "dims"), *data = param_of(op, "data");
    LN_TRY(begin_tensor(w, name, TL_STRING, dims->array_len, dims->value_array_int));
    for (int i = 0; i < data->array_len && data->type == LN_PARAM_ARRAY_STRING; i++)
        ln_onnx_put_text(&w->tensor, LN_ONNX_tensor_string_data, data->value_array_string[i]);
    return w->tensor.text.status;
}

// What the data file has, or would have.
static ln_status write_attached(ln_onnx_writer *w, const ln_tensor_entry *entry, const char *name)
{
    const tl_tensor *t = ln_attached_find(w->root->attached, entry->name);
    if (!t)
        return ln_onnx_write_fail(
            w, LN_NOT_FOUND,
            "tensor '%s' comes from a data file, which is not given (-f FILE, or attach it)",
            entry->name);
    if (t->dtype != entry->tensor->dtype || !tl_tensor_issameshape(t, entry->tensor))
        return ln_onnx_write_fail(
            w, LN_INVALID, "the data of tensor '%s' have another type or shape", entry->name);
    LN_TRY(begin_tensor(w, name, t->dtype, t->ndim, t->dims));
    LN_TRY(put_elements(w, t, 1, name != NULL));
    return w->tensor.text.status;
}

// Fills a tensor of zeros as the operator would.
static ln_status fill(ln_onnx_writer *w, const ln_op *op, tl_tensor *t)
{
    const char *optype = op->op_arg->optype;
    if (strcmp(optype, "zeros") == 0)
        return LN_OK;
    if (strcmp(optype, "create") != 0 && strcmp(optype, "input") != 0)
        return tl_tensor_rearange(t, number_of(op, "start"), number_of(op, "stop"),
                                  number_of(op, "step"));
    const ln_param_entry *ran = param_of(op, "ran"), *data = param_of(op, "data");
    double least = ran ? ran->value_array_double[0] : 0;
    double greatest = ran ? ran->value_array_double[1] : 0;
    if (least != greatest)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED, "random numbers have no form in ONNX");
    for (int i = 0; least != 0 && i < t->len; i++)
        LN_TRY(tl_convert((char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype, &least,
                          TL_DOUBLE));
    int count = data && data->array_len < t->len ? data->array_len : data ? t->len : 0;
    if (least != 0 || t->dtype >= TL_COMPLEX64 || !data || data->type != LN_PARAM_ARRAY_NUMBER)
        return LN_OK;
    return tl_convert_n(t->data, t->dtype, data->value_array_double, TL_DOUBLE, (size_t)count);
}

static ln_status write_filled(ln_onnx_writer *w, const ln_op *op, const ln_tensor_entry *entry,
                              const char *name)
{
    const tl_tensor *shape = entry->tensor;
    LN_TRY(begin_tensor(w, name, shape->dtype, shape->ndim, shape->dims));
    tl_tensor *t = tl_tensor_zeros(shape->ndim, shape->dims, shape->dtype);
    if (!t)
        return ln_error_status();
    ln_status status = fill(w, op, t);
    if (status == LN_OK)
        status = put_elements(w, t, 0, 0);
    tl_tensor_free_data_too(t);
    return status != LN_OK ? status : w->tensor.text.status;
}

ln_status ln_onnx_write_constant(ln_onnx_writer *w, const ln_op *op, const char *name)
{
    if (strcmp(op->op_arg->optype, "strings") == 0)
        return write_strings(w, op, name);
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(op->op_arg->tensor_table, out->name);
    if (!entry || entry->is_open)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED, "the shape of tensor '%s' is not known",
                                  out->name);
    const ln_param_entry *from_file = param_of(op, "from_file");
    if (from_file && from_file->value_bool)
        return write_attached(w, entry, name);
    return write_filled(w, op, entry, name);
}

// ---- Constants that nodes need ----

static int is_taken(const ln_onnx_writer *w, const char *name)
{
    for (size_t i = 0; i < w->graph_count; i++) {
        if (ln_tensor_table_find(w->graphs[i].ctx->tensor_table, name))
            return 1;
    }
    return 0;
}

static void new_name(ln_onnx_writer *w, char *out_name)
{
    do
        snprintf(out_name, LN_MAX_NAME_LEN, "%.400s/%zu", w->op->op_arg->name, ++w->serial);
    while (is_taken(w, out_name));
}

ln_status ln_onnx_add_int(ln_onnx_writer *w, int value, char *out_name)
{
    int64_t number = value;
    new_name(w, out_name);
    LN_TRY(begin_tensor(w, out_name, TL_INT64, 0, NULL));
    ln_onnx_put_bytes(&w->tensor, LN_ONNX_tensor_raw_data, &number, sizeof number);
    ln_onnx_put_message(&w->graph->message, LN_ONNX_graph_initializer, &w->tensor);
    return w->graph->message.text.status;
}
