// SPDX-License-Identifier: Apache-2.0
// Types are nested as deep as messages may; they are followed one after the other.

#include "serial/onnx/type.h"

#include <limits.h>

#include "serial/onnx/dtype.h"

static ln_status read_shape(const ln_onnx_source *source, ln_onnx_bytes message,
                            ln_onnx_arena *arena, ln_onnx_type_info *out)
{
    ln_onnx_shape shape;
    LN_TRY(ln_onnx_decode(LN_ONNX_SHAPE, message, arena, &shape));
    if (shape.dim.count > TL_MAXDIM)
        return ln_onnx_fail(source, message.at, LN_LIMIT,
                            "a shape of %zu dimensions; at most %d are supported", shape.dim.count,
                            TL_MAXDIM);
    out->has_rank = 1;
    for (size_t i = 0; i < shape.dim.count; i++) {
        ln_onnx_dim dim;
        LN_TRY(ln_onnx_decode(LN_ONNX_DIM, shape.dim.items[i], arena, &dim));
        if (dim.dim_value.at && dim.dim_value.bits > INT_MAX && ln_onnx_int(dim.dim_value) != -1)
            return ln_onnx_fail(source, dim.dim_value.at, LN_LIMIT,
                                "dimension %zu is %lld; it must be 0 to %d", i,
                                (long long)dim.dim_value.bits, INT_MAX);
        out->dims[i] = dim.dim_value.at ? (int)ln_onnx_int(dim.dim_value) : -1;
        out->symbols[i] = out->dims[i] < 0 ? dim.dim_param : (ln_onnx_bytes){0};
    }
    out->ndim = (int)shape.dim.count;
    return LN_OK;
}

ln_status ln_onnx_type_read(const ln_onnx_source *source, ln_onnx_bytes message,
                            ln_onnx_arena *arena, ln_onnx_type_info *out)
{
    *out = (ln_onnx_type_info){.dtype = TL_DTYPE_INVALID};
    if (!message.at)
        return LN_OK;
    ln_onnx_type type;
    LN_TRY(ln_onnx_decode(LN_ONNX_TYPE, message, arena, &type));
    if (type.sequence_type.at || type.optional_type.at || type.map_type.at) {
        out->dtype = TL_OBJECT;
        return LN_OK;
    }
    if (type.opaque_type.at)
        return ln_onnx_fail(source, message.at, LN_UNSUPPORTED, "an opaque type");
    ln_onnx_bytes tensor = type.tensor_type.at ? type.tensor_type : type.sparse_tensor_type;
    if (!tensor.at)
        return LN_OK;
    ln_onnx_tensor_type tensor_type;
    LN_TRY(ln_onnx_decode(LN_ONNX_TENSOR_TYPE, tensor, arena, &tensor_type));
    if (tensor_type.elem_type.bits != 0) {
        const ln_onnx_dtype *dtype = ln_onnx_dtype_of(tensor_type.elem_type.bits);
        if (!dtype)
            return ln_onnx_fail(source, tensor_type.elem_type.at, LN_UNSUPPORTED,
                                "elem_type: %lld is no element type that is known",
                                (long long)tensor_type.elem_type.bits);
        out->dtype = dtype->dtype;
    }
    return tensor_type.shape.at ? read_shape(source, tensor_type.shape, arena, out) : LN_OK;
}

// ---- As text ----

static void print_dtype(uint64_t number, ln_text *text)
{
    const ln_onnx_dtype *dtype = ln_onnx_dtype_of(number);
    ln_text_puts(text, dtype ? dtype->name : "?");
}

static ln_status print_tensor(ln_onnx_bytes message, ln_onnx_arena *arena, ln_text *text)
{
    ln_onnx_tensor_type type;
    LN_TRY(ln_onnx_decode(LN_ONNX_TENSOR_TYPE, message, arena, &type));
    print_dtype(type.elem_type.bits, text);
    if (!type.shape.at) {
        ln_text_puts(text, "[?]");
        return LN_OK;
    }
    ln_onnx_shape shape;
    LN_TRY(ln_onnx_decode(LN_ONNX_SHAPE, type.shape, arena, &shape));
    ln_text_puts(text, "[");
    for (size_t i = 0; i < shape.dim.count; i++) {
        ln_onnx_dim dim;
        LN_TRY(ln_onnx_decode(LN_ONNX_DIM, shape.dim.items[i], arena, &dim));
        ln_text_puts(text, i ? ", " : "");
        if (dim.dim_value.at)
            ln_text_printf(text, "%lld", (long long)dim.dim_value.bits);
        else if (dim.dim_param.len > 0)
            ln_text_printf(text, "%.*s", LN_ONNX_NAME(dim.dim_param));
        else
            ln_text_puts(text, "?");
    }
    ln_text_puts(text, "]");
    return LN_OK;
}

ln_status ln_onnx_type_print(ln_onnx_bytes message, ln_onnx_arena *arena, ln_text *text)
{
    int open = 0;
    while (message.at) {
        ln_onnx_type type;
        LN_TRY(ln_onnx_decode(LN_ONNX_TYPE, message, arena, &type));
        ln_onnx_bytes tensor = type.tensor_type.at ? type.tensor_type : type.sparse_tensor_type;
        ln_onnx_bytes around = type.sequence_type.at ? type.sequence_type : type.optional_type;
        if (tensor.at) {
            LN_TRY(print_tensor(tensor, arena, text));
            break;
        }
        if (type.map_type.at) {
            ln_onnx_map_type map;
            LN_TRY(ln_onnx_decode(LN_ONNX_MAP_TYPE, type.map_type, arena, &map));
            ln_text_puts(text, "map(");
            print_dtype(map.key_type.bits, text);
            ln_text_puts(text, ", ");
            message = map.value_type;
        } else if (around.at) {
            ln_onnx_elem_type elem;
            LN_TRY(ln_onnx_decode(LN_ONNX_ELEM_TYPE, around, arena, &elem));
            ln_text_puts(text, type.sequence_type.at ? "seq(" : "optional(");
            message = elem.elem_type;
        } else {
            break;
        }
        open++;
    }
    if (text->len == 0 || text->bytes[text->len - 1] == '(')
        ln_text_puts(text, "?");
    while (open-- > 0)
        ln_text_puts(text, ")");
    return text->status;
}
