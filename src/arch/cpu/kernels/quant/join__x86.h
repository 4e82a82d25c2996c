// SPDX-License-Identifier: Apache-2.0
// Two operands of bytes to one, 32 at a time in 256 bits. Bytes that are unpacked twice are in the
// order that packing turns back.

#ifndef LN_ARCH_CPU_KERNELS_JOIN_X86_H
#define LN_ARCH_CPU_KERNELS_JOIN_X86_H

#include <string.h>

#include "arch/cpu/kernels/quant/quant.h"
#include "arch/cpu/simd/i8_bounds__x86.h"

#define QUANT_JOINS_VECTORS
#define QUANT_VECTOR 32

typedef struct quant_operand {
    __m256i flips, zero;
    __m256 scale;
} quant_operand;

VF_VERB quant_operand quant_operand_of(const ln_quant_of *of)
{
    const int flip = of->is_signed ? 128 : 0;
    return (quant_operand){_mm256_set1_epi8((char)flip), _mm256_set1_epi32(of->zero + flip),
                           _mm256_set1_ps(of->scale)};
}

VF_VERB void quant_numbers(const uint8_t *at, const quant_operand *o, __m256 v[4])
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i bytes = _mm256_xor_si256(_mm256_loadu_si256((const void *)at), o->flips);
    const __m256i low = _mm256_unpacklo_epi8(bytes, none);
    const __m256i high = _mm256_unpackhi_epi8(bytes, none);
    const __m256i all[4] = {_mm256_unpacklo_epi16(low, none), _mm256_unpackhi_epi16(low, none),
                            _mm256_unpacklo_epi16(high, none), _mm256_unpackhi_epi16(high, none)};
    LN_UNROLL
    for (int i = 0; i < 4; i++)
        v[i] = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(all[i], o->zero)), o->scale);
}

typedef struct quant_join_vectors {
    quant_operand a, b;
    __m256 least, most, scale;
    vi_bounds bounds;
} quant_join_vectors;

VF_VERB void quant_join_vector(const ln_quant_op op, const quant_join_vectors *j, const uint8_t *a,
                               const uint8_t *b, uint8_t *y)
{
    __m256 left[4], right[4];
    quant_numbers(a, &j->a, left);
    quant_numbers(b, &j->b, right);
    LN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256 v = op == LN_QUANT_SUM          ? _mm256_add_ps(left[i], right[i])
                   : op == LN_QUANT_DIFFERENCE ? _mm256_sub_ps(left[i], right[i])
                                               : _mm256_mul_ps(left[i], right[i]);
        // NaN stays in the second operand.
        v = _mm256_min_ps(j->most, _mm256_max_ps(j->least, v));
        left[i] = _mm256_div_ps(v, j->scale);
    }
    _mm256_storeu_si256((void *)y, vi_pack_numbers(left, &j->bounds));
}

VF_VERB void quant_join_by(const ln_quant_op op, const ln_quant_pair *pair, size_t n,
                           const uint8_t *a, const uint8_t *b, uint8_t *y)
{
    const float low = (float)((pair->y.is_signed ? -128 : 0) - pair->y.zero);
    const quant_join_vectors j = {.a = quant_operand_of(&pair->a),
                                  .b = quant_operand_of(&pair->b),
                                  .least = _mm256_set1_ps(pair->low),
                                  .most = _mm256_set1_ps(pair->high),
                                  .scale = _mm256_set1_ps(pair->y.scale),
                                  .bounds = vi_bounds_of(low, low + 255, pair->y.zero)};
    size_t i = 0;
    for (; i + QUANT_VECTOR <= n; i += QUANT_VECTOR)
        quant_join_vector(op, &j, a + i, b + i, y + i);
    if (i == n)
        return;
    uint8_t left[QUANT_VECTOR] = {0}, right[QUANT_VECTOR] = {0}, joined[QUANT_VECTOR];
    memcpy(left, a + i, n - i);
    memcpy(right, b + i, n - i);
    quant_join_vector(op, &j, left, right, joined);
    memcpy(y + i, joined, n - i);
}

#endif
