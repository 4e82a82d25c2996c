// SPDX-License-Identifier: Apache-2.0
// The first few elements of each row in order, and their positions: rows along one axis of a tensor
// seen as [outer, n, inner].
//
// Of equal elements the first comes first. A NaN is larger than all numbers, or follows them.

#ifndef LN_ARCH_CPU_KERNELS_TOP_K_H
#define LN_ARCH_CPU_KERNELS_TOP_K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

LN_CPPSTART

#define LN_TOP_K_MAX 64

typedef struct ln_top_k_f32_args {
    size_t outer;
    size_t n; // at least k
    size_t inner;
    size_t k; // 1 to LN_TOP_K_MAX
    bool is_smallest;
    bool has_nan_last; // when the largest come first too
    const float *x;
    float *values;      // [outer, k, inner], or NULL
    int64_t *positions; // likewise
} ln_top_k_f32_args;

void ln_top_k_f32(const ln_top_k_f32_args *args, ln_pool *pool);

LN_CPPEND

#endif
