// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes: each element of the data goes into the accumulator of its result.

#include "arch/ref/onnx/reduce.h"

#include <math.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// A walk over the data, in which the result is the operand, and as many accumulators as results.
typedef struct reduction {
    const tl_tensor *data;
    tl_tensor *dst;
    ln_ref_rows rows;
    size_t count; // elements in each result
} reduction;

static ln_status start_with_axes(ln_call *call, reduction *r, const bool *is_reduced)
{
    r->data = ln_call_in(call, 0);
    r->dst = ln_call_dst(call, 0);
    r->count = 1;
    int dims[TL_MAXDIM];
    for (int d = 0; d < r->data->ndim; d++) {
        dims[d] = is_reduced[d] ? 1 : r->data->dims[d];
        r->count *= is_reduced[d] ? (size_t)r->data->dims[d] : 1;
    }
    LN_TRY(ln_ref_rows_init(call, &r->rows, 1, r->data->ndim, r->data->dims));
    ln_ref_rows_operand(&r->rows, 0, r->data->ndim, dims);
    return LN_OK;
}

static ln_status start(ln_call *call, reduction *r)
{
    bool is_reduced[TL_MAXDIM], is_known;
    LN_TRY(ln_reduced_axes(call, is_reduced, &is_known));
    if (!is_known)
        return ln_call_fail(call, LN_INVALID, "has axes without a value");
    return start_with_axes(call, r, is_reduced);
}

// ---- Sums and products ----

typedef struct folding {
    double start;
    double (*real)(double accumulator, double x);
    uint64_t (*whole)(uint64_t accumulator, int64_t x);
    double (*finish)(double accumulator, double count); // NULL: nothing to do
} folding;

static ln_status fold_real(ln_call *call, reduction *r, const folding *f)
{
    size_t len = (size_t)r->dst->len;
    double *results = ln_call_scratch(call, len, sizeof *results);
    if (!results && len > 0)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < len; i++)
        results[i] = f->start;
    while (ln_ref_rows_next(&r->rows)) {
        const ln_ref_rows *rows = &r->rows;
        if (rows->step[0] != 0) {
            for (size_t i = 0; i < rows->len; i++) {
                double *result = &results[ln_ref_rows_at(rows, 0, i)];
                *result = f->real(*result, ln_elem_real(r->data, rows->start + i));
            }
            continue;
        }
        double result = results[rows->at[0]];
        for (size_t i = 0; i < rows->len; i++)
            result = f->real(result, ln_elem_real(r->data, rows->start + i));
        results[rows->at[0]] = result;
    }
    for (size_t i = 0; i < len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(r->dst, i,
                         f->finish ? f->finish(results[i], (double)r->count) : results[i]);
    return LN_OK;
}

static double as_real(uint64_t x, ln_number_kind kind)
{
    return kind == LN_NUMBER_WHOLE ? (double)(int64_t)x : (double)x;
}

static ln_status fold_whole(ln_call *call, reduction *r, const folding *f)
{
    size_t len = (size_t)r->dst->len;
    ln_number_kind kind = ln_number_kind_of(r->data->dtype);
    uint64_t *results = ln_call_scratch(call, len, sizeof *results);
    if (!results && len > 0)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < len; i++)
        results[i] = (uint64_t)f->start;
    while (ln_ref_rows_next(&r->rows))
        for (size_t i = 0; i < r->rows.len; i++) {
            uint64_t *result = &results[ln_ref_rows_at(&r->rows, 0, i)];
            *result = f->whole(*result, ln_elem_int(r->data, r->rows.start + i));
        }
    for (size_t i = 0; i < len; i++) {
        if (f->finish)
            ln_elem_set_real(r->dst, i, f->finish(as_real(results[i], kind), (double)r->count));
        else
            ln_elem_set_int(r->dst, i, (int64_t)results[i]);
    }
    return LN_OK;
}

static double real_sum(double sum, double x)
{
    return sum + x;
}

static uint64_t whole_sum(uint64_t sum, int64_t x)
{
    return sum + (uint64_t)x;
}

static double real_product(double product, double x)
{
    return product * x;
}

static uint64_t whole_product(uint64_t product, int64_t x)
{
    return product * (uint64_t)x;
}

static double real_sum_of_magnitudes(double sum, double x)
{
    return sum + fabs(x);
}

