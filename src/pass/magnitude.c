// SPDX-License-Identifier: Apache-2.0
// Constants that rules join are computed when the model is loaded; what is known of their elements
// before is looked at here.

#include "pass/magnitude.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/util.h>

#include "ir/context.h"

#define MAX_LOOKED_AT (1 << 16) // elements of one tensor
#define MAX_DEPTH     8         // of operators between a constant and what it is made from
#define USUAL         0x1p86    // of elements that are not known
#define MAIN          0x1p-60   // summands beside which subnormal ones count nothing

bool ln_is_normal(double n)
{
    return n == 0 || (fabs(n) >= FLT_MIN && fabs(n) <= FLT_MAX);
}

static const ln_magnitudes unknown = {.least = 1 / USUAL, .greatest = USUAL};

static void note(ln_magnitudes *m, double element)
{
    double magnitude = fabs(element);
    if (!(magnitude <= FLT_MAX)) {
        m->has_nonfinite = true;
        return;
    }
    m->has_small = m->has_small || magnitude < FLT_MIN;
    m->has_subnormal = m->has_subnormal || (magnitude > 0 && magnitude < FLT_MIN);
    m->greatest = fmax(m->greatest, magnitude);
    if (magnitude >= FLT_MIN)
        m->least = fmin(m->least, magnitude);
}

// By the bits without the sign, which are in the order of the magnitudes.
static void look_at(const void *elements, size_t count, ln_magnitudes *out)
{
    const uint32_t least_normal = 0x00800000, infinite = 0x7f800000;
    uint32_t least = infinite, greatest = 0, least_of_all = infinite, greatest_of_all = 0;
    bool has_subnormal = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)elements + i * sizeof bits, sizeof bits);
        bits &= 0x7fffffff;
        least_of_all = bits < least_of_all ? bits : least_of_all;
        has_subnormal |= bits > 0 && bits < least_normal;
        greatest_of_all = bits > greatest_of_all ? bits : greatest_of_all;
        least = bits < least && bits >= least_normal ? bits : least;
        greatest = bits > greatest && bits < infinite ? bits : greatest;
    }
    float numbers[2];
    memcpy(&numbers[0], &least, sizeof least);
    memcpy(&numbers[1], &greatest, sizeof greatest);
    *out = (ln_magnitudes){.least = numbers[0],
                           .greatest = numbers[1],
                           .has_small = least_of_all < least_normal,
                           .has_subnormal = has_subnormal,
                           .has_nonfinite = greatest_of_all >= infinite,
                           .is_known = true,
                           .is_known_whole = true};
}

// What the description of a `create` says of its elements.
static void look_at_create(const ln_op_arg *op_arg, const tl_tensor *tensor, ln_magnitudes *out)
{
    const ln_param_entry *data = ln_param_list_find(op_arg->params, "data");
    const ln_param_entry *from_file = ln_param_list_find(op_arg->params, "from_file");
    const ln_param_entry *ran = ln_param_list_find(op_arg->params, "ran");
    bool is_random = ran && ran->array_len == 2 &&
                     (ran->value_array_double[0] != 0 || ran->value_array_double[1] != 0);
    if (is_random || (from_file && from_file->value_bool) || tensor->len > MAX_LOOKED_AT)
        return;
    *out = (ln_magnitudes){.least = INFINITY, .is_known = true, .is_known_whole = true};
    int given = data && data->type == LN_PARAM_ARRAY_NUMBER ? data->array_len : 0;
    for (int i = 0; i < given; i++)
        note(out, (float)data->value_array_double[i]);
    out->has_small = out->has_small || given < tensor->len;
}

static ln_magnitudes combine(const char *how, const ln_magnitudes *a, const ln_magnitudes *b)
{
    ln_magnitudes m = {.has_small = a->has_small || b->has_small,
                       .has_subnormal = a->has_subnormal || b->has_subnormal,
                       .has_nonfinite = a->has_nonfinite || b->has_nonfinite,
                       .is_known = a->is_known || b->is_known,
                       .is_known_whole = a->is_known_whole && b->is_known_whole};
    if (ln_streq(how, "TL_MUL")) {
        m.least = a->least * b->least;
        m.greatest = a->greatest * b->greatest;
    } else if (ln_streq(how, "TL_DIV")) {
        m.least = a->least / b->greatest;
        m.greatest = a->greatest / b->least;
        m.has_nonfinite = m.has_nonfinite || b->has_small;
    } else if (ln_streq(how, "TL_SUM") || ln_streq(how, "TL_SUB")) {
        m.least = FLT_MIN; // what is less is exact
        m.has_subnormal = false;
        m.greatest = a->greatest + b->greatest;
    } else {
        m.has_nonfinite = true;
    }
    return m;
}

static void find(const ln_context *ctx, const char *tensor, int depth, ln_magnitudes *out);

