// SPDX-License-Identifier: Apache-2.0
// gemm f32 for NEON: tiles of 6 x 16, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__arm_neon.h"

#define GEMM_MAX_NV 4
#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

static void run_tile(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 6);
    assert(tile->n >= 1 && tile->n <= 16);

    if (tile->m == 6)
        gemm_f32_rows(tile, 6, 6, 16 / VF_LANES);
    else
        gemm_f32_rows(tile, 5, tile->m, 16 / VF_LANES);
}

static void pack_panel(size_t k, size_t cols, const float *b, size_t b_stride, float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 16);
}

_Static_assert(16 <= LN_GEMM_F32_MAX_NR, "the workspace is sized for narrower tiles");
const ln_gemm_f32_kernel VF_KERNEL(ln_k_gemm_f32) = {
    .mr = 6, .nr = 16, .tile = run_tile, .pack = pack_panel};
