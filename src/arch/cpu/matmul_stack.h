// SPDX-License-Identifier: Apache-2.0
// Stacks of matrix products in f32 for operators that find matrices in tensors.

#ifndef LN_ARCH_CPU_MATMUL_STACK_H
#define LN_ARCH_CPU_MATMUL_STACK_H

#include "base/pool.h"
#include "op/onnx/matmul.h"

LN_CPPSTART

// Of `matmul` the sides and the batch; `y` is where the products are, with columns next to each
// other. None of the sizes is 0.
typedef struct ln_cpu_stack {
    ln_matmul_call matmul;
    ln_matrix_stack y;
} ln_cpu_stack;

// Bytes of workspace, the same for every number of threads.
size_t ln_cpu_stack_workspace(const ln_cpu_stack *stack);

void ln_cpu_stack_multiply(const ln_cpu_stack *stack, const float *a, const float *b, float *y,
                           ln_pool *pool, float *workspace);

LN_CPPEND

#endif
