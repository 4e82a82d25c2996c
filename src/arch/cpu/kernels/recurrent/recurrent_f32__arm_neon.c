// SPDX-License-Identifier: Apache-2.0
// Recurrent networks f32 for NEON.

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/kernels/recurrent/recurrent_f32_body.h"

void ln_k_row_products_f32__arm_neon(const ln_row_products_f32 *p)
{
    row_products_f32(p);
}

void ln_k_lstm_cell_f32__arm_neon(const ln_lstm_cell_f32 *cell)
{
    lstm_cell_f32(cell);
}

void ln_k_gru_reset_f32__arm_neon(const ln_gru_reset_f32 *gate)
{
    gru_reset_f32(gate);
}

void ln_k_gru_cell_f32__arm_neon(const ln_gru_cell_f32 *cell)
{
    gru_cell_f32(cell);
}
