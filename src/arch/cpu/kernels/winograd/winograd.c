// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering.

#include "arch/cpu/kernels/winograd/winograd.h"

void ln_winograd_f32_pack(size_t m, const ln_conv_shape *shape, const float *weight, float *packed)
{
    (void)m, (void)shape, (void)weight, (void)packed;
}

size_t ln_winograd_f32_workspace(size_t m, const ln_conv_shape *shape)
{
    (void)m, (void)shape;
    return 0;
}

void ln_winograd_f32(ln_cpu_isa isa, size_t m, const ln_conv_nhwc_f32_args *args, ln_pool *pool,
                     float *workspace)
{
    (void)isa, (void)m, (void)args, (void)pool, (void)workspace;
}