static uint64_t whole_sum_of_magnitudes(uint64_t sum, int64_t x)
{
    return x < 0 ? sum - (uint64_t)x : sum + (uint64_t)x;
}

static double real_sum_of_squares(double sum, double x)
{
    return sum + x * x;
}

static uint64_t whole_sum_of_squares(uint64_t sum, int64_t x)
{
    return sum + (uint64_t)x * (uint64_t)x;
}

static double finish_mean(double sum, double count)
{
    return sum / count;
}

static double finish_root(double sum, double count)
{
    (void)count;
    return sqrt(sum);
}

static double finish_log(double sum, double count)
{
    (void)count;
    return log(sum);
}

// ---- The logarithm of a sum of exponentials ----

static double real_of(const reduction *r, size_t i, ln_number_kind kind)
{
    if (kind == LN_NUMBER_REAL)
        return ln_elem_real(r->data, i);
    return as_real((uint64_t)ln_elem_int(r->data, i), kind);
}

// First the largest element of each result, then what the others are beside it.
static ln_status reduce_log_sum_exp(ln_call *call)
{
    reduction r;
    LN_TRY(start(call, &r));
    size_t len = (size_t)r.dst->len;
    ln_number_kind kind = ln_number_kind_of(r.data->dtype);
    double *largest = ln_call_scratch(call, len, 2 * sizeof *largest), *sums = largest + len;
    if (!largest && len > 0)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < len; i++)
        largest[i] = -INFINITY;
    while (ln_ref_rows_next(&r.rows))
        for (size_t i = 0; i < r.rows.len; i++) {
            double *max = &largest[ln_ref_rows_at(&r.rows, 0, i)];
            *max = ln_real_max(*max, real_of(&r, r.rows.start + i, kind));
        }
    while (ln_ref_rows_next(&r.rows))
        for (size_t i = 0; i < r.rows.len; i++) {
            size_t at = ln_ref_rows_at(&r.rows, 0, i);
            sums[at] += exp(real_of(&r, r.rows.start + i, kind) - ln_exp_shift(largest[at]));
        }
    for (size_t i = 0; i < len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(r.dst, i, log(sums[i]) + ln_exp_shift(largest[i]));
    return LN_OK;
}

// ---- Largest and smallest ----

typedef struct contest {
    const tl_tensor *data;
    ln_number_kind kind;
    bool is_max;
    bool takes_last; // among equals
} contest;

// Whether element `i` takes the place of element `best`, which comes before it. A NaN beats
// numbers.
static bool beats(const contest *c, size_t i, size_t best)
{
    bool is_greater, is_equal;
    if (c->kind == LN_NUMBER_REAL) {
        double x = ln_elem_real(c->data, i), y = ln_elem_real(c->data, best);
        if (isnan(x) || isnan(y))
            return isnan(x) && (!isnan(y) || c->takes_last);
        is_greater = x > y, is_equal = x == y;
    } else {
        int64_t x = ln_elem_int(c->data, i), y = ln_elem_int(c->data, best);
        is_greater = c->kind == LN_NUMBER_WHOLE ? x > y : (uint64_t)x > (uint64_t)y;
        is_equal = x == y;
    }
    return is_equal ? c->takes_last : is_greater == c->is_max;
}

// winners[i] = 1 + the position in the data of the winner of result i; 0 if there is none.
static void hold_contest(const contest *c, ln_ref_rows *rows, size_t *winners)
{
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len; i++) {
            size_t *winner = &winners[ln_ref_rows_at(rows, 0, i)];
            if (*winner == 0 || beats(c, rows->start + i, *winner - 1))
                *winner = rows->start + i + 1;
        }
}

// What all elements of the type are at least, or at most.
static void set_limit(tl_tensor *dst, size_t i, bool is_least)
{
    char *element = (char *)dst->data + i * tl_size_of(dst->dtype);
    if (ln_number_kind_of(dst->dtype) == LN_NUMBER_REAL)
        ln_elem_set_real(dst, i, is_least ? -INFINITY : INFINITY);
    else if (is_least)
        (void)tl_dtype_min(dst->dtype, element);
    else
        (void)tl_dtype_max(dst->dtype, element);
}

