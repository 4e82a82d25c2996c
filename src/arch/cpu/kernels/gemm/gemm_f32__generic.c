// SPDX-License-Identifier: Apache-2.0
// gemm f32 for any processor: tiles of 4 x 8, 8 vectors of sums.

#include "arch/cpu/simd/f32__generic.h"

#ifndef vf_fma_inline
#define vf_fma vf_fma_inline
#endif

#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

void ln_k_gemm_f32_4x8__generic(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 4);
    assert(tile->n >= 1 && tile->n <= 8);

    gemm_f32_rows(tile, 4, tile->m, 8 / VF_LANES);
}

void ln_k_pack_f32_8__generic(size_t k, size_t cols, const float *b, size_t b_stride, float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 8);
}
