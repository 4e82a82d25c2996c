// SPDX-License-Identifier: Apache-2.0
// The tile, written once in vector verbs. A kernel file includes the verbs of its instruction set,
// then this, and makes functions of it with constant numbers of rows and panels.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_TILE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GEMM_TILE_F32_BODY_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/simd/unroll.h"

#define TILE_VECTORS (LN_TILE_LANES / VF_LANES) // of a panel
#define TILE_MAX_NV  (LN_TILE_MAX_PANELS * LN_TILE_LANES / VF_LANES)

// ---- Epilogue ----

// The epilogue of `count` rows from i on, for `cols` <= VF_LANES columns from j on.
VF_VERB void tile_finish_vectors(const ln_tile_f32_args *t, const ln_act act, const int count,
                                 float (*sums)[LN_TILE_MAX_PANELS * LN_TILE_LANES], size_t i,
                                 size_t j, size_t cols)
{
    const ln_epilogue_f32 *e = &t->epilogue;
    const vf bias = e->bias ? vf_load_n(e->bias + j, cols) : vf_set1(-0.0f); // changes nothing
    vf y[VF_ABREAST_MAX], addend[VF_ABREAST_MAX];
    LN_UNROLL
    for (int r = 0; r < count; r++) {
        y[r] = vf_add(vf_load(sums[i + (size_t)r] + j), bias);
        addend[r] = bias;
    }
    if (e->addend) {
        LN_UNROLL
        for (int r = 0; r < count; r++)
            addend[r] = vf_load_n(e->addend + (i + (size_t)r) * e->addend_stride + j, cols);
    }
    if (e->addend && !e->is_addend_last) {
        LN_UNROLL
        for (int r = 0; r < count; r++)
            y[r] = vf_add(y[r], addend[r]);
    }
    vf_act_each(act, vf_set1(e->alpha), vf_set1(e->beta), y, count);
    if (e->addend && e->is_addend_last) {
        LN_UNROLL
        for (int r = 0; r < count; r++)
            y[r] = vf_add(y[r], addend[r]);
    }
    LN_UNROLL
    for (int r = 0; r < count; r++)
        vf_store_n(t->y + (i + (size_t)r) * t->y_stride + j, y[r], cols);
}

VF_VERB void tile_finish(const ln_tile_f32_args *t, const ln_act act,
                         float (*sums)[LN_TILE_MAX_PANELS * LN_TILE_LANES])
{
    const int abreast = vf_act_abreast(act), fewer = abreast > 3 ? 3 : 1;
    for (size_t j = 0; j < t->n; j += VF_LANES) {
        size_t cols = t->n - j < VF_LANES ? t->n - j : VF_LANES, i = 0;
        for (; i + (size_t)abreast <= t->m; i += (size_t)abreast)
            tile_finish_vectors(t, act, abreast, sums, i, j, cols);
        for (; i + (size_t)fewer <= t->m; i += (size_t)fewer)
            tile_finish_vectors(t, act, fewer, sums, i, j, cols);
        for (; i < t->m; i++)
            tile_finish_vectors(t, act, 1, sums, i, j, cols);
    }
}

