// SPDX-License-Identifier: Apache-2.0
// Picks the element-wise kernels, and walks the channels of a batch normalisation.

#include "arch/cpu/kernels/eltwise/eltwise.h"

#include <assert.h>

#include "arch/cpu/kernels/select.h"

typedef struct kernel_set {
    ln_cpu_isa isa;
    ln_unary_f32_fn *unary;
    ln_binary_f32_fn *binary;
    ln_affine_f32_fn *affine;
} kernel_set;

static const kernel_set kernels[] = {
#define K(isa, type, unary, binary, affine) {LN_CPU_ISA_##isa, unary, binary, affine},
#include "arch/cpu/kernels/eltwise/eltwise.inc"
#undef K
};

static const kernel_set *select_kernels(ln_cpu_isa isa)
{
    return LN_SELECT_KERNEL(kernels, isa);
}

void ln_unary_f32(ln_cpu_isa isa, ln_unary op, size_t n, const float *x, float arg, float *y)
{
    assert(op < LN_UNARY_COUNT);
    select_kernels(isa)->unary(op, n, x, arg, y);
}

void ln_binary_f32(ln_cpu_isa isa, ln_binary op, size_t n, const float *x1, size_t x1_step,
                   const float *x2, size_t x2_step, float *y)
{
    assert(op < LN_BINARY_COUNT && x1_step + x2_step >= 1 && x1_step <= 1 && x2_step <= 1);
    select_kernels(isa)->binary(op, n, x1, x1_step, x2, x2_step, y);
}

void ln_batchnorm_f32(ln_cpu_isa isa, const ln_batchnorm_f32_args *args)
{
    ln_affine_f32_fn *affine = select_kernels(isa)->affine;
    if (args->inner == 0)
        return;

    const float *x = args->x;
    float *y = args->y;
    for (size_t i = 0; i < args->batch; i++) {
        for (size_t c = 0; c < args->channels; c++) {
            float factor = args->scale[c] / __builtin_sqrtf(args->var[c] + args->epsilon);
            affine(args->inner, x, args->mean[c], factor, args->offset[c], y);
            x += args->inner;
            y += args->inner;
        }
    }
}
