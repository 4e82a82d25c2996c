// SPDX-License-Identifier: Apache-2.0
// Reductions in vector verbs: along the vector when the axis is contiguous, across it when not.

#ifndef LN_ARCH_CPU_KERNELS_REDUCE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_REDUCE_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/reduce/reduce.h"
#include "arch/cpu/simd/unroll.h"

#define REDUCE_VECTORS    (LN_REDUCE_ROW_LANES / VF_LANES)
#define REDUCE_ROW_RUN    (LN_REDUCE_ROW_LANES * LN_LANE_RUN)
#define REDUCE_COLUMN_RUN (LN_REDUCE_COLUMN_LANES * LN_LANE_RUN)

VF_VERB vf reduce_start(const ln_reduce op)
{
    return op == LN_REDUCE_MAX   ? vf_set1(-__builtin_inff())
           : op == LN_REDUCE_MIN ? vf_set1(__builtin_inff())
                                 : vf_set1(0.0f);
}

VF_VERB vf reduce_take(const ln_reduce op, vf lane, vf x)
{
    switch (op) {
    case LN_REDUCE_MAX: return vf_max_nan(x, lane);
    case LN_REDUCE_MIN: return vf_min_nan(x, lane);
    case LN_REDUCE_SQUARES: return vf_fma(x, x, lane);
    case LN_REDUCE_ABS: return vf_add(lane, vf_abs(x));
    case LN_REDUCE_SUM:
    case LN_REDUCE_MEAN:
    case LN_REDUCE_COUNT: break;
    }
    return vf_add(lane, x);
}

VF_VERB vf reduce_join(const ln_reduce op, vf a, vf b)
{
    return op == LN_REDUCE_MAX   ? vf_max_nan(a, b)
           : op == LN_REDUCE_MIN ? vf_min_nan(a, b)
                                 : vf_add(a, b);
}

VF_VERB vf reduce_finish(const ln_reduce op, vf value, size_t n)
{
    return op == LN_REDUCE_MEAN ? vf_div(value, vf_set1((float)n)) : value;
}

// The first `count` floats, `start` in the other lanes: they change nothing.
VF_VERB vf reduce_load_n(const ln_reduce op, const float *x, size_t count)
{
    return vf_first_n(vf_load_n(x, count), reduce_start(op), count);
}

VF_VERB void reduce_clear(const ln_reduce op, vf *lanes, const size_t count)
{
    LN_UNROLL
    for (size_t j = 0; j < count; j++)
        lanes[j] = reduce_start(op);
}

VF_VERB void reduce_join_each(const ln_reduce op, vf *lanes, const vf *more, const size_t count)
{
    LN_UNROLL
    for (size_t j = 0; j < count; j++)
        lanes[j] = reduce_join(op, lanes[j], more[j]);
}

// One run of a row.
VF_VERB void reduce_row_run(const ln_reduce op, size_t n, const float *x, vf *lanes)
{
    reduce_clear(op, lanes, REDUCE_VECTORS);
    size_t i = 0;
    for (; i + LN_REDUCE_ROW_LANES <= n; i += LN_REDUCE_ROW_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < REDUCE_VECTORS; j++)
            lanes[j] = reduce_take(op, lanes[j], vf_load(x + i + j * VF_LANES));
    }
    for (size_t j = 0; i < n; j++, i += VF_LANES)
        lanes[j] = reduce_take(op, lanes[j],
                               reduce_load_n(op, x + i, n - i < VF_LANES ? n - i : VF_LANES));
}

VF_VERB vf reduce_row(const ln_reduce op, size_t n, const float *x)
{
    vf lanes[REDUCE_VECTORS], all[REDUCE_VECTORS];
    reduce_clear(op, all, REDUCE_VECTORS);
    size_t i = 0;
    for (; n - i > REDUCE_ROW_RUN; i += REDUCE_ROW_RUN) {
        reduce_row_run(op, REDUCE_ROW_RUN, x + i, lanes);
        reduce_join_each(op, all, lanes, REDUCE_VECTORS);
    }
    reduce_row_run(op, n - i, x + i, lanes);
    if (i > 0)
        reduce_join_each(op, lanes, all, REDUCE_VECTORS);
    for (size_t half = REDUCE_VECTORS / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++)
            lanes[j] = reduce_join(op, lanes[j], lanes[j + half]);
    }
    vf value = lanes[0];
    LN_UNROLL
    for (int distance = VF_LANES / 2; distance > 0; distance /= 2)
        value = reduce_join(op, value, vf_swap(value, distance));
    return reduce_finish(op, value, n);
}