#define TILE_FINISH(constant, name, doc)                                                           \
    static __attribute__((noinline)) void tile_finish_##constant(                                  \
        const ln_tile_f32_args *t, float(*sums)[LN_TILE_MAX_PANELS * LN_TILE_LANES])               \
    {                                                                                              \
        tile_finish(t, LN_ACT_##constant, sums);                                                   \
    }
LN_ACT_LIST(TILE_FINISH)
#undef TILE_FINISH

// Any epilogue, from sums in memory.
static __attribute__((noinline)) void tile_finish_any(
    const ln_tile_f32_args *t, float (*sums)[LN_TILE_MAX_PANELS * LN_TILE_LANES])
{
    switch (t->epilogue.act) {
#define TILE_FINISH_CASE(constant, name, doc)                                                      \
    case LN_ACT_##constant: tile_finish_##constant(t, sums); break;
        LN_ACT_LIST(TILE_FINISH_CASE)
#undef TILE_FINISH_CASE
    default: break;
    }
}

// A part of a panel is a part of one vector.
#define TILE_HAS_PARTS (TILE_VECTORS == 1)

// Whether tile_finish_bounds can do it: an activation that is two bounds, and whole vectors, but
// for a last panel to which nothing is added, or that is a vector.
VF_VERB bool tile_is_bounds(const ln_tile_f32_args *t, const size_t np)
{
    const ln_epilogue_f32 *e = &t->epilogue;
    return (e->act == LN_ACT_NONE || e->act == LN_ACT_RELU || e->act == LN_ACT_CLIP) &&
           (t->n == np * LN_TILE_LANES || !e->addend || TILE_HAS_PARTS);
}

VF_VERB vf tile_load_bias(const float *bias, size_t j, size_t n)
{
    if (j + VF_LANES <= n)
        return vf_load(bias + j);
    return j < n ? vf_load_n(bias + j, n - j) : vf_set1(0.0f);
}

// The first `columns` < LN_TILE_LANES of each row.
static __attribute__((noinline)) void tile_store_columns(const float (*from)[LN_TILE_LANES],
                                                         size_t rows, size_t columns, float *y,
                                                         size_t y_stride)
{
    for (size_t i = 0; i < rows; i++, y += y_stride) {
        for (size_t j = 0; j < columns; j += VF_LANES) {
            size_t count = columns - j < VF_LANES ? columns - j : VF_LANES;
            vf_store_n(y + j, vf_load(from[i] + j), count);
        }
    }
}

VF_VERB void tile_add_addend(const ln_tile_f32_args *t, vf (*sum)[TILE_MAX_NV], const size_t mr,
                             const size_t nv)
{
    const ln_epilogue_f32 *e = &t->epilogue;
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const float *from = e->addend + i * e->addend_stride + j * VF_LANES;
            bool is_part = TILE_HAS_PARTS && j + 1 == nv;
            vf addend = is_part ? vf_load_n(from, t->n - j * VF_LANES) : vf_load(from);
            sum[i][j] = vf_add(sum[i][j], addend);
        }
    }
}

// Those epilogues without leaving the registers.
VF_VERB void tile_finish_bounds(const ln_tile_f32_args *t, vf (*sum)[TILE_MAX_NV], const size_t mr,
                                const size_t np)
{
    const size_t nv = np * TILE_VECTORS, whole = (np - 1) * TILE_VECTORS;
    const ln_epilogue_f32 *e = &t->epilogue;
    if (e->bias) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            vf bias = j < whole ? vf_load(e->bias + j * VF_LANES)
                                : tile_load_bias(e->bias, j * VF_LANES, t->n);
            LN_UNROLL
            for (size_t i = 0; i < mr; i++)
                sum[i][j] = vf_add(sum[i][j], bias);
        }
    }
    if (e->addend && !e->is_addend_last)
        tile_add_addend(t, sum, mr, nv);
    if (e->act != LN_ACT_NONE) {
        const vf low = vf_set1(e->act == LN_ACT_RELU ? 0.0f : e->alpha);
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_max(low, sum[i][j]);
        }
    }
    if (e->act == LN_ACT_CLIP) {
        const vf high = vf_set1(e->beta);
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_min(high, sum[i][j]);
        }
    }
    if (e->addend && e->is_addend_last)
        tile_add_addend(t, sum, mr, nv);

    // Stores could be stores to anything, so these are at hand in copies.
    float *const y = t->y;
    const size_t y_stride = t->y_stride;
    bool is_whole = t->n == np * LN_TILE_LANES;
    if (TILE_HAS_PARTS && !is_whole) {
        const size_t columns = t->n - whole * VF_LANES;
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            LN_UNROLL
            for (size_t j = 0; j < whole; j++)
                vf_store(y + i * y_stride + j * VF_LANES, sum[i][j]);
            vf_store_n(y + i * y_stride + whole * VF_LANES, sum[i][whole], columns);
        }
        return;
    }
    _Alignas(64) float last[LN_TILE_MAX_ROWS][LN_TILE_LANES];
    float *to = is_whole ? y + whole * VF_LANES : last[0];
    size_t to_stride = is_whole ? y_stride : LN_TILE_LANES;
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < whole; j++)
            vf_store(y + i * y_stride + j * VF_LANES, sum[i][j]);
        LN_UNROLL
        for (size_t j = 0; j < TILE_VECTORS; j++)
            vf_store(to + i * to_stride + j * VF_LANES, sum[i][whole + j]);
    }
    if (!is_whole)
        tile_store_columns(last, mr, t->n - whole * VF_LANES, y + whole * VF_LANES, y_stride);
}

