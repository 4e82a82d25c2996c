// SPDX-License-Identifier: Apache-2.0
// gemm f32 for AVX-512: tiles of 12 x 32, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

static void run_tile(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 12);
    assert(tile->n >= 1 && tile->n <= 32);

    if (tile->m == 12)
        gemm_f32_rows(tile, 12, 12, 32 / VF_LANES);
    else
        gemm_f32_rows(tile, 11, tile->m, 32 / VF_LANES);
}

static void pack_panel(size_t k, size_t cols, const float *b, size_t b_stride, float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 32);
}

_Static_assert(32 <= LN_GEMM_F32_MAX_NR, "the workspace is sized for narrower tiles");
const ln_gemm_f32_kernel VF_KERNEL(ln_k_gemm_f32) = {
    .mr = 12, .nr = 32, .tile = run_tile, .pack = pack_panel};
