// SPDX-License-Identifier: Apache-2.0
// Attributes: numbers and texts become parameters, tensors become constants that the operator
// reads, graphs become graphs of the context.

#include "serial/onnx/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/param.h>

#include "base/checked.h"
#include "op/call.h"
#include "serial/onnx/type.h"
#include "serial/onnx/utf16.h"

#define MAX_ATTRIBUTES 256

static const char *const type_texts[LN_ATTRIBUTE_COUNT] = {
    "nothing",        "a number",        "a number",       "a string", "a tensor",
    "a graph",        "numbers",         "numbers",        "strings",  "several tensors",
    "several graphs", "a sparse tensor", "sparse tensors", "a type",   "types",
};

// Files of the first version do not say which field is meant: the one that is there.
static ln_attribute_type guess_type(const ln_onnx_attribute *a)
{
    return a->f.at                   ? LN_ATTRIBUTE_FLOAT
           : a->i.at                 ? LN_ATTRIBUTE_INT
           : a->s.at                 ? LN_ATTRIBUTE_STRING
           : a->t.at                 ? LN_ATTRIBUTE_TENSOR
           : a->g.at                 ? LN_ATTRIBUTE_GRAPH
           : a->floats.count         ? LN_ATTRIBUTE_FLOATS
           : a->ints.count           ? LN_ATTRIBUTE_INTS
           : a->strings.count        ? LN_ATTRIBUTE_STRINGS
           : a->tensors.count        ? LN_ATTRIBUTE_TENSORS
           : a->graphs.count         ? LN_ATTRIBUTE_GRAPHS
           : a->sparse_tensor.at     ? LN_ATTRIBUTE_SPARSE
           : a->sparse_tensors.count ? LN_ATTRIBUTE_SPARSES
           : a->tp.at                ? LN_ATTRIBUTE_TYPE
           : a->type_protos.count    ? LN_ATTRIBUTE_TYPES
                                     : LN_ATTRIBUTE_NONE;
}

static ln_attribute_type type_of(const ln_onnx_attribute *a)
{
    if (!a->type.at || a->type.bits == 0)
        return guess_type(a);
    return a->type.bits < LN_ATTRIBUTE_COUNT ? (ln_attribute_type)a->type.bits : LN_ATTRIBUTE_NONE;
}

// ---- Reading ----

static const ln_onnx_given *find_given(const ln_onnx_current *node, const char *name)
{
    for (size_t i = 0; i < node->given_count; i++) {
        if (strcmp(node->given[i].name, name) == 0)
            return &node->given[i];
    }
    return NULL;
}

static int is_name(ln_onnx_bytes bytes, const char *name)
{
    return bytes.len == strlen(name) && memcmp(bytes.at, name, bytes.len) == 0;
}

// What the call of the function, or the function itself, says about the attribute `name`.
static ln_status find_referred(ln_onnx_builder *b, const char *name, ln_onnx_attribute *out,
                               int *out_is_there)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    *out_is_there = 0;
    const ln_onnx_given *given = frame->call ? find_given(frame->call, name) : NULL;
    if (given) {
        *out = given->value;
        *out_is_there = 1;
        return LN_OK;
    }
    const ln_onnx_list *defaults = frame->called ? &frame->called->message.attribute_proto : NULL;
    for (size_t i = 0; defaults && i < defaults->count && !*out_is_there; i++) {
        LN_TRY(ln_onnx_decode(LN_ONNX_ATTRIBUTE, defaults->items[i], &frame->node_arena, out));
        *out_is_there = is_name(out->name, name);
    }
    return LN_OK;
}

static ln_status read_one(ln_onnx_builder *b, ln_onnx_bytes message)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    ln_onnx_current *node = &frame->node;
    ln_onnx_given *given = &node->given[node->given_count];
    LN_TRY(ln_onnx_decode(LN_ONNX_ATTRIBUTE, message, &frame->node_arena, &given->value));
    const char *fault = ln_onnx_name_fault(given->value.name);
    if (fault)
        return ln_onnx_problem(b, NULL, "the name of an attribute %s", fault);
    given->name =
        ln_onnx_arena_text(&frame->node_arena, given->value.name.at, given->value.name.len);
    if (!given->name)
        return ln_error_status();
    if (find_given(node, given->name))
        return ln_onnx_problem(b, NULL, "its attribute '%s' is there twice", given->name);
    int is_there = 1;
    ln_onnx_bytes referred = given->value.ref_attr_name;
    if (referred.len > 0) {
        const char *name = ln_onnx_arena_text(&frame->node_arena, referred.at, referred.len);
        if (!name)
            return ln_error_status();
        LN_TRY(find_referred(b, name, &given->value, &is_there));
        if (is_there && given->value.g.at)
            return ln_onnx_problem(b, NULL, "its attribute '%s' refers to a graph", given->name);
    }
    node->given_count += is_there != 0;
    return LN_OK;
}

