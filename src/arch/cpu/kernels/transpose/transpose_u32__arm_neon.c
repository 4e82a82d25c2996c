// SPDX-License-Identifier: Apache-2.0
// Transpose of elements of four bytes for NEON.

#include <stdbool.h>

#include "arch/cpu/simd/f32__arm_neon.h"

#include "arch/cpu/simd/unroll.h"

typedef uint8x16_t lane_index; // four bytes for each lane
typedef uint32x4_t lane_set;   // all bits of a lane, or none

VF_VERB lane_index lane_index_of(const uint32_t lanes[VF_LANES])
{
    const uint32x4_t bytes = vdupq_n_u32(0x03020100);
    return vreinterpretq_u8_u32(vmlaq_n_u32(bytes, vld1q_u32(lanes), 0x04040404));
}

VF_VERB lane_set lane_set_of(const uint32_t is_there[VF_LANES])
{
    uint32x4_t bits = vld1q_u32(is_there);
    return vtstq_u32(bits, bits);
}

VF_VERB vf lanes_pick(vf old, vf v, lane_index from, lane_set to)
{
    uint8x16_t picked = vqtbl1q_u8(vreinterpretq_u8_f32(v), from);
    return vbslq_f32(to, vreinterpretq_f32_u8(picked), old);
}

VF_VERB void tile_transpose(vf v[VF_LANES])
{
    vf_transpose(v);
}

#include "arch/cpu/kernels/transpose/transpose_u32_body.h"

void ln_k_transpose_u32__arm_neon(const ln_transpose_matrices *matrices)
{
    transpose_u32(matrices);
}

void ln_k_interleave_u32__arm_neon(const ln_interleave_rows *rows)
{
    interleave_u32(rows);
}
