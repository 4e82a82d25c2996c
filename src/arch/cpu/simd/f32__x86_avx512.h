// SPDX-License-Identifier: Apache-2.0
// The vector verbs for AVX-512 (F, VL, BW, DQ): sixteen lanes. See f32__generic.h for what each
// verb means.

#ifndef LN_ARCH_CPU_SIMD_F32_X86_AVX512_H
#define LN_ARCH_CPU_SIMD_F32_X86_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/simd/pow2_table.h"
#include "arch/cpu/simd/unroll.h"

#define VF_VERB static inline __attribute__((always_inline, unused))

#define VF_LANES       16
#define VF_REGISTERS   32
#define VF_IS_PORTABLE 0

// The kernel of that name for this instruction set.
#define VF_KERNEL(name) name##__x86_avx512

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

// The first half of a vector, twice.
VF_VERB vf vf_load_half_twice(const float *p)
{
    return _mm512_broadcast_f32x8(_mm256_loadu_ps(p));
}

// The four floats at p, four times.
VF_VERB vf vf_load_four_times(const float *p)
{
    return _mm512_broadcast_f32x4(_mm_loadu_ps(p));
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

#define vf_fma_inline vf_fma

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

VF_VERB vf vf_pow2_sixteenths(vf a)
{
    const __m512i k = _mm512_castps_si512(a), table = _mm512_load_si512(vf_pow2_table);
    __m512i power = _mm512_permutexvar_epi32(k, table);
    return _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_slli_epi32(k, 19)));
}

VF_VERB vf vf_mul_pow2(vf y, vf n)
{
    // What becomes 0 anyway would take 30 times as long. NaN stays.
    const __mmask16 is_left = _mm512_cmp_ps_mask(n, _mm512_set1_ps(-200), _CMP_NLT_UQ);
    return _mm512_maskz_scalef_ps(is_left, y, n);
}

VF_VERB vf vf_split_pow2(vf x, vf *n)
{
    const __m512i least = _mm512_castps_si512(_mm512_set1_ps(0x1.6a09e6p-1f));
    __mmask16 is_small = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p-126f), _CMP_LT_OQ);
    x = _mm512_mask_mul_ps(x, is_small, x, _mm512_set1_ps(0x1p23f));
    __m512i bits = _mm512_sub_epi32(_mm512_castps_si512(x), least);
    __m512i exponent = _mm512_srai_epi32(bits, 23);
    exponent = _mm512_mask_sub_epi32(exponent, is_small, exponent, _mm512_set1_epi32(23));
    *n = _mm512_cvtepi32_ps(exponent);
    bits = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffff));
    return _mm512_castsi512_ps(_mm512_add_epi32(bits, least));
}

VF_VERB vf vf_sqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}

VF_VERB vf vf_neg(vf a)
{
    return _mm512_xor_ps(_mm512_set1_ps(-0.0f), a);
}

VF_VERB vf vf_copysign(vf a, vf b)
{
    const vf sign = _mm512_set1_ps(-0.0f);
    return _mm512_or_ps(_mm512_andnot_ps(sign, a), _mm512_and_ps(sign, b));
}

VF_VERB vf vf_first_n(vf a, vf b, size_t n)
{
    return _mm512_mask_mov_ps(b, vf_first_lanes(n), a);
}

VF_VERB vf vf_swap(vf a, const int distance)
{
    return distance == 8   ? _mm512_shuffle_f32x4(a, a, 0x4e)
           : distance == 4 ? _mm512_shuffle_f32x4(a, a, 0xb1)
           : distance == 2 ? _mm512_permute_ps(a, 0x4e)
                           : _mm512_permute_ps(a, 0xb1);
}

// Lane i is lane j of the four that i is among.
VF_VERB vf vf_spread4(vf a, const int j)
{
    return j == 0   ? _mm512_permute_ps(a, 0x00)
           : j == 1 ? _mm512_permute_ps(a, 0x55)
           : j == 2 ? _mm512_permute_ps(a, 0xaa)
                    : _mm512_permute_ps(a, 0xff);
}

VF_VERB void vf_transpose(vf rows[VF_LANES])
{
    vf pairs[16], quads[16], halves[16];
    LN_UNROLL
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
    LN_UNROLL
    for (int i = 0; i < 16; i += 4) {
        quads[i] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
        quads[i + 1] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
        quads[i + 2] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
        quads[i + 3] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
    }
    LN_UNROLL
    for (int i = 0; i < 16; i += 8) {
        LN_UNROLL
        for (int j = 0; j < 4; j++) {
            halves[i + j] = _mm512_shuffle_f32x4(quads[i + j], quads[i + j + 4], 0x88);
            halves[i + j + 4] = _mm512_shuffle_f32x4(quads[i + j], quads[i + j + 4], 0xdd);
        }
    }
    LN_UNROLL
    for (int j = 0; j < 8; j++) {
        rows[j] = _mm512_shuffle_f32x4(halves[j], halves[j + 8], 0x88);
        rows[j + 8] = _mm512_shuffle_f32x4(halves[j], halves[j + 8], 0xdd);
    }
}

typedef __m512i vf_index;
typedef __mmask16 vf_choice;

VF_VERB vf_index vf_index_of(const uint32_t lanes[VF_LANES])
{
    return _mm512_loadu_si512(lanes);
}

VF_VERB vf_choice vf_choice_of(const uint32_t is_there[VF_LANES])
{
    return _mm512_test_epi32_mask(vf_index_of(is_there), vf_index_of(is_there));
}

VF_VERB vf vf_permute(vf v, vf_index from)
{
    return _mm512_permutexvar_ps(from, v);
}

VF_VERB vf vf_pick(vf old, vf v, vf_index from, vf_choice to)
{
    return _mm512_mask_permutexvar_ps(old, to, from, v);
}

#endif