// ---- The tile ----

// An address that need not be inside anything, for fetching only.
VF_VERB const void *tile_behind(const float *p, size_t floats)
{
    return (const void *)((uintptr_t)p + floats * sizeof(float));
}

// Results, and what is added to them, come from far away while the sums are made.
VF_VERB void tile_fetch_results(const ln_tile_f32_args *t, const size_t mr, const size_t np)
{
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < np; j++)
            __builtin_prefetch(t->y + i * t->y_stride + j * LN_TILE_LANES, 1, 3);
    }
    if (!t->epilogue.addend)
        return;
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < np; j++)
            __builtin_prefetch(
                t->epilogue.addend + i * t->epilogue.addend_stride + j * LN_TILE_LANES, 0, 3);
    }
}

// The sums of `mr` rows and `np` panels, both constants where this is inlined, stay in registers.
VF_VERB void tile_f32(const ln_tile_f32_args *t, const size_t mr, const size_t np)
{
    const size_t nv = np * TILE_VECTORS;
    vf sum[LN_TILE_MAX_ROWS][TILE_MAX_NV];

    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sum[i][j] = t->starts_from_sums ? vf_load(t->sums[i] + j * VF_LANES) : vf_set1(0.0f);
    }

    if (!t->ends_in_sums)
        tile_fetch_results(t, mr, np);
    for (size_t r = 0; r < t->run_count; r++) {
        const ln_tile_f32_run *run = &t->runs[r];
        const float *b = t->panels + run->panel;
        const float *a[LN_TILE_MAX_ROWS];
        LN_UNROLL
        for (size_t i = 0; i < mr; i++)
            a[i] = t->x + (t->rows[i] + run->x);
        const uintptr_t next = t->next
                                   ? (uintptr_t)t->x - (uintptr_t)b +
                                         (uintptr_t)(t->rows[0] + run->x + t->next) * sizeof(float)
                                   : 0;
        for (size_t p = 0; p < run->k; p++) {
            vf w[TILE_MAX_NV];
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                w[j] =
                    vf_load(b + j / TILE_VECTORS * t->panel_stride + j % TILE_VECTORS * VF_LANES);
            LN_UNROLL
            for (size_t j = 0; j < np; j++)
                __builtin_prefetch(tile_behind(b + j * t->panel_stride, t->ahead), 0, 2);
            __builtin_prefetch((const void *)((uintptr_t)b + next), 0, 2);
            b += LN_TILE_LANES;
            LN_UNROLL
            for (size_t i = 0; i < mr; i++) {
                vf x = vf_set1(a[i][p]);
                LN_UNROLL
                for (size_t j = 0; j < nv; j++)
                    sum[i][j] = vf_fma(x, w[j], sum[i][j]);
            }
        }
    }

    const bool ends_in_sums = t->ends_in_sums;
    if (!ends_in_sums && tile_is_bounds(t, np)) {
        tile_finish_bounds(t, sum, mr, np);
        return;
    }
    _Alignas(64) ln_tile_f32_sums own;
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        float *to = ends_in_sums ? t->sums[i] : own[i];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            vf_store(to + j * VF_LANES, sum[i][j]);
    }
    if (!ends_in_sums)
        tile_finish_any(t, own);
}

#endif
