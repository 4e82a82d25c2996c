// SPDX-License-Identifier: Apache-2.0
// The vector verbs for AVX2 with FMA: eight lanes. See f32__generic.h for what each verb means.

#ifndef LN_ARCH_CPU_SIMD_F32_X86_AVX2_H
#define LN_ARCH_CPU_SIMD_F32_X86_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/simd/pow2_table.h"
#include "arch/cpu/simd/unroll.h"

#define VF_VERB static inline __attribute__((always_inline, unused))

#define VF_LANES       8
#define VF_REGISTERS   16
#define VF_IS_PORTABLE 0

// The kernel of that name for this instruction set.
#define VF_KERNEL(name) name##__x86_avx2

typedef __m256 vf;

VF_VERB vf vf_set1(float x)
{
    return _mm256_set1_ps(x);
}

VF_VERB vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

VF_VERB void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v);
}

VF_VERB __m256i vf_first_lanes(size_t n)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}

VF_VERB vf vf_load_n(const float *p, size_t n)
{
    return _mm256_maskload_ps(p, vf_first_lanes(n));
}

VF_VERB void vf_store_n(float *p, vf v, size_t n)
{
    _mm256_maskstore_ps(p, vf_first_lanes(n), v);
}

VF_VERB vf vf_load_step_n(const float *p, size_t step, size_t n)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i offset = _mm256_mullo_epi32(lane, _mm256_set1_epi32((int)step));
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, offset,
                                    _mm256_castsi256_ps(vf_first_lanes(n)), 4);
}

VF_VERB vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

VF_VERB vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

VF_VERB vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

VF_VERB vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}

VF_VERB vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

#define vf_fma_inline vf_fma

VF_VERB vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

VF_VERB vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}

VF_VERB vf vf_max_nan(vf a, vf b)
{
    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

VF_VERB vf vf_min_nan(vf a, vf b)
{
    return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

VF_VERB vf vf_if_ge(vf x, vf y, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_GE_OQ));
}

VF_VERB vf vf_abs(vf a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

VF_VERB vf vf_pow2_bits(vf a, vf magic)
{
    __m256i n = _mm256_sub_epi32(_mm256_castps_si256(a), _mm256_castps_si256(magic));
    n = _mm256_add_epi32(n, _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
}

VF_VERB vf vf_pow2_sixteenths(vf a)
{
    const __m256i *table = (const __m256i *)vf_pow2_table;
    const __m256i k = _mm256_castps_si256(a);
    __m256i low = _mm256_permutevar8x32_epi32(_mm256_load_si256(table), k);
    __m256i high = _mm256_permutevar8x32_epi32(_mm256_load_si256(table + 1), k);
    __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(k, 28)); // bit 3 is its sign
    __m256 power = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), is_high);
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(power), _mm256_slli_epi32(k, 19)));
}

VF_VERB vf vf_mul_pow2(vf y, vf n)
{
    const __m256i bias = _mm256_set1_epi32(127);
    __m256i whole = _mm256_cvtps_epi32(n);
    __m256i half = _mm256_srai_epi32(whole, 1), other = _mm256_sub_epi32(whole, half);
    half = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    other = _mm256_slli_epi32(_mm256_add_epi32(other, bias), 23);
    return _mm256_mul_ps(_mm256_mul_ps(y, _mm256_castsi256_ps(half)), _mm256_castsi256_ps(other));
}

VF_VERB vf vf_split_pow2(vf x, vf *n)
{
    const __m256i least = _mm256_castps_si256(_mm256_set1_ps(0x1.6a09e6p-1f));
    __m256 is_small = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
    x = _mm256_blendv_ps(x, _mm256_mul_ps(x, _mm256_set1_ps(0x1p23f)), is_small);
    __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(x), least);
    __m256i shift = _mm256_and_si256(_mm256_castps_si256(is_small), _mm256_set1_epi32(-23));
    *n = _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_srai_epi32(bits, 23), shift));
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
    return _mm256_castsi256_ps(_mm256_add_epi32(bits, least));
}

VF_VERB vf vf_sqrt(vf a)
{
    return _mm256_sqrt_ps(a);
}

VF_VERB vf vf_neg(vf a)
{
    return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a);
}

VF_VERB vf vf_copysign(vf a, vf b)
{
    const vf sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b));
}

VF_VERB vf vf_first_n(vf a, vf b, size_t n)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(vf_first_lanes(n)));
}

VF_VERB vf vf_swap(vf a, const int distance)
{
    return distance == 4   ? _mm256_permute2f128_ps(a, a, 1)
           : distance == 2 ? _mm256_permute_ps(a, 0x4e)
                           : _mm256_permute_ps(a, 0xb1);
}

// Lane i is lane j of the four that i is among.
VF_VERB vf vf_spread4(vf a, const int j)
{
    return j == 0   ? _mm256_permute_ps(a, 0x00)
           : j == 1 ? _mm256_permute_ps(a, 0x55)
           : j == 2 ? _mm256_permute_ps(a, 0xaa)
                    : _mm256_permute_ps(a, 0xff);
}

VF_VERB void vf_transpose(vf rows[VF_LANES])
{
    vf pairs[8], quads[8];
    LN_UNROLL
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    LN_UNROLL
    for (int i = 0; i < 8; i += 4) {
        quads[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
        quads[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
        quads[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
        quads[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
    }
    LN_UNROLL
    for (int i = 0; i < 4; i++) {
        rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
    }
}

typedef __m256i vf_index;
typedef __m256 vf_choice; // all bits of a lane, or none

VF_VERB vf_index vf_index_of(const uint32_t lanes[VF_LANES])
{
    return _mm256_loadu_si256((const void *)lanes);
}

VF_VERB vf_choice vf_choice_of(const uint32_t is_there[VF_LANES])
{
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(vf_index_of(is_there), _mm256_setzero_si256()));
}

VF_VERB vf vf_permute(vf v, vf_index from)
{
    return _mm256_permutevar8x32_ps(v, from);
}

VF_VERB vf vf_pick(vf old, vf v, vf_index from, vf_choice to)
{
    return _mm256_blendv_ps(old, vf_permute(v, from), to);
}

#endif
