// SPDX-License-Identifier: Apache-2.0
// Where the largest or the smallest elements are: positions along one axis of a tensor seen as
// [outer, n, inner].
//
// Of equal elements the first counts. A NaN is larger than all numbers.

#ifndef LN_ARCH_CPU_KERNELS_ARG_MAX_H
#define LN_ARCH_CPU_KERNELS_ARG_MAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

typedef struct ln_arg_max_f32_args {
    size_t outer;
    size_t n; // at least 1
    size_t inner;
    bool is_smallest;
    const float *x;
    int64_t *positions; // [outer, inner]
} ln_arg_max_f32_args;

void ln_arg_max_f32(ln_cpu_isa isa, const ln_arg_max_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// `count` rows of n elements, at most LN_ARG_MAX_LEN. Rows begin `row_step` floats apart, their
// elements are `step` apart; the largest product of `row_step` and a number of lanes is an int.
typedef struct ln_arg_max_rows {
    size_t count, row_step;
    size_t n, step;
    bool is_smallest;
    const float *x;
    int64_t *positions;
} ln_arg_max_rows;

#define LN_ARG_MAX_LEN (1 << 24) // positions are floats on the way

typedef void ln_arg_max_f32_fn(const ln_arg_max_rows *rows);

// One row by itself, with NaN or without.
int64_t ln_arg_max_row(const float *x, size_t n, size_t step, bool is_smallest);

LN_KERNELS(ln_arg_max_f32_fn, arg_max_f32)

LN_CPPEND

#endif