ln_status ln_onnx_read_given(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_onnx_list *messages = &frame->node.message.attribute;
    if (messages->count == 0)
        return LN_OK;
    if (messages->count > MAX_ATTRIBUTES)
        return ln_onnx_problem(b, NULL, "it has %zu attributes; at most %d are supported",
                               messages->count, MAX_ATTRIBUTES);
    frame->node.given =
        ln_onnx_arena_take(&frame->node_arena, messages->count, sizeof *frame->node.given);
    if (!frame->node.given)
        return ln_error_status();
    for (size_t i = 0; i < messages->count && !frame->node.is_bad; i++)
        LN_TRY(read_one(b, messages->items[i]));
    return LN_OK;
}

// ---- Parameters ----

// Integers between 2^53 and 2^62 are not all doubles; beyond, they stand for "as far as possible".
static int is_exact(int64_t i)
{
    int64_t size = i < 0 ? -(i + 1) : i;
    return size <= INT64_C(1) << 53 || size >= INT64_C(1) << 62 || (int64_t)(double)i == i;
}

static ln_status add_number(ln_onnx_builder *b, const ln_onnx_given *given, ln_attribute_type type,
                            ln_list **params)
{
    if (type == LN_ATTRIBUTE_FLOAT)
        return ln_onnx_param_number(params, given->name,
                                    (double)ln_onnx_float(given->value.f.bits));
    int64_t i = ln_onnx_int(given->value.i);
    if (!is_exact(i))
        return ln_onnx_problem(b, NULL, "its attribute '%s' is %lld, which no double is",
                               given->name, (long long)i);
    return ln_onnx_param_number(params, given->name, (double)i);
}

static ln_status charge_params(ln_onnx_builder *b, size_t count)
{
    if (count > b->params_left)
        return ln_onnx_fail(b->source, ln_onnx_top(b)->node.at, LN_LIMIT,
                            "attributes with %zu more elements than are allowed in all",
                            count - b->params_left);
    b->params_left -= count;
    return LN_OK;
}

static ln_status add_numbers(ln_onnx_builder *b, const ln_onnx_given *given, ln_attribute_type type,
                             ln_list **params)
{
    const ln_onnx_numbers *numbers =
        type == LN_ATTRIBUTE_FLOATS ? &given->value.floats : &given->value.ints;
    LN_TRY(charge_params(b, numbers->count));
    double *values =
        ln_onnx_arena_take(&ln_onnx_top(b)->node_arena, numbers->count, sizeof *values);
    if (!values)
        return ln_error_status();
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (size_t i = 0; i < numbers->count && ln_onnx_number_next(numbers, &cursor, &bits); i++) {
        values[i] =
            type == LN_ATTRIBUTE_FLOATS ? (double)ln_onnx_float(bits) : (double)(int64_t)bits;
        if (type == LN_ATTRIBUTE_INTS && !is_exact((int64_t)bits))
            return ln_onnx_problem(b, NULL, "its attribute '%s' has %lld, which no double is",
                                   given->name, (long long)bits);
    }
    return ln_onnx_param_numbers(params, given->name, numbers->count, values);
}

static bool has_zero_byte(ln_onnx_bytes bytes)
{
    return bytes.len > 0 && memchr(bytes.at, '\0', bytes.len);
}

// A text of a parameter. One with 0 bytes is taken for UTF-16, as ML.NET writes it; *out is NULL if
// it is not that either, which is then noted.
static ln_status read_text(ln_onnx_builder *b, const ln_onnx_given *given, ln_onnx_bytes bytes,
                           const char **out)
{
    ln_onnx_arena *arena = &ln_onnx_top(b)->node_arena;
    *out = NULL;
    if (!has_zero_byte(bytes)) {
        *out = ln_onnx_arena_text(arena, bytes.at, bytes.len);
        return *out ? LN_OK : ln_error_status();
    }
    char *utf8 = ln_onnx_arena_take(arena, LN_UTF16_CAPACITY(bytes.len), 1);
    if (!utf8)
        return ln_error_status();
    if (!ln_utf16_to_utf8(bytes, utf8))
        return ln_onnx_problem(b, NULL, "its attribute '%s' has a 0 byte", given->name);
    *out = utf8;
    return LN_OK;
}

