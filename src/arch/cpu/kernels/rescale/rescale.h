// SPDX-License-Identifier: Apache-2.0
// Integers of at most 32 bits in another scale, rounded as gemmlowp does (q31 of op/rescale.h):
// less src_zero, times 2^left, saturated; times the multiplier over 2^31, ties upwards; over
// 2^right, ties away from zero; plus dst_zero, from `low` to `high`. On one thread; callers deal
// out spans.

#ifndef LN_ARCH_CPU_KERNELS_RESCALE_H
#define LN_ARCH_CPU_KERNELS_RESCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_RESCALE_SPAN 512

typedef enum ln_rescale_type {
    LN_RESCALE_INT8,
    LN_RESCALE_UINT8,
    LN_RESCALE_INT16,
    LN_RESCALE_INT32
} ln_rescale_type;

// Elements are rescaled in groups. Factors are readable up to the end of a group, and 0 there.
#define LN_RESCALE_GROUP 16

// What multipliers are in units of 2^-31, and shifts, of 0 to 31, of each element of a span.
typedef struct ln_rescale_factors {
    const int32_t *multiplier, *left, *right;
    const int32_t *half; // of 2^right; where numbers are small
} ln_rescale_factors;

// Zero points are those of bytes or int16, or 0; `low` and `high` are in the range of `dst`.
typedef struct ln_rescale_of {
    ln_rescale_type src, dst;
    int32_t src_zero, dst_zero, low, high;
    bool has_left; // false: left is all 0
    bool is_small; // src is below 2^30 by absolute value, right at least 1
} ln_rescale_of;

// The first n <= LN_RESCALE_SPAN elements. x and y may be the same memory if their types are of one
// size.
typedef void ln_rescale_kernel(const ln_rescale_of *of, const ln_rescale_factors *factors, size_t n,
                               const void *x, void *y);

LN_KERNELS(ln_rescale_kernel, rescale)

// Rows of at most half as many columns are rescaled several at once.
#define LN_RESCALE_NARROW 128

// What becomes of 32-bit sums of columns; factors are those of column 0 and up. Of `count` columns,
// they may be there again for each of `repeats` rows; others have 0 for both.
typedef struct ln_rescale_columns {
    ln_rescale_of of;
    ln_rescale_factors factors;
    ln_rescale_kernel *kernel;
    size_t count, repeats;
} ln_rescale_columns;

// Rows of n sums, of `column` and up, to bytes. Steps are elements from row to row.
void ln_rescale_rows(const ln_rescale_columns *columns, size_t column, size_t rows, size_t n,
                     const int32_t *sums, size_t sums_step, uint8_t *y, size_t y_step);

LN_CPPEND

#endif
