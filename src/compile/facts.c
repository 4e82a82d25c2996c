// SPDX-License-Identifier: Apache-2.0
// Numbers of a model for three shapes: those of two witnesses, and the one that is asked for.
//
// Each tensor has a block of numbers:
//
//     | rank, type, open?, known?, uniform?, the uniform element | dimensions | known elements |
//
// Numbers that both witnesses have are constants, others quantities: those of one pair are one. A
// tensor whose length depends on the shape has no elements to compare, but one for all of them.
//
// Windows with padding SAME, windows that may reach past the end (`ceil_mode`) and scales of images
// are rewritten to numbers that depend on a size modulo the stride, or on whether a size times the
// scale is whole. These remainders are no quantities: they have to be the same for all shapes.

#include "compile/facts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "tensor/elem.h"

// More different sizes than models have; pairs of them are tried.
#define MAX_QUANTITIES 64
// Elements that are compared one by one; rules read fewer.
#define MAX_ELEMENTS   4096
// Of what is known and no longer, pass `dead` makes a constant.
#define MAX_CONSTANT   256

// What `quantity_of` says of a number that is no quantity.
enum { IS_CONSTANT = -1, IS_IGNORED = -2 };

// The first numbers of a block.
enum { RANK, TYPE, IS_OPEN, IS_KNOWN, IS_UNIFORM, ELEMENT, HEAD_COUNT };

void ln_facts_deinit(ln_facts *facts)
{
    ln_numbers *const all[] = {&facts->of_witness[0], &facts->of_witness[1], &facts->now};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ln_free(all[i]->values);
        ln_free(all[i]->ends);
        ln_free(all[i]->remainders);
    }
    ln_free(facts->quantity_of);
    ln_free(facts->quantities);
    *facts = (ln_facts){0};
}

// ---- Listing ----

static ln_status need_values(ln_numbers *numbers, size_t more)
{
    if (numbers->capacity - numbers->count >= more)
        return LN_OK;
    size_t capacity = 2 * numbers->capacity + more;
    double *values = ln_realloc(numbers->values, capacity * sizeof *values);
    if (!values)
        return LN_NO_MEMORY;
    numbers->values = values;
    numbers->capacity = capacity;
    return LN_OK;
}

static ln_status end_block(ln_numbers *numbers)
{
    if (numbers->tensor_count == numbers->tensor_capacity) {
        size_t capacity = 2 * numbers->tensor_capacity + 64;
        size_t *ends = ln_realloc(numbers->ends, capacity * sizeof *ends);
        if (!ends)
            return LN_NO_MEMORY;
        numbers->ends = ends;
        numbers->tensor_capacity = capacity;
    }
    numbers->ends[numbers->tensor_count++] = numbers->count;
    return LN_OK;
}

static double known_number(const ln_tensor_entry *entry, size_t i)
{
    tl_dtype dtype = entry->tensor->dtype;
    return LN_TYPES_FLOAT >> dtype & 1 ? ln_data_real(entry->known, dtype, i)
                                       : (double)ln_data_int(entry->known, dtype, i);
}

static bool is_uniform(const ln_tensor_entry *entry)
{
    size_t size = tl_size_of(entry->tensor->dtype);
    for (size_t i = 1; i < (size_t)entry->tensor->len; i++)
        if (memcmp(entry->known, (const char *)entry->known + i * size, size) != 0)
            return false;
    return true;
}

static ln_status list_tensor(ln_numbers *numbers, const ln_tensor_entry *entry)
{
    const tl_tensor *t = entry->tensor;
    bool is_number = (LN_TYPES_NUMBER | LN_TYPE(TL_BOOL)) >> t->dtype & 1;
    bool is_known = entry->known && !entry->is_open && is_number && t->len > 0;
    size_t len = is_known && t->len <= MAX_ELEMENTS ? (size_t)t->len : 0;
    LN_TRY(need_values(numbers, HEAD_COUNT + TL_MAXDIM + len));
    double *at = numbers->values + numbers->count;
    at[RANK] = entry->is_open ? 0 : t->ndim;
    at[TYPE] = entry->is_open ? 0 : (double)t->dtype;
    at[IS_OPEN] = entry->is_open != 0;
    at[IS_KNOWN] = is_known;
    at[IS_UNIFORM] = is_known && is_uniform(entry);
    at[ELEMENT] = at[IS_UNIFORM] != 0 ? known_number(entry, 0) : 0;
    size_t count = HEAD_COUNT;
    for (int d = 0; d < t->ndim && !entry->is_open; d++)
        at[count++] = t->dims[d];
    for (size_t i = 0; i < len; i++)
        at[count++] = known_number(entry, i);
    numbers->count += count;
    return end_block(numbers);
}

