// SPDX-License-Identifier: Apache-2.0
// What becomes of sums of byte products, as tile_i8.h says, in verbs. A kernel file includes those
// of its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_EPILOGUE_I8_H
#define LN_ARCH_CPU_KERNELS_EPILOGUE_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"
#include "base/minmax.h"

// Some columns of rows of sums. There are sums, and what columns have, up to a multiple of 16.
typedef struct epilogue_columns {
    size_t m, n; // rows, columns
    size_t step; // elements of the result from row to row
    const int32_t *sums;
    size_t sums_step; // from row to row
    const ln_epilogue_i8 *epilogue;
    size_t column;
} epilogue_columns;

VF_VERB void epilogue_put_sums(const epilogue_columns *c, int32_t *y)
{
    const int32_t *sums = c->sums;
    for (size_t i = 0; i < c->m; i++, y += c->step, sums += c->sums_step) {
        int32_t of[VF_LANES];
        vi_add(c->n == VF_LANES ? y : of, sums, c->epilogue->addends + c->column);
        if (c->n != VF_LANES)
            memcpy(y, of, c->n * sizeof *y);
    }
}

VF_VERB void epilogue_put_floats(const epilogue_columns *c, float *y)
{
    const ln_epilogue_i8 *e = c->epilogue;
    const vf factor = vf_load(e->factors + c->column);
    const vf bias = e->bias ? vf_load(e->bias + c->column) : vf_set1(-0.0f); // no change
    const int32_t *sums = c->sums;
    for (size_t i = 0; i < c->m; i++, y += c->step, sums += c->sums_step) {
        vf v = vi_sum_real(sums, e->addends + c->column);
        v = vf_add(vf_mul(v, factor), bias);
        if (c->n == VF_LANES)
            vf_store(y, v);
        else
            vf_store_n(y, v, c->n);
    }
}

#ifndef VI_PANEL_TO_BYTES

// Adding this brings a whole number, of less than 2^22, into the lowest bits, rounded.
#define EPILOGUE_ROUNDING 12582912.0f

VF_VERB void epilogue_put_bytes(const epilogue_columns *c, const size_t n, const bool has_bias,
                                uint8_t *y)
{
    const ln_epilogue_i8 *e = c->epilogue;
    const vf factor = vf_load(e->factors + c->column);
    const vf low = vf_set1(e->low), high = vf_set1(e->high), rounding = vf_set1(EPILOGUE_ROUNDING);
    const int32_t zero = e->zero, *sums = c->sums, *addends = e->addends + c->column;
    const vf bias = has_bias ? vf_load(e->bias + c->column) : vf_set1(0);
    const size_t m = c->m, step = c->step;
    for (size_t i = 0; i < m; i++, y += step, sums += c->sums_step) {
        vf v = vf_mul(vi_sum_real(sums, addends), factor);
        if (has_bias)
            v = vf_add(v, bias);
        v = vf_min(vf_max(v, low), high);
        vi_store_bytes(y, vf_add(v, rounding), zero, n);
    }
}

#endif

// To the rows of y, from the first column of all on; a vector of columns or fewer.
VF_VERB void epilogue_put_vector(const epilogue_columns *c, void *y)
{
    switch (c->epilogue->result) {
    case LN_I8_TO_SUMS: epilogue_put_sums(c, (int32_t *)y + c->column); break;
    case LN_I8_TO_FLOATS: epilogue_put_floats(c, (float *)y + c->column); break;
    case LN_I8_TO_BYTES:
#ifndef VI_PANEL_TO_BYTES
        if (c->n != VF_LANES)
            epilogue_put_bytes(c, c->n, c->epilogue->bias != NULL, (uint8_t *)y + c->column);
        else if (c->epilogue->bias)
            epilogue_put_bytes(c, VF_LANES, true, (uint8_t *)y + c->column);
        else
            epilogue_put_bytes(c, VF_LANES, false, (uint8_t *)y + c->column);
#endif
        break;
    }
}

#ifdef VI_PANEL_TO_BYTES

VF_VERB void epilogue_put_panel(const epilogue_columns *c, uint8_t *y)
{
    const ln_epilogue_i8 *e = c->epilogue;
    const vi_bounds bounds = vi_bounds_of(e->low, e->high, e->zero);
    const __m256 no_change = _mm256_set1_ps(-0.0f);
    vi_panel panel;
    LN_UNROLL
    for (size_t j = 0; j < 2; j++) {
        const size_t column = c->column + 8 * j;
        panel.addends[j] = _mm256_loadu_si256((const void *)(e->addends + column));
        panel.factors[j] = _mm256_loadu_ps(e->factors + column);
        panel.bias[j] = e->bias ? _mm256_loadu_ps(e->bias + column) : no_change;
    }
    const int32_t *sums = c->sums;
    for (size_t i = 0; i < c->m; i += 2, y += 2 * c->step, sums += 2 * c->sums_step) {
        const bool has_second = i + 1 < c->m;
        const __m256i bytes =
            vi_bytes_of_rows(sums, has_second ? sums + c->sums_step : sums, &panel, &bounds);
        vi_store_some(y, _mm256_castsi256_si128(bytes), c->n);
        if (has_second)
            vi_store_some(y + c->step, _mm256_extracti128_si256(bytes, 1), c->n);
    }
}

#endif

VF_VERB void epilogue_put(const epilogue_columns *c, void *y)
{
    epilogue_columns some = *c;
#ifdef VI_PANEL_TO_BYTES
    if (c->epilogue->result == LN_I8_TO_BYTES) {
        for (; some.column < c->column + c->n; some.column += 16, some.sums += 16) {
            some.n = ln_min(c->column + c->n - some.column, (size_t)16);
            epilogue_put_panel(&some, (uint8_t *)y + some.column);
        }
        return;
    }
#endif
    for (; some.column < c->column + c->n; some.column += VF_LANES, some.sums += VF_LANES) {
        some.n = ln_min(c->column + c->n - some.column, (size_t)VF_LANES);
        epilogue_put_vector(&some, y);
    }
}

#endif