static ln_status reduce_extreme(ln_call *call, bool is_max)
{
    reduction r;
    LN_TRY(start(call, &r));
    size_t len = (size_t)r.dst->len;
    size_t *winners = ln_call_scratch(call, len, sizeof *winners);
    if (!winners && len > 0)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    contest c = {r.data, ln_number_kind_of(r.data->dtype), is_max, false};
    hold_contest(&c, &r.rows, winners);
    for (size_t i = 0; i < len; i++) {
        if (winners[i] > 0)
            ln_elem_copy(r.dst, i, r.data, winners[i] - 1);
        else
            set_limit(r.dst, i, is_max);
    }
    return LN_OK;
}

// ---- All kinds ----

static const folding foldings[LN_REDUCE_KIND_COUNT] = {
    [LN_REDUCE_TO_SUM] = {.real = real_sum, .whole = whole_sum},
    [LN_REDUCE_TO_MEAN] = {.real = real_sum, .whole = whole_sum, .finish = finish_mean},
    [LN_REDUCE_TO_PROD] = {.start = 1, .real = real_product, .whole = whole_product},
    [LN_REDUCE_TO_L1] = {.real = real_sum_of_magnitudes, .whole = whole_sum_of_magnitudes},
    [LN_REDUCE_TO_L2] = {.real = real_sum_of_squares,
                         .whole = whole_sum_of_squares,
                         .finish = finish_root},
    [LN_REDUCE_TO_LOG_SUM] = {.real = real_sum, .whole = whole_sum, .finish = finish_log},
    [LN_REDUCE_TO_SUM_SQUARE] = {.real = real_sum_of_squares, .whole = whole_sum_of_squares},
};

ln_status ln_ref_reduce(ln_call *call)
{
    ln_number_kind number = ln_number_kind_of(ln_call_in(call, 0)->dtype);
    ln_reduce_kind kind;
    reduction r;
    LN_TRY(ln_reduce_kind_of(call, &kind));
    if (kind == LN_REDUCE_TO_MAX || kind == LN_REDUCE_TO_MIN)
        return reduce_extreme(call, kind == LN_REDUCE_TO_MAX);
    if (kind == LN_REDUCE_TO_LOG_SUM_EXP)
        return reduce_log_sum_exp(call);
    if (kind == LN_REDUCE_TO_L1 && number == LN_NUMBER_NATURAL)
        kind = LN_REDUCE_TO_SUM;
    LN_TRY(start(call, &r));
    if (number == LN_NUMBER_REAL)
        return fold_real(call, &r, &foldings[kind]);
    return fold_whole(call, &r, &foldings[kind]);
}

// ---- Places ----

// The position in each row of f32.
static void find_in_rows(const contest *c, const ln_lines *lines, int64_t *out_positions)
{
    const float *row = c->data->data;
    for (size_t i = 0; i < lines->outer; i++, row += lines->count) {
        size_t best = 0;
        for (size_t k = 1; k < lines->count; k++) {
            float x = row[k], y = row[best];
            bool is_ordered = x < y || x > y;
            if (is_ordered ? (x > y) == c->is_max
                           : beats(c, i * lines->count + k, i * lines->count + best))
                best = k;
        }
        out_positions[i] = (int64_t)best;
    }
}

static ln_status find_extreme(ln_call *call, bool is_max)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool is_reduced[TL_MAXDIM] = {false};
    int axis = 0;
    if (data->ndim > 0) {
        LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
        is_reduced[axis] = true;
    }
    contest c = {data, ln_number_kind_of(data->dtype), is_max,
                 ln_call_int(call, "select_last_index") != 0};
    ln_lines lines = ln_lines_along(data, axis);
    if (lines.inner == 1 && data->dtype == TL_FLOAT && ln_call_dst(call, 0)->dtype == TL_INT64) {
        if (!ln_call_is_counting(call))
            find_in_rows(&c, &lines, ln_call_dst(call, 0)->data);
        return LN_OK;
    }
    reduction r;
    LN_TRY(start_with_axes(call, &r, is_reduced));
    size_t len = (size_t)r.dst->len;
    size_t *winners = ln_call_scratch(call, len, sizeof *winners);
    if (!winners && len > 0)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    hold_contest(&c, &r.rows, winners);
    for (size_t i = 0; i < len; i++)
        ln_elem_set_int(r.dst, i, (int64_t)((winners[i] - 1) / lines.inner % lines.count));
    return LN_OK;
}

ln_status ln_ref_onnx_arg_max(ln_call *call)
{
    return find_extreme(call, true);
}

ln_status ln_ref_onnx_arg_min(ln_call *call)
{
    return find_extreme(call, false);
}