static ln_status add_remainder(ln_numbers *numbers, double remainder)
{
    if (numbers->remainder_count == numbers->remainder_capacity) {
        size_t capacity = 2 * numbers->remainder_capacity + 16;
        double *remainders = ln_realloc(numbers->remainders, capacity * sizeof *remainders);
        if (!remainders)
            return LN_NO_MEMORY;
        numbers->remainders = remainders;
        numbers->remainder_capacity = capacity;
    }
    numbers->remainders[numbers->remainder_count++] = remainder;
    return LN_OK;
}

// A parameter that is called one way in ONNX and another one in the core.
static const ln_param_entry *find_param(const ln_op *op, const char *name, const char *core_name)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param ? param : ln_param_list_find(op->op_arg->params, core_name);
}

static bool has_window_of_remainders(const ln_op *op)
{
    const ln_param_entry *mode = find_param(op, "auto_pad", "autopad");
    const ln_param_entry *ceil_mode = ln_param_list_find(op->op_arg->params, "ceil_mode");
    return (mode && mode->value_string && strncmp(mode->value_string, "SAME", 4) == 0) ||
           (ceil_mode && ceil_mode->value_double != 0);
}

// Of each dimension but the batch, by each stride, wherever the channels are.
static ln_status list_window(ln_numbers *numbers, const ln_op *op, const ln_tensor_entry *src)
{
    const ln_param_entry *strides = find_param(op, "strides", "stride");
    for (int i = 0; strides && i < strides->array_len; i++)
        for (int d = 1; d < src->tensor->ndim && strides->value_array_int[i] > 1; d++)
            LN_TRY(add_remainder(numbers, src->tensor->dims[d] % strides->value_array_int[i]));
    return LN_OK;
}

// Whether each size times its scale is whole.
static ln_status list_scales(ln_numbers *numbers, const ln_tensor_entry *src,
                             const ln_tensor_entry *scales)
{
    for (int d = 0; d < src->tensor->ndim && d < scales->tensor->len; d++) {
        double product = known_number(scales, (size_t)d) * src->tensor->dims[d];
        LN_TRY(add_remainder(numbers, product == floor(product)));
    }
    return LN_OK;
}

static ln_status list_remainders(ln_numbers *numbers, const ln_context *model, const ln_op *op)
{
    const ln_tensor_list_entry *first =
        op->op_arg->tensors_in ? op->op_arg->tensors_in->data : NULL;
    const ln_tensor_entry *src =
        first ? ln_tensor_table_find(model->tensor_table, first->name) : NULL;
    const char *scales_name = ln_tensor_list_find_name(op->op_arg->tensors_in, "scales");
    const ln_tensor_entry *scales =
        scales_name ? ln_tensor_table_find(model->tensor_table, scales_name) : NULL;
    if (!src || src->is_open)
        return LN_OK;
    if (has_window_of_remainders(op))
        LN_TRY(list_window(numbers, op, src));
    if (scales && scales->known && !scales->is_open &&
        (LN_TYPES_FLOAT >> scales->tensor->dtype & 1))
        LN_TRY(list_scales(numbers, src, scales));
    return LN_OK;
}

