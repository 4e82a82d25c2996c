// SPDX-License-Identifier: Apache-2.0
// Taps of bytes, written once in verbs. A kernel file includes those of its instruction set, then
// this.

#ifndef LN_ARCH_CPU_KERNELS_TAPS_I8_BODY_H
#define LN_ARCH_CPU_KERNELS_TAPS_I8_BODY_H

#include "arch/cpu/kernels/conv_i8/taps_i8.h"
#include "arch/cpu/kernels/gemm_i8/epilogue_i8.h"
#include "base/minmax.h"

#define TAPS_FOUR_BYTES (4 * VI_TAP_BYTES * VI_TAP_CHANNELS)

typedef struct taps_sums {
    _Alignas(64) int32_t of[VI_TAP_CHANNELS];
} taps_sums;

static size_t taps_fours(const ln_taps_i8_args *a)
{
    return ln_div_up(a->taps, 4);
}

// The channel that block `index` begins with.
static inline size_t taps_first(size_t channels, size_t index)
{
    const size_t first = index * VI_TAP_CHANNELS;
    return channels < VI_TAP_CHANNELS ? 0 : ln_min(first, channels - VI_TAP_CHANNELS);
}

VF_VERB void taps_dot(const ln_taps_i8_args *a, size_t first, const size_t n, const int8_t *w,
                      vi_tap_sum sums[VI_TAP_SUMS])
{
    const uint8_t *const *at = a->at;
    const bool has_one = a->taps % 4 == 1; // in the last four
    for (size_t i = taps_fours(a) - has_one; i > 0; i--, at += 4, w += TAPS_FOUR_BYTES) {
        const uint8_t *const taps[4] = {at[0] + first, at[1] + first, at[2] + first, at[3] + first};
        vi_dot_taps(sums, taps, false, n, a->flip, w);
    }
    if (has_one) {
        const uint8_t *const taps[4] = {at[0] + first, at[1] + first, at[2] + first, at[3] + first};
        vi_dot_taps(sums, taps, true, n, a->flip, w);
    }
}

// ---- Any result, through memory ----

static void taps_sum_up(const ln_taps_i8_args *a, size_t first, size_t n, const int8_t *w,
                        taps_sums *out)
{
    vi_tap_sum sums[VI_TAP_SUMS];
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        sums[q] = vi_tap_zero();
    taps_dot(a, first, n, w, sums);
    vi_store_taps(out->of, sums);
}

static void taps_subtract_zeros(const ln_taps_i8_args *a, size_t first, size_t n, taps_sums *sums)
{
    taps_sums alone;
    taps_sum_up(a, first, n, a->ones, &alone);
    const int32_t *zeros = a->epilogue.column_zeros + first;
    for (size_t c = 0; c < n; c++) {
        uint32_t row = (uint32_t)alone.of[c] - (uint32_t)a->row_zero;
        sums->of[c] = (int32_t)((uint32_t)sums->of[c] - (uint32_t)zeros[c] * row);
    }
}

static __attribute__((noinline)) void taps_run_any(const ln_taps_i8_args *a, void *y)
{
    const int8_t *w = a->weights;
    const size_t n = ln_min(a->channels, (size_t)VI_TAP_CHANNELS);
    for (size_t i = 0; i * VI_TAP_CHANNELS < a->channels; i++) {
        const size_t first = taps_first(a->channels, i);
        taps_sums sums;
        taps_sum_up(a, first, n, w, &sums);
        if (a->ones)
            taps_subtract_zeros(a, first, n, &sums);
        const epilogue_columns columns = {
            .m = 1, .n = n, .sums = sums.of, .epilogue = &a->epilogue, .column = first};
        epilogue_put(&columns, y);
        w += taps_fours(a) * TAPS_FOUR_BYTES;
    }
}

