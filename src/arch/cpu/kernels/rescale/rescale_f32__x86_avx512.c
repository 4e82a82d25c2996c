// SPDX-License-Identifier: Apache-2.0
// Integers in another scale with AVX-512.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/simd/unroll.h"

#define RV_LANES 16
#define RV(name) _mm512_##name

typedef __m512i rv_word;
typedef int32_t rv __attribute__((vector_size(64)));

VF_VERB rv rv_load(const int32_t *x)
{
    return (rv)_mm512_loadu_si512(x);
}

VF_VERB rv rv_join(__m512i even, __m512i odd)
{
    return (rv)_mm512_mask_blend_epi32(0xaaaa, even, odd);
}

// Numbers of bytes, with a sign or without.
VF_VERB __m128i rv_bytes(const rv y[1])
{
    return _mm512_cvtepi32_epi8((__m512i)y[0]);
}

#include "arch/cpu/kernels/rescale/rescale__x86.h"
#include "arch/cpu/kernels/rescale/rescale_f32_body.h"
