// SPDX-License-Identifier: Apache-2.0
// Integers in another scale: loops that the compiler makes vectors of.

#ifndef LN_ARCH_CPU_KERNELS_RESCALE_BODY_H
#define LN_ARCH_CPU_KERNELS_RESCALE_BODY_H

#include "arch/cpu/kernels/rescale/rescale.h"

// Bytes with a sign are those without after their first bit is changed.
static void rescale_load(const ln_rescale_of *of, size_t n, const void *x, int32_t *restrict to)
{
    const uint8_t flip = of->src == LN_RESCALE_INT8 ? 128 : 0;
    const int32_t zero = of->src_zero + flip;
    if (of->src == LN_RESCALE_INT32)
        for (size_t i = 0; i < n; i++)
            to[i] = ((const int32_t *)x)[i];
    else if (of->src == LN_RESCALE_INT16)
        for (size_t i = 0; i < n; i++)
            to[i] = ((const int16_t *)x)[i] - zero;
    else
        for (size_t i = 0; i < n; i++)
            to[i] = (((const uint8_t *)x)[i] ^ flip) - zero;
    for (; n % LN_RESCALE_GROUP != 0; n++)
        to[n] = 0;
}

static void rescale_left(const int32_t *restrict left, size_t n, int32_t *restrict x)
{
    for (size_t i = 0; i < n * LN_RESCALE_GROUP; i++) {
        const int32_t moved = (int32_t)((uint32_t)x[i] << left[i]);
        const int32_t most = INT32_MAX >> left[i], least = INT32_MIN >> left[i];
        x[i] = x[i] > most ? INT32_MAX : x[i] < least ? INT32_MIN : moved;
    }
}

#ifndef RESCALE_IN_VECTORS

// A quotient rounded downwards after half was added is one whose ties go upwards; its lower 32 bits
// do not ask for the sign of what is shifted. They are INT32_MIN for the square of it alone.
static void rescale_times(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t n,
                          int32_t *restrict x)
{
    const int32_t low = of->low - of->dst_zero, high = of->high - of->dst_zero;
    const int32_t zero = of->dst_zero;
    const int32_t *restrict multiplier = factors->multiplier, *restrict right = factors->right;
    for (size_t i = 0; i < n * LN_RESCALE_GROUP; i++) {
        const int64_t product = (int64_t)x[i] * multiplier[i] + (INT64_C(1) << 30);
        const int32_t upper = (int32_t)(uint32_t)((uint64_t)product >> 31);
        const int32_t y = upper == INT32_MIN ? INT32_MAX : upper;
        const int32_t by = right[i], mask = (int32_t)((UINT32_C(1) << by) - 1);
        const int32_t half = (mask >> 1) + (y < 0);
        int32_t quotient = (y >> by) + ((y & mask) > half);
        quotient = quotient < low ? low : quotient;
        x[i] = (quotient > high ? high : quotient) + zero;
    }
}

#endif

static void rescale_store(const ln_rescale_of *of, size_t n, const int32_t *restrict x, void *y)
{
    if (of->dst == LN_RESCALE_INT32)
        for (size_t i = 0; i < n; i++)
            ((int32_t *)y)[i] = x[i];
    else if (of->dst == LN_RESCALE_INT16)
        for (size_t i = 0; i < n; i++)
            ((int16_t *)y)[i] = (int16_t)x[i];
    else
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)y)[i] = (uint8_t)x[i];
}

void VF_KERNEL(ln_k_rescale)(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t n,
                             const void *x, void *y)
{
#ifdef RESCALE_IN_VECTORS
    if (of->src == LN_RESCALE_INT32 && of->dst <= LN_RESCALE_UINT8 && !of->has_left) {
        if (of->is_small)
            rescale_sums(of, factors, n, x, y, true);
        else
            rescale_sums(of, factors, n, x, y, false);
        return;
    }
#endif
    int32_t numbers[LN_RESCALE_SPAN];
    const size_t groups = (n + LN_RESCALE_GROUP - 1) / LN_RESCALE_GROUP;
    rescale_load(of, n, x, numbers);
    if (of->has_left)
        rescale_left(factors->left, groups, numbers);
    rescale_times(of, factors, groups, numbers);
    rescale_store(of, n, numbers, y);
}

#endif
