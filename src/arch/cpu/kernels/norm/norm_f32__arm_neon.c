// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows, f32, for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/norm/norm_f32_body.h"

void ln_k_layernorm_f32__arm_neon(const ln_layernorm_f32_args *args, size_t first, size_t rows)
{
    layernorm_f32(args, first, rows);
}
