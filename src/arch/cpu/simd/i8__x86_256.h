// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products that all sets of 256 bits have alike.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_256_H
#define LN_ARCH_CPU_SIMD_I8_X86_256_H

VF_VERB vi_sum vi_zero(void)
{
    return _mm256_setzero_si256();
}

VF_VERB void vi_store(int32_t *p, vi_sum sum)
{
    _mm256_storeu_si256((void *)p, sum);
}

VF_VERB __m256i vi_added(const int32_t *a, const int32_t *b)
{
    return _mm256_add_epi32(_mm256_loadu_si256((const void *)a),
                            _mm256_loadu_si256((const void *)b));
}

VF_VERB void vi_add(int32_t *p, const int32_t *a, const int32_t *b)
{
    _mm256_storeu_si256((void *)p, vi_added(a, b));
}

VF_VERB vf vi_sum_real(const int32_t *a, const int32_t *b)
{
    return _mm256_cvtepi32_ps(vi_added(a, b));
}

VF_VERB void vi_store_bytes(uint8_t *p, vf v, int32_t zero, size_t n)
{
    const __m256i lowest =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                         -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i bits = _mm256_add_epi32(_mm256_castps_si256(v), _mm256_set1_epi32(zero));
    bits = _mm256_shuffle_epi8(bits, lowest);
    __m128i bytes = _mm_or_si128(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    if (n == 8) {
        _mm_storel_epi64((void *)p, bytes);
        return;
    }
    uint8_t all[8];
    _mm_storel_epi64((void *)all, bytes);
    memcpy(p, all, n);
}

// Bytes of channels that two unpackings bring next to each other stay within 128 bits: sum q of
// lane 4 g + r is that of channel 16 g + 4 q + r.
#define VI_TAP_CHANNELS 32
#define VI_TAP_SUMS     4

VF_VERB __m256i vi_load_taps(const uint8_t *p, size_t n, __m256i flips)
{
    if (n >= 32)
        return _mm256_xor_si256(_mm256_loadu_si256((const void *)p), flips);
    uint8_t all[32] = {0};
    memcpy(all, p, n);
    return _mm256_xor_si256(_mm256_loadu_si256((const void *)all), flips);
}

VF_VERB void vi_dot_taps(vi_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4], size_t n,
                         uint8_t flip, const int8_t *w)
{
    const __m256i flips = _mm256_set1_epi8((char)flip);
    const __m256i t0 = vi_load_taps(taps[0], n, flips), t1 = vi_load_taps(taps[1], n, flips);
    const __m256i t2 = vi_load_taps(taps[2], n, flips), t3 = vi_load_taps(taps[3], n, flips);
    const __m256i low01 = _mm256_unpacklo_epi8(t0, t1), low23 = _mm256_unpacklo_epi8(t2, t3);
    const __m256i high01 = _mm256_unpackhi_epi8(t0, t1), high23 = _mm256_unpackhi_epi8(t2, t3);
    const __m256i fours[4] = {
        _mm256_unpacklo_epi16(low01, low23), _mm256_unpackhi_epi16(low01, low23),
        _mm256_unpacklo_epi16(high01, high23), _mm256_unpackhi_epi16(high01, high23)};
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        sums[q] = vi_dot(sums[q], vi_fours_of(fours[q]), vi_load_bytes(w + 32 * q));
}

VF_VERB void vi_store_taps(int32_t *p, const vi_sum sums[VI_TAP_SUMS])
{
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        _mm_storeu_si128((void *)(p + 4 * q), _mm256_castsi256_si128(sums[q]));
        _mm_storeu_si128((void *)(p + 16 + 4 * q), _mm256_extracti128_si256(sums[q], 1));
    }
}

VF_VERB size_t vi_tap_place(size_t channel)
{
    return channel / 4 % 4 * 8 + channel / 16 * 4 + channel % 4;
}

#endif