// What an operator that joins constants has made.
static void look_at_joined(const ln_context *ctx, const ln_op_arg *op_arg, int depth,
                           ln_magnitudes *out)
{
    const char *a = ln_tensor_list_find_name(op_arg->tensors_in, "src1");
    const char *b = ln_tensor_list_find_name(op_arg->tensors_in, "src2");
    const ln_param_entry *how = ln_param_list_find(op_arg->params, "elew_op");
    const ln_param_entry *act = ln_param_list_find(op_arg->params, "act");
    if (!a || !b || !how || how->type != LN_PARAM_STRING ||
        (act && !ln_streq(act->value_string, "none")) ||
        ln_tensor_list_length(op_arg->tensors_in) != 2)
        return;
    ln_magnitudes first, second;
    find(ctx, a, depth + 1, &first);
    find(ctx, b, depth + 1, &second);
    *out = combine(how->value_string, &first, &second);
}

static void find(const ln_context *ctx, const char *tensor, int depth, ln_magnitudes *out)
{
    *out = unknown;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tensor);
    if (!entry || entry->is_open || entry->is_input || entry->tensor->dtype != TL_FLOAT ||
        depth > MAX_DEPTH)
        return;
    if (entry->known && entry->tensor->len <= MAX_LOOKED_AT) {
        look_at(entry->known, (size_t)entry->tensor->len, out);
        return;
    }
    if (entry->known)
        return;
    if (entry->owner) {
        find(ctx, entry->owner, depth + 1, out);
        return;
    }
    const ln_op *op = entry->creater ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    if (op && ln_op_is_type(op->op_arg, "create"))
        look_at_create(op->op_arg, entry->tensor, out);
    else if (op && ln_op_is_type(op->op_arg, "elew"))
        look_at_joined(ctx, op->op_arg, depth, out);
}

void ln_find_magnitudes(const ln_context *ctx, const char *tensor, ln_magnitudes *out)
{
    find(ctx, tensor, 0, out);
}

// Without a normal element, `least` is infinite and `greatest` too small to overflow.
static bool is_fine(const ln_magnitudes *joined)
{
    return !joined->has_nonfinite &&
           (!joined->is_known || (joined->least >= FLT_MIN && joined->greatest <= FLT_MAX)) &&
           !(joined->has_subnormal && joined->greatest < MAIN);
}

static ln_magnitudes join(const ln_context *ctx, const char *how, const char *a, const char *b)
{
    ln_magnitudes first, second;
    find(ctx, a, 0, &first);
    find(ctx, b, 0, &second);
    return combine(how, &first, &second);
}

bool ln_can_join(const ln_context *ctx, const char *how, const char *a, const char *b)
{
    ln_magnitudes joined = join(ctx, how, a, b);
    return is_fine(&joined);
}

// Whether x * a is infinite or subnormal only where x * (a * b) is, whatever x is; an infinite x *
// a makes NaN of a b that is 0.
static bool go_one_way(const ln_magnitudes *a, const ln_magnitudes *b)
{
    return (a->greatest <= 1 && b->greatest <= 1) ||
           (a->least >= 1 && b->least >= 1 && !b->has_small);
}

bool ln_can_join_each(const ln_context *ctx, const char *how, const char *a, const char *b)
{
    ln_magnitudes first, second;
    find(ctx, a, 0, &first);
    find(ctx, b, 0, &second);
    const ln_magnitudes joined = combine(how, &first, &second);
    return joined.is_known_whole && !joined.has_subnormal && is_fine(&joined) &&
           (!ln_streq(how, "TL_MUL") || go_one_way(&first, &second));
}

// Whether what is subtracted or added before the factors may be so after them.
static bool is_summand(const ln_magnitudes *m, const ln_magnitudes *factor)
{
    return !m->has_nonfinite &&
           (!factor->is_known || !m->is_known || m->greatest * factor->greatest <= FLT_MAX);
}

bool ln_can_join_norm(const ln_context *ctx, const ln_norm_constants *c)
{
    ln_magnitudes weight, mean, scale, variance;
    find(ctx, c->weight, 0, &weight);
    find(ctx, c->mean, 0, &mean);
    find(ctx, c->scale, 0, &scale);
    find(ctx, c->variance, 0, &variance);
    double least_root = 1, greatest_root = 1; // where the variance is not known
    if (variance.is_known) {
        least_root = sqrt((variance.has_small ? 0 : variance.least) + c->epsilon);
        greatest_root = sqrt(variance.greatest + c->epsilon);
    }
    const ln_magnitudes factor = {.least = scale.least / greatest_root,
                                  .greatest = scale.greatest / least_root,
                                  .has_small = scale.has_small,
                                  .has_nonfinite = scale.has_nonfinite || variance.has_nonfinite,
                                  .is_known = scale.is_known};
    ln_magnitudes joined = combine("TL_MUL", &weight, &factor);
    ln_magnitudes bias = {.is_known = true};
    if (c->bias)
        find(ctx, c->bias, 0, &bias);
    return is_fine(&joined) && is_summand(&mean, &factor) && is_summand(&bias, &factor);
}
