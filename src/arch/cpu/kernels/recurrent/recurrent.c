// SPDX-License-Identifier: Apache-2.0
// Picks the kernels of recurrent networks.

#include "arch/cpu/kernels/recurrent/recurrent.h"

#include "arch/cpu/kernels/select.h"

static const ln_recurrent_f32_kernels kernels[] = {
#define K(isa, products, lstm, gru_reset, gru) {LN_CPU_ISA_##isa, products, lstm, gru_reset, gru},
#include "arch/cpu/kernels/recurrent/recurrent.inc"
#undef K
};

const ln_recurrent_f32_kernels *ln_recurrent_f32_select(ln_cpu_isa isa)
{
    return LN_SELECT_KERNEL(kernels, isa);
}