static ln_status tolerate_utf16(const ln_onnx_builder *b, const ln_onnx_given *given,
                                ln_onnx_bytes bytes)
{
    return ln_onnx_tolerate(b->source, bytes.at, "it is read as UTF-8",
                            "attribute '%s' of node '%s' is text in UTF-16", given->name,
                            ln_onnx_top(b)->node.name);
}

static ln_status add_string(ln_onnx_builder *b, const ln_onnx_given *given, ln_list **params)
{
    const char *text;
    LN_TRY(read_text(b, given, given->value.s, &text));
    if (text && has_zero_byte(given->value.s))
        LN_TRY(tolerate_utf16(b, given, given->value.s));
    return text ? ln_onnx_param_string(params, given->name, text) : LN_OK;
}

static ln_status add_strings(ln_onnx_builder *b, const ln_onnx_given *given, ln_list **params)
{
    const ln_onnx_list *strings = &given->value.strings;
    LN_TRY(charge_params(b, strings->count));
    const char **texts =
        ln_onnx_arena_take(&ln_onnx_top(b)->node_arena, strings->count, sizeof *texts);
    if (!texts)
        return ln_error_status();
    const ln_onnx_bytes *utf16 = NULL;
    for (size_t i = 0; i < strings->count; i++) {
        LN_TRY(read_text(b, given, strings->items[i], &texts[i]));
        if (!texts[i])
            return LN_OK;
        if (!utf16 && has_zero_byte(strings->items[i]))
            utf16 = &strings->items[i];
    }
    if (utf16)
        LN_TRY(tolerate_utf16(b, given, *utf16));
    return ln_onnx_param_strings(params, given->name, strings->count, texts);
}

static ln_status add_type(ln_onnx_builder *b, const ln_onnx_given *given, ln_list **params)
{
    ln_text text = {0};
    ln_status status = ln_onnx_type_print(given->value.tp, &ln_onnx_top(b)->node_arena, &text);
    if (status == LN_OK)
        status = ln_onnx_param_string(params, given->name, text.bytes);
    ln_text_deinit(&text);
    return status;
}

static ln_status fail_kind(ln_onnx_builder *b, const ln_onnx_given *given, ln_attribute_type type,
                           const char *wanted)
{
    return ln_onnx_problem(b, NULL, "its attribute '%s' is %s where %s is expected", given->name,
                           type_texts[type], wanted);
}

// An empty array may say either type of its elements, or none.
static ln_status add_param(ln_onnx_builder *b, const ln_onnx_given *given,
                           const ln_param_info *info, ln_list **params)
{
    ln_attribute_type type = type_of(&given->value);
    switch (info->ptype) {
    case LN_PARAM_NUMBER:
    case LN_PARAM_BOOL:
        if (type == LN_ATTRIBUTE_FLOAT || type == LN_ATTRIBUTE_INT)
            return add_number(b, given, type, params);
        return fail_kind(b, given, type, "a number");
    case LN_PARAM_ARRAY_NUMBER:
        if (type == LN_ATTRIBUTE_FLOATS || type == LN_ATTRIBUTE_INTS || type == LN_ATTRIBUTE_NONE)
            return add_numbers(b, given, type, params);
        return fail_kind(b, given, type, "an array of numbers");
    case LN_PARAM_STRING:
        if (type == LN_ATTRIBUTE_STRING)
            return add_string(b, given, params);
        if (type == LN_ATTRIBUTE_TYPE)
            return add_type(b, given, params);
        if (type == LN_ATTRIBUTE_GRAPH && given->graph)
            return ln_onnx_param_string(params, given->name, given->graph);
        return fail_kind(b, given, type, "a string or a graph");
    case LN_PARAM_ARRAY_STRING:
        if (type == LN_ATTRIBUTE_STRINGS || type == LN_ATTRIBUTE_NONE)
            return add_strings(b, given, params);
        return fail_kind(b, given, type, "an array of strings");
    default: return fail_kind(b, given, type, "something else");
    }
}

// ---- Tensors ----

