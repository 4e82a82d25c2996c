// SPDX-License-Identifier: Apache-2.0
// From reductions to the kernels' arguments.

#include "op/onnx/reduce.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/reduce/reduce.h"
#include "arch/cpu/log_sum_exp.h"
#include "op/prepare.h"

// The data as [outer, count, inner], where the reduced axes are neighbours. Axes of one element are
// either, as it fits.
static ln_status lines_of(ln_call *call, ln_lines *out_lines)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool is_reduced[TL_MAXDIM], is_known;
    LN_TRY(ln_reduced_axes(call, is_reduced, &is_known));
    if (!is_known)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for known axes here");
    *out_lines = (ln_lines){1, 1, 1};
    for (int d = 0; d < data->ndim; d++) {
        size_t dim = (size_t)data->dims[d];
        if (dim == 1)
            continue;
        if (is_reduced[d] && out_lines->inner > 1) {
            if (out_lines->count > 1)
                return ln_call_fail(call, LN_UNSUPPORTED, "is for neighbouring axes here");
            out_lines->outer *= out_lines->inner;
            out_lines->inner = 1;
        }
        *(is_reduced[d] ? &out_lines->count : &out_lines->inner) *= dim;
    }
    if (out_lines->count == 1) { // nothing after it is reduced: what is left are rows of one
        out_lines->outer *= out_lines->inner;
        out_lines->inner = 1;
    }
    return LN_OK;
}

// What the kernels know: of log_sum_exp the largest, which it begins with; of l2 what the root is
// taken of afterwards. LN_REDUCE_COUNT: nothing of the sort.
static ln_reduce kernel_of(ln_reduce_kind kind)
{
    switch (kind) {
    case LN_REDUCE_TO_SUM: return LN_REDUCE_SUM;
    case LN_REDUCE_TO_MEAN: return LN_REDUCE_MEAN;
    case LN_REDUCE_TO_LOG_SUM_EXP:
    case LN_REDUCE_TO_MAX: return LN_REDUCE_MAX;
    case LN_REDUCE_TO_MIN: return LN_REDUCE_MIN;
    case LN_REDUCE_TO_L1: return LN_REDUCE_ABS;
    case LN_REDUCE_TO_L2:
    case LN_REDUCE_TO_SUM_SQUARE: return LN_REDUCE_SQUARES;
    default: return LN_REDUCE_COUNT;
    }
}

static bool is_of_integers(const tl_tensor *data, ln_reduce_kind kind)
{
    return data->dtype == TL_INT32 &&
           (kind == LN_REDUCE_TO_SUM || kind == LN_REDUCE_TO_MAX || kind == LN_REDUCE_TO_MIN);
}

ln_status ln_cpu_accepts_reduce(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    ln_reduce_kind kind;
    ln_lines lines;
    LN_TRY(ln_reduce_kind_of(call, &kind));
    if (!is_of_integers(data, kind) &&
        (data->dtype != TL_FLOAT || kernel_of(kind) == LN_REDUCE_COUNT))
        return ln_call_fail(call, LN_UNSUPPORTED,
                            "is for sums and extremes of float32 and int32 here");
    if (data->len == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for some elements here");
    return lines_of(call, &lines);
}

typedef struct reduction {
    ln_reduce_kind kind;
    ln_lines lines;
} reduction;

static ln_status prepare_reduce(ln_call *call, reduction *r)
{
    LN_TRY(ln_reduce_kind_of(call, &r->kind));
    return lines_of(call, &r->lines);
}

LN_PREPARE(ln_cpu_prepare_reduce, reduction, prepare_reduce)

// Roots of sums whose squares floats do not have, or not to full precision.
#define LEAST_ROOT 1e-15f

// Such lines again, in doubles, which have all squares of floats.
static void take_rare_roots(const ln_reduce_f32_args *a)
{
    for (size_t i = 0; i < a->outer * a->inner; i++) {
        if (a->y[i] >= LEAST_ROOT && a->y[i] <= FLT_MAX)
            continue;
        const float *x = a->x + i / a->inner * a->n * a->inner + i % a->inner;
        double sum = 0;
        for (size_t k = 0; k < a->n; k++)
            sum += (double)x[k * a->inner] * (double)x[k * a->inner];
        a->y[i] = (float)sqrt(sum);
    }
}

// Sums wrap.
static int32_t joined(ln_reduce_kind kind, int32_t a, int32_t b)
{
    if (kind == LN_REDUCE_TO_SUM)
        return (int32_t)((uint32_t)a + (uint32_t)b);
    return (kind == LN_REDUCE_TO_MAX) == (a > b) ? a : b;
}

static void reduce_row(ln_reduce_kind kind, size_t n, const int32_t *x, int32_t *y)
{
    int32_t all = x[0];
    for (size_t k = 1; k < n; k++)
        all = joined(kind, all, x[k]);
    *y = all;
}

static void reduce_columns(ln_reduce_kind kind, size_t n, size_t inner, const int32_t *x,
                           int32_t *restrict y)
{
    memcpy(y, x, inner * sizeof *y);
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < inner; i++)
            y[i] = joined(kind, y[i], x[k * inner + i]);
}

static void reduce_integers(const ln_lines *lines, ln_reduce_kind kind, const int32_t *x,
                            int32_t *y)
{
    const size_t step = lines->count * lines->inner;
    for (size_t o = 0; o < lines->outer; o++, x += step, y += lines->inner) {
        if (lines->inner == 1)
            reduce_row(kind, lines->count, x, y);
        else
            reduce_columns(kind, lines->count, lines->inner, x, y);
    }
}

ln_status ln_cpu_reduce(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const reduction *r = ln_call_prepared(call);
    if (dst->dtype == TL_INT32) {
        reduce_integers(&r->lines, r->kind, ln_call_in(call, 0)->data, dst->data);
        return LN_OK;
    }
    ln_reduce_f32_args args = {.op = kernel_of(r->kind),
                               .outer = r->lines.outer,
                               .n = r->lines.count,
                               .inner = r->lines.inner,
                               .x = ln_call_in(call, 0)->data,
                               .y = dst->data};
    ln_reduce_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    if (r->kind == LN_REDUCE_TO_LOG_SUM_EXP)
        ln_cpu_log_sum_exp(&r->lines, args.x, args.y, ln_cpu_call_pool(call));
    if (r->kind != LN_REDUCE_TO_L2)
        return LN_OK;
    LN_TRY(ln_cpu_act(ln_cpu_call_pool(call), dst, dst, LN_ACT_SQRT, 0, 0));
    take_rare_roots(&args);
    return LN_OK;
}
