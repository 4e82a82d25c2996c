// SPDX-License-Identifier: Apache-2.0
// Numbers and bytes with AVX2, two operands of bytes in vectors of its own.

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/kernels/quant/join__x86.h"
#include "arch/cpu/kernels/quant/quant_f32_body.h"
