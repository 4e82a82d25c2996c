// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for AVX-512 with VNNI. See i8__generic.h for what each means.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_AVX512VNNI_H
#define LN_ARCH_CPU_SIMD_I8_X86_AVX512VNNI_H

#include <string.h>

#include "arch/cpu/simd/f32__x86_avx512.h"

#define VI_KERNEL(name) name##__x86_avx512vnni

#define VI_FOURS_BYTES 4
#define VI_OFFSET      0
#define VI_ROWS        12
#define VI_PANELS      2
#define VI_IN_FLOATS   0

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

// As for 256 bits (i8__x86_256.h), in twice as many.
#define VI_TAP_CHANNELS 64
#define VI_TAP_SUMS     4

VF_VERB __m512i vi_load_taps(const uint8_t *p, size_t n, __m512i flips)
{
    if (n >= 64)
        return _mm512_xor_si512(_mm512_loadu_si512(p), flips);
    return _mm512_xor_si512(_mm512_maskz_loadu_epi8(((__mmask64)1 << n) - 1, p), flips);
}

VF_VERB void vi_dot_taps(vi_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4], size_t n,
                         uint8_t flip, const int8_t *w)
{
    const __m512i flips = _mm512_set1_epi8((char)flip);
    const __m512i t0 = vi_load_taps(taps[0], n, flips), t1 = vi_load_taps(taps[1], n, flips);
    const __m512i t2 = vi_load_taps(taps[2], n, flips), t3 = vi_load_taps(taps[3], n, flips);
    const __m512i low01 = _mm512_unpacklo_epi8(t0, t1), low23 = _mm512_unpacklo_epi8(t2, t3);
    const __m512i high01 = _mm512_unpackhi_epi8(t0, t1), high23 = _mm512_unpackhi_epi8(t2, t3);
    sums[0] = vi_dot(sums[0], _mm512_unpacklo_epi16(low01, low23), vi_load_bytes(w));
    sums[1] = vi_dot(sums[1], _mm512_unpackhi_epi16(low01, low23), vi_load_bytes(w + 64));
    sums[2] = vi_dot(sums[2], _mm512_unpacklo_epi16(high01, high23), vi_load_bytes(w + 128));
    sums[3] = vi_dot(sums[3], _mm512_unpackhi_epi16(high01, high23), vi_load_bytes(w + 192));
}

VF_VERB void vi_store_taps(int32_t *p, const vi_sum sums[VI_TAP_SUMS])
{
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        _mm_storeu_si128((void *)(p + 4 * q), _mm512_castsi512_si128(sums[q]));
        _mm_storeu_si128((void *)(p + 16 + 4 * q), _mm512_extracti32x4_epi32(sums[q], 1));
        _mm_storeu_si128((void *)(p + 32 + 4 * q), _mm512_extracti32x4_epi32(sums[q], 2));
        _mm_storeu_si128((void *)(p + 48 + 4 * q), _mm512_extracti32x4_epi32(sums[q], 3));
    }
}

VF_VERB size_t vi_tap_place(size_t channel)
{
    return channel / 4 % 4 * 16 + channel / 16 * 4 + channel % 4;
}

#endif
