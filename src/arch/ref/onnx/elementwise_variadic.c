// SPDX-License-Identifier: Apache-2.0
// Functions of elements of any number of inputs, with broadcasting, and choices between inputs.

#include <math.h>
#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "base/deadline.h"
#include "op/elementwise.h"
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

// ---- Any number of operands ----

static double fold_real(ln_call *call, const ln_ref_rows *rows, size_t i, int op)
{
    double result = ln_elem_real(ln_call_in(call, 0), ln_ref_rows_at(rows, 0, i));
    if (rows->operand_count > 1 && (op == TL_SUM || op == LN_ELEW_MEAN))
        result += 0; // sums of several begin with 0: none is -0
    for (int k = 1; k < rows->operand_count; k++) {
        double x = ln_elem_real(ln_call_in(call, k), ln_ref_rows_at(rows, k, i));
        result = op == TL_MAX   ? ln_real_max(result, x)
                 : op == TL_MIN ? ln_real_min(result, x)
                                : result + x;
    }
    return op == LN_ELEW_MEAN ? result / rows->operand_count : result;
}

static int64_t fold_integer(ln_call *call, const ln_ref_rows *rows, size_t i, int op,
                            bool is_signed)
{
    int64_t result = ln_elem_int(ln_call_in(call, 0), ln_ref_rows_at(rows, 0, i));
    for (int k = 1; k < rows->operand_count; k++) {
        int64_t x = ln_elem_int(ln_call_in(call, k), ln_ref_rows_at(rows, k, i));
        bool is_larger = is_signed ? x > result : (uint64_t)x > (uint64_t)result;
        if (op == TL_MAX || op == TL_MIN)
            result = is_larger == (op == TL_MAX) ? x : result;
        else
            result = (int64_t)((uint64_t)result + (uint64_t)x);
    }
    if (op != LN_ELEW_MEAN)
        return result;
    return is_signed ? result / rows->operand_count
                     : (int64_t)((uint64_t)result / (uint64_t)rows->operand_count);
}

ln_status ln_ref_fold(ln_call *call, int elew_op)
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
                ln_elem_set_real(dst, rows.start + i, fold_real(call, &rows, i, elew_op));
            else
                ln_elem_set_int(dst, rows.start + i,
                                fold_integer(call, &rows, i, elew_op, kind == LN_NUMBER_WHOLE));
        }
    return LN_OK;
}

ln_status ln_ref_onnx_max(ln_call *call)
{
    return ln_ref_fold(call, TL_MAX);
}

ln_status ln_ref_onnx_min(ln_call *call)
{
    return ln_ref_fold(call, TL_MIN);
}

// ---- Choices ----

ln_status ln_ref_select(ln_call *call)
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

// Bounds come first: of two equal numbers the functions return the second, so that zeros keep their
// signs.
static void clip_real(const tl_tensor *src, tl_tensor *dst, double min, double max)
{
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, ln_real_min(max, ln_real_max(min, ln_elem_real(src, i))));
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
