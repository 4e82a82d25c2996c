// SPDX-License-Identifier: Apache-2.0
// Taps of bytes, written once in verbs. A kernel file includes those of its instruction set, then
// this.

#ifndef LN_ARCH_CPU_KERNELS_TAPS_I8_BODY_H
#define LN_ARCH_CPU_KERNELS_TAPS_I8_BODY_H

#include "arch/cpu/kernels/conv_i8/taps_i8.h"
#include "arch/cpu/kernels/gemm_i8/epilogue_i8.h"
#include "base/minmax.h"

#define TAPS_FOUR_BYTES (4 * VI_TAP_CHANNELS)

typedef struct taps_sums {
    _Alignas(64) int32_t of[VI_TAP_CHANNELS];
} taps_sums;

VF_VERB void taps_dot(const ln_taps_i8_args *a, size_t first, const size_t n, const int8_t *w,
                      taps_sums *out)
{
    vi_sum sums[VI_TAP_SUMS];
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        sums[q] = vi_zero();
    for (size_t i = 0; i < a->fours; i++, w += TAPS_FOUR_BYTES) {
        const uint8_t *const *at = a->taps + 4 * i;
        const uint8_t *const taps[4] = {at[0] + first, at[1] + first, at[2] + first, at[3] + first};
        vi_dot_taps(sums, taps, n, a->flip, w);
    }
    vi_store_taps(out->of, sums);
}

// Weights with zero points are rare.
static __attribute__((noinline)) void taps_subtract_zeros(const ln_taps_i8_args *a, size_t first,
                                                          size_t n, taps_sums *sums)
{
    taps_sums alone;
    taps_dot(a, first, n, a->ones, &alone);
    const int32_t *zeros = a->epilogue.column_zeros + first;
    for (size_t c = 0; c < n; c++) {
        uint32_t row = (uint32_t)alone.of[c] - (uint32_t)a->row_zero;
        sums->of[c] = (int32_t)((uint32_t)sums->of[c] - (uint32_t)zeros[c] * row);
    }
}

static void taps_run(const ln_taps_i8_args *a)
{
    const int8_t *w = a->weights;
    for (size_t first = 0; first < a->channels; first += VI_TAP_CHANNELS) {
        const size_t n = ln_min(a->channels - first, (size_t)VI_TAP_CHANNELS);
        taps_sums sums;
        if (n == VI_TAP_CHANNELS)
            taps_dot(a, first, VI_TAP_CHANNELS, w, &sums);
        else
            taps_dot(a, first, n, w, &sums);
        if (a->ones)
            taps_subtract_zeros(a, first, n, &sums);
        for (size_t c = 0; c < n; c += VF_LANES) {
            const epilogue_columns columns = {.m = 1,
                                              .n = ln_min(n - c, (size_t)VF_LANES),
                                              .sums = sums.of + c,
                                              .epilogue = &a->epilogue,
                                              .column = first + c};
            epilogue_put(&columns, a->y);
        }
        w += a->fours * TAPS_FOUR_BYTES;
    }
}

static void taps_arrange(size_t channels, size_t fours, const int8_t *packed, int8_t *to)
{
    const size_t padded = ln_div_up(channels, 16) * 16;
    for (size_t first = 0; first < channels; first += VI_TAP_CHANNELS) {
        for (size_t i = 0; i < fours; i++, to += TAPS_FOUR_BYTES) {
            const int8_t *from = packed + 4 * (i * padded + first);
            const size_t n = ln_min(padded - first, (size_t)VI_TAP_CHANNELS);
            memset(to, 0, TAPS_FOUR_BYTES);
            for (size_t c = 0; c < n; c++)
                memcpy(to + 4 * vi_tap_place(c), from + 4 * c, 4);
        }
    }
}

_Static_assert(VI_TAP_CHANNELS <= LN_TAPS_I8_MAX_CHANNELS, "workspaces are for smaller blocks");
const ln_taps_i8_kernel VI_KERNEL(ln_k_taps_i8) = {
    .channels = VI_TAP_CHANNELS,
    .offset = VI_OFFSET,
    .run = taps_run,
    .arrange = taps_arrange,
};

#endif
