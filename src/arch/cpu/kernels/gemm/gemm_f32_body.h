// SPDX-License-Identifier: Apache-2.0
// The gemm tile and the packing of a panel, written once in vector verbs. A kernel file includes
// the verbs of its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GEMM_F32_BODY_H

#include <assert.h>
#include <stddef.h>

#include "arch/cpu/kernels/gemm/gemm.h"
#include "arch/cpu/simd/unroll.h"

// The tile: 12 or 24 vectors of sums in 16 or 32 registers.
#define GEMM_MR     (VF_IS_PORTABLE ? 4 : VF_LANES == 16 ? 12 : 6)
#define GEMM_NR     (VF_IS_PORTABLE ? 8 : VF_LANES == 16 ? 32 : 16)
#define GEMM_MAX_NV (GEMM_NR / VF_LANES)

// A tile of `rows` <= `mr` rows and `nv` vectors; mr and nv are constants where it is inlined, so
// that the sums stay in registers. Where `rows` is one, too, nothing is tested. The rows are
// addressed from every third one: x86 addresses reach the stride once and twice, which saves the
// registers that one pointer per row would take.
VF_VERB void gemm_f32_rows(const ln_gemm_f32_args *t, const size_t mr, size_t rows, const size_t nv)
{
    vf sum[GEMM_MR][GEMM_MAX_NV];
    const float *b = t->b;
    size_t a_stride = t->a_stride;
    const float *a[(GEMM_MR + 2) / 3] = {NULL};

    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sum[i][j] = vf_set1(0.0f);
    }
    if (t->k) {
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i += 3)
            a[i / 3] = t->a + i * a_stride;
    }

    for (size_t p = 0; p < t->k; p++) {
        vf row[GEMM_MAX_NV];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            row[j] = vf_load(b + j * VF_LANES);
        b += t->b_stride;
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i++) {
            vf x = vf_set1(a[i / 3][(i % 3) * a_stride]);
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_fma_inline(x, row[j], sum[i][j]);
        }
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i += 3)
            a[i / 3]++;
    }

    LN_UNROLL
    for (size_t j = 0; j < nv; j++) {
        if (j * VF_LANES >= t->n)
            break;
        size_t cols = t->n - j * VF_LANES;
        vf col_bias = vf_set1(0.0f);
        if (t->col_bias)
            col_bias = vf_load_n(t->col_bias + j * VF_LANES, cols < VF_LANES ? cols : VF_LANES);
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i++) {
            vf y = sum[i][j];
            if (t->row_bias)
                y = vf_add(y, vf_set1(t->row_bias[i]));
            if (t->col_bias)
                y = vf_add(y, col_bias);
            if (t->act == LN_ACT_RELU)
                y = vf_max(vf_set1(0.0f), y);
            float *c = t->c + i * t->c_stride + j * VF_LANES;
            if (cols >= VF_LANES)
                vf_store(c, y);
            else
                vf_store_n(c, y, cols);
        }
    }
}

static void run_tile(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= GEMM_MR);
    assert(tile->n >= 1 && tile->n <= GEMM_NR);

    if (tile->m == GEMM_MR && !VF_IS_PORTABLE)
        gemm_f32_rows(tile, GEMM_MR, GEMM_MR, GEMM_MAX_NV);
    else
        gemm_f32_rows(tile, GEMM_MR - !VF_IS_PORTABLE, tile->m, GEMM_MAX_NV);
}

static void pack_panel(size_t k, size_t cols, const float *b, size_t b_stride, float *panel)
{
    const size_t nr = GEMM_NR;
    assert(cols >= 1 && cols <= nr);

    for (size_t p = 0; p < k; p++) {
        if (cols == nr) {
            LN_UNROLL
            for (size_t j = 0; j < nr; j += VF_LANES)
                vf_store(panel + j, vf_load(b + j));
        } else {
            for (size_t j = 0; j < nr; j += VF_LANES) {
                vf v = vf_set1(0.0f);
                if (j + VF_LANES <= cols)
                    v = vf_load(b + j);
                else if (j < cols)
                    v = vf_load_n(b + j, cols - j);
                vf_store(panel + j, v);
            }
        }
        b += b_stride;
        panel += nr;
    }
}

_Static_assert(GEMM_NR <= LN_GEMM_F32_MAX_NR, "the workspace is sized for narrower tiles");
const ln_gemm_f32_kernel VF_KERNEL(ln_k_gemm_f32) = {
    .mr = GEMM_MR, .nr = GEMM_NR, .tile = run_tile, .pack = pack_panel};

#endif
