// SPDX-License-Identifier: Apache-2.0
// gemm f32 for any processor: tiles of 4 x 8, 8 vectors of sums.

#include "arch/cpu/simd/f32__generic.h"

#ifndef vf_fma_inline
#define vf_fma vf_fma_inline
#endif

#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

static void run_tile(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 4);
    assert(tile->n >= 1 && tile->n <= 8);

    gemm_f32_rows(tile, 4, tile->m, 8 / VF_LANES);
}

static void pack_panel(size_t k, size_t cols, const float *b, size_t b_stride, float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 8);
}

_Static_assert(8 <= LN_GEMM_F32_MAX_NR, "the workspace is sized for narrower tiles");
const ln_gemm_f32_kernel VF_KERNEL(ln_k_gemm_f32) = {
    .mr = 4, .nr = 8, .tile = run_tile, .pack = pack_panel};
