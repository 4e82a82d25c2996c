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

#ifndef QUANT_JOINS_VECTORS

#define QUANT_MADE ((size_t)256)

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

// `y` may be where an operand is: some are made apart, so that vectors are.
static inline __attribute__((always_inline)) void quant_join_by(const ln_quant_op op,
                                                                const ln_quant_pair *pair, size_t n,
                                                                const uint8_t *left_bytes,
                                                                const uint8_t *right_bytes,
                                                                uint8_t *y)
{
    const quant_side a = quant_side_of(&pair->a, left_bytes);
    const quant_side b = quant_side_of(&pair->b, right_bytes);
    const float low = quant_low(&pair->y), high = low + 255, scale = pair->y.scale;
    const float least = pair->low, most = pair->high;
    const uint32_t zero = (uint32_t)pair->y.zero;
    uint8_t made[QUANT_MADE];
    for (size_t first = 0; first < n; first += QUANT_MADE) {
        const size_t count = n - first < QUANT_MADE ? n - first : QUANT_MADE;
        for (size_t i = 0; i < count; i++) {
            float left = quant_real(&a, first + i), right = quant_real(&b, first + i);
            float number = op == LN_QUANT_SUM          ? left + right
                           : op == LN_QUANT_DIFFERENCE ? left - right
                                                       : left * right;
            number = number < least ? least : number;
            number = number > most ? most : number;
            made[i] = quant_byte(number / scale, low, high, zero);
        }
        memcpy(y + first, made, count);
    }
}

#endif

static void quant_join_all(const ln_quant_pair *pair, size_t n, const void *a, const void *b,
                           void *y)
{
    switch (pair->op) {
    case LN_QUANT_SUM: quant_join_by(LN_QUANT_SUM, pair, n, a, b, y); break;
    case LN_QUANT_DIFFERENCE: quant_join_by(LN_QUANT_DIFFERENCE, pair, n, a, b, y); break;
    case LN_QUANT_PRODUCT: quant_join_by(LN_QUANT_PRODUCT, pair, n, a, b, y); break;
    }
}

// An element that is repeated is so in memory, some at a time.
static void quant_join(const ln_quant_pair *pair, size_t n, const void *a, const void *b, void *y)
{
    if (n == 0 || (pair->a_step == 1 && pair->b_step == 1)) {
        quant_join_all(pair, n, a, b, y);
        return;
    }
    uint8_t left[64], right[64];
    memset(left, *(const uint8_t *)a, sizeof left);
    memset(right, *(const uint8_t *)b, sizeof right);
    for (size_t i = 0; i < n; i += sizeof left) {
        const size_t some = n - i < sizeof left ? n - i : sizeof left;
        quant_join_all(pair, some, pair->a_step ? (const uint8_t *)a + i : left,
                       pair->b_step ? (const uint8_t *)b + i : right, (uint8_t *)y + i);
    }
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

// Of as many channels as a vector has bytes, from channel `first` on. Unsigned bytes are compared
// as signed ones.
#define QUANT_GREATEST(bytes)                                                                      \
    typedef int8_t quant_##bytes __attribute__((vector_size(bytes)));                              \
                                                                                                   \
    static void quant_greatest_##bytes(const ln_quant_window *w, size_t first, uint8_t *y)         \
    {                                                                                              \
        const uint8_t *row = (const uint8_t *)w->x + first;                                        \
        const quant_##bytes flips = (quant_##bytes){0} + (int8_t)(w->is_signed ? 0 : -128);        \
        quant_##bytes greatest = (quant_##bytes){0} + (int8_t)-128;                                \
        for (size_t i = 0; i < w->rows; i++, row += w->row_step) {                                 \
            const uint8_t *x = row;                                                                \
            for (size_t j = 0; j < w->columns; j++, x += w->column_step) {                         \
                quant_##bytes some;                                                                \
                memcpy(&some, x, sizeof some);                                                     \
                some ^= flips;                                                                     \
                greatest ^= (greatest ^ some) & (some > greatest);                                 \
            }                                                                                      \
        }                                                                                          \
        greatest ^= flips;                                                                         \
        memcpy(y + first, &greatest, sizeof greatest);                                             \
    }

QUANT_GREATEST(4)
QUANT_GREATEST(8)
QUANT_GREATEST(16)
QUANT_GREATEST(32)

static void quant_greatest_few(const ln_quant_window *w, uint8_t *y)
{
    const uint8_t flip = w->is_signed ? 128 : 0;
    for (size_t c = 0; c < w->channels; c++) {
        const uint8_t *row = (const uint8_t *)w->x + c;
        uint8_t greatest = 0;
        for (size_t i = 0; i < w->rows; i++, row += w->row_step)
            for (size_t j = 0; j < w->columns; j++) {
                const uint8_t byte = row[j * w->column_step] ^ flip;
                greatest = byte > greatest ? byte : greatest;
            }
        y[c] = greatest ^ flip;
    }
}

// The last vector overlaps the one before it.
static void quant_greatest(const ln_quant_window *w, void *y)
{
    size_t first = 0;
    if (w->channels < 4) {
        quant_greatest_few(w, y);
    } else if (w->channels < 8) {
        quant_greatest_4(w, 0, y);
        quant_greatest_4(w, w->channels - 4, y);
    } else if (w->channels < 16) {
        quant_greatest_8(w, 0, y);
        quant_greatest_8(w, w->channels - 8, y);
    } else if (w->channels < 32) {
        quant_greatest_16(w, 0, y);
        quant_greatest_16(w, w->channels - 16, y);
    } else {
        for (; first + 32 < w->channels; first += 32)
            quant_greatest_32(w, first, y);
        quant_greatest_32(w, w->channels - 32, y);
    }
}

const ln_quant_kernels VF_KERNEL(ln_k_quant) = {
    .to_bytes = quant_to_bytes,
    .to_floats = quant_to_floats,
    .join = quant_join,
    .range = quant_range,
    .greatest = quant_greatest,
};

#endif
