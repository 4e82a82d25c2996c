// SPDX-License-Identifier: Apache-2.0
// gemm f32 for AVX-512: tiles of 12 x 32, 24 of 32 registers for sums.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/gemm/gemm_f32_body.h"

void ln_k_gemm_f32_12x32__x86_avx512(const ln_gemm_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= 12);
    assert(tile->n >= 1 && tile->n <= 32);

#define ROWS(mr)                                                                                   \
    case mr: gemm_f32_rows(tile, mr, 32 / VF_LANES); break;

    switch (tile->m) {
        ROWS(1)
        ROWS(2)
        ROWS(3)
        ROWS(4)
        ROWS(5)
        ROWS(6)
        ROWS(7)
        ROWS(8)
        ROWS(9)
        ROWS(10)
        ROWS(11)
        ROWS(12)
    default: break;
    }
#undef ROWS
}

void ln_k_pack_f32_32__x86_avx512(size_t k, size_t cols, const float *b, size_t b_stride,
                                  float *panel)
{
    pack_f32_panel(k, cols, b, b_stride, panel, 32);
}
