// SPDX-License-Identifier: Apache-2.0
// Numbers and bytes with AVX-512, two operands of bytes in vectors of 256 bits.

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/kernels/quant/join__x86.h"
#include "arch/cpu/kernels/quant/quant_f32_body.h"
