// SPDX-License-Identifier: Apache-2.0
// Picks the softmax kernel and walks the outer dimension.

#include "arch/cpu/kernels/softmax/softmax.h"

#include "arch/cpu/kernels/select.h"

static const struct {
    ln_cpu_isa isa;
    ln_softmax_f32_fn *run;
} kernels[] = {
#define K(isa, type, name) {LN_CPU_ISA_##isa, name},
#include "arch/cpu/kernels/softmax/softmax.inc"
#undef K
};

void ln_softmax_f32(ln_cpu_isa isa, const ln_softmax_f32_args *args)
{
    ln_softmax_f32_fn *run = LN_SELECT_KERNEL(kernels, isa)->run;
    if (args->n == 0 || args->inner == 0)
        return;
    for (size_t i = 0; i < args->outer; i++) {
        size_t offset = i * args->n * args->inner;
        run(args->n, args->inner, args->x + offset, args->y + offset);
    }
}
