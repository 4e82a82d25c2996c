// SPDX-License-Identifier: Apache-2.0
// The verbs of byte products, for any processor. A kernel is written once in these and in those of
// floats, which this includes, and compiled once per set of instructions.
//
//     vi_sum    VF_LANES sums in 32 bits, which wrap: those of so many columns
//     vi_fours  four following bytes of a row of A, for all lanes
//     vi_bytes  four following bytes of each of VF_LANES columns of packed weights
//
// Taps are of depthwise products: four bytes of each of VI_TAP_CHANNELS channels, from four places,
// and packed weights for them. A set that defines VI_TAPS_TO_BYTES has these in an order, and of a
// width, of its own (i8_taps__x86.h).
//
// A set that defines VI_LOOKS_UP has vi_look_up (i8_look_up__x86.h).
//
// A row of A is expanded to whole fours first: a set may want signed bytes, whose sums then lack
// VI_OFFSET times those of the weights. Everything is exact.

#ifndef LN_ARCH_CPU_SIMD_I8_GENERIC_H
#define LN_ARCH_CPU_SIMD_I8_GENERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/simd/f32__generic.h"

#define VI_KERNEL(name) name##__generic

#define VI_OFFSET 0
#define VI_ROWS   4 // of a tile
#define VI_PANELS 1

typedef uint32_t vi_sum __attribute__((vector_size(16)));
typedef struct vi_fours {
    const uint8_t *at;
} vi_fours;
typedef struct vi_bytes {
    const int8_t *at;
} vi_bytes;

VF_VERB vi_sum vi_zero(void)
{
    return (vi_sum){0};
}

VF_VERB vi_fours vi_load_fours(const void *p)
{
    return (vi_fours){p};
}

VF_VERB vi_bytes vi_load_bytes(const int8_t *p)
{
    return (vi_bytes){p};
}

VF_VERB vi_sum vi_dot(vi_sum sum, vi_fours a, vi_bytes w)
{
    for (int lane = 0; lane < 4; lane++)
        for (int q = 0; q < 4; q++)
            sum[lane] += (uint32_t)(a.at[q] * w.at[4 * lane + q]);
    return sum;
}

VF_VERB void vi_store(int32_t *p, vi_sum sum)
{
    memcpy(p, &sum, sizeof sum);
}

// p[i] = a[i] + b[i], which wraps.
VF_VERB void vi_add(int32_t *p, const int32_t *a, const int32_t *b)
{
    for (int lane = 0; lane < 4; lane++)
        p[lane] = (int32_t)((uint32_t)a[lane] + (uint32_t)b[lane]);
}

// a[i] + b[i], which wraps, as floats, rounded to nearest, ties to even.
VF_VERB vf vi_sum_real(const int32_t *a, const int32_t *b)
{
    int32_t sum[4];
    vi_add(sum, a, b);
    return (vf){(float)sum[0], (float)sum[1], (float)sum[2], (float)sum[3]};
}

// The lowest byte of each lane's bits, `zero` added. Not needed by a set that makes bytes of whole
// panels, which defines VI_PANEL_TO_BYTES (i8__x86_256.h).
VF_VERB void vi_store_bytes(uint8_t *p, vf v, int32_t zero, size_t n)
{
    uint32_t bits[4];
    memcpy(bits, &v, sizeof bits);
    for (size_t lane = 0; lane < n; lane++)
        p[lane] = (uint8_t)(bits[lane] + (uint32_t)zero);
}

// `k` bytes to fours, with zeros after the last; those of `flip` are exclusive-ored.
VF_VERB void vi_expand(void *to, const uint8_t *from, size_t k, uint8_t flip)
{
    uint8_t *bytes = to;
    for (size_t i = 0; i < k; i++)
        bytes[i] = from[i] ^ flip;
    memset(bytes + k, 0, (0 - k) & 3);
}

#define VI_TAP_CHANNELS 16
#define VI_TAP_SUMS     4
#define VI_TAP_BYTES    1 // of a weight

typedef vi_sum vi_tap_sum;
#define vi_tap_zero vi_zero

// sums += taps * weights, of the first n channels; bytes of taps are exclusive-ored with `flip`.
// What the other sums become is not said. `is_one`: the other weights are zeros.
VF_VERB void vi_dot_taps(vi_tap_sum sums[VI_TAP_SUMS], const uint8_t *const taps[4],
                         const bool is_one, size_t n, uint8_t flip, const int8_t *w)
{
    (void)is_one;
    for (size_t c = 0; c < n; c++)
        for (int t = 0; t < 4; t++)
            sums[c / 4][c % 4] += (uint32_t)((uint8_t)(taps[t][c] ^ flip) * w[4 * c + (size_t)t]);
}

// VI_TAP_CHANNELS sums in the order of channels.
VF_VERB void vi_store_taps(int32_t *p, const vi_tap_sum sums[VI_TAP_SUMS])
{
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        vi_store(p + 4 * q, sums[q]);
}

#endif