static void taps_arrange(size_t channels, size_t fours, const int8_t *packed, int8_t *to)
{
    const size_t padded = ln_div_up(channels, 16) * 16;
    const size_t n = ln_min(channels, (size_t)VI_TAP_CHANNELS);
    for (size_t i = 0; i * VI_TAP_CHANNELS < channels; i++) {
        const int8_t *from = packed + 4 * taps_first(channels, i);
        for (size_t k = 0; k < fours; k++, from += 4 * padded, to += TAPS_FOUR_BYTES) {
#ifdef VI_TAPS_TO_BYTES
            int8_t four[4 * VI_TAP_CHANNELS] = {0};
            memcpy(four, from, 4 * n);
            for (size_t q = 0; q < VI_TAP_SUMS; q++)
                vi_store_tap_weights(to, q, vi_load_ordered(four, q));
#else
            memset(to, 0, TAPS_FOUR_BYTES);
            memcpy(to, from, 4 * n);
#endif
        }
    }
}

#ifdef VI_TAPS_TO_BYTES

// ---- Bytes and sums, from registers ----

// Of a block: addends, factors, bias, zero points.
#define TAPS_COLUMNS (LN_TAPS_I8_COLUMNS * VI_TAP_CHANNELS)

static void taps_arrange_column(const void *channels, size_t first, size_t n, int32_t *to)
{
    int32_t some[VI_TAP_CHANNELS] = {0};
    if (channels)
        memcpy(some, (const int32_t *)channels + first, n * sizeof *some);
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        _mm256_storeu_si256((void *)(to + 8 * q), vi_load_ordered(some, q));
}

static void taps_arrange_columns(size_t channels, const ln_epilogue_i8 *e, int32_t *to)
{
    const size_t n = ln_min(channels, (size_t)VI_TAP_CHANNELS);
    for (size_t i = 0; i * VI_TAP_CHANNELS < channels; i++, to += TAPS_COLUMNS) {
        const size_t first = taps_first(channels, i);
        taps_arrange_column(e->addends, first, n, to);
        taps_arrange_column(e->factors, first, n, to + VI_TAP_CHANNELS);
        taps_arrange_column(e->bias, first, n, to + (size_t)2 * VI_TAP_CHANNELS);
        taps_arrange_column(e->column_zeros, first, n, to + (size_t)3 * VI_TAP_CHANNELS);
    }
}

static void taps_move(const ln_taps_i8_args *a)
{
    _Static_assert(sizeof *a->at == 8 && sizeof *a->steps == 8, "a vector has four");
    for (size_t i = 0; i < a->taps; i += 4) {
        __m256i *at = (void *)(a->at + i);
        const __m256i *steps = (const void *)(a->steps + i);
        _mm256_storeu_si256(at,
                            _mm256_add_epi64(_mm256_loadu_si256(at), _mm256_loadu_si256(steps)));
    }
}

// Zero points times the sum of the taps alone are taken from the sums.
VF_VERB void taps_subtract(const ln_taps_i8_args *a, size_t first, const int32_t *zeros,
                           vi_tap_sum sums[VI_TAP_SUMS])
{
    vi_tap_sum alone[VI_TAP_SUMS];
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        alone[q] = _mm256_set1_epi32((int32_t)(0 - (uint32_t)a->row_zero));
    taps_dot(a, first, VI_TAP_CHANNELS, a->ones, alone);
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++) {
        const __m256i zero = _mm256_loadu_si256((const void *)(zeros + 8 * q));
        sums[q] = _mm256_sub_epi32(sums[q], _mm256_mullo_epi32(alone[q], zero));
    }
}

// The first n channels of `first` on, of a pixel.
VF_VERB void taps_put(const ln_epilogue_i8 *e, size_t first, size_t n,
                      const vi_tap_sum sums[VI_TAP_SUMS], const float *factors, const float *bias,
                      const vi_bounds *bounds, void *y)
{
    int32_t all[VI_TAP_CHANNELS], *to = (int32_t *)y + first;
    if (e->result == LN_I8_TO_SUMS) {
        vi_store_taps(n == VI_TAP_CHANNELS ? to : all, sums);
        if (n != VI_TAP_CHANNELS)
            memcpy(to, all, n * sizeof *to);
    } else {
        vi_put_taps((uint8_t *)y + first, n, sums, factors, bias, bounds);
    }
}

