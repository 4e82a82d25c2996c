// SPDX-License-Identifier: Apache-2.0
// Bytes to floats, and sums in floats to results: loops that the compiler makes vectors of.

#ifndef LN_ARCH_CPU_KERNELS_IN_FLOATS_BODY_H
#define LN_ARCH_CPU_KERNELS_IN_FLOATS_BODY_H

#include <string.h>

#include "arch/cpu/kernels/conv_i8/in_floats.h"

#if VI_IN_FLOATS

static void in_floats_widen_row(size_t n, const uint8_t *x, uint8_t flip, int32_t zero,
                                float *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)((int32_t)(x[i] ^ flip) - zero);
}

static void in_floats_widen(const ln_widened_rows *r, float *to)
{
    const uint8_t *x = r->x;
    for (size_t i = 0; i < r->rows; i++, x += r->step, to += r->len)
        in_floats_widen_row(r->len, x, r->flip, r->zero, to);
}

// Byte `tap` of four in memory, as a shift to the top before one back.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define IN_FLOATS_LEFT(tap) (24 - 8 * (tap))
#else
#define IN_FLOATS_LEFT(tap) (8 * (tap))
#endif

static void in_floats_widen_tap(size_t channels, size_t tap, const int8_t *fours,
                                const int32_t *zeros, float *restrict to)
{
    const uint32_t left = (uint32_t)IN_FLOATS_LEFT(tap);
    for (size_t c = 0; c < channels; c++) {
        uint32_t four;
        memcpy(&four, fours + 4 * c, sizeof four);
        const int32_t weight = (int32_t)(four << left) >> 24;
        to[c] = (float)(zeros ? weight - zeros[c] : weight);
    }
}

static void in_floats_widen_fours(size_t channels, size_t taps, const int8_t *fours,
                                  const int32_t *zeros, float *to, size_t to_step)
{
    for (size_t t = 0; t < taps; t++)
        in_floats_widen_tap(channels, t, fours, zeros, to + t * to_step);
}

// ---- Results ----

static inline int32_t in_floats_sum(float sum, int32_t addend)
{
    return (int32_t)((uint32_t)(int32_t)sum + (uint32_t)addend);
}

static void in_floats_put_sums(size_t n, const float *sums, const ln_epilogue_i8 *e,
                               int32_t *restrict y)
{
    const int32_t *addends = e->addends;
    for (size_t c = 0; c < n; c++)
        y[c] = in_floats_sum(sums[c], addends[c]);
}

static void in_floats_put_floats(size_t n, const float *sums, const ln_epilogue_i8 *e,
                                 float *restrict y)
{
    const int32_t *addends = e->addends;
    const float *factors = e->factors, *bias = e->bias;
    for (size_t c = 0; c < n; c++)
        y[c] = (float)in_floats_sum(sums[c], addends[c]) * factors[c];
    for (size_t c = 0; bias && c < n; c++)
        y[c] += bias[c];
}

// Adding this brings a whole number, of less than 2^22, into the lowest bits, rounded.
#define IN_FLOATS_ROUNDING 12582912.0f

static inline __attribute__((always_inline)) void in_floats_put_bytes(size_t n, const float *sums,
                                                                      const ln_epilogue_i8 *e,
                                                                      const bool has_bias,
                                                                      uint8_t *restrict y)
{
    const int32_t *addends = e->addends;
    const float *factors = e->factors, *bias = e->bias, low = e->low, high = e->high;
    const uint32_t zero = (uint32_t)e->zero;
    for (size_t c = 0; c < n; c++) {
        float v = (float)in_floats_sum(sums[c], addends[c]) * factors[c];
        if (has_bias)
            v += bias[c];
        v = v > low ? v : low; // NaN is not greater
        v = v < high ? v : high;
        v += IN_FLOATS_ROUNDING;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        y[c] = (uint8_t)(bits + zero);
    }
}

static void in_floats_finish(const ln_float_sums *s)
{
    const ln_epilogue_i8 *e = &s->epilogue;
    const float *sums = s->sums;
    const size_t n = s->channels;
    for (size_t i = 0, at = 0; i < s->pixels; i++, sums += n, at += s->y_step) {
        if (e->result == LN_I8_TO_SUMS)
            in_floats_put_sums(n, sums, e, (int32_t *)s->y + at);
        else if (e->result == LN_I8_TO_FLOATS)
            in_floats_put_floats(n, sums, e, (float *)s->y + at);
        else if (e->bias)
            in_floats_put_bytes(n, sums, e, true, (uint8_t *)s->y + at);
        else
            in_floats_put_bytes(n, sums, e, false, (uint8_t *)s->y + at);
    }
}

const ln_in_floats_kernels VI_KERNEL(ln_k_in_floats) = {
    .widen = in_floats_widen,
    .widen_fours = in_floats_widen_fours,
    .finish = in_floats_finish,
};

#else

const ln_in_floats_kernels VI_KERNEL(ln_k_in_floats) = {NULL, NULL, NULL};

#endif

#endif
