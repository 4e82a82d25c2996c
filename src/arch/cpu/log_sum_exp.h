// SPDX-License-Identifier: Apache-2.0
// Logarithms of sums of exponentials.

#ifndef LN_ARCH_CPU_LOG_SUM_EXP_H
#define LN_ARCH_CPU_LOG_SUM_EXP_H

#include "base/pool.h"
#include "op/onnx/reduce.h"

// y[outer, inner] of x[outer, count, inner]; y, which is apart from x, holds the largest elements.
void ln_cpu_log_sum_exp(const ln_lines *lines, const float *x, float *y, ln_pool *pool);

#endif
