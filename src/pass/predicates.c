// SPDX-License-Identifier: Apache-2.0
// Predicates over the tensor table, the data flow graph, and values.

#include "pass/predicates.h"

#include <math.h>
#include <stdio.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/grain.h"
#include "ir/dfg.h"
#include "op/types.h"
#include "pass/magnitude.h"

static const ln_tensor_entry *find_entry(const ln_context *ctx, const ln_expr_value *arg)
{
    return arg->count > 0 ? ln_tensor_table_find(ctx->tensor_table, arg->tensors[0]) : NULL;
}

static const tl_tensor *find_tensor(const ln_context *ctx, const ln_expr_value *arg)
{
    const ln_tensor_entry *entry = find_entry(ctx, arg);
    return entry ? entry->tensor : NULL;
}

#define PREDICATE(name) bool ln_predicate_##name(const ln_context *ctx, const ln_expr_value *args)

// Stops at the second reader, so that a tensor with many readers costs no more than one with two.
PREDICATE(single_use)
{
    const char *tensor = args[0].tensors[0];
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    const ln_op *reader = NULL, *next;
    while ((next = ln_dfg_next_reader(&readers)) != NULL) {
        if (reader && reader != next)
            return false;
        reader = next;
    }
    size_t count = 0;
    for (const ln_list *l = reader ? reader->op_arg->tensors_in : NULL; l; l = l->next)
        count += (size_t)ln_streq(((const ln_tensor_list_entry *)l->data)->name, tensor);
    return count == 1;
}

PREDICATE(static)
{
    const ln_tensor_entry *entry = find_entry(ctx, args);
    return entry && entry->isstatic && !entry->is_input;
}

PREDICATE(dtype)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    return tensor && ln_streq(tl_dtype_name(tensor->dtype), args[1].string);
}

PREDICATE(integer)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    const uint64_t integers = LN_TYPES_SIGNED | LN_TYPES_UNSIGNED | LN_TYPE(TL_INT4) |
                              LN_TYPE(TL_UINT4) | LN_TYPE(TL_INT2) | LN_TYPE(TL_UINT2);
    return tensor && (integers >> tensor->dtype & 1);
}

PREDICATE(known)
{
    const ln_tensor_entry *entry = find_entry(ctx, args);
    return entry && entry->known && !entry->is_input && !entry->is_open;
}

PREDICATE(rank)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    return tensor && tensor->ndim == args[1].number;
}

PREDICATE(same_shape)
{
    const tl_tensor *a = find_tensor(ctx, &args[0]);
    const tl_tensor *b = find_tensor(ctx, &args[1]);
    if (!a || !b || a->ndim != b->ndim)
        return false;
    for (int axis = 0; axis < a->ndim; axis++)
        if (a->dims[axis] != b->dims[axis])
            return false;
    return true;
}

PREDICATE(same_type)
{
    const tl_tensor *a = find_tensor(ctx, &args[0]);
    const tl_tensor *b = find_tensor(ctx, &args[1]);
    return a && b && a->dtype == b->dtype;
}

PREDICATE(contiguous)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    double axis = args[1].number;
    if (!tensor || axis != floor(axis) || axis < 0 || axis >= tensor->ndim)
        return false;
    for (int i = 0; i < (int)axis; i++)
        if (tensor->dims[i] != 1)
            return false;
    return true;
}

PREDICATE(single)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    return tensor && tensor->len == 1;
}

PREDICATE(byte)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    return tensor && (LN_TYPES_BYTE >> tensor->dtype & 1);
}

PREDICATE(per_column)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    if (!tensor || tensor->len == 1)
        return tensor != NULL;
    return tensor->ndim > 0 && tensor->len == args[1].number &&
           tensor->dims[tensor->ndim - 1] == args[1].number;
}

// A second cache as many processors have it; no property of this machine, since the model that
// comes out should not depend on one.
#define CACHE_BYTES       ((size_t)1 << 20)
#define SMALL_CACHE_BYTES ((size_t)256 << 10)

// What the first witness of a template was found to be holds for the second: it is no matter of
// right and wrong, and would keep their lists apart. What memory is too short to note is not known.
static bool judge(const ln_context *ctx, const char *question, bool is_so)
{
    static char yes, no;
    const char *earlier = ctx->judged ? ln_hash_find(ctx->judged, question) : NULL;
    if (earlier)
        return earlier == &yes;
    char *name = ctx->judged ? ln_strdup(question) : NULL;
    if (name && ln_hash_insert(ctx->judged, name, is_so ? &yes : &no) < 0)
        ln_free(name);
    return is_so;
}

static bool outgrows(const ln_context *ctx, const ln_expr_value *args, size_t bytes)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    char question[LN_MAX_NAME_LEN + 32];
    if (!tensor)
        return false;
    snprintf(question, sizeof question, "%zu %s", bytes, args[0].tensors[0]);
    return judge(ctx, question, tl_tensor_size(tensor) > ln_grain(bytes));
}

PREDICATE(outgrows_cache)
{
    return outgrows(ctx, args, CACHE_BYTES);
}

