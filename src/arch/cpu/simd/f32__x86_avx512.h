// SPDX-License-Identifier: Apache-2.0
// The vector verbs for AVX-512 (F, VL, BW, DQ): sixteen lanes. See f32__generic.h for what each
// verb means.

#ifndef LN_ARCH_CPU_SIMD_F32_X86_AVX512_H
#define LN_ARCH_CPU_SIMD_F32_X86_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define VF_VERB static inline __attribute__((always_inline, unused))

#define VF_LANES 16

typedef __m512 vf;

VF_VERB vf vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

VF_VERB vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

VF_VERB void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

VF_VERB __mmask16 vf_first_lanes(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

VF_VERB vf vf_load_n(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(vf_first_lanes(n), p);
}

VF_VERB void vf_store_n(float *p, vf v, size_t n)
{
    _mm512_mask_storeu_ps(p, vf_first_lanes(n), v);
}

VF_VERB vf vf_load_step_n(const float *p, size_t step, size_t n)
{
    __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i offset = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)step));
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), vf_first_lanes(n), offset, p, 4);
}

VF_VERB vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

VF_VERB vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}

VF_VERB vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

VF_VERB vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}

VF_VERB vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

VF_VERB vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

VF_VERB vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

VF_VERB vf vf_max_nan(vf a, vf b)
{
    return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

VF_VERB vf vf_min_nan(vf a, vf b)
{
    return _mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

VF_VERB vf vf_if_ge(vf x, vf y, vf a, vf b)
{
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(x, y, _CMP_GE_OQ), a);
}

VF_VERB vf vf_abs(vf a)
{
    return _mm512_abs_ps(a);
}

VF_VERB vf vf_pow2_bits(vf a, vf magic)
{
    __m512i n = _mm512_sub_epi32(_mm512_castps_si512(a), _mm512_castps_si512(magic));
    n = _mm512_add_epi32(n, _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(n, 23));
}

#endif
