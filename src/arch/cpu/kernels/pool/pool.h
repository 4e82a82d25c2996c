// SPDX-License-Identifier: Apache-2.0
// Two-dimensional pooling of planes: the maximum or the average of the inputs in a window.
// What is outside the input takes no part: it is neither a maximum nor counted.
//
// The bits: a column of the window is reduced first, from the top; then the columns from the left.
// The average starts each of the two at +0 with plain additions and divides by the number of inputs
// in the window. The maximum is NaN where an input is.

#ifndef LN_ARCH_CPU_KERNELS_POOL_H
#define LN_ARCH_CPU_KERNELS_POOL_H

#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

typedef enum ln_pool2d_kind {
    LN_POOL_MAX,
    LN_POOL_AVERAGE,
} ln_pool2d_kind;

// Padding at the bottom and right is what the output size leaves.
typedef struct ln_pool2d_shape {
    size_t planes; // batch times channels
    size_t in_h, in_w;
    size_t out_h, out_w;
    size_t kernel_h, kernel_w;
    size_t stride_h, stride_w;
    size_t pad_top, pad_left;
} ln_pool2d_shape;

typedef struct ln_pool2d_f32_args {
    ln_pool2d_kind kind;
    ln_pool2d_shape shape;
    const float *x; // [planes, in_h, in_w]
    float *y;       // [planes, out_h, out_w], apart from x
} ln_pool2d_f32_args;

// LN_INVALID, with the reason, for a shape that the functions below do not take: a kernel or
// stride of 0, a window that meets no input, or sizes that overflow. Sizes of the output and
// `planes` may be 0.
ln_status ln_pool2d_check(const ln_pool2d_shape *shape);

// Bytes of workspace, the same on every machine; SIZE_MAX for a shape that the check refuses.
size_t ln_pool2d_f32_workspace(const ln_pool2d_shape *shape);

// The shape has passed the check. `workspace` is aligned for float and may hold anything.
void ln_pool2d_f32(ln_cpu_isa isa, const ln_pool2d_f32_args *args, float *workspace);

// ---- Kernels ----

// Reduces `rows` >= 1 rows of `width` columns, `stride` floats apart, to one.
typedef void ln_pool_columns_f32_fn(ln_pool2d_kind kind, size_t rows, size_t width, const float *x,
                                    size_t stride, float *y);

// y[i] = the reduction of x[i * step], ..., x[i * step + kernel - 1], for i < count; an average is
// divided by count_x[i] * count_y.
typedef struct ln_pool_rows_f32_args {
    ln_pool2d_kind kind;
    size_t count;
    size_t kernel;
    size_t step;
    const float *x;
    const float *count_x;
    float count_y;
    float *y;
} ln_pool_rows_f32_args;

typedef void ln_pool_rows_f32_fn(const ln_pool_rows_f32_args *args);

typedef struct ln_pool_f32_kernels {
    ln_pool_columns_f32_fn *columns;
    ln_pool_rows_f32_fn *rows;
} ln_pool_f32_kernels;

LN_KERNELS(const ln_pool_f32_kernels, pool_f32)

LN_CPPEND

#endif