// One run of `cols` <= VF_LANES columns.
VF_VERB void reduce_column_run(const ln_reduce op, size_t cols, size_t n, size_t inner,
                               const float *x, vf *lanes)
{
    reduce_clear(op, lanes, LN_REDUCE_COLUMN_LANES);
    size_t i = 0;
    for (; cols == VF_LANES && i + LN_REDUCE_COLUMN_LANES <= n; i += LN_REDUCE_COLUMN_LANES) {
        LN_UNROLL
        for (size_t j = 0; j < LN_REDUCE_COLUMN_LANES; j++)
            lanes[j] = reduce_take(op, lanes[j], vf_load(x + (i + j) * inner));
    }
    for (; i < n; i++) {
        size_t j = i % LN_REDUCE_COLUMN_LANES;
        lanes[j] = reduce_take(op, lanes[j], vf_load_n(x + i * inner, cols));
    }
}

VF_VERB void reduce_column(const ln_reduce op, size_t cols, size_t n, size_t inner, const float *x,
                           float *y)
{
    vf lanes[LN_REDUCE_COLUMN_LANES], all[LN_REDUCE_COLUMN_LANES];
    reduce_clear(op, all, LN_REDUCE_COLUMN_LANES);
    size_t i = 0;
    for (; n - i > REDUCE_COLUMN_RUN; i += REDUCE_COLUMN_RUN) {
        reduce_column_run(op, cols, REDUCE_COLUMN_RUN, inner, x + i * inner, lanes);
        reduce_join_each(op, all, lanes, LN_REDUCE_COLUMN_LANES);
    }
    reduce_column_run(op, cols, n - i, inner, x + i * inner, lanes);
    if (i > 0)
        reduce_join_each(op, lanes, all, LN_REDUCE_COLUMN_LANES);
    for (size_t half = LN_REDUCE_COLUMN_LANES / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++)
            lanes[j] = reduce_join(op, lanes[j], lanes[j + half]);
    }
    vf_store_n(y, reduce_finish(op, lanes[0], n), cols);
}

VF_VERB void reduce_columns_of(const ln_reduce op, size_t count, size_t n, size_t inner,
                               const float *x, float *y)
{
    for (size_t i = 0; i < count; i += VF_LANES)
        reduce_column(op, count - i < VF_LANES ? count - i : VF_LANES, n, inner, x + i, y + i);
}

VF_VERB void reduce_rows_of(const ln_reduce op, size_t count, size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < count; i++)
        vf_store_n(&y[i], reduce_row(op, n, x + i * n), 1);
}

static void reduce_rows_f32(ln_reduce op, size_t count, size_t n, const float *x, float *y)
{
#define REDUCE_CASE(name)                                                                          \
    case LN_REDUCE_##name: reduce_rows_of(LN_REDUCE_##name, count, n, x, y); break;
    switch (op) {
        LN_REDUCE_LIST(REDUCE_CASE)
    case LN_REDUCE_COUNT: break;
    }
#undef REDUCE_CASE
}

static void reduce_columns_f32(ln_reduce op, size_t count, size_t n, size_t inner, const float *x,
                               float *y)
{
#define REDUCE_CASE(name)                                                                          \
    case LN_REDUCE_##name: reduce_columns_of(LN_REDUCE_##name, count, n, inner, x, y); break;
    switch (op) {
        LN_REDUCE_LIST(REDUCE_CASE)
    case LN_REDUCE_COUNT: break;
    }
#undef REDUCE_CASE
}

const ln_reduce_f32_kernels VF_KERNEL(ln_k_reduce_f32) = {
    .rows = reduce_rows_f32,
    .columns = reduce_columns_f32,
};

#endif
