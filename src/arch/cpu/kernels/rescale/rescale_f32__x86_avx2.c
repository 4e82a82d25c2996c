// SPDX-License-Identifier: Apache-2.0
// Integers in another scale with AVX2.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/simd/unroll.h"

#define RV_LANES 8
#define RV(name) _mm256_##name

typedef __m256i rv_word;
typedef int32_t rv __attribute__((vector_size(32)));

VF_VERB rv rv_load(const int32_t *x)
{
    return (rv)_mm256_loadu_si256((const void *)x);
}

VF_VERB rv rv_join(__m256i even, __m256i odd)
{
    return (rv)_mm256_blend_epi32(even, odd, 0xaa);
}

// Numbers of bytes, with a sign or without.
VF_VERB __m128i rv_bytes(const rv y[2])
{
    const __m256i words =
        _mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)y[0], (__m256i)y[1]), 0xd8);
    const __m256i bytes = _mm256_and_si256(words, _mm256_set1_epi16(255));
    return _mm_packus_epi16(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
}

#include "arch/cpu/kernels/rescale/rescale__x86.h"
#include "arch/cpu/kernels/rescale/rescale_f32_body.h"
