// SPDX-License-Identifier: Apache-2.0
// gemm f32 for AVX-512: tiles of 12 x 32, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

void ln_k_gemm_f32_12x32__x86_avx512(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 12);
    assert(tile->n >= 1 && tile->n <= 32);

    if (tile->m == 12)
        gemm_f32_rows(tile, 12, 12, 32 / VF_LANES);
    else
        gemm_f32_rows(tile, 11, tile->m, 32 / VF_LANES);
}

void ln_k_pack_f32_32__x86_avx512(size_t k, size_t cols, const float *b, size_t b_stride,
                                  float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 32);
}
