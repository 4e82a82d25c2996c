// SPDX-License-Identifier: Apache-2.0
// Numbers and integers of 16 bits: loops of constant length that the compiler makes vectors of.

#ifndef LN_ARCH_CPU_KERNELS_QUANT_WORDS_BODY_H
#define LN_ARCH_CPU_KERNELS_QUANT_WORDS_BODY_H

#include <string.h>

#include "arch/cpu/kernels/quant_words/quant_words.h"

#define WORDS_AT_ONCE 64

// Adding this brings a whole number, of less than 2^22, into the lowest bits, rounded.
#define WORDS_ROUNDING 12582912.0f

// Integers of 16 bits: the bounds less the zero point, and what makes signed ones unsigned.
typedef struct words_of {
    float scale, low, high;
    int32_t zero;
    uint16_t flip;
} words_of;

static inline words_of words_of_quant(const ln_quant_of *of)
{
    const float low = (float)((of->is_signed ? -32768 : 0) - of->zero);
    return (words_of){of->scale, low, low + 65535, of->zero, of->is_signed ? 0x8000 : 0};
}

static inline void words_from_floats(const words_of *of, const float *restrict x,
                                     uint16_t *restrict y)
{
    for (size_t i = 0; i < WORDS_AT_ONCE; i++) {
        float number = x[i] / of->scale;
        number = number > of->low ? number : of->low; // NaN is not greater
        number = number < of->high ? number : of->high;
        number += WORDS_ROUNDING;
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        y[i] = (uint16_t)(bits + (uint32_t)of->zero);
    }
}

static inline void words_to_floats(const words_of *of, const uint16_t *restrict x,
                                   float *restrict y)
{
    const int32_t zero = of->zero + of->flip;
    for (size_t i = 0; i < WORDS_AT_ONCE; i++)
        y[i] = (float)((int32_t)(x[i] ^ of->flip) - zero) * of->scale;
}

static void quant_to_words(const ln_quant_of *of, size_t n, const float *x, void *y)
{
    const words_of words = words_of_quant(of);
    float last[WORDS_AT_ONCE] = {0};
    uint16_t *to = y, made[WORDS_AT_ONCE];
    for (; n >= WORDS_AT_ONCE; n -= WORDS_AT_ONCE, x += WORDS_AT_ONCE, to += WORDS_AT_ONCE)
        words_from_floats(&words, x, to);
    memcpy(last, x, n * sizeof *x);
    words_from_floats(&words, last, made);
    memcpy(to, made, n * sizeof *to);
}

static void quant_words_to_floats(const ln_quant_of *of, size_t n, const void *x, float *y)
{
    const words_of words = words_of_quant(of);
    uint16_t last[WORDS_AT_ONCE] = {0};
    const uint16_t *from = x;
    float made[WORDS_AT_ONCE];
    for (; n >= WORDS_AT_ONCE; n -= WORDS_AT_ONCE, from += WORDS_AT_ONCE, y += WORDS_AT_ONCE)
        words_to_floats(&words, from, y);
    memcpy(last, from, n * sizeof *from);
    words_to_floats(&words, last, made);
    memcpy(y, made, n * sizeof *y);
}

const ln_quant_words_kernels VF_KERNEL(ln_k_quant_words) = {
    .to_words = quant_to_words,
    .to_floats = quant_words_to_floats,
};

#endif