// What inputs lead to; the rest no shape can change.
static ln_status list_all(ln_numbers *numbers, const ln_context *model, ln_hash *followers)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, model->ops) {
        bool follows = ln_op_is_type(op->op_arg, "input");
        const ln_tensor_list_entry *listed;
        LN_LIST_FOREACH (listed, op->op_arg->tensors_in)
            follows = follows || ln_hash_find(followers, listed->name);
        if (!follows)
            continue;
        LN_TRY(list_remainders(numbers, model, op));
        LN_LIST_FOREACH (listed, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(model->tensor_table, listed->name);
            if (!entry)
                return LN_FAIL(LN_INTERNAL, "tensor '%s' is in no table", listed->name);
            if (ln_hash_insert(followers, entry->name, (void *)(uintptr_t)entry) < 0)
                return ln_error_status();
            LN_TRY(list_tensor(numbers, entry));
        }
    }
    return LN_OK;
}

static ln_status list_numbers(ln_numbers *numbers, const ln_context *model)
{
    numbers->count = numbers->tensor_count = numbers->remainder_count = 0;
    ln_hash *followers = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = followers ? list_all(numbers, model, followers) : ln_error_status();
    ln_hash_free(followers);
    return status;
}

ln_status ln_facts_list(ln_facts *facts, const ln_context *model, int witness)
{
    return list_numbers(&facts->of_witness[witness], model);
}

// ---- Comparing ----

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

// 0 and 1 are special to shapes and values alike, and so is the sign.
static bool is_generic(double sign, double x)
{
    return x != floor(x) || (sign > 0 ? x >= 2 : x <= -2);
}

static bool find_quantity(ln_facts *facts, double a, double b, int *out_index)
{
    for (size_t i = 0; i < facts->quantity_count; i++) {
        *out_index = (int)i;
        if (facts->quantities[i].at[0] == a && facts->quantities[i].at[1] == b)
            return true;
    }
    if (facts->quantity_count == MAX_QUANTITIES || !is_generic(a, a) || !is_generic(a, b))
        return false;
    *out_index = (int)facts->quantity_count;
    facts->quantities[facts->quantity_count++] = (ln_quantity){.at = {a, b}};
    return true;
}

static bool has_same_remainders(const ln_numbers *a, const ln_numbers *b)
{
    if (a->remainder_count != b->remainder_count)
        return false;
    for (size_t i = 0; i < a->remainder_count; i++)
        if (a->remainders[i] != b->remainders[i])
            return false;
    return true;
}

static size_t start_of(const ln_numbers *numbers, size_t tensor)
{
    return tensor > 0 ? numbers->ends[tensor - 1] : 0;
}

// false too for a tensor that passes make a constant of, whose length differs.
static bool compare_tensor(ln_facts *facts, size_t tensor)
{
    const ln_numbers *first = &facts->of_witness[0], *second = &facts->of_witness[1];
    size_t start = start_of(first, tensor);
    const double *a = first->values + start;
    const double *b = second->values + start_of(second, tensor);
    size_t count = first->ends[tensor] - start, shape_count = HEAD_COUNT + (size_t)a[RANK];
    for (size_t i = 0; i < ELEMENT; i++)
        if (a[i] != b[i])
            return false;
    bool has_one_shape = true;
    for (size_t i = 0; i < count; i++) {
        int *which = &facts->quantity_of[start + i];
        *which = i < shape_count || has_one_shape ? IS_CONSTANT : IS_IGNORED;
        if (*which == IS_IGNORED || is_same(a[i], b[i]))
            continue;
        if (!find_quantity(facts, a[i], b[i], which))
            return false;
        has_one_shape = has_one_shape && (i < HEAD_COUNT || i >= shape_count);
    }
    return has_one_shape || a[IS_KNOWN] == 0 || count - shape_count > MAX_CONSTANT ||
           count == shape_count;
}

ln_status ln_facts_compare(ln_facts *facts, bool *out_is_fit)
{
    const ln_numbers *first = &facts->of_witness[0], *second = &facts->of_witness[1];
    *out_is_fit = false;
    if (first->tensor_count != second->tensor_count || !has_same_remainders(first, second))
        return LN_OK;
    facts->quantity_of = ln_alloc_array(first->count + 1, sizeof *facts->quantity_of);
    facts->quantities = ln_alloc_array(MAX_QUANTITIES, sizeof *facts->quantities);
    if (!facts->quantity_of || !facts->quantities)
        return LN_NO_MEMORY;
    bool is_fit = true;
    for (size_t t = 0; t < first->tensor_count && is_fit; t++)
        is_fit = compare_tensor(facts, t);
    *out_is_fit = is_fit;
    return LN_OK;
}

