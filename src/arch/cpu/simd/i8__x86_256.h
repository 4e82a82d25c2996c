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

#include "arch/cpu/simd/i8_taps__x86.h"

#endif