PREDICATE(outgrows_small_cache)
{
    return outgrows(ctx, args, SMALL_CACHE_BYTES);
}

PREDICATE(keeps_order)
{
    const tl_tensor *tensor = find_tensor(ctx, args);
    if (!tensor || args[1].count != (size_t)tensor->ndim)
        return false;
    double last = -1;
    for (size_t i = 0; i < args[1].count; i++) {
        double axis = args[1].numbers[i];
        if (axis != floor(axis) || axis < 0 || axis >= tensor->ndim)
            return false;
        if (tensor->dims[(int)axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

PREDICATE(filled)
{
    double number;
    return ln_find_fill(ctx, args[0].tensors[0], &number) && number == args[1].number &&
           !signbit(number) == !signbit(args[1].number);
}

PREDICATE(normal)
{
    (void)ctx;
    return ln_is_normal(args[0].number);
}

PREDICATE(joined)
{
    return ln_can_join(ctx, args[0].string, args[1].tensors[0], args[2].tensors[0]);
}

PREDICATE(joined_each)
{
    return ln_can_join_each(ctx, args[0].string, args[1].tensors[0], args[2].tensors[0]);
}

PREDICATE(joined_norm)
{
    const ln_norm_constants norm = {.weight = args[0].tensors[0],
                                    .bias = args[1].count > 0 ? args[1].tensors[0] : NULL,
                                    .mean = args[2].tensors[0],
                                    .scale = args[3].tensors[0],
                                    .variance = args[4].tensors[0],
                                    .epsilon = args[5].number};
    return ln_can_join_norm(ctx, &norm);
}

PREDICATE(present)
{
    (void)ctx;
    return args[0].count > 0;
}

PREDICATE(equal)
{
    (void)ctx;
    if (args[0].kind != args[1].kind)
        return false;
    if (args[0].kind == LN_RULE_NUMBER)
        return args[0].number == args[1].number;
    if (args[0].kind == LN_RULE_STRING)
        return ln_streq(args[0].string, args[1].string);
    if (args[0].kind == LN_RULE_BOOL)
        return args[0].boolean == args[1].boolean;
    bool is_equal = args[0].count == args[1].count;
    for (size_t i = 0; i < args[0].count && is_equal; i++)
        is_equal = args[0].numbers[i] == args[1].numbers[i];
    return is_equal;
}

PREDICATE(less)
{
    (void)ctx;
    return args[0].number < args[1].number;
}

PREDICATE(at_most)
{
    (void)ctx;
    return args[0].number <= args[1].number;
}

// Whether it asks for the type or the shape of tensors, which are unknown while those are open.
static bool asks_shape(ln_rule_predicate predicate)
{
    switch (predicate) {
    case LN_RULE_PREDICATE_single_use:
    case LN_RULE_PREDICATE_static:
    case LN_RULE_PREDICATE_known:
    case LN_RULE_PREDICATE_filled:
    case LN_RULE_PREDICATE_present: return false;
    default: return true;
    }
}

bool ln_predicate_is_decided(const ln_context *ctx, ln_rule_predicate predicate,
                             const ln_expr_value *args)
{
    const char *signature = ln_rule_predicate_signature(predicate);
    for (size_t i = 0; signature[i] && asks_shape(predicate); i++) {
        for (size_t j = 0; args[i].kind == LN_RULE_NAME && j < args[i].count; j++) {
            const ln_tensor_entry *entry =
                ln_tensor_table_find(ctx->tensor_table, args[i].tensors[j]);
            if (entry && entry->is_open)
                return false;
        }
    }
    return true;
}

static bool fits(char letter, const ln_expr_value *arg)
{
    switch (letter) {
    case 'n': return arg->kind == LN_RULE_NUMBER;
    case 'a': return arg->kind == LN_RULE_ARRAY;
    case 'v': return arg->kind == LN_RULE_NUMBER || arg->kind == LN_RULE_ARRAY;
    case 'x': return arg->kind != LN_RULE_NAME;
    case 's':
    case 'w': return arg->kind == LN_RULE_STRING;
    case 't': return arg->kind == LN_RULE_NAME && arg->count == 1;
    default: return arg->kind == LN_RULE_NAME;
    }
}

bool ln_predicate_holds(const ln_context *ctx, ln_rule_predicate predicate,
                        const ln_expr_value *args)
{
    static bool (*const functions[])(const ln_context *, const ln_expr_value *) = {
#define P(name, signature, meaning) ln_predicate_##name,
#include "desc/rule_predicates.inc"
#undef P
    };
    const char *signature = ln_rule_predicate_signature(predicate);
    for (size_t i = 0; signature[i]; i++)
        if (!fits(signature[i], &args[i]))
            return false;
    if (signature[0] != 'T')
        return functions[predicate](ctx, args);
    ln_expr_value one[LN_PREDICATE_MAX_ARGS] = {{0}};
    for (size_t i = 0; signature[i]; i++)
        one[i] = args[i];
    one[0].count = 1;
    for (size_t i = 0; i < args[0].count; i++) {
        one[0].tensors = &args[0].tensors[i];
        if (!functions[predicate](ctx, one))
            return false;
    }
    return true;
}
