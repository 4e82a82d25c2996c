// SPDX-License-Identifier: Apache-2.0
// Differences of numbers: absolute, relative, in units of the last place; NaN and infinities.

#include "compare.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

// ---- Numbers ----

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static double element(const tl_tensor *tensor, int index)
{
    switch (tensor->dtype) {
    case TL_FLOAT: return ((const float *)tensor->data)[index];
    case TL_DOUBLE: return ((const double *)tensor->data)[index];
    default: break;
    }
    double value = 0;
    const char *at = (const char *)tensor->data + (size_t)index * (size_t)tl_size_of(tensor->dtype);
    (void)tl_convert(&value, TL_DOUBLE, at, tensor->dtype);
    return value;
}

// Floating numbers as integers in the order of their values: neighbours differ by 1.
static int64_t float_rank(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static int64_t double_rank(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

// The same for the floating types of 16 bits, which hold `x`.
static int short_rank(double x, tl_dtype dtype)
{
    int16_t bits = 0;
    (void)tl_convert(&bits, dtype, &x, TL_DOUBLE);
    return bits < 0 ? INT16_MIN - bits : bits;
}

static double ulps_between(double a, double b, tl_dtype dtype)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    if (dtype == TL_FLOAT16 || dtype == TL_BFLOAT16)
        return abs(short_rank(a, dtype) - short_rank(b, dtype));
    if (dtype == TL_FLOAT)
        return fabs((double)float_rank((float)a) - (double)float_rank((float)b));
    return fabs((double)double_rank(a) - (double)double_rank(b));
}

static double largest_finite(const tl_tensor *tensor)
{
    double largest = 0;
    for (int i = 0; i < tensor->len; i++) {
        double size = fabs(element(tensor, i));
        if (size > largest && isfinite(size))
            largest = size;
    }
    return largest;
}

// ---- What is allowed ----

int is_quantizing(const char *optype)
{
    return strstr(optype, "QLinear") || strncmp(optype, "quant", strlen("quant")) == 0 ||
           strstr(optype, "QuantizeLinear");
}

void tolerance_take_zeros(tolerance *allowed)
{
    allowed->is_exact = allowed->is_exact || (allowed->rtol == 0 && allowed->atol == 0);
}

int goes_by_type(const tolerance *allowed)
{
    return allowed->rtol < 0 && allowed->atol < 0 && !allowed->is_exact;
}

// The tolerance with numbers in place of what follows from the tensor.
static tolerance resolve(const tolerance *given, const tl_tensor *expected)
{
    tolerance t = *given;
    const int is_by_type = goes_by_type(given);
    double rtol = 0, part = 0;
    switch (expected->dtype) {
    case TL_FLOAT:
    case TL_DOUBLE:
        rtol = 1e-4;
        part = 1e-5;
        break;
    case TL_FLOAT16: rtol = part = 0x1p-9; break;
    case TL_BFLOAT16: rtol = part = 0x1p-6; break;
    case TL_INT8:
    case TL_UINT8:
        if (is_by_type && t.allows_steps)
            t.atol = 1;
        break;
    default: break;
    }
    if (t.rtol < 0)
        t.rtol = rtol;
    if (t.atol < 0)
        t.atol = part > 0 ? part * largest_finite(expected) : 0;
    return t;
}

// The difference in units of what is allowed; 0 for equal numbers.
static double excess_of(double got, double expected, const tolerance *allowed)
{
    if (isnan(got) && isnan(expected))
        return 0;
    if (got == expected)
        return allowed->is_exact && signbit(got) != signbit(expected) ? INFINITY : 0;
    if (!isfinite(got) || !isfinite(expected) || allowed->is_exact)
        return INFINITY;
    double limit = allowed->atol + allowed->rtol * fabs(expected);
    return limit > 0 ? fabs(got - expected) / limit : INFINITY;
}

// ---- Tensors ----

static int is_same_shape(const tl_tensor *a, const tl_tensor *b)
{
    int is_same = a->ndim == b->ndim && a->dtype == b->dtype && a->len == b->len;
    for (int i = 0; is_same && i < a->ndim; i++)
        is_same = a->dims[i] == b->dims[i];
    return is_same;
}

// Whether the pair (a) is farther apart than the one of `d`.
static int is_worse(double excess, double got, double expected, const deviation *d)
{
    if (excess != d->excess)
        return excess > d->excess;
    return excess > 0 && fabs(got - expected) > fabs(d->got - d->expected);
}

static int set_fault(deviation *d, const char *fault)
{
    d->fault = fault;
    d->excess = INFINITY;
    return 1;
}

static void note_distance(deviation *d, double got, double expected)
{
    if (got == expected || (isnan(got) && isnan(expected)))
        return;
    double difference = fabs(got - expected);
    if (isnan(difference))
        difference = INFINITY;
    double relative = difference / fabs(expected);
    d->largest_difference = fmax(d->largest_difference, difference);
    d->largest_relative = fmax(d->largest_relative, isnan(relative) ? INFINITY : relative);
}

// Integers of 64 bits that are one double, and not the same.
static int is_other_integer(const tl_tensor *got, const tl_tensor *expected, int index)
{
    if (expected->dtype != TL_INT64 && expected->dtype != TL_UINT64)
        return 0;
    return memcmp((const char *)got->data + (size_t)index * 8,
                  (const char *)expected->data + (size_t)index * 8, 8) != 0;
}

static void compare_numbers(const tl_tensor *got, const tl_tensor *expected,
                            const tolerance *allowed, deviation *d)
{
    int is_found = 0;
    tolerance limits = resolve(allowed, expected);
    for (int i = 0; i < expected->len; i++) {
        double x = element(got, i), y = element(expected, i);
        double excess = excess_of(x, y, &limits);
        if (x == y && limits.rtol + limits.atol == 0 && is_other_integer(got, expected, i)) {
            excess = INFINITY;
            d->fault = "an integer differs in digits that a double does not hold";
        }
        d->wrong_count += excess > 1;
        note_distance(d, x, y);
        if (is_found && !is_worse(excess, x, y, d))
            continue;
        is_found = 1;
        d->excess = excess;
        d->index = i;
        d->got = x;
        d->expected = y;
    }
    if (d->is_floating && is_found)
        d->ulps = ulps_between(d->got, d->expected, expected->dtype);
}

static void compare_strings(const tl_tensor *got, const tl_tensor *expected, deviation *d)
{
    const char *const *x = got->data, *const *y = expected->data;
    for (int i = 0; i < expected->len; i++) {
        if (strcmp(x[i] ? x[i] : "", y[i] ? y[i] : "") == 0)
            continue;
        if (d->wrong_count++ == 0)
            d->index = i;
        set_fault(d, "a string is another");
    }
}

// A complex number as two real ones.
static tl_tensor real_view(const tl_tensor *tensor)
{
    tl_tensor view = *tensor;
    view.dtype = tensor->dtype == TL_COMPLEX64 ? TL_FLOAT : TL_DOUBLE;
    view.len = 2 * tensor->len;
    return view;
}

int compare_tensors(const tl_tensor *got, const tl_tensor *expected, const tolerance *allowed,
                    deviation *out_deviation)
{
    deviation *d = out_deviation;
    *d = (deviation){0};
    d->is_floating = is_floating(expected->dtype);
    if (!is_same_shape(got, expected))
        return set_fault(d, "its shape or type is another");
    switch (expected->dtype) {
    case TL_OBJECT: return set_fault(d, "it is no tensor of elements");
    case TL_STRING: compare_strings(got, expected, d); break;
    case TL_COMPLEX64:
    case TL_COMPLEX128: {
        if (expected->len > INT_MAX / 2)
            return set_fault(d, "it has too many elements");
        tl_tensor got_view = real_view(got), expected_view = real_view(expected);
        d->is_floating = 1;
        compare_numbers(&got_view, &expected_view, allowed, d);
        d->index /= 2;
        break;
    }
    default: compare_numbers(got, expected, allowed, d); break;
    }
    return d->excess > 1;
}

// ---- Values ----

#define MAX_DEPTH 16 // of sequences in sequences

static ln_object *content_of(ln_object *value)
{
    for (int i = 0; i < MAX_DEPTH && value && ln_object_get_kind(value) == LN_OBJECT_OPTIONAL; i++)
        value = ln_object_item(value, 0);
    return value;
}

// The worst of the items becomes *d; `path` is where we are.
static void compare_nested(ln_object *got, ln_object *expected, const tolerance *allowed, int depth,
                           const char *path, deviation *d, char *place, size_t place_size)
{
    deviation own = {0};
    got = content_of(got);
    expected = content_of(expected);
    size_t count = 0;
    if (!got || !expected) {
        if (got || expected)
            set_fault(&own, got ? "it is there and should not be" : "it is not there");
    } else if (ln_object_get_kind(got) != ln_object_get_kind(expected)) {
        set_fault(&own, "it is another kind of value");
    } else if (ln_object_get_kind(got) == LN_OBJECT_TENSOR) {
        compare_tensors(ln_object_tensor(got), ln_object_tensor(expected), allowed, &own);
    } else if (ln_object_count(got) != ln_object_count(expected)) {
        set_fault(&own, "it has another number of items");
    } else if (depth == MAX_DEPTH) {
        set_fault(&own, "it is nested too deep");
    } else {
        count = ln_object_count(got);
    }
    if (own.excess > d->excess || depth == 0) {
        *d = own;
        snprintf(place, place_size, "%s", path);
    }
    for (size_t i = 0; i < count; i++) {
        char item[64];
        snprintf(item, sizeof item, "%.40s[%zu]", path, i);
        compare_nested(ln_object_item(got, i), ln_object_item(expected, i), allowed, depth + 1,
                       item, d, place, place_size);
    }
}

int compare_values(ln_object *got, ln_object *expected, const tolerance *allowed,
                   deviation *out_deviation, char *place, size_t place_size)
{
    compare_nested(got, expected, allowed, 0, "", out_deviation, place, place_size);
    return out_deviation->excess > 1;
}

// ---- Models ----

// The tensor with its bytes in main memory: itself, or a copy that the caller frees.
static ln_status bring_in(ln_context *ctx, const ln_tensor_entry *entry, tl_tensor *out_view,
                          void **out_copy)
{
    *out_view = *entry->tensor;
    *out_copy = NULL;
    if (entry->mtype == LN_MEM_CPU)
        return LN_OK;
    size_t byte_count = tl_tensor_size(entry->tensor);
    *out_copy = malloc(byte_count + 1);
    if (!*out_copy)
        return LN_FAIL(LN_NO_MEMORY, "no memory for tensor '%s'", entry->name);
    out_view->data = *out_copy;
    ln_status status = ln_context_get_data_n(ctx, entry->name, *out_copy, byte_count);
    if (status == LN_OK)
        return LN_OK;
    free(*out_copy);
    *out_copy = NULL;
    return status;
}

static ln_status compare_entries(ln_context *got, const ln_tensor_entry *got_entry,
                                 ln_context *expected, const ln_tensor_entry *expected_entry,
                                 const tolerance *allowed, deviation *out_deviation)
{
    tl_tensor got_view, expected_view;
    void *got_copy, *expected_copy;
    if (got_entry->held && expected_entry->held) {
        char place[64];
        compare_values(got_entry->held, expected_entry->held, allowed, out_deviation, place,
                       sizeof place);
        return LN_OK;
    }
    LN_TRY(bring_in(got, got_entry, &got_view, &got_copy));
    ln_status status = bring_in(expected, expected_entry, &expected_view, &expected_copy);
    if (status == LN_OK) {
        compare_tensors(&got_view, &expected_view, allowed, out_deviation);
        free(expected_copy);
    }
    free(got_copy);
    return status;
}

static void note_wrong(comparison *c, const deviation *d, int is_output)
{
    if (c->wrong_count++ == 0)
        c->first = *d;
    c->has_wrong_output |= is_output;
}

// Nobody reads it, or only who prints or saves it.
static int is_output_of(const ln_context *ctx, const ln_op *op, const char *tname)
{
    int is_output = 1;
    ln_list *readers = ln_dfg_nexts(ctx->dfg, op, tname);
    const ln_op *reader;
    LN_LIST_FOREACH (reader, readers)
        is_output &= !reader->op_arg->tensors_out;
    ln_list_free(readers);
    return is_output;
}

// What computes the tensor: copies from a device bring what is made there.
static const ln_op *maker_of(const ln_context *ctx, const ln_op *op)
{
    while (strncmp(op->op_arg->optype, "copy_", strlen("copy_")) == 0) {
        const ln_tensor_list_entry *src = op->op_arg->tensors_in->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, src->name);
        const ln_op *maker =
            entry && entry->creater ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
        if (!maker || !maker->op_arg->tensors_in)
            return op; // of an input or a constant
        op = maker;
    }
    return op;
}

