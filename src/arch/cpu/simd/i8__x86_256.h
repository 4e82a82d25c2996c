// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products that all sets of 256 bits have alike.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_256_H
#define LN_ARCH_CPU_SIMD_I8_X86_256_H

VF_VERB void vi_expand(void *to, const uint8_t *from, size_t k, uint8_t flip)
{
    uint8_t *bytes = to;
    const __m256i flips = _mm256_set1_epi8((char)flip);
    size_t i = 0;
    for (; i + 32 <= k; i += 32)
        _mm256_storeu_si256((void *)(bytes + i),
                            _mm256_xor_si256(_mm256_loadu_si256((const void *)(from + i)), flips));
    for (; i + 4 <= k; i += 4) {
        uint32_t four;
        memcpy(&four, from + i, sizeof four);
        four ^= flip * UINT32_C(0x01010101);
        memcpy(bytes + i, &four, sizeof four);
    }
    for (; i < k; i++)
        bytes[i] = from[i] ^ flip;
    memset(bytes + k, 0, (0 - k) & 3);
}

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

#include "arch/cpu/simd/i8_bounds__x86.h"
#include "arch/cpu/simd/i8_look_up__x86.h"
#include "arch/cpu/simd/i8_taps__x86.h"

#define VI_PANEL_TO_BYTES

// What 16 columns add to sums, and what these are multiplied by.
typedef struct vi_panel {
    __m256i addends[2];
    __m256 factors[2], bias[2];
} vi_panel;

VF_VERB void vi_numbers_of(const int32_t *sums, const vi_panel *p, __m256 v[2])
{
    LN_UNROLL
    for (size_t j = 0; j < 2; j++) {
        const __m256i sum = _mm256_loadu_si256((const void *)(sums + 8 * j));
        v[j] = _mm256_cvtepi32_ps(_mm256_add_epi32(sum, p->addends[j]));
        v[j] = _mm256_add_ps(_mm256_mul_ps(v[j], p->factors[j]), p->bias[j]);
    }
}

// Two rows of 16 sums to bytes.
VF_VERB __m256i vi_bytes_of_rows(const int32_t *first, const int32_t *second, const vi_panel *p,
                                 const vi_bounds *bounds)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256 v[4];
    vi_numbers_of(first, p, v);
    vi_numbers_of(second, p, v + 2);
    return _mm256_permutevar8x32_epi32(vi_pack_numbers(v, bounds), order);
}

#endif