static ln_status read_tensor(ln_onnx_builder *b, const ln_onnx_given *given, ln_onnx_value *out)
{
    ln_attribute_type type = type_of(&given->value);
    if (type == LN_ATTRIBUTE_TENSOR && given->value.t.at)
        return ln_onnx_tensor_read(b->source, given->value.t, out);
    return ln_onnx_sparse_read(b->source, given->value.sparse_tensor, out);
}

static int has_tensor(const ln_onnx_given *given)
{
    ln_attribute_type type = type_of(&given->value);
    return (type == LN_ATTRIBUTE_TENSOR && given->value.t.at) ||
           (type == LN_ATTRIBUTE_SPARSE && given->value.sparse_tensor.at);
}

static ln_status add_tensor(ln_onnx_builder *b, const ln_onnx_given *given, const ln_arg_info *info)
{
    const ln_onnx_frame *frame = ln_onnx_top(b);
    if (!has_tensor(given))
        return fail_kind(b, given, type_of(&given->value), "a tensor");
    char wanted[LN_MAX_NAME_LEN];
    snprintf(wanted, sizeof wanted, "%.400s.%.80s", frame->node.name, given->name);
    const char *tensor;
    LN_TRY(ln_onnx_claim(b, b->tensors, wanted, &tensor));
    ln_onnx_value value;
    LN_TRY(read_tensor(b, given, &value));
    LN_TRY(ln_onnx_add_constant(b, frame->ctx, tensor, &value));
    return ln_onnx_add_arg(b, &b->ins, info->arg_name, tensor);
}

// ---- All of a node ----

static const ln_arg_info *find_attribute(const ln_op_info *info, const char *name)
{
    for (const ln_arg_info *a = info->ins; a && a->arg_name; a++) {
        if (a->flags & LN_ARG_ATTRIBUTE && strcmp(a->arg_name, name) == 0)
            return a;
    }
    return NULL;
}

// Operators whose schemas allow attributes that they do not name; ONNX Runtime reads them so.
static bool allows_unknown_attributes(const char *optype)
{
    static const char *const optypes[] = {
        "Affine",
        "Crop",
        "DynamicSlice",
        "ImageScaler",
        "LayerNormalization",
        "ParametricSoftplus",
        "Scale",
        "ScaledTanh",
        "SimplifiedLayerNormalization",
    };
    for (size_t i = 0; i < sizeof optypes / sizeof optypes[0]; i++) {
        if (strcmp(optypes[i], optype) == 0)
            return true;
    }
    return false;
}

static ln_status skip_unknown(ln_onnx_builder *b, const ln_onnx_given *given)
{
    const ln_onnx_current *node = &ln_onnx_top(b)->node;
    if (!allows_unknown_attributes(node->optype) || b->source->is_strict)
        return ln_onnx_problem(b, NULL, "the operator has no attribute '%s'", given->name);
    return ln_onnx_tolerate(b->source, node->at, "it is ignored",
                            "node '%s' has attribute '%s', which operator %s has not", node->name,
                            given->name, node->optype);
}

ln_status ln_onnx_add_given(ln_onnx_builder *b, ln_list **params)
{
    const ln_onnx_current *node = &ln_onnx_top(b)->node;
    for (size_t i = 0; i < node->given_count && !node->is_bad; i++) {
        const ln_onnx_given *given = &node->given[i];
        const ln_param_info *param = ln_op_info_find_param(node->info, given->name);
        const ln_arg_info *tensor = find_attribute(node->info, given->name);
        if (tensor && (!param || has_tensor(given)))
            LN_TRY(add_tensor(b, given, tensor));
        else if (param)
            LN_TRY(add_param(b, given, param, params));
        else
            LN_TRY(skip_unknown(b, given));
    }
    for (const ln_param_info *p = node->info->params; p && p->arg_name && !node->is_bad; p++) {
        if (p->is_required && !ln_param_list_find(*params, p->arg_name))
            LN_TRY(ln_onnx_problem(b, NULL, "its attribute '%s' is missing", p->arg_name));
    }
    return LN_OK;
}

// ---- Constant ----

// One element, or as many as there are, in memory of its own.
static ln_status take_value(ln_onnx_builder *b, tl_dtype dtype, int ndim, size_t count,
                            size_t more_bytes, ln_onnx_value *out)
{
    *out = (ln_onnx_value){.dtype = dtype, .ndim = ndim, .elem_count = count};
    out->dims[0] = (int)count;
    size_t size;
    if (count > INT32_MAX || !ln_size_mul(count, tl_size_of(dtype), &out->byte_count) ||
        !ln_size_add(out->byte_count, more_bytes, &size))
        return LN_FAIL(LN_LIMIT, "a constant of %zu elements", count);
    LN_TRY(ln_onnx_charge(&b->source->budget, size));
    out->owned = ln_alloc(size);
    out->data = out->owned;
    return out->owned ? LN_OK : LN_NO_MEMORY;
}

