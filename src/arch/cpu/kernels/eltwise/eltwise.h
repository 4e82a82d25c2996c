// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on contiguous floats, and batch normalisation with known statistics.
//
// The bits: one IEEE operation per element, or the formulas below. In all functions the output
// may be an input, else it overlaps none; n may be 0.

#ifndef LN_ARCH_CPU_KERNELS_ELTWISE_H
#define LN_ARCH_CPU_KERNELS_ELTWISE_H

#include <stddef.h>

#include "arch/cpu/isa.h"

LN_CPPSTART

// y = name(x, arg).
#define LN_UNARY_LIST(X)                                                                           \
    X(RELU)    /* 0 > x ? 0 : x, so NaN and -0 stay */                                             \
    X(LRELU)   /* x >= 0 ? x : x * arg */                                                          \
    X(SIGMOID) /* see mathf.h */                                                                   \
    X(EXP)                                                                                         \
    X(ERF)                                                                                         \
    X(GELU) /* x (1 + erf(x / sqrt 2)) / 2 */

// y = name(x1, x2). MAX and MIN are NaN where an argument is, and x2 where both are zero.
#define LN_BINARY_LIST(X)                                                                          \
    X(SUM)                                                                                         \
    X(SUB)                                                                                         \
    X(MUL)                                                                                         \
    X(DIV)                                                                                         \
    X(MAX)                                                                                         \
    X(MIN)

#define LN_ELTWISE_ENUM_UNARY(name)  LN_UNARY_##name,
#define LN_ELTWISE_ENUM_BINARY(name) LN_BINARY_##name,
typedef enum ln_unary { LN_UNARY_LIST(LN_ELTWISE_ENUM_UNARY) LN_UNARY_COUNT } ln_unary;
typedef enum ln_binary { LN_BINARY_LIST(LN_ELTWISE_ENUM_BINARY) LN_BINARY_COUNT } ln_binary;
#undef LN_ELTWISE_ENUM_UNARY
#undef LN_ELTWISE_ENUM_BINARY

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

// `op` is one of the list.
void ln_unary_f32(ln_cpu_isa isa, ln_unary op, size_t n, const float *x, float arg, float *y);

// A step of 0 instead of 1: the first element of that input stands for all n. Not of both.
void ln_binary_f32(ln_cpu_isa isa, ln_binary op, size_t n, const float *x1, size_t x1_step,
                   const float *x2, size_t x2_step, float *y);

void ln_batchnorm_f32(ln_cpu_isa isa, const ln_batchnorm_f32_args *args);

// ---- Kernels ----

typedef void ln_unary_f32_fn(ln_unary op, size_t n, const float *x, float arg, float *y);
typedef void ln_binary_f32_fn(ln_binary op, size_t n, const float *x1, size_t x1_step,
                              const float *x2, size_t x2_step, float *y);
// y = fma(x - mean, factor, offset) for n elements.
typedef void ln_affine_f32_fn(size_t n, const float *x, float mean, float factor, float offset,
                              float *y);

#define K(isa, type, unary, binary, affine)                                                        \
    ln_unary_f32_fn unary;                                                                         \
    ln_binary_f32_fn binary;                                                                       \
    ln_affine_f32_fn affine;
#include "arch/cpu/kernels/eltwise/eltwise.inc"
#undef K

LN_CPPEND

#endif
