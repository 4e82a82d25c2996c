// SPDX-License-Identifier: Apache-2.0
// Numbers and the bytes that stand for them: (byte - zero) * scale.
//
// To bytes: divided by the scale, rounded to nearest; bounded, NaN being the lower bound; rounded
// to an integer, ties to even; plus the zero point. Each step is rounded to float, and none is
// fused. All work on one thread; callers deal out rows.

#ifndef LN_ARCH_CPU_KERNELS_QUANT_H
#define LN_ARCH_CPU_KERNELS_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// What bytes stand for.
typedef struct ln_quant_of {
    float scale;
    int32_t zero;
    bool is_signed;
} ln_quant_of;

typedef enum ln_quant_op { LN_QUANT_SUM, LN_QUANT_DIFFERENCE, LN_QUANT_PRODUCT } ln_quant_op;

// y = op(a, b), each times its step, 1 or 0: 0 repeats the first element.
typedef struct ln_quant_pair {
    ln_quant_op op;
    ln_quant_of a, b, y;
    float low, high; // bounds of the number before it is divided
    size_t a_step, b_step;
} ln_quant_pair;

// Bytes of some channels in a window of pixels.
typedef struct ln_quant_window {
    const void *x; // of the first pixel
    size_t rows, columns, channels;
    size_t row_step, column_step; // bytes
    bool is_signed;
} ln_quant_window;

typedef struct ln_quant_kernels {
    void (*to_bytes)(const ln_quant_of *of, size_t n, const float *x, void *y);
    void (*to_floats)(const ln_quant_of *of, size_t n, const void *x, float *y);
    void (*join)(const ln_quant_pair *pair, size_t n, const void *a, const void *b, void *y);
    // The least and the greatest of x and of what *low and *high are; NaN takes no part.
    void (*range)(size_t n, const float *x, float *low, float *high);
    // y[c] = the greatest byte of channel c
    void (*greatest)(const ln_quant_window *window, void *y);
} ln_quant_kernels;

LN_KERNELS(const ln_quant_kernels, quant)

LN_CPPEND

#endif
