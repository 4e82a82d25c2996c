// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on floats: activations, two operands with broadcasting, a scale and an
// offset for each channel, and batch normalisation with known statistics.
//
// The bits: one IEEE operation per element, or the formulas below; then the activation, the
// function of lightnet/act.h as mathf.h computes it. In all functions the output may be an input,
// else it overlaps none; sizes may be 0. Work is cut for the threads of `pool` where it pays.

#ifndef LN_ARCH_CPU_KERNELS_ELTWISE_H
#define LN_ARCH_CPU_KERNELS_ELTWISE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/act.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

// y = name(x1, x2). MAX and MIN are NaN where an argument is, and x2 where both are zero. PRELU is
// x1 x2 below 0, else x1.
#define LN_BINARY_LIST(X)                                                                          \
    X(SUM)                                                                                         \
    X(SUB)                                                                                         \
    X(MUL)                                                                                         \
    X(DIV)                                                                                         \
    X(MAX)                                                                                         \
    X(MIN)                                                                                         \
    X(PRELU)

#define LN_ELTWISE_ENUM_BINARY(name) LN_BINARY_##name,
typedef enum ln_binary { LN_BINARY_LIST(LN_ELTWISE_ENUM_BINARY) LN_BINARY_COUNT } ln_binary;
#undef LN_ELTWISE_ENUM_BINARY

// An activation with its numbers.
typedef struct ln_act_f32_args {
    ln_act act;
    float alpha, beta;
} ln_act_f32_args;

// y = act(x) for n elements.
void ln_act_f32(ln_cpu_isa isa, const ln_act_f32_args *act, size_t n, const float *x, float *y,
                ln_pool *pool);

// y = log(x) for n elements, the natural logarithm: -inf for zeros, NaN below.
void ln_log_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

// y = sin(x), y = cos(x) for n elements, in radians; NaN of infinities.
void ln_sin_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);
void ln_cos_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

// y = floor(x), ceil(x), rint(x) for n elements: ties to even, and zeros keep their signs.
void ln_floor_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);
void ln_ceil_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);
void ln_round_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

// y = 1, 0 or -1 for n elements, 0 for -0, NaN for NaN.
void ln_sign_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

// z = x^y for n elements, as C's pow has it of zeros, infinities and negative x. An operand with a
// step of 0 is one element, with 1 an array.
void ln_power_f32(ln_cpu_isa isa, size_t n, const float *x, size_t x_step, const float *y,
                  size_t y_step, float *z);

// y = act(op(x1, x2)); shapes are broadcast as base/broadcast.h says, y's is what comes out.
typedef struct ln_binary_f32_args {
    ln_binary op;
    int x1_ndim, x2_ndim, ndim;
    const int *x1_dims, *x2_dims, *dims;
    const float *x1, *x2;
    float *y;
    ln_act_f32_args act;
} ln_binary_f32_args;

void ln_binary_f32(ln_cpu_isa isa, const ln_binary_f32_args *args, ln_pool *pool);

// y = act(fma(x, scale, offset)), x and y [rows, channels], the others [channels]. The rows of x
// are `x_row` floats apart. With a mean, which is given in two floats, x is (x - mean) - lost.
typedef struct ln_scale_shift_f32_args {
    size_t rows;
    size_t channels;
    const float *x;
    size_t x_row;             // >= channels
    const float *mean, *lost; // both or none
    const float *scale;
    const float *offset;
    float *y;
    ln_act_f32_args act;
} ln_scale_shift_f32_args;

void ln_scale_shift_f32(ln_cpu_isa isa, const ln_scale_shift_f32_args *args, ln_pool *pool);

// y = fma(x - mean, scale / sqrt(var + epsilon), offset), x and y [batch, channels, inner], the
// others [channels].
typedef struct ln_batchnorm_f32_args {
    size_t batch;
    size_t channels;
    size_t inner;
    const float *x;
    const float *scale;
    const float *offset;
    const float *mean;
    const float *var;
    float epsilon;
    float *y;
} ln_batchnorm_f32_args;

void ln_batchnorm_f32(ln_cpu_isa isa, const ln_batchnorm_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// Some rows of n elements, `row` floats from one to the next; a step of 0 instead of 1: the first
// element of a row stands for all of it.
typedef struct ln_rows_f32 {
    const float *p;
    size_t row;
    size_t step;
} ln_rows_f32;

typedef void ln_act_f32_fn(const ln_act_f32_args *act, size_t n, const float *x, float *y);
// Functions of one element that are no activations.
typedef enum ln_unary {
    LN_UNARY_LOG,
    LN_UNARY_SIN,
    LN_UNARY_COS,
    LN_UNARY_FLOOR,
    LN_UNARY_CEIL,
    LN_UNARY_ROUND,
    LN_UNARY_SIGN,
} ln_unary;
// Of LN_UNARY_SIN and _COS only up to LN_SIN_MAX (sin_large.h) on either side.
typedef void ln_unary_f32_fn(ln_unary op, size_t n, const float *x, float *y);

// Whether an activation takes so many steps that a loop of its own over many elements is faster
// than a few after each tile of a product.
bool ln_act_is_costly(ln_act act);

// z = x^y for n elements; a step of 0 repeats one.
typedef void ln_power_f32_fn(size_t n, const ln_rows_f32 *x, const ln_rows_f32 *y, float *z);

// The rows of y are `y_row` floats apart; `is_relu`: with relu after it.
typedef void ln_binary_f32_fn(ln_binary op, int is_relu, size_t rows, size_t n,
                              const ln_rows_f32 *x1, const ln_rows_f32 *x2, float *y, size_t y_row);
// n channels of rows that are `x_row` and `y_row` floats apart.
typedef void ln_scale_shift_f32_fn(int is_relu, size_t rows, size_t n, const float *x, size_t x_row,
                                   const float *mean, const float *lost, const float *scale,
                                   const float *offset, float *y, size_t y_row);
// y = fma(x - mean, factor, offset) for n elements.
typedef void ln_affine_f32_fn(size_t n, const float *x, float mean, float factor, float offset,
                              float *y);

typedef struct ln_eltwise_f32_kernels {
    ln_act_f32_fn *act;
    ln_unary_f32_fn *unary;
    ln_power_f32_fn *power;
    ln_binary_f32_fn *binary;
    ln_scale_shift_f32_fn *scale_shift;
    ln_affine_f32_fn *affine;
} ln_eltwise_f32_kernels;

LN_KERNELS(ln_act_f32_fn, act_f32)
LN_KERNELS(const ln_eltwise_f32_kernels, eltwise_f32)

LN_CPPEND

#endif