static void note_maker(const ln_context *ctx, const ln_op *op, deviation *d)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    const ln_op *first = NULL;
    snprintf(d->op, sizeof d->op, "%s", op->op_arg->name);
    snprintf(d->optype, sizeof d->optype, "%s", op->op_arg->optype);
    if (!arch || !arch->prepare)
        return;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *at = l->data;
        bool is_same = strcmp(at->op_arg->arch, op->op_arg->arch) == 0;
        first = !is_same ? NULL : first ? first : at;
        if (at == op)
            break;
    }
    snprintf(d->group, sizeof d->group, "%s", first ? first->op_arg->name : "");
}

static ln_status compare_output(ln_context *got, const ln_op *op, const ln_tensor_list_entry *out,
                                ln_context *expected, const tolerance *allowed,
                                const compare_scope *scope, comparison *c)
{
    const ln_tensor_entry *expected_entry = ln_tensor_table_find(expected->tensor_table, out->name);
    const ln_tensor_entry *got_entry = ln_tensor_table_find(got->tensor_table, out->name);
    if (!expected_entry || !got_entry || ln_op_is_scratch(op->op_arg, out->arg_name))
        return LN_OK;
    int is_output = is_output_of(got, op, out->name);
    if (scope->outputs_only && !is_output)
        return LN_OK;
    deviation d;
    LN_TRY(compare_entries(got, got_entry, expected, expected_entry, allowed, &d));
    snprintf(d.tensor, sizeof d.tensor, "%s", out->name);
    note_maker(got, maker_of(got, op), &d);
    if (scope->on_tensor)
        scope->on_tensor(scope->user, &d);
    if (c->tensor_count++ == 0 || d.excess > c->worst.excess)
        c->worst = d;
    if (d.excess > 1)
        note_wrong(c, &d, is_output);
    return LN_OK;
}

