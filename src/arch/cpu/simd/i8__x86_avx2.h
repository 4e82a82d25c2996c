// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for AVX2. See i8__generic.h for what each means.
//
// Bytes are widened to words: products of two bytes, added two by two, would saturate in 16 bits
// (vpmaddubsw), those of words do not. Fours are words 0, 2, 1, 3, since the even and the odd bytes
// of weights are what two shifts give.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_AVX2_H
#define LN_ARCH_CPU_SIMD_I8_X86_AVX2_H

#include <string.h>

#include "arch/cpu/simd/f32__x86_avx2.h"

#define VI_KERNEL(name) name##__x86_avx2

#define VI_FOURS_BYTES 8
#define VI_OFFSET      0
#define VI_ROWS        6
#define VI_PANELS      1
#define VI_IN_FLOATS   1

typedef __m256i vi_sum;
typedef struct vi_fours {
    __m256i even, odd;
} vi_fours;
typedef vi_fours vi_bytes;

VF_VERB vi_fours vi_load_fours(const void *p)
{
    int32_t even, odd;
    memcpy(&even, p, sizeof even);
    memcpy(&odd, (const char *)p + sizeof even, sizeof odd);
    return (vi_fours){_mm256_set1_epi32(even), _mm256_set1_epi32(odd)};
}

VF_VERB vi_bytes vi_load_bytes(const int8_t *p)
{
    __m256i w = _mm256_loadu_si256((const void *)p);
    return (vi_bytes){_mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8), _mm256_srai_epi16(w, 8)};
}

// A tile takes even bytes, then odd ones, so that six rows of sums leave registers for weights.
#define VI_PARTS 2
typedef __m256i vi_part;

VF_VERB vi_part vi_load_fours_part(const void *p, const size_t part)
{
    int32_t words;
    memcpy(&words, (const char *)p + 4 * part, sizeof words);
    return _mm256_set1_epi32(words);
}

VF_VERB vi_part vi_load_bytes_part(const int8_t *p, const size_t part)
{
    __m256i w = _mm256_loadu_si256((const void *)p);
    return _mm256_srai_epi16(part == 0 ? _mm256_slli_epi16(w, 8) : w, 8);
}

VF_VERB vi_sum vi_dot_part(vi_sum sum, vi_part a, vi_part w)
{
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, w));
    // Compilers would add the products of both parts first, and keep those of the first in memory.
    __asm__("" : "+x"(sum));
    return sum;
}

VF_VERB vi_sum vi_dot(vi_sum sum, vi_fours a, vi_bytes w)
{
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a.even, w.even));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a.odd, w.odd));
}

VF_VERB void vi_expand(void *to, const uint8_t *from, size_t k, uint8_t flip)
{
    uint16_t *words = to;
    const __m128i order = _mm_setr_epi8(0, -1, 2, -1, 1, -1, 3, -1, 4, -1, 6, -1, 5, -1, 7, -1);
    const __m128i flips = _mm_set1_epi8((char)flip);
    size_t i = 0;
    for (; i + 8 <= k; i += 8) {
        __m128i bytes = _mm_xor_si128(_mm_loadl_epi64((const void *)(from + i)), flips);
        _mm_storeu_si128((void *)(words + i), _mm_shuffle_epi8(bytes, order));
    }
    for (; i < k; i += 4) {
        uint8_t four[4] = {0};
        for (size_t q = 0; q < 4 && i + q < k; q++)
            four[q] = from[i + q] ^ flip;
        words[i] = four[0];
        words[i + 1] = four[2];
        words[i + 2] = four[1];
        words[i + 3] = four[3];
    }
}

#define VI_TAP_BYTES 2

#include "arch/cpu/simd/i8__x86_256.h"

#endif
