// SPDX-License-Identifier: Apache-2.0
// Types: of tensors by their shapes, of all else by the text that the reader made of them.

#include "serial/onnx/writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/call.h>

// "seq(optional(seq(" and so on.
#define MAX_AROUND 16

// ---- Shapes ----

typedef struct shape_out {
    ln_onnx_out dim, shape, tensor;
} shape_out;

static void put_dim(shape_out *s, int64_t value, const char *symbol, size_t symbol_len)
{
    ln_onnx_out_reset(&s->dim);
    if (value >= 0)
        ln_onnx_put_int(&s->dim, LN_ONNX_dim_dim_value, value);
    else if (symbol_len > 0)
        ln_onnx_put_bytes(&s->dim, LN_ONNX_dim_dim_param, symbol, symbol_len);
    ln_onnx_put_message(&s->shape, LN_ONNX_shape_dim, &s->dim);
}

// Ends with the tensor type in `out`.
static ln_status finish_tensor(shape_out *s, ln_onnx_out *out, int number, int has_shape)
{
    ln_onnx_put_int(&s->tensor, LN_ONNX_tensor_type_elem_type, number);
    if (has_shape)
        ln_onnx_put_message(&s->tensor, LN_ONNX_tensor_type_shape, &s->shape);
    ln_onnx_put_message(out, LN_ONNX_type_tensor_type, &s->tensor);
    ln_onnx_out_deinit(&s->dim);
    ln_onnx_out_deinit(&s->shape);
    ln_onnx_out_deinit(&s->tensor);
    return out->text.status;
}

ln_status ln_onnx_put_tensor_type(ln_onnx_out *out, tl_dtype dtype, int has_shape, int ndim,
                                  const int *dims, const char *const *symbols)
{
    shape_out s = {0};
    for (int i = 0; has_shape && i < ndim; i++) {
        const char *symbol = symbols ? symbols[i] : "";
        put_dim(&s, dims[i], symbol, strlen(symbol));
    }
    return finish_tensor(&s, out, ln_onnx_dtype_to_number(dtype), has_shape);
}

// ---- From text ----

typedef struct type_text {
    const char *at;
    const char *all;
} type_text;

static ln_status fail_text(const type_text *t)
{
    return LN_FAIL(LN_INVALID, "'%.100s' is no type, such as seq(FLOAT[2, ?])", t->all);
}

static int take(type_text *t, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(t->at, word, len) != 0)
        return 0;
    t->at += len;
    return 1;
}

static ln_status take_dtype(type_text *t, int *out_number)
{
    char name[32];
    size_t len = 0;
    while (isalnum((unsigned char)t->at[len]) && len + 1 < sizeof name) {
        name[len] = t->at[len];
        len++;
    }
    name[len] = '\0';
    t->at += len;
    tl_dtype dtype = len > 0 ? ln_onnx_dtype_from_name(name) : TL_DTYPE_INVALID;
    *out_number = dtype == TL_DTYPE_INVALID ? 0 : ln_onnx_dtype_to_number(dtype);
    return *out_number || take(t, "?") ? LN_OK : fail_text(t);
}

static ln_status take_dim(type_text *t, shape_out *s)
{
    size_t len = strcspn(t->at, ",]");
    if (len == 0)
        return fail_text(t);
    char *end;
    long long value = strtoll(t->at, &end, 10);
    if (isdigit((unsigned char)*t->at) && end == t->at + len)
        put_dim(s, value, "", 0);
    else
        put_dim(s, -1, t->at, *t->at == '?' && len == 1 ? 0 : len);
    t->at += len;
    return LN_OK;
}

static ln_status take_tensor(type_text *t, ln_onnx_out *out)
{
    shape_out s = {0};
    int number, has_shape = 0;
    ln_status status = take_dtype(t, &number);
    if (status == LN_OK && !take(t, "[?]") && take(t, "[")) {
        has_shape = 1;
        while (status == LN_OK && !take(t, "]")) {
            status = take_dim(t, &s);
            if (status == LN_OK && !take(t, ", ") && *t->at != ']')
                status = fail_text(t);
        }
    }
    ln_status finished = finish_tensor(&s, out, number, has_shape);
    return status != LN_OK ? status : finished;
}

// What is around the tensor is put around it from the inside.
static ln_status wrap(ln_onnx_out *type, const uint32_t *around, const int *keys, int count)
{
    ln_onnx_out inner = {0}, outer = {0};
    while (count-- > 0) {
        ln_onnx_out_reset(&inner);
        ln_onnx_out_reset(&outer);
        if (around[count] == LN_ONNX_type_map_type)
            ln_onnx_put_int(&inner, LN_ONNX_map_type_key_type, keys[count]);
        ln_onnx_put_message(&inner,
                            around[count] == LN_ONNX_type_map_type
                                ? (uint32_t)LN_ONNX_map_type_value_type
                                : (uint32_t)LN_ONNX_elem_type_elem_type,
                            type);
        ln_onnx_put_message(&outer, around[count], &inner);
        ln_onnx_out_reset(type);
        ln_onnx_append_out(type, &outer);
    }
    ln_onnx_out_deinit(&inner);
    ln_onnx_out_deinit(&outer);
    return type->text.status;
}

static ln_status take_around(type_text *t, uint32_t *around, int *keys, int *out_count)
{
    int count = 0;
    for (;; count++) {
        uint32_t kind = take(t, "seq(")        ? LN_ONNX_type_sequence_type
                        : take(t, "optional(") ? LN_ONNX_type_optional_type
                        : take(t, "map(")      ? LN_ONNX_type_map_type
                                               : 0;
        *out_count = count;
        if (!kind)
            return LN_OK;
        if (count == MAX_AROUND)
            return fail_text(t);
        around[count] = kind;
        if (kind != LN_ONNX_type_map_type)
            continue;
        LN_TRY(take_dtype(t, &keys[count]));
        if (!take(t, ", "))
            return fail_text(t);
    }
}

ln_status ln_onnx_put_type_text(ln_onnx_out *out, const char *text)
{
    type_text t = {.at = text, .all = text};
    uint32_t around[MAX_AROUND];
    int keys[MAX_AROUND] = {0}, count;
    LN_TRY(take_around(&t, around, keys, &count));
    ln_onnx_out type = {0};
    ln_status status = take_tensor(&t, &type);
    for (int i = 0; i < count && status == LN_OK; i++)
        status = take(&t, ")") ? LN_OK : fail_text(&t);
    if (status == LN_OK && *t.at)
        status = fail_text(&t);
    if (status == LN_OK)
        status = wrap(&type, around, keys, count);
    ln_onnx_append_out(out, &type);
    ln_onnx_out_deinit(&type);
    return status != LN_OK ? status : out->text.status;
}