static ln_status numbers_value(ln_onnx_builder *b, const ln_onnx_numbers *numbers, tl_dtype dtype,
                               ln_onnx_value *out)
{
    LN_TRY(take_value(b, dtype, 1, numbers->count, 0, out));
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (size_t i = 0; i < numbers->count && ln_onnx_number_next(numbers, &cursor, &bits); i++) {
        if (dtype == TL_FLOAT)
            ((float *)out->owned)[i] = ln_onnx_float(bits);
        else
            ((int64_t *)out->owned)[i] = (int64_t)bits;
    }
    return LN_OK;
}

static ln_status strings_value(ln_onnx_builder *b, int ndim, const ln_onnx_bytes *strings,
                               size_t count, ln_onnx_value *out)
{
    size_t more = 0;
    for (size_t i = 0; i < count; i++) {
        if (strings[i].len > 0 && memchr(strings[i].at, '\0', strings[i].len))
            return ln_onnx_fail(b->source, strings[i].at, LN_UNSUPPORTED,
                                "a string with a 0 byte in it");
        if (!ln_size_add(more, strings[i].len + 1, &more))
            return LN_FAIL(LN_LIMIT, "a constant of too many bytes");
    }
    LN_TRY(take_value(b, TL_STRING, ndim, count, more, out));
    const char **pointers = out->owned;
    char *text = (char *)out->owned + out->byte_count;
    for (size_t i = 0; i < count; i++) {
        if (strings[i].len > 0)
            memcpy(text, strings[i].at, strings[i].len);
        pointers[i] = text;
        text += strings[i].len + 1; // the 0 byte is there
    }
    return LN_OK;
}

// *out_is_there is 0 for an attribute that gives no value.
static ln_status constant_value(ln_onnx_builder *b, const ln_onnx_given *given, int *out_is_there,
                                ln_onnx_value *out)
{
    const ln_onnx_attribute *a = &given->value;
    const char *name = given->name;
    *out_is_there = 1;
    if ((strcmp(name, "value") == 0 || strcmp(name, "sparse_value") == 0) && has_tensor(given))
        return read_tensor(b, given, out);
    if (strcmp(name, "value_float") == 0) {
        LN_TRY(take_value(b, TL_FLOAT, 0, 1, 0, out));
        *(float *)out->owned = ln_onnx_float(a->f.bits);
        return LN_OK;
    }
    if (strcmp(name, "value_int") == 0) {
        LN_TRY(take_value(b, TL_INT64, 0, 1, 0, out));
        *(int64_t *)out->owned = ln_onnx_int(a->i);
        return LN_OK;
    }
    if (strcmp(name, "value_string") == 0)
        return strings_value(b, 0, &a->s, 1, out);
    if (strcmp(name, "value_floats") == 0)
        return numbers_value(b, &a->floats, TL_FLOAT, out);
    if (strcmp(name, "value_ints") == 0)
        return numbers_value(b, &a->ints, TL_INT64, out);
    if (strcmp(name, "value_strings") == 0)
        return strings_value(b, 1, a->strings.items, a->strings.count, out);
    *out_is_there = 0;
    return LN_OK;
}

ln_status ln_onnx_make_constant(ln_onnx_builder *b)
{
    const ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_onnx_current *node = &frame->node;
    if (node->given_count != 1)
        return ln_onnx_problem(b, NULL, "it has %zu attributes; one says its value",
                               node->given_count);
    if (node->message.output.count != 1 || node->message.input.count != 0)
        return ln_onnx_problem(b, NULL, "a constant has one output and no input");
    const ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, node->message.output.items[0]);
    if (!symbol || !symbol->is_read || symbol->node != node->index)
        return LN_OK; // not needed, or another constant of that name is
    int is_there;
    ln_onnx_value value;
    LN_TRY(constant_value(b, &node->given[0], &is_there, &value));
    if (!is_there)
        return ln_onnx_problem(b, NULL, "its attribute '%s' says no value", node->given[0].name);
    return ln_onnx_add_constant(b, frame->ctx, symbol->tensor, &value);
}
