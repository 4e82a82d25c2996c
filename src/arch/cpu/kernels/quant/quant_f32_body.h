// SPDX-License-Identifier: Apache-2.0
// Numbers and bytes: loops that the compiler makes vectors of.

#ifndef LN_ARCH_CPU_KERNELS_QUANT_BODY_H
#define LN_ARCH_CPU_KERNELS_QUANT_BODY_H

#include <math.h>
#include <string.h>

#include "arch/cpu/kernels/quant/quant.h"

// Adding this brings a whole number, of less than 2^22, into the lowest bits, rounded.
#define QUANT_ROUNDING 12582912.0f

static inline uint8_t quant_byte(float number, float low, float high, uint32_t zero)
{
    number = number > low ? number : low; // NaN is not greater
    number = number < high ? number : high;
    number += QUANT_ROUNDING;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint8_t)(bits + zero);
}

// The bounds of bytes less the zero point.
static inline float quant_low(const ln_quant_of *of)
{
    return (float)((of->is_signed ? -128 : 0) - of->zero);
}

static void quant_to_bytes(const ln_quant_of *of, size_t n, const float *x, void *y)
{
    const float scale = of->scale, low = quant_low(of), high = low + 255;
    const uint32_t zero = (uint32_t)of->zero;
    uint8_t *restrict to = y;
    for (size_t i = 0; i < n; i++)
        to[i] = quant_byte(x[i] / scale, low, high, zero);
}

static void quant_to_floats(const ln_quant_of *of, size_t n, const void *x, float *y)
{
    const float scale = of->scale;
    const int32_t zero = of->zero + (of->is_signed ? 128 : 0);
    const uint8_t flip = of->is_signed ? 128 : 0, *from = x;
    float *restrict to = y;
    for (size_t i = 0; i < n; i++)
        to[i] = (float)((int32_t)(from[i] ^ flip) - zero) * scale;
}

typedef struct quant_side {
    const uint8_t *at;
    uint8_t flip;
    int32_t zero;
    float scale;
} quant_side;

static inline quant_side quant_side_of(const ln_quant_of *of, const void *at)
{
    return (quant_side){at, of->is_signed ? 128 : 0, of->zero + (of->is_signed ? 128 : 0),
                        of->scale};
}

static inline __attribute__((always_inline)) float quant_real(const quant_side *side, size_t i)
{
    return (float)((int32_t)(side->at[i] ^ side->flip) - side->zero) * side->scale;
}

static inline __attribute__((always_inline)) void quant_join_by(
    const ln_quant_op op, const ln_quant_pair *pair, size_t n, const quant_side a,
    const size_t a_step, const quant_side b, const size_t b_step, uint8_t *restrict y)
{
    const float low = quant_low(&pair->y), high = low + 255, scale = pair->y.scale;
    const float least = pair->low, most = pair->high;
    const uint32_t zero = (uint32_t)pair->y.zero;
    for (size_t i = 0; i < n; i++) {
        float left = quant_real(&a, i * a_step), right = quant_real(&b, i * b_step);
        float number = op == LN_QUANT_SUM          ? left + right
                       : op == LN_QUANT_DIFFERENCE ? left - right
                                                   : left * right;
        number = number < least ? least : number;
        number = number > most ? most : number;
        y[i] = quant_byte(number / scale, low, high, zero);
    }
}

static void quant_join(const ln_quant_pair *pair, size_t n, const void *a, const void *b, void *y)
{
    const quant_side left = quant_side_of(&pair->a, a), right = quant_side_of(&pair->b, b);
    const size_t as = pair->a_step, bs = pair->b_step;
#define JOIN(op)                                                                                   \
    case op:                                                                                       \
        if (as == 1 && bs == 1)                                                                    \
            quant_join_by(op, pair, n, left, 1, right, 1, y);                                      \
        else                                                                                       \
            quant_join_by(op, pair, n, left, as, right, bs, y);                                    \
        break;
    switch (pair->op) {
        JOIN(LN_QUANT_SUM)
        JOIN(LN_QUANT_DIFFERENCE)
        JOIN(LN_QUANT_PRODUCT)
    }
#undef JOIN
}

#define QUANT_LANES 32

static void quant_range(size_t n, const float *x, float *low, float *high)
{
    float least[QUANT_LANES], most[QUANT_LANES];
    size_t i = 0;
    for (size_t k = 0; k < QUANT_LANES; k++) {
        least[k] = *low;
        most[k] = *high;
    }
    for (; i + QUANT_LANES <= n; i += QUANT_LANES) {
        for (size_t k = 0; k < QUANT_LANES; k++) {
            least[k] = x[i + k] < least[k] ? x[i + k] : least[k];
            most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        least[k] = x[i + k] < least[k] ? x[i + k] : least[k];
        most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    }
    for (size_t k = 0; k < QUANT_LANES; k++) {
        *low = least[k] < *low ? least[k] : *low;
        *high = most[k] > *high ? most[k] : *high;
    }
}

static void quant_keep_greater(bool is_signed, size_t n, const void *x, void *y)
{
    if (is_signed) {
        const int8_t *from = x;
        int8_t *restrict to = y;
        for (size_t i = 0; i < n; i++)
            to[i] = from[i] > to[i] ? from[i] : to[i];
    } else {
        const uint8_t *from = x;
        uint8_t *restrict to = y;
        for (size_t i = 0; i < n; i++)
            to[i] = from[i] > to[i] ? from[i] : to[i];
    }
}

const ln_quant_kernels VF_KERNEL(ln_k_quant) = {
    .to_bytes = quant_to_bytes,
    .to_floats = quant_to_floats,
    .join = quant_join,
    .range = quant_range,
    .keep_greater = quant_keep_greater,
};

#endif