// ---- Expressions ----

static bool is_multiple(const ln_quantity *p, const ln_quantity *q, const double numbers[2],
                        double *out_factor)
{
    double unit[LN_WITNESS_COUNT];
    for (int w = 0; w < LN_WITNESS_COUNT; w++)
        unit[w] = p->at[w] * (q ? q->at[w] : 1);
    *out_factor = numbers[0] / unit[0];
    return *out_factor >= 1 && *out_factor == floor(*out_factor) &&
           *out_factor * unit[0] == numbers[0] && *out_factor * unit[1] == numbers[1];
}

bool ln_facts_find(const ln_facts *facts, const double numbers[LN_WITNESS_COUNT],
                   ln_expression *out_expression)
{
    const ln_quantity *all = facts->quantities;
    const int count = (int)facts->quantity_count;
    ln_expression *e = out_expression;
    *e = (ln_expression){.factor = numbers[0], .quantities = {-1, -1}};
    if (numbers[0] == numbers[1])
        return true;
    e->factor = 1;
    for (e->quantities[0] = 0; e->quantities[0] < count; e->quantities[0]++)
        if (all[e->quantities[0]].at[0] == numbers[0] && all[e->quantities[0]].at[1] == numbers[1])
            return true;
    if (numbers[0] != floor(numbers[0]) || numbers[1] != floor(numbers[1]))
        return false;
    for (e->quantities[0] = 0; e->quantities[0] < count; e->quantities[0]++)
        if (is_multiple(&all[e->quantities[0]], NULL, numbers, &e->factor))
            return true;
    for (e->quantities[0] = 0; e->quantities[0] < count; e->quantities[0]++)
        for (e->quantities[1] = 0; e->quantities[1] <= e->quantities[0]; e->quantities[1]++)
            if (is_multiple(&all[e->quantities[0]], &all[e->quantities[1]], numbers, &e->factor))
                return true;
    return false;
}

double ln_facts_value(const ln_facts *facts, const ln_expression *expression)
{
    double x = expression->factor;
    for (int i = 0; i < 2 && expression->quantities[i] >= 0; i++)
        x *= facts->quantities[expression->quantities[i]].value;
    return x;
}

// ---- Deriving ----

static bool derive_number(const ln_facts *facts, int which, double witness, double now)
{
    if (which == IS_CONSTANT)
        return is_same(witness, now);
    ln_quantity *quantity = &facts->quantities[which];
    if (quantity->is_derived)
        return quantity->value == now;
    bool is_whole = witness == floor(witness);
    if (is_whole && (now != floor(now) || !is_generic(witness, now)))
        return false;
    quantity->value = now;
    quantity->is_derived = true;
    return true;
}

static bool derive_tensor(const ln_facts *facts, size_t tensor)
{
    const ln_numbers *first = &facts->of_witness[0];
    size_t start = start_of(first, tensor), now_start = start_of(&facts->now, tensor);
    size_t count = first->ends[tensor] - start, now_count = facts->now.ends[tensor] - now_start;
    for (size_t i = 0; i < count; i++) {
        int which = facts->quantity_of[start + i];
        if (which != IS_IGNORED &&
            (i >= now_count || !derive_number(facts, which, first->values[start + i],
                                              facts->now.values[now_start + i])))
            return false;
    }
    return true;
}

ln_status ln_facts_derive(ln_facts *facts, const ln_context *model, bool *out_is_fit)
{
    *out_is_fit = false;
    LN_TRY(list_numbers(&facts->now, model));
    for (size_t i = 0; i < facts->quantity_count; i++)
        facts->quantities[i].is_derived = false;
    bool is_fit = facts->now.tensor_count == facts->of_witness[0].tensor_count &&
                  has_same_remainders(&facts->now, &facts->of_witness[0]);
    for (size_t t = 0; t < facts->now.tensor_count && is_fit; t++)
        is_fit = derive_tensor(facts, t);
    *out_is_fit = is_fit;
    return LN_OK;
}
