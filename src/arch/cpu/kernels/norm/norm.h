// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, or without the
// mean: y = x / sqrt(mean of x^2 + epsilon) * scale.
//
// The bits, for a row of n: sums have 64 lanes; lane j takes the elements j, j + 64, ... in this
// order, starting at +0, in runs as lanes.h says, and lanes are added as it says. With m = sum(x) /
// n, d = x - m, s = sum(d) and q = sum(d d) by fma, of which s is what rounding left in m:
//     lost = s / n, variance = max(q - s lost, 0) / n, factor = 1 / sqrt(variance + epsilon),
//     y = fma((d - lost) factor, scale, bias),
// each step rounded, and a product where there is no bias. Without the mean d = x, lost = 0.

#ifndef LN_ARCH_CPU_KERNELS_NORM_H
#define LN_ARCH_CPU_KERNELS_NORM_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

#define LN_NORM_LANES 64

typedef struct ln_layernorm_f32_args {
    size_t rows;
    size_t n;
    const float *x;
    const float *scale; // of n
    const float *bias;  // of n, or NULL
    float *y;           // may be x, else apart from it
    float epsilon;
    bool is_centered; // with the mean
} ln_layernorm_f32_args;

void ln_layernorm_f32(ln_cpu_isa isa, const ln_layernorm_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// `rows` of the rows from `first` on; n is at least 1.
typedef void ln_layernorm_f32_fn(const ln_layernorm_f32_args *args, size_t first, size_t rows);

LN_KERNELS(ln_layernorm_f32_fn, layernorm_f32)

LN_CPPEND

#endif
