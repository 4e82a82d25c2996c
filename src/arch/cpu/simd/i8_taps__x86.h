// SPDX-License-Identifier: Apache-2.0
// Depthwise products of bytes in 256 bits, for sets with 512, too: their shuffles have one port
// where those of 256 bits have two.
//
// Unpackings stay within 128 bits: lane 4 g + r of sum q is that of channel 16 g + 4 q + r, which
// is the order that packing to bytes turns back. A set has said VI_TAP_BYTES, the bytes of a
// weight, and has vi_dot_pairs for words or vi_dot_fours for bytes.

#ifndef LN_ARCH_CPU_SIMD_I8_TAPS_X86_H
#define LN_ARCH_CPU_SIMD_I8_TAPS_X86_H

#include <stdbool.h>
#include <string.h>

#include "arch/cpu/simd/i8_bounds__x86.h"
#include "arch/cpu/simd/unroll.h"

#define VI_TAP_CHANNELS 32
#define VI_TAP_SUMS     4
#define VI_TAPS_TO_BYTES

typedef __m256i vi_tap_sum;

VF_VERB vi_tap_sum vi_tap_zero(void)
{
    return _mm256_setzero_si256();
}

VF_VERB __m256i vi_load_tap(const uint8_t *p, size_t n, __m256i flips)
{
    if (n >= 32)
        return _mm256_xor_si256(_mm256_loadu_si256((const void *)p), flips);
    uint8_t all[32] = {0};
    memcpy(all, p, n);
    return _mm256_xor_si256(_mm256_loadu_si256((const void *)all), flips);
}

#if VI_TAP_BYTES == 2

// sums += two taps times words of weights.
VF_VERB void vi_dot_pairs(vi_tap_sum sums[VI_TAP_SUMS], __m256i t0, __m256i t1, const int8_t *w)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(t0, t1), high = _mm256_unpackhi_epi8(t0, t1);
    const __m256i pairs[VI_TAP_SUMS] = {
        _mm256_unpacklo_epi8(low, zero), _mm256_unpackhi_epi8(low, zero),
        _mm256_unpacklo_epi8(high, zero), _mm256_unpackhi_epi8(high, zero)};
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        __m256i words = _mm256_loadu_si256((const void *)(w + 32 * q));
        sums[q] = _mm256_add_epi32(sums[q], _mm256_madd_epi16(pairs[q], words));
    }
}

VF_VERB void vi_dot_taps(vi_tap_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4],
                         const bool is_one, size_t n, uint8_t flip, const int8_t *w)
{
    const __m256i flips = _mm256_set1_epi8((char)flip), t0 = vi_load_tap(taps[0], n, flips);
    if (is_one) {
        vi_dot_pairs(sums, t0, _mm256_setzero_si256(), w);
        return;
    }
    vi_dot_pairs(sums, t0, vi_load_tap(taps[2], n, flips), w);
    const __m256i t1 = vi_load_tap(taps[1], n, flips), t3 = vi_load_tap(taps[3], n, flips);
    vi_dot_pairs(sums, t1, t3, w + 128);
}

// Weights of the first and the third tap, then those of the others.
VF_VERB void vi_store_tap_weights(int8_t *to, size_t q, __m256i fours)
{
    __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(fours, 8), 8);
    _mm256_storeu_si256((void *)(to + 32 * q), even);
    _mm256_storeu_si256((void *)(to + 128 + 32 * q), _mm256_srai_epi16(fours, 8));
}

#else

VF_VERB void vi_dot_taps(vi_tap_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4],
                         const bool is_one, size_t n, uint8_t flip, const int8_t *w)
{
    const __m256i flips = _mm256_set1_epi8((char)flip), zero = _mm256_setzero_si256();
    const __m256i t0 = vi_load_tap(taps[0], n, flips);
    const __m256i t1 = is_one ? zero : vi_load_tap(taps[1], n, flips);
    const __m256i t2 = is_one ? zero : vi_load_tap(taps[2], n, flips);
    const __m256i t3 = is_one ? zero : vi_load_tap(taps[3], n, flips);
    const __m256i low01 = _mm256_unpacklo_epi8(t0, t1), high01 = _mm256_unpackhi_epi8(t0, t1);
    const __m256i low23 = is_one ? zero : _mm256_unpacklo_epi8(t2, t3);
    const __m256i high23 = is_one ? zero : _mm256_unpackhi_epi8(t2, t3);
    sums[0] = vi_dot_fours(sums[0], _mm256_unpacklo_epi16(low01, low23), w);
    sums[1] = vi_dot_fours(sums[1], _mm256_unpackhi_epi16(low01, low23), w + 32);
    sums[2] = vi_dot_fours(sums[2], _mm256_unpacklo_epi16(high01, high23), w + 64);
    sums[3] = vi_dot_fours(sums[3], _mm256_unpackhi_epi16(high01, high23), w + 96);
}

VF_VERB void vi_store_tap_weights(int8_t *to, size_t q, __m256i fours)
{
    _mm256_storeu_si256((void *)(to + 32 * q), fours);
}

#endif

// The numbers of 32 bits that channels have for the lanes of sum q.
VF_VERB __m256i vi_load_ordered(const void *channels, size_t q)
{
    const char *at = (const char *)channels + 16 * q;
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                   _mm_loadu_si128((const void *)(at + 64)), 1);
}

VF_VERB void vi_store_taps(int32_t *p, const vi_tap_sum sums[VI_TAP_SUMS])
{
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        _mm_storeu_si128((void *)(p + 4 * q), _mm256_castsi256_si128(sums[q]));
        _mm_storeu_si128((void *)(p + 16 + 4 * q), _mm256_extracti128_si256(sums[q], 1));
    }
}

// To the bytes of n channels, as tile_i8.h says; factors and bias are in the order of sums.
VF_VERB void vi_put_taps(uint8_t *y, size_t n, const vi_tap_sum sums[VI_TAP_SUMS],
                         const float *factors, const float *bias, const vi_bounds *bounds)
{
    __m256 v[VI_TAP_SUMS];
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        v[q] = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[q]), _mm256_loadu_ps(factors + 8 * q));
        if (bias)
            v[q] = _mm256_add_ps(v[q], _mm256_loadu_ps(bias + 8 * q));
    }
    const __m256i bytes = vi_pack_numbers(v, bounds);
    if (n == 32) {
        _mm256_storeu_si256((void *)y, bytes);
        return;
    }
    uint8_t all[32];
    _mm256_storeu_si256((void *)all, bytes);
    memcpy(y, all, n);
}

#endif