// An output that is not there at all is as wrong as can be.
static void find_missing(const ln_context *got, const ln_context *expected, comparison *c)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(expected, i)); i++) {
        if (ln_tensor_table_find(got->tensor_table, entry->name))
            continue;
        deviation d = {.fault = "the compiled model does not make it", .excess = INFINITY};
        snprintf(d.tensor, sizeof d.tensor, "%s", entry->name);
        snprintf(d.op, sizeof d.op, "%s", entry->creater ? entry->creater : "");
        note_wrong(c, &d, 1);
    }
}

ln_status compare_models(ln_context *got, ln_context *expected, const tolerance *allowed,
                         const compare_scope *scope, comparison *out_comparison)
{
    static const compare_scope all;
    *out_comparison = (comparison){.tensor_count = 0};
    if (!scope)
        scope = &all;
    const ln_tensor_entry *last =
        scope->until ? ln_tensor_table_find(got->tensor_table, scope->until) : NULL;
    for (const ln_list *l = got->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next)
            LN_TRY(compare_output(got, op, out->data, expected, allowed, scope, out_comparison));
        if (last && strcmp(op->op_arg->name, last->creater) == 0)
            return LN_OK;
    }
    find_missing(got, expected, out_comparison);
    return LN_OK;
}

// ---- Words ----