static void taps_run_quick(const ln_taps_i8_args *a, const vi_bounds *bounds, void *y)
{
    const size_t n = ln_min(a->channels, (size_t)VI_TAP_CHANNELS);
    const int8_t *w = a->weights;
    const int32_t *addends = a->columns;
    for (size_t i = 0; i * VI_TAP_CHANNELS < a->channels; i++, addends += TAPS_COLUMNS) {
        const size_t first = taps_first(a->channels, i);
        const float *factors = (const float *)(const void *)(addends + VI_TAP_CHANNELS);
        vi_tap_sum sums[VI_TAP_SUMS];
        LN_UNROLL
        for (size_t q = 0; q < VI_TAP_SUMS; q++)
            sums[q] = _mm256_loadu_si256((const void *)(addends + 8 * q));
        taps_dot(a, first, VI_TAP_CHANNELS, w, sums);
        if (a->ones)
            taps_subtract(a, first, addends + (size_t)3 * VI_TAP_CHANNELS, sums);
        taps_put(&a->epilogue, first, n, sums, factors,
                 a->epilogue.bias ? factors + VI_TAP_CHANNELS : NULL, bounds, y);
        w += taps_fours(a) * TAPS_FOUR_BYTES;
    }
}

static void taps_run(const ln_taps_i8_args *a)
{
    const ln_epilogue_i8 *e = &a->epilogue;
    const vi_bounds bounds = vi_bounds_of(e->low, e->high, e->zero);
    const bool is_quick =
        e->result != LN_I8_TO_FLOATS && (a->has_more || a->channels >= VI_TAP_CHANNELS);
    uint8_t *y = a->y;
    for (size_t i = 0; i < a->pixels; i++, y += a->y_step) {
        if (is_quick)
            taps_run_quick(a, &bounds, y);
        else
            taps_run_any(a, y);
        taps_move(a);
    }
}

#define TAPS_ARRANGE_COLUMNS taps_arrange_columns

#ifdef VI_TAP_WINDOWS

// ---- Windows of 3x3 ----

static void taps_arrange_window(size_t channels, const int8_t *packed, int8_t *to)
{
    const size_t padded = ln_div_up(channels, 16) * 16;
    const __m256i byte = _mm256_set1_epi32(255);
    for (size_t i = 0; i * VI_TAP_CHANNELS < channels; i++, to += LN_TAPS_I8_WINDOW_BYTES) {
        const int8_t *from = packed + 4 * taps_first(channels, i);
        for (size_t q = 0; q < VI_TAP_SUMS; q++) {
            __m256i fours[3], tap[12];
            for (size_t k = 0; k < 3; k++)
                fours[k] = vi_load_ordered(from + 4 * padded * k, q);
            for (size_t t = 0; t < 12; t++)
                tap[t] = _mm256_and_si256(_mm256_srli_epi32(fours[t / 4], 8 * (t % 4)), byte);
            for (size_t k = 0; k < 3; k++) {
                __m256i column = _mm256_or_si256(tap[k], _mm256_slli_epi32(tap[k + 3], 8));
                column = _mm256_or_si256(column, _mm256_slli_epi32(tap[k + 6], 16));
                _mm256_storeu_si256((void *)(to + 32 * (VI_TAP_SUMS * k + q)), column);
            }
        }
    }
}

// The fours of each channel that a column of three taps has.
VF_VERB void taps_load_column(const uint8_t *const at[3], __m256i flips,
                              __m256i column[VI_TAP_SUMS])
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i a = vi_load_tap(at[0], VI_TAP_CHANNELS, flips);
    const __m256i b = vi_load_tap(at[1], VI_TAP_CHANNELS, flips);
    const __m256i c = vi_load_tap(at[2], VI_TAP_CHANNELS, flips);
    const __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
    const __m256i low_c = _mm256_unpacklo_epi8(c, none), high_c = _mm256_unpackhi_epi8(c, none);
    column[0] = _mm256_unpacklo_epi16(low, low_c);
    column[1] = _mm256_unpackhi_epi16(low, low_c);
    column[2] = _mm256_unpacklo_epi16(high, high_c);
    column[3] = _mm256_unpackhi_epi16(high, high_c);
}

VF_VERB void taps_dot_column(vi_tap_sum sums[VI_TAP_SUMS], const __m256i column[VI_TAP_SUMS],
                             const __m256i w[VI_TAP_SUMS])
{
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        sums[q] = vi_dot_column(sums[q], column[q], w[q]);
}

VF_VERB void taps_load(const void *from, __m256i to[VI_TAP_SUMS])
{
    LN_UNROLL
    for (size_t q = 0; q < VI_TAP_SUMS; q++)
        to[q] = _mm256_loadu_si256((const __m256i *)from + q);
}

