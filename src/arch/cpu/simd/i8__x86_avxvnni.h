// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products for AVX-VNNI, 256 bits. See i8__generic.h for what each means.

#ifndef LN_ARCH_CPU_SIMD_I8_X86_AVXVNNI_H
#define LN_ARCH_CPU_SIMD_I8_X86_AVXVNNI_H

#include <string.h>

#include "arch/cpu/simd/f32__x86_avx2.h"

#define VI_KERNEL(name) name##__x86_avxvnni

#define VI_OFFSET 0
#define VI_ROWS   6
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

VF_VERB vi_sum vi_dot(vi_sum sum, vi_fours a, vi_bytes w)
{
    return _mm256_dpbusd_avx_epi32(sum, a, w);
}

#define VI_TAP_BYTES 1

VF_VERB __m256i vi_dot_fours(__m256i sum, __m256i taps, const int8_t *w)
{
    return _mm256_dpbusd_avx_epi32(sum, taps, _mm256_loadu_si256((const void *)w));
}

#include "arch/cpu/simd/i8__x86_256.h"

#endif
