// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for AVX-512 with VNNI. See i8__generic.h for what each means.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_AVX512VNNI_H
#define LN_ARCH_CPU_SIMD_I8_X86_AVX512VNNI_H

#include <string.h>

#include "arch/cpu/simd/f32__x86_avx512.h"

#define VI_KERNEL(name) name##__x86_avx512vnni

#define VI_OFFSET 0
#define VI_ROWS   12
#define VI_PANELS 2

typedef __m512i vi_sum;
typedef __m512i vi_fours;
typedef __m512i vi_bytes;

VF_VERB vi_sum vi_zero(void)
{
    return _mm512_setzero_si512();
}

VF_VERB vi_fours vi_load_fours(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm512_set1_epi32(four);
}

VF_VERB vi_bytes vi_load_bytes(const int8_t *p)
{
    return _mm512_loadu_si512(p);
}

VF_VERB vi_sum vi_dot(vi_sum sum, vi_fours a, vi_bytes w)
{
    return _mm512_dpbusd_epi32(sum, a, w);
}

VF_VERB void vi_store(int32_t *p, vi_sum sum)
{
    _mm512_storeu_si512(p, sum);
}

VF_VERB void vi_add(int32_t *p, const int32_t *a, const int32_t *b)
{
    _mm512_storeu_si512(p, _mm512_add_epi32(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}

VF_VERB vf vi_sum_real(const int32_t *a, const int32_t *b)
{
    return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}

VF_VERB void vi_store_bytes(uint8_t *p, vf v, int32_t zero, size_t n)
{
    __m512i bits = _mm512_add_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(zero));
    if (n == 16)
        _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8(bits));
    else
        _mm512_mask_cvtepi32_storeu_epi8(p, (__mmask16)((1u << n) - 1), bits);
}

VF_VERB void vi_expand(void *to, const uint8_t *from, size_t k, uint8_t flip)
{
    uint8_t *bytes = to;
    const __m512i flips = _mm512_set1_epi8((char)flip);
    size_t i = 0;
    for (; i + 64 <= k; i += 64)
        _mm512_storeu_si512(bytes + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), flips));
    if (i < k) {
        const __mmask64 some = ((__mmask64)1 << (k - i)) - 1;
        const __mmask64 whole = ((__mmask64)2 << (((k - i + 3) & ~(size_t)3) - 1)) - 1;
        __m512i last = _mm512_maskz_loadu_epi8(some, from + i);
        _mm512_mask_storeu_epi8(bytes + i, whole,
                                _mm512_maskz_mov_epi8(some, _mm512_xor_si512(last, flips)));
    }
}

#define VI_TAP_BYTES 1

VF_VERB __m256i vi_dot_fours(__m256i sum, __m256i taps, const int8_t *w)
{
    return _mm256_dpbusd_epi32(sum, taps, _mm256_loadu_si256((const void *)w));
}

// There are registers for the weights of 3x3 taps.
#define VI_TAP_WINDOWS

VF_VERB __m256i vi_dot_column(__m256i sum, __m256i taps, __m256i w)
{
    return _mm256_dpbusd_epi32(sum, taps, w);
}

#include "arch/cpu/simd/i8_look_up__x86.h"
#include "arch/cpu/simd/i8_taps__x86.h"

#endif
