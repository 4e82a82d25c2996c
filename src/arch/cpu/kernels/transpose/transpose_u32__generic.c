// SPDX-License-Identifier: Apache-2.0
// Transpose of elements of four bytes for any processor.

#include <stdbool.h>

#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/simd/unroll.h"

typedef vf_mask lane_index;
typedef vf_mask lane_set;

VF_VERB lane_index lane_index_of(const uint32_t lanes[VF_LANES])
{
    return (lane_index){(int32_t)lanes[0], (int32_t)lanes[1], (int32_t)lanes[2], (int32_t)lanes[3]};
}

VF_VERB lane_set lane_set_of(const uint32_t is_there[VF_LANES])
{
    return lane_index_of(is_there) != 0;
}

VF_VERB vf lanes_pick(vf old, vf v, lane_index from, lane_set to)
{
    for (int i = 0; i < VF_LANES; i++)
        old[i] = to[i] ? v[from[i]] : old[i];
    return old;
}

VF_VERB void tile_transpose(vf v[VF_LANES])
{
    for (int i = 0; i < VF_LANES; i++)
        for (int j = 0; j < i; j++) {
            float kept = v[i][j];
            v[i][j] = v[j][i];
            v[j][i] = kept;
        }
}

#include "arch/cpu/kernels/transpose/transpose_u32_body.h"

void ln_k_transpose_u32__generic(const ln_transpose_matrices *matrices)
{
    transpose_u32(matrices);
}

void ln_k_interleave_u32__generic(const ln_interleave_rows *rows)
{
    interleave_u32(rows);
}