// "[1, 2, 3]", the place of element `index`.
static void print_place(const tl_tensor *like, int index, char *buffer, size_t size)
{
    int places[LN_MAXDIM] = {0};
    for (int i = like->ndim - 1; i >= 0; i--) {
        places[i] = like->dims[i] ? index % like->dims[i] : 0;
        index = like->dims[i] ? index / like->dims[i] : 0;
    }
    ln_sprint_shape(buffer, size, like->ndim, places);
}

static int is_across_zero(const deviation *d)
{
    int is_same_side = signbit(d->got) == signbit(d->expected);
    return d->is_floating && (!is_same_side || (d->got == 0) != (d->expected == 0));
}

void describe_deviation(const deviation *d, const tl_tensor *like, char *buffer, size_t size)
{
    char place[128];
    if (d->fault) {
        snprintf(buffer, size, "%s", d->fault);
        return;
    }
    if (like)
        print_place(like, d->index, place, sizeof place);
    else
        snprintf(place, sizeof place, "element %d", d->index);
    // Which sign a NaN has says nothing.
    size_t used =
        (size_t)snprintf(buffer, size, "%.9g instead of %.9g at %s", isnan(d->got) ? NAN : d->got,
                         isnan(d->expected) ? NAN : d->expected, place);
    if (!isfinite(d->got) || !isfinite(d->expected) || used >= size)
        return;
    double difference = fabs(d->got - d->expected);
    used += (size_t)snprintf(buffer + used, size - used, " (off by %.3g", difference);
    if (d->expected != 0 && used < size)
        used += (size_t)snprintf(buffer + used, size - used, ", relative %.3g",
                                 difference / fabs(d->expected));
    // Between numbers of two signs the units in the last place count all exponents of the type.
    if (is_across_zero(d) && difference == 0 && used < size)
        used += (size_t)snprintf(buffer + used, size - used, ", another sign");
    if (d->is_floating && !is_across_zero(d) && used < size)
        used += (size_t)snprintf(buffer + used, size - used, ", %.0f ulp", d->ulps);
    if (used < size)
        snprintf(buffer + used, size - used, ")");
}
