// SPDX-License-Identifier: Apache-2.0
// Functions of elements of any number of inputs, with broadcasting, and choices between inputs.

#include <math.h>
#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "base/deadline.h"
#include "tensor/elem.h"

static ln_status walk_inputs(ln_call *call, ln_ref_rows *rows, int count)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    LN_TRY(ln_ref_rows_init(call, rows, count, dst->ndim, dst->dims));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (int i = 0; i < count; i++) {
        const tl_tensor *src = ln_call_in(call, i);
        ln_ref_rows_operand(rows, i, src->ndim, src->dims);
    }
    return LN_OK;
}

// ---- Largest and smallest ----

static double real_extreme(ln_call *call, const ln_ref_rows *rows, size_t i, bool is_max)
{
    double best = ln_elem_real(ln_call_in(call, 0), ln_ref_rows_at(rows, 0, i));
    for (int k = 1; k < rows->operand_count; k++) {
        double x = ln_elem_real(ln_call_in(call, k), ln_ref_rows_at(rows, k, i));
        best = is_max ? ln_real_max(best, x) : ln_real_min(best, x);
    }
    return best;
}

static int64_t integer_extreme(ln_call *call, const ln_ref_rows *rows, size_t i, bool is_max,
                               bool is_signed)
{
    int64_t best = ln_elem_int(ln_call_in(call, 0), ln_ref_rows_at(rows, 0, i));
    for (int k = 1; k < rows->operand_count; k++) {
        int64_t x = ln_elem_int(ln_call_in(call, k), ln_ref_rows_at(rows, k, i));
        bool is_larger = is_signed ? x > best : (uint64_t)x > (uint64_t)best;
        best = is_larger == is_max ? x : best;
    }
    return best;
}

static ln_status extreme(ln_call *call, bool is_max)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_number_kind kind = ln_number_kind_of(dst->dtype);
    ln_ref_rows rows;
    LN_TRY(walk_inputs(call, &rows, ln_call_in_count(call)));
    if (ln_call_is_counting(call))
        return LN_OK;
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++) {
            if (kind == LN_NUMBER_REAL)
                ln_elem_set_real(dst, rows.start + i, real_extreme(call, &rows, i, is_max));
            else
                ln_elem_set_int(dst, rows.start + i,
                                integer_extreme(call, &rows, i, is_max, kind == LN_NUMBER_WHOLE));
        }
    return LN_OK;
}

ln_status ln_ref_onnx_max(ln_call *call)
{
    return extreme(call, true);
}

ln_status ln_ref_onnx_min(ln_call *call)
{
    return extreme(call, false);
}

// ---- Sums ----

static ln_status add_up(ln_call *call, double scale)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_ref_rows rows;
    LN_TRY(walk_inputs(call, &rows, ln_call_in_count(call)));
    if (ln_call_is_counting(call))
        return LN_OK;
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++) {
            double sum = 0;
            for (int k = 0; k < rows.operand_count; k++)
                sum += ln_elem_real(ln_call_in(call, k), ln_ref_rows_at(&rows, k, i));
            ln_elem_set_real(dst, rows.start + i, sum / scale);
        }
    return LN_OK;
}

ln_status ln_ref_onnx_sum(ln_call *call)
{
    return add_up(call, 1);
}

ln_status ln_ref_onnx_mean(ln_call *call)
{
    return add_up(call, ln_call_in_count(call));
}

// ---- Choices ----

ln_status ln_ref_onnx_where(ln_call *call)
{
    const tl_tensor *condition = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_ref_rows rows;
    LN_TRY(walk_inputs(call, &rows, 3));
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++) {
            int chosen = ln_elem_int(condition, ln_ref_rows_at(&rows, 0, i)) ? 1 : 2;
            const tl_tensor *src = ln_call_in(call, chosen);
            size_t at = ln_ref_rows_at(&rows, chosen, i);
            if (dst->dtype != TL_STRING) {
                ln_elem_copy(dst, rows.start + i, src, at);
                continue;
            }
            const char *string = ((const char *const *)src->data)[at];
            string = string ? string : "";
            LN_TRY(ln_call_set_string(call, 0, rows.start + i, string, strlen(string)));
        }
    return LN_OK;
}

// ---- Clip ----

static void clip_real(const tl_tensor *src, tl_tensor *dst, double min, double max)
{
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, ln_real_min(ln_real_max(ln_elem_real(src, i), min), max));
}

static void clip_whole(const tl_tensor *src, tl_tensor *dst, int64_t min, int64_t max)
{
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        int64_t x = ln_elem_int(src, i);
        x = x < min ? min : x;
        ln_elem_set_int(dst, i, x > max ? max : x);
    }
}

static void clip_natural(const tl_tensor *src, tl_tensor *dst, uint64_t min, uint64_t max)
{
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        uint64_t x = (uint64_t)ln_elem_int(src, i);
        x = x < min ? min : x;
        ln_elem_set_int(dst, i, (int64_t)(x > max ? max : x));
    }
}

ln_status ln_ref_onnx_clip(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const tl_tensor *min = ln_call_in(call, 1), *max = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    switch (ln_number_kind_of(src->dtype)) {
    case LN_NUMBER_REAL: {
        bool is_old = ln_call_since(call) < 11;
        double low = is_old && ln_call_has(call, "min") ? ln_call_float(call, "min") : -INFINITY;
        double high = is_old && ln_call_has(call, "max") ? ln_call_float(call, "max") : INFINITY;
        clip_real(src, dst, min ? ln_elem_real(min, 0) : low, max ? ln_elem_real(max, 0) : high);
        break;
    }
    case LN_NUMBER_WHOLE:
        clip_whole(src, dst, min ? ln_elem_int(min, 0) : INT64_MIN,
                   max ? ln_elem_int(max, 0) : INT64_MAX);
        break;
    case LN_NUMBER_NATURAL:
        clip_natural(src, dst, min ? (uint64_t)ln_elem_int(min, 0) : 0,
                     max ? (uint64_t)ln_elem_int(max, 0) : UINT64_MAX);
        break;
    }
    return LN_OK;
}
