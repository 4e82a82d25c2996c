// SPDX-License-Identifier: Apache-2.0
// Integers in another scale, in vectors. A kernel file says RV_LANES and RV, what names of
// intrinsics begin with, and has rv_load, rv_join and rv_bytes.

#ifndef LN_ARCH_CPU_KERNELS_RESCALE_X86_H
#define LN_ARCH_CPU_KERNELS_RESCALE_X86_H

#include "arch/cpu/kernels/rescale/rescale.h"
#include "arch/cpu/simd/i8_bounds__x86.h"

#define RESCALE_IN_VECTORS

#define RV_COUNT (LN_RESCALE_GROUP / RV_LANES)

// x * m / 2^31, ties upwards. The sum of a product and half fits; of its quotient the lower 32 bits
// are kept.
VF_VERB rv rescale_multiply(rv x, rv m)
{
    const rv_word half = (rv_word){0} + (INT64_C(1) << 30);
    rv_word even = RV(add_epi64)(RV(mul_epi32)((rv_word)x, (rv_word)m), half);
    rv_word odd = RV(mul_epi32)(RV(srli_epi64)((rv_word)x, 32), RV(srli_epi64)((rv_word)m, 32));
    even = RV(srli_epi64)(even, 31);
    odd = RV(slli_epi64)(RV(add_epi64)(odd, half), 1);
    return rv_join(even, odd);
}

// y / 2^by, ties away from zero.
VF_VERB rv rescale_divide(rv y, rv by)
{
    const rv mask = (rv)RV(sub_epi32)(RV(sllv_epi32)(RV(set1_epi32)(1), (rv_word)by),
                                      RV(set1_epi32)(1)); // of 31 bits, too
    const rv half = (rv)RV(srli_epi32)((rv_word)mask, 1) - (y >> 31);
    return (rv)RV(srav_epi32)((rv_word)y, (rv_word)by) - ((y & mask) > half);
}

VF_VERB rv rescale_some(const ln_rescale_of *of, rv x, const ln_rescale_factors *f, size_t i,
                        const bool is_small)
{
    const rv by = rv_load(f->right + i);
    rv y = rescale_multiply(x, rv_load(f->multiplier + i));
    if (is_small) {
        y = (rv)RV(srav_epi32)((rv_word)(y + rv_load(f->half + i) + (y >> 31)), (rv_word)by);
    } else {
        y ^= y == INT32_MIN; // the square of it alone
        y = rescale_divide(y, by);
    }
    const rv_word low = RV(set1_epi32)(of->low - of->dst_zero);
    const rv_word high = RV(set1_epi32)(of->high - of->dst_zero);
    return (rv)RV(min_epi32)(RV(max_epi32)((rv_word)y, low), high) + of->dst_zero;
}

static void rescale_times(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t n,
                          int32_t *x)
{
    for (size_t i = 0; i < n * LN_RESCALE_GROUP; i += RV_LANES) {
        const rv y = rescale_some(of, rv_load(x + i), factors, i, false);
        memcpy(x + i, &y, sizeof y);
    }
}

// ---- Sums to bytes, in registers ----

VF_VERB __m128i rescale_group(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t i,
                              const int32_t *x, const bool is_small)
{
    rv y[RV_COUNT];
    LN_UNROLL
    for (size_t j = 0; j < RV_COUNT; j++)
        y[j] = rescale_some(of, rv_load(x + j * RV_LANES), factors, i + j * RV_LANES, is_small);
    return rv_bytes(y);
}

VF_VERB void rescale_sums(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t n,
                          const int32_t *x, uint8_t *y, const bool is_small)
{
    size_t i = 0;
    for (; i + LN_RESCALE_GROUP <= n; i += LN_RESCALE_GROUP)
        _mm_storeu_si128((void *)(y + i), rescale_group(of, factors, i, x + i, is_small));
    if (i == n)
        return;
    int32_t last[LN_RESCALE_GROUP] = {0};
    for (size_t j = 0; j < n - i; j++)
        last[j] = x[i + j];
    vi_store_some(y + i, rescale_group(of, factors, i, last, is_small), n - i);
}

#endif
