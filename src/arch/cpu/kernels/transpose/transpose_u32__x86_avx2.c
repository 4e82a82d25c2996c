// SPDX-License-Identifier: Apache-2.0
// Transpose of elements of four bytes for AVX2.

#include <stdbool.h>

#include "arch/cpu/simd/f32__x86_avx2.h"

#include "arch/cpu/simd/unroll.h"

typedef __m256i lane_index;
typedef __m256 lane_set; // all bits of a lane, or none

VF_VERB lane_index lane_index_of(const uint32_t lanes[VF_LANES])
{
    return _mm256_loadu_si256((const void *)lanes);
}

VF_VERB lane_set lane_set_of(const uint32_t is_there[VF_LANES])
{
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(lane_index_of(is_there), _mm256_setzero_si256()));
}

VF_VERB vf lanes_pick(vf old, vf v, lane_index from, lane_set to)
{
    return _mm256_blendv_ps(old, _mm256_permutevar8x32_ps(v, from), to);
}

// Pairs of lanes, pairs of these, then halves change places.
VF_VERB void tile_transpose(vf v[VF_LANES])
{
    vf w[VF_LANES];
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i += 2) {
        w[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        w[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i += 4) {
        v[i] = _mm256_shuffle_ps(w[i], w[i + 2], 0x44);
        v[i + 1] = _mm256_shuffle_ps(w[i], w[i + 2], 0xee);
        v[i + 2] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0x44);
        v[i + 3] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0xee);
    }
    LN_UNROLL
    for (int i = 0; i < 4; i++) {
        w[i] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
        w[i + 4] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
    }
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i++)
        v[i] = w[i];
}

#include "arch/cpu/kernels/transpose/transpose_u32_body.h"

void ln_k_transpose_u32__x86_avx2(const ln_transpose_matrices *matrices)
{
    transpose_u32(matrices);
}

void ln_k_interleave_u32__x86_avx2(const ln_interleave_rows *rows)
{
    interleave_u32(rows);
}
