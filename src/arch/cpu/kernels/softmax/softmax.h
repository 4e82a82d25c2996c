// SPDX-License-Identifier: Apache-2.0
// Softmax over one axis of a tensor seen as [outer, n, inner].
//
// The bits: with m the largest element (NaN if one is NaN), e = exp(x - m) as vf_exp_diff in
// mathf.h computes it, y = e / sum(e). The sum uses sixteen lanes: lane j adds the elements j, j +
// 16, j + 32, ... in this order, starting at +0, in runs as lanes.h says; then lane j of 8, of 4,
// of 2, of 1 adds lane j + 8, + 4, + 2, + 1. So the axis may be anywhere and `inner` does not
// change a bit. A row with NaN or +inf, or of -inf alone, becomes NaN.
//
// A logarithm is (x - m) - log(1 + rest), where rest is such a sum with e - 1 for each x = m, plus
// the number of these x but for one: small powers count beside 1.

#ifndef LN_ARCH_CPU_KERNELS_SOFTMAX_H
#define LN_ARCH_CPU_KERNELS_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

#define LN_SOFTMAX_LANES 16

typedef struct ln_softmax_f32_args {
    size_t outer;
    size_t n;
    size_t inner;
    bool is_log; // logarithms are wanted
    const float *x;
    float *y; // may be x, else apart from it
} ln_softmax_f32_args;

void ln_softmax_f32(ln_cpu_isa isa, const ln_softmax_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// One of the `outer` parts; n and inner are at least 1.
typedef void ln_softmax_f32_fn(size_t n, size_t inner, bool is_log, const float *x, float *y);

LN_KERNELS(ln_softmax_f32_fn, softmax_f32)

LN_CPPEND

#endif