// Each column is the last one of a window, the middle one of the next, the first one of another.
static void taps_run_block_windows(const ln_taps_i8_args *a, size_t channel, const int8_t *w,
                                   const int32_t *addends, uint8_t *y)
{
    const float *factors = (const float *)(const void *)(addends + VI_TAP_CHANNELS);
    const float *bias = a->epilogue.bias ? factors + VI_TAP_CHANNELS : NULL;
    const vi_bounds bounds = vi_bounds_of(a->epilogue.low, a->epilogue.high, a->epilogue.zero);
    const __m256i flips = _mm256_set1_epi8((char)a->flip);
    const uint8_t *at[3][3]; // of columns
    for (size_t t = 0; t < 9; t++)
        at[t % 3][t / 3] = a->at[t] + channel;
    __m256i weights[3][VI_TAP_SUMS], column[VI_TAP_SUMS];
    vi_tap_sum first[VI_TAP_SUMS], second[VI_TAP_SUMS];
    for (size_t k = 0; k < 3; k++)
        taps_load(w + 32 * VI_TAP_SUMS * k, weights[k]);
    taps_load(addends, first);
    taps_load(addends, second);
    taps_load_column(at[0], flips, column);
    taps_dot_column(first, column, weights[0]);
    taps_load_column(at[1], flips, column);
    taps_dot_column(first, column, weights[1]);
    taps_dot_column(second, column, weights[0]);
    for (size_t i = 0; i < a->pixels; i++, y += a->y_step) {
        vi_tap_sum third[VI_TAP_SUMS];
        taps_load(addends, third);
        taps_load_column(at[2], flips, column);
        taps_dot_column(first, column, weights[2]);
        taps_dot_column(second, column, weights[1]);
        taps_dot_column(third, column, weights[0]);
        taps_put(&a->epilogue, channel, VI_TAP_CHANNELS, first, factors, bias, &bounds, y);
        memcpy(first, second, sizeof first);
        memcpy(second, third, sizeof second);
        LN_UNROLL
        for (size_t k = 0; k < 3; k++)
            at[2][k] += a->steps[3 * k + 2];
    }
}

static void taps_run_windows(const ln_taps_i8_args *a)
{
    const int8_t *w = a->weights;
    const int32_t *columns = a->columns;
    for (size_t i = 0; i * VI_TAP_CHANNELS < a->channels; i++, columns += TAPS_COLUMNS) {
        taps_run_block_windows(a, taps_first(a->channels, i), w, columns, a->y);
        w += LN_TAPS_I8_WINDOW_BYTES;
    }
}

#define TAPS_WINDOWS .run_windows = taps_run_windows, .arrange_window = taps_arrange_window,

#endif

#else

static void taps_move(const ln_taps_i8_args *a)
{
    const uint8_t **at = a->at;
    const size_t *steps = a->steps;
    for (size_t i = 0; i < a->taps; i++)
        at[i] += steps[i];
}

static void taps_run(const ln_taps_i8_args *a)
{
    char *y = a->y;
    for (size_t i = 0; i < a->pixels; i++, y += a->y_step) {
        taps_run_any(a, y);
        taps_move(a);
    }
}

#define TAPS_ARRANGE_COLUMNS NULL

#endif

#ifndef TAPS_WINDOWS
#define TAPS_WINDOWS
#endif

_Static_assert(VI_TAP_CHANNELS >= LN_TAPS_I8_MIN_CHANNELS &&
                   VI_TAP_CHANNELS <= LN_TAPS_I8_MAX_CHANNELS &&
                   VI_TAP_BYTES <= LN_TAPS_I8_MAX_WEIGHT_BYTES,
               "workspaces are for other blocks");
const ln_taps_i8_kernel VI_KERNEL(ln_k_taps_i8) = {.channels = VI_TAP_CHANNELS,
                                                   .weight_bytes = VI_TAP_BYTES,
                                                   .offset = VI_OFFSET,
                                                   .run = taps_run,
                                                   .arrange = taps_arrange,
                                                   .arrange_columns = TAPS_ARRANGE_COLUMNS,
                                                   TAPS_WINDOWS};

#endif
