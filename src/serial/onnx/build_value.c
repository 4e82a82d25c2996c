// SPDX-License-Identifier: Apache-2.0
// Names, constants, and operators as they are appended to a context.

#include "serial/onnx/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/param.h>
#include <lightnet/shape.h>
#include <lightnet/tensor_entry.h>

#include "serial/onnx/type.h"
#include "tensor/elem.h"

// Constants of so few elements are in the model's text, the others are attached.
#define MAX_INLINE 16

// ---- Names ----

ln_status ln_onnx_claim(ln_onnx_builder *b, ln_hash *taken, const char *wanted,
                        const char **out_name)
{
    char name[LN_MAX_NAME_LEN];
    const char *candidate = *wanted ? wanted : "v";
    const char *stem = strlen(candidate) < LN_MAX_NAME_LEN - 32 ? candidate : "v";
    while (ln_hash_find(taken, candidate)) {
        snprintf(name, sizeof name, "%s_%zu", stem, ++b->serial);
        candidate = name;
    }
    char *text = ln_onnx_arena_text(&b->arena, candidate, strlen(candidate));
    if (!text || ln_hash_insert(taken, text, text) < 0)
        return ln_error_status();
    *out_name = text;
    return LN_OK;
}

// ---- Parameters ----

// Appends an entry that has been made and set; frees it if either failed.
static ln_status push_param(ln_list **list, ln_param_entry *entry, ln_status status)
{
    if (status == LN_OK)
        status = ln_param_list_push(list, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    return status;
}

ln_status ln_onnx_param_number(ln_list **list, const char *name, double value)
{
    ln_param_entry *entry = ln_param_entry_create(name, LN_PARAM_NUMBER);
    return entry ? push_param(list, entry, ln_param_set_satu_number(entry, value))
                 : ln_error_status();
}

ln_status ln_onnx_param_bool(ln_list **list, const char *name, int value)
{
    ln_param_entry *entry = ln_param_entry_create(name, LN_PARAM_BOOL);
    return entry ? push_param(list, entry, ln_param_set_bool(entry, value)) : ln_error_status();
}

ln_status ln_onnx_param_string(ln_list **list, const char *name, const char *value)
{
    ln_param_entry *entry = ln_param_entry_create(name, LN_PARAM_STRING);
    return entry ? push_param(list, entry, ln_param_set_string(entry, value)) : ln_error_status();
}

ln_status ln_onnx_param_numbers(ln_list **list, const char *name, size_t count,
                                const double *values)
{
    ln_param_entry *entry = ln_param_entry_create(name, LN_PARAM_ARRAY_NUMBER);
    static const double none;
    const double *array = count ? values : &none;
    return entry ? push_param(list, entry, ln_param_set_satu_array_number(entry, (int)count, array))
                 : ln_error_status();
}

ln_status ln_onnx_param_strings(ln_list **list, const char *name, size_t count,
                                const char *const *values)
{
    ln_param_entry *entry = ln_param_entry_create(name, LN_PARAM_ARRAY_STRING);
    static const char *const none;
    const char *const *array = count ? values : &none;
    return entry ? push_param(list, entry, ln_param_set_array_string(entry, (int)count, array))
                 : ln_error_status();
}

// ---- Operators ----

ln_status ln_onnx_add_arg(ln_onnx_builder *b, ln_onnx_args *args, const char *arg_name,
                          const char *tensor)
{
    if (args->count == LN_ONNX_MAX_ARGS)
        return ln_onnx_fail(b->source, NULL, LN_LIMIT, "a node with more than %d tensors",
                            LN_ONNX_MAX_ARGS);
    args->items[args->count++] = (ln_onnx_arg){.arg_name = arg_name, .tensor = tensor};
    return LN_OK;
}

static ln_status make_list(ln_onnx_args *args, ln_list **out_list)
{
    // From the end, since what is added in front is added in no time.
    ln_status status = LN_OK;
    while (args->count > 0 && status == LN_OK) {
        const ln_onnx_arg *arg = &args->items[--args->count];
        ln_tensor_list_entry *entry = ln_tensor_list_entry_create(arg->arg_name, arg->tensor);
        status = entry ? ln_list_push_front(out_list, entry) : ln_error_status();
        if (status != LN_OK)
            ln_tensor_list_entry_free(entry);
    }
    args->count = 0;
    return status;
}

ln_status ln_onnx_add_op(ln_onnx_builder *b, ln_context *ctx, const char *name, const char *optype,
                         ln_list *params, const uint8_t *at)
{
    char place[256] = "";
    if (at)
        snprintf(place, sizeof place, "%.200s: byte %zu", b->source->name,
                 (size_t)(at - b->source->bytes.at));
    ln_op_source op = {
        .name = name, .optype = optype, .own_params = &params, .place = at ? place : NULL};
    ln_status status = make_list(&b->ins, &op.tensors_in);
    if (status == LN_OK)
        status = make_list(&b->outs, &op.tensors_out);
    if (status == LN_OK)
        status = ln_serializer_add_op(b->serializer, ctx, &op);
    ln_tensor_list_free(op.tensors_in);
    ln_tensor_list_free(op.tensors_out);
    ln_param_list_free(params);
    b->ins.count = b->outs.count = 0;
    return status;
}

// ---- Constants ----

// Whether a number of the text gives the element again. The largest of 64 bits, which slices have
// for "to the end", is rounded up in a double and brought back by saturation.
static int is_exact(double x, const tl_tensor *t, size_t i)
{
    uint64_t again;
    size_t size = tl_size_of(t->dtype);
    if (!isfinite(x) || (x == 0 && signbit(x)))
        return 0;
    return tl_convert(&again, t->dtype, &x, TL_DOUBLE) == LN_OK &&
           memcmp(&again, (const char *)t->data + i * size, size) == 0;
}

// Whether `data=[...]` gives these elements again.
static int is_inline(const ln_onnx_value *value, double *out_numbers)
{
    if (!TL_DTYPE_IS_NATIVE(value->dtype) || value->elem_count > MAX_INLINE)
        return 0;
    uint64_t aligned[MAX_INLINE];
    if (value->byte_count > sizeof aligned)
        return 0;
    memcpy(aligned, value->data, value->byte_count);
    tl_tensor t = {.dtype = value->dtype, .len = (int)value->elem_count, .data = aligned};
    for (size_t i = 0; i < value->elem_count; i++) {
        double x = ln_elem_real(&t, i);
        if (!is_exact(x, &t, i))
            return 0;
        out_numbers[i] = x;
    }
    return 1;
}

ln_status ln_onnx_param_shape(ln_list **params, tl_dtype dtype, int ndim, const int *dims)
{
    double numbers[TL_MAXDIM];
    for (int i = 0; i < ndim; i++)
        numbers[i] = dims[i];
    if (dtype != TL_DTYPE_INVALID)
        LN_TRY(ln_onnx_param_string(params, "dtype", tl_dtype_name(dtype)));
    return ln_onnx_param_numbers(params, "dims", (size_t)ndim, numbers);
}

// The context takes over what the value owns.
static ln_status attach(ln_context *ctx, const char *tensor, ln_onnx_value *value)
{
    if (value->owned) {
        void *owned = value->owned;
        value->owned = NULL; // released at once if it cannot be kept
        LN_TRY(ln_context_keep(ctx, owned, ln_free));
    }
    return ln_context_carry(ctx, tensor, value->dtype, value->ndim, value->dims, value->data);
}

static ln_status make_params(ln_context *ctx, const char *tensor, ln_onnx_value *value,
                             ln_list **params)
{
    double numbers[MAX_INLINE];
    if (value->dtype == TL_STRING) {
        LN_TRY(ln_onnx_param_shape(params, TL_DTYPE_INVALID, value->ndim, value->dims));
        return ln_onnx_param_strings(params, "data", value->elem_count, value->data);
    }
    LN_TRY(ln_onnx_param_shape(params, value->dtype, value->ndim, value->dims));
    if (value->elem_count == 0)
        return LN_OK;
    if (is_inline(value, numbers))
        return ln_onnx_param_numbers(params, "data", value->elem_count, numbers);
    LN_TRY(attach(ctx, tensor, value));
    return ln_onnx_param_bool(params, "from_file", 1);
}

ln_status ln_onnx_add_constant(ln_onnx_builder *b, ln_context *ctx, const char *tensor,
                               ln_onnx_value *value)
{
    const char *optype = value->dtype == TL_STRING ? "strings" : "create";
    const char *name;
    ln_list *params = NULL;
    b->report->parameter_count += value->elem_count;
    ln_status status = ln_onnx_claim(b, b->ops, tensor, &name);
    if (status == LN_OK)
        status = make_params(ctx, tensor, value, &params);
    ln_onnx_value_deinit(value);
    if (status != LN_OK) {
        ln_param_list_free(params);
        return status;
    }
    ln_tensor_list_entry out = {.name = (char *)(uintptr_t)tensor, .arg_name = (char[]){"dst"}};
    ln_list outs = {.data = &out};
    ln_op_source op = {.name = name, .optype = optype, .tensors_out = &outs, .params = params};
    status = ln_serializer_add_op(b->serializer, ctx, &op);
    ln_param_list_free(params);
    return status;
}

// ---- What names stand for ----

// An input takes values of its type and shape, and its initializer is one.
static ln_status check_stated_type(const ln_onnx_builder *b, const ln_onnx_symbol *symbol,
                                   ln_onnx_arena *arena, const ln_onnx_value *value)
{
    ln_onnx_type_info stated;
    char has[LN_SHAPE_TEXT_BYTES], wants[LN_SHAPE_TEXT_BYTES];
    LN_TRY(ln_onnx_type_read(b->source, symbol->type, arena, &stated));
    if (stated.dtype != TL_DTYPE_INVALID && stated.dtype != value->dtype)
        return ln_onnx_fail(b->source, symbol->message.at, LN_INVALID,
                            "the initializer '%s' is %s, and the input of its name %s",
                            symbol->name, tl_dtype_title(value->dtype),
                            tl_dtype_title(stated.dtype));
    bool is_same = !stated.has_rank || stated.ndim == value->ndim;
    for (int i = 0; stated.has_rank && is_same && i < stated.ndim; i++)
        is_same = stated.dims[i] < 0 || stated.dims[i] == value->dims[i];
    if (is_same)
        return LN_OK;
    ln_sprint_shape(has, sizeof has, value->ndim, value->dims);
    ln_sprint_shape(wants, sizeof wants, stated.ndim, stated.dims);
    return ln_onnx_fail(b->source, symbol->message.at, LN_INVALID,
                        "the initializer '%s' has the shape %s, and the input of its name %s",
                        symbol->name, has, wants);
}

static ln_status add_initializer(ln_onnx_builder *b, ln_context *ctx, const ln_onnx_symbol *symbol,
                                 const char *tensor)
{
    ln_onnx_value value;
    LN_TRY(symbol->kind == LN_SYMBOL_SPARSE
               ? ln_onnx_sparse_read(b->source, symbol->message, &value)
               : ln_onnx_tensor_read(b->source, symbol->message, &value));
    ln_status status = symbol->is_input ? check_stated_type(b, symbol, &b->arena, &value) : LN_OK;
    if (status != LN_OK) {
        ln_onnx_value_deinit(&value);
        return status;
    }
    return ln_onnx_add_constant(b, ctx, tensor, &value);
}

// A body makes the initializers that it reads itself: they are then there before it runs.
static ln_status copy_initializer(ln_onnx_builder *b, ln_onnx_frame *frame, ln_onnx_bytes name,
                                  const ln_onnx_symbol *symbol, const char **out_tensor)
{
    const char *tensor;
    LN_TRY(ln_onnx_claim(b, b->tensors, symbol->name, &tensor));
    ln_onnx_symbol *copy;
    LN_TRY(ln_onnx_scope_add(&frame->scope, name, LN_SYMBOL_GIVEN, &copy));
    copy->tensor = tensor;
    *out_tensor = tensor;
    return add_initializer(b, frame->ctx, symbol, tensor);
}

static ln_status note_captured(ln_onnx_builder *b, ln_onnx_frame *around, const char *tensor)
{
    ln_onnx_current *node = &around->node;
    for (size_t i = 0; i < node->captured_count; i++) {
        if (strcmp(node->captured[i], tensor) == 0)
            return LN_OK;
    }
    if (!node->captured)
        node->captured =
            ln_onnx_arena_take(&around->node_arena, LN_ONNX_MAX_ARGS, sizeof *node->captured);
    if (!node->captured)
        return ln_error_status();
    if (node->captured_count == LN_ONNX_MAX_ARGS)
        return ln_onnx_fail(b->source, node->at, LN_LIMIT,
                            "the bodies of node '%s' read more than %d tensors around them",
                            node->name, LN_ONNX_MAX_ARGS);
    node->captured[node->captured_count++] = tensor;
    return LN_OK;
}

// `tensor` of the context around becomes an input of a body, under the same name.
static ln_status capture(ln_onnx_builder *b, size_t frame_index, ln_onnx_bytes name,
                         const char *tensor)
{
    ln_onnx_frame *frame = b->frames[frame_index];
    ln_onnx_symbol *symbol;
    LN_TRY(ln_onnx_scope_add(&frame->scope, name, LN_SYMBOL_GIVEN, &symbol));
    symbol->tensor = tensor;
    LN_TRY(note_captured(b, b->frames[frame_index - 1], tensor));

    const char *op_name;
    LN_TRY(ln_onnx_claim(b, b->ops, tensor, &op_name));
    ln_list *params = NULL;
    ln_status status = ln_onnx_param_shape(&params, TL_OBJECT, 0, NULL);
    if (status == LN_OK)
        status = ln_onnx_param_bool(&params, "open", 1);
    if (status == LN_OK)
        status = ln_onnx_param_bool(&params, "capture", 1);
    ln_tensor_list_entry out = {.name = (char *)(uintptr_t)tensor, .arg_name = (char[]){"dst"}};
    ln_list outs = {.data = &out};
    ln_op_source op = {.name = op_name, .optype = "input", .tensors_out = &outs, .params = params};
    if (status == LN_OK)
        status = ln_serializer_add_op(b->serializer, frame->ctx, &op);
    ln_param_list_free(params);
    return status;
}

static int is_constant(const ln_onnx_symbol *symbol)
{
    return symbol->kind == LN_SYMBOL_INITIALIZER || symbol->kind == LN_SYMBOL_SPARSE;
}

ln_status ln_onnx_resolve(ln_onnx_builder *b, size_t frame_index, ln_onnx_bytes name,
                          const char **out_tensor)
{
    *out_tensor = NULL;
    size_t at = frame_index;
    ln_onnx_symbol *symbol;
    while (!(symbol = ln_onnx_scope_find(&b->frames[at]->scope, name))) {
        if (b->frames[at]->kind != LN_FRAME_BODY)
            return LN_NOT_FOUND;
        at--; // a body never is at the bottom
    }
    if (is_constant(symbol) && !symbol->is_input && at < frame_index)
        return copy_initializer(b, b->frames[frame_index], name, symbol, out_tensor);
    if (!symbol->tensor && symbol->kind != LN_SYMBOL_GIVEN)
        LN_TRY(ln_onnx_claim(b, b->tensors, symbol->name, &symbol->tensor));
    if (is_constant(symbol) && !symbol->is_there) {
        symbol->is_there = true;
        LN_TRY(add_initializer(b, b->frames[at]->ctx, symbol, symbol->tensor));
    }
    *out_tensor = symbol->tensor;
    for (size_t k = at + 1; symbol->tensor && k <= frame_index; k++)
        LN_TRY(capture(b, k, name, symbol->tensor));
    return LN_OK;
}
