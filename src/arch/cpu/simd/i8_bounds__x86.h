// SPDX-License-Identifier: Apache-2.0
// Numbers to bytes, four vectors of 256 bits at once.

#ifndef LN_ARCH_CPU_SIMD_I8_BOUNDS_X86_H
#define LN_ARCH_CPU_SIMD_I8_BOUNDS_X86_H

#include <stdint.h>
#include <string.h>

#include "arch/cpu/simd/unroll.h"

typedef struct vi_bounds {
    __m256 high;
    __m256i low, zero; // words
} vi_bounds;

VF_VERB vi_bounds vi_bounds_of(float low, float high, int32_t zero)
{
    // The lower bound is taken last, so that it must not be above the other one.
    const float least = low < high ? low : high;
    return (vi_bounds){_mm256_set1_ps(high), _mm256_set1_epi16((short)least),
                       _mm256_set1_epi16((short)zero)};
}

// Bounded, rounded, packed: within each 128 bits four of v[0], of v[1], of v[2], of v[3]. NaN stays
// when it is bounded from above; it and what is below all integers become the least one.
VF_VERB __m256i vi_pack_numbers(const __m256 v[4], const vi_bounds *b)
{
    __m256i of[4];
    LN_UNROLL
    for (int i = 0; i < 4; i++)
        of[i] = _mm256_cvtps_epi32(_mm256_min_ps(b->high, v[i]));
    __m256i low = _mm256_max_epi16(_mm256_packs_epi32(of[0], of[1]), b->low);
    __m256i high = _mm256_max_epi16(_mm256_packs_epi32(of[2], of[3]), b->low);
    const __m256i byte = _mm256_set1_epi16(255);
    low = _mm256_and_si256(_mm256_add_epi16(low, b->zero), byte);
    high = _mm256_and_si256(_mm256_add_epi16(high, b->zero), byte);
    return _mm256_packus_epi16(low, high);
}

// The first n of 16 bytes, without a call.
VF_VERB void vi_store_some(uint8_t *p, __m128i bytes, size_t n)
{
    uint8_t all[16];
    _mm_storeu_si128((void *)(n == 16 ? p : all), bytes);
    if (n == 16)
        return;
    if (n >= 8) {
        memcpy(p, all, 8);
        memcpy(p + n - 8, all + n - 8, 8);
    } else if (n >= 4) {
        memcpy(p, all, 4);
        memcpy(p + n - 4, all + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            p[i] = all[i];
    }
}

#endif
