// SPDX-License-Identifier: Apache-2.0
// Transpose of elements of four bytes for AVX-512.

#include <stdbool.h>

#include "arch/cpu/simd/f32__x86_avx512.h"

#include "arch/cpu/simd/unroll.h"

typedef __m512i lane_index;
typedef __mmask16 lane_set;

VF_VERB lane_index lane_index_of(const uint32_t lanes[VF_LANES])
{
    return _mm512_loadu_si512(lanes);
}

VF_VERB lane_set lane_set_of(const uint32_t is_there[VF_LANES])
{
    return _mm512_test_epi32_mask(lane_index_of(is_there), lane_index_of(is_there));
}

VF_VERB vf lanes_pick(vf old, vf v, lane_index from, lane_set to)
{
    return _mm512_mask_permutexvar_ps(old, to, from, v);
}

// Pairs of lanes, pairs of these, then quarters change places in two steps.
VF_VERB void tile_transpose(vf v[VF_LANES])
{
    vf w[VF_LANES];
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i += 2) {
        w[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        w[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i += 4) {
        v[i] = _mm512_shuffle_ps(w[i], w[i + 2], 0x44);
        v[i + 1] = _mm512_shuffle_ps(w[i], w[i + 2], 0xee);
        v[i + 2] = _mm512_shuffle_ps(w[i + 1], w[i + 3], 0x44);
        v[i + 3] = _mm512_shuffle_ps(w[i + 1], w[i + 3], 0xee);
    }
    LN_UNROLL
    for (int i = 0; i < 4; i++) {
        w[i] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x88);
        w[i + 4] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xdd);
        w[i + 8] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x88);
        w[i + 12] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xdd);
    }
    LN_UNROLL
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_shuffle_f32x4(w[i], w[i + 8], 0x88);
        v[i + 4] = _mm512_shuffle_f32x4(w[i + 4], w[i + 12], 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(w[i], w[i + 8], 0xdd);
        v[i + 12] = _mm512_shuffle_f32x4(w[i + 4], w[i + 12], 0xdd);
    }
}

#include "arch/cpu/kernels/transpose/transpose_u32_body.h"

void ln_k_transpose_u32__x86_avx512(const ln_transpose_matrices *matrices)
{
    transpose_u32(matrices);
}

void ln_k_interleave_u32__x86_avx512(const ln_interleave_rows *rows)
{
    interleave_u32(rows);
}
