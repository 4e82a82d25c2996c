// SPDX-License-Identifier: Apache-2.0
// Elements in another order of their axes. Nothing is computed: every bit stays.

#ifndef LN_ARCH_CPU_KERNELS_TRANSPOSE_H
#define LN_ARCH_CPU_KERNELS_TRANSPOSE_H

#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

#define LN_TRANSPOSE_MAX_AXES 8

// y[i0, i1, ...] = x[i0 * x_step[0] + i1 * x_step[1] + ...]: any elements of x, in any order.
typedef struct ln_transpose_args {
    size_t elem_size; // 1, 2, 4 or 8 bytes
    int ndim;
    size_t dims[LN_TRANSPOSE_MAX_AXES];   // of the result, whose elements follow each other
    size_t x_step[LN_TRANSPOSE_MAX_AXES]; // elements of x from one to the next
    const void *x;
    void *y; // apart from x
} ln_transpose_args;

void ln_transpose(ln_cpu_isa isa, const ln_transpose_args *args, ln_pool *pool);

// Elements of four bytes of two matrices in turn: y[i, 2 j] = a[i, j], y[i, 2 j + 1] = b[i, j].
// Rows of a and b are `..._step` elements apart, those of y follow each other.
typedef struct ln_interleave_rows {
    size_t rows, columns; // of a and b
    const void *a;
    size_t a_step;
    const void *b;
    size_t b_step;
    void *y; // apart from both
} ln_interleave_rows;

void ln_interleave_u32(ln_cpu_isa isa, const ln_interleave_rows *args, ln_pool *pool);

// ---- Kernels ----

// y[i, j] = x[j, i] for `rows` rows of `columns` elements of y. Rows of x are `x_step` elements
// apart, those of y `y_step`; of `count` matrices each is `x_next` and `y_next` after the one
// before.
typedef struct ln_transpose_matrices {
    size_t rows, columns;
    const void *x;
    size_t x_step;
    void *y;
    size_t y_step;
    size_t count, x_next, y_next;
} ln_transpose_matrices;

typedef void ln_transpose_u32_fn(const ln_transpose_matrices *matrices);

typedef void ln_interleave_u32_fn(const ln_interleave_rows *rows);

LN_KERNELS(ln_transpose_u32_fn, transpose_u32)
LN_KERNELS(ln_transpose_u32_fn, join_planes) // of bytes: 2 to 4 columns, whose rows have no gaps
LN_KERNELS(ln_interleave_u32_fn, interleave_u32)

LN_CPPEND

#endif
