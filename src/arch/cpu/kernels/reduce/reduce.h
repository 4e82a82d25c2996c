// SPDX-License-Identifier: Apache-2.0
// Reductions over one axis of a tensor seen as [outer, n, inner].
//
// The bits: lane i takes the elements i, i + lanes, ... of the axis in this order, by + or fma,
// starting at +0, in runs as lanes.h says, or by comparing; lanes are then joined. There are 64
// lanes where inner is 1, else 8. The mean is the sum divided by n.

#ifndef LN_ARCH_CPU_KERNELS_REDUCE_H
#define LN_ARCH_CPU_KERNELS_REDUCE_H

#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

#define LN_REDUCE_ROW_LANES    64
#define LN_REDUCE_COLUMN_LANES 8

// MAX and MIN are NaN where an element is.
#define LN_REDUCE_LIST(X)                                                                          \
    X(SUM)                                                                                         \
    X(MEAN)                                                                                        \
    X(MAX)                                                                                         \
    X(MIN)                                                                                         \
    X(SQUARES) /* the sum of x^2 */                                                                \
    X(ABS)     /* the sum of |x| */

#define LN_REDUCE_ENUM(name) LN_REDUCE_##name,
typedef enum ln_reduce { LN_REDUCE_LIST(LN_REDUCE_ENUM) LN_REDUCE_COUNT } ln_reduce;
#undef LN_REDUCE_ENUM

typedef struct ln_reduce_f32_args {
    ln_reduce op;
    size_t outer;
    size_t n; // at least 1
    size_t inner;
    const float *x;
    float *y; // [outer, inner], apart from x
} ln_reduce_f32_args;

void ln_reduce_f32(ln_cpu_isa isa, const ln_reduce_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// `count` rows of n neighbours.
typedef void ln_reduce_rows_f32_fn(ln_reduce op, size_t count, size_t n, const float *x, float *y);

// `count` <= inner neighbouring columns of n elements, `inner` floats apart.
typedef void ln_reduce_columns_f32_fn(ln_reduce op, size_t count, size_t n, size_t inner,
                                      const float *x, float *y);

typedef struct ln_reduce_f32_kernels {
    ln_reduce_rows_f32_fn *rows;
    ln_reduce_columns_f32_fn *columns;
} ln_reduce_f32_kernels;

LN_KERNELS(const ln_reduce_f32_kernels, reduce_f32)

LN_CPPEND

#endif
