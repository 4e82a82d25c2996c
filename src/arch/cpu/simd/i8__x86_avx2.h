// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for AVX2. See i8__generic.h for what each means.
//
// Products of bytes, added two by two, saturate in 16 bits (vpmaddubsw), unless the weights are
// narrow (tile_i8.h). Those of words do not: even and odd bytes are widened to words first.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_AVX2_H
#define LN_ARCH_CPU_SIMD_I8_X86_AVX2_H

#include <string.h>

#include "arch/cpu/simd/f32__x86_avx2.h"

#define VI_KERNEL(name) name##__x86_avx2

#define VI_OFFSET 0
#define VI_ROWS   8
#define VI_PANELS 1

typedef __m256i vi_sum;
typedef __m256i vi_fours;
typedef __m256i vi_bytes;

VF_VERB vi_fours vi_load_fours(const void *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
}

VF_VERB vi_bytes vi_load_bytes(const int8_t *p)
{
    return _mm256_loadu_si256((const void *)p);
}

// Compilers would add what comes next first, and keep more sums than there are registers.
VF_VERB vi_sum vi_plus(vi_sum sum, __m256i products)
{
    sum = _mm256_add_epi32(sum, products);
    __asm__("" : "+x"(sum));
    return sum;
}

// Of weights whose sums of two products stay within 16 bits.
VF_VERB vi_sum vi_dot(vi_sum sum, vi_fours a, vi_bytes w)
{
    const __m256i pairs = _mm256_maddubs_epi16(a, w);
    return vi_plus(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// Of two fours of A, and of weights whose sums of four products stay within 16 bits.
VF_VERB vi_sum vi_dot_double(vi_sum sum, const char *a, vi_bytes first, vi_bytes second)
{
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(vi_load_fours(a), first),
                                           _mm256_maddubs_epi16(vi_load_fours(a + 4), second));
    return vi_plus(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// Even and odd bytes as words: of any weights.
VF_VERB __m256i vi_even_bytes(vi_bytes w)
{
    return _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
}

VF_VERB __m256i vi_odd_bytes(vi_bytes w)
{
    return _mm256_srai_epi16(w, 8);
}

// Of a four as words 0, 2, 1, 3.
VF_VERB vi_sum vi_dot_words(vi_sum sum, const char *words, __m256i even, __m256i odd)
{
    sum = vi_plus(sum, _mm256_madd_epi16(vi_load_fours(words), even));
    return vi_plus(sum, _mm256_madd_epi16(vi_load_fours(words + 4), odd));
}

#define VI_TAP_BYTES 2

#include "arch/cpu/simd/i8__x86_256.h"

#endif
