// SPDX-License-Identifier: Apache-2.0
// F(2x2, 3x3) in words of AVX2. Pairs of channels that are multiplied at once are the first and the
// third of four, then the second and the fourth: even and odd bytes of packed weights.

#include "arch/cpu/kernels/conv_i8/winograd_i8.h"

#include <string.h>

#include "arch/cpu/simd/i8__x86_avx2.h"

#include "arch/cpu/kernels/gemm_i8/epilogue_i8.h"
#include "arch/cpu/simd/unroll.h"
#include "base/minmax.h"

#define LANES 16 // words

// ---- Inputs ----

// The rows of B: what becomes of four numbers.
VF_VERB void mix_inputs(const __m256i d[4], __m256i to[4])
{
    to[0] = _mm256_sub_epi16(d[0], d[2]);
    to[1] = _mm256_add_epi16(d[1], d[2]);
    to[2] = _mm256_sub_epi16(d[2], d[1]);
    to[3] = _mm256_sub_epi16(d[1], d[3]);
}

// Words of 16 channels; zeros for what is outside.
VF_VERB __m256i load_channels(const uint8_t *p, __m128i flips, __m256i zero)
{
    const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
    if (!p)
        return _mm256_setzero_si256();
    const __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const void *)p), flips);
    return _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_shuffle_epi8(bytes, order)), zero);
}

static __attribute__((noinline)) void transform_channels(const ln_winograd_i8_inputs *in, size_t c,
                                                         int16_t *to)
{
    const __m128i flips = _mm_set1_epi8((char)in->flip);
    const __m256i zero = _mm256_set1_epi16((short)in->zero);
    __m256i half[4][4]; // columns of the image, then rows that are mixed
    LN_UNROLL
    for (size_t x = 0; x < 4; x++) {
        __m256i d[4];
        LN_UNROLL
        for (size_t y = 0; y < 4; y++) {
            const uint8_t *pixel = in->pixels[4 * y + x];
            d[y] = load_channels(pixel ? pixel + c : NULL, flips, zero);
        }
        mix_inputs(d, half[x]);
    }
    LN_UNROLL
    for (size_t y = 0; y < 4; y++) {
        const __m256i row[4] = {half[0][y], half[1][y], half[2][y], half[3][y]};
        __m256i mixed[4];
        mix_inputs(row, mixed);
        LN_UNROLL
        for (size_t x = 0; x < 4; x++)
            _mm256_storeu_si256((void *)(to + (4 * y + x) * in->position_step), mixed[x]);
    }
}

// The channels from c on, which are fewer than 16.
static void transform_rest(const ln_winograd_i8_inputs *in, size_t c, int16_t *to)
{
    uint8_t channels[LN_WINOGRAD_I8_POSITIONS][LANES] = {{0}};
    ln_winograd_i8_inputs rest = *in;
    for (size_t i = 0; i < LN_WINOGRAD_I8_POSITIONS; i++) {
        if (!in->pixels[i])
            continue;
        memcpy(channels[i], in->pixels[i] + c, in->channels - c);
        rest.pixels[i] = channels[i];
    }
    transform_channels(&rest, 0, to);
}

static void transform_inputs(const ln_winograd_i8_inputs *in, int16_t *to)
{
    size_t c = 0;
    for (; c + LANES <= in->channels; c += LANES)
        transform_channels(in, c, to + c);
    if (c < in->channels)
        transform_rest(in, c, to + c);
}

// ---- Weights ----

// Twice the rows of G.
VF_VERB void mix_weights(const __m256i g[3], __m256i to[4])
{
    const __m256i ends = _mm256_add_epi16(g[0], g[2]);
    to[0] = _mm256_add_epi16(g[0], g[0]);
    to[1] = _mm256_add_epi16(ends, g[1]);
    to[2] = _mm256_sub_epi16(ends, g[1]);
    to[3] = _mm256_add_epi16(g[2], g[2]);
}

// Even or odd bytes of a four of eight columns, less their zero points.
VF_VERB void transform_pairs(const ln_winograd_i8_weights *w, const int8_t *fours, __m256i zeros,
                             const bool is_odd, int16_t *to)
{
    __m256i half[3][4];
    LN_UNROLL
    for (size_t x = 0; x < 3; x++) {
        __m256i g[3];
        LN_UNROLL
        for (size_t y = 0; y < 3; y++) {
            g[y] = _mm256_loadu_si256((const void *)(fours + (3 * y + x) * w->tap_step));
            g[y] = _mm256_srai_epi16(is_odd ? g[y] : _mm256_slli_epi16(g[y], 8), 8);
            g[y] = _mm256_sub_epi16(g[y], zeros);
        }
        mix_weights(g, half[x]);
    }
    LN_UNROLL
    for (size_t y = 0; y < 4; y++) {
        const __m256i row[3] = {half[0][y], half[1][y], half[2][y]};
        __m256i mixed[4];
        mix_weights(row, mixed);
        LN_UNROLL
        for (size_t x = 0; x < 4; x++)
            _mm256_storeu_si256((void *)(to + (4 * y + x) * w->position_step), mixed[x]);
    }
}

// The zero points of eight columns, each twice.
VF_VERB __m256i load_zeros(const int32_t *zeros)
{
    const __m256i all = _mm256_loadu_si256((const void *)zeros);
    return _mm256_blend_epi16(all, _mm256_slli_epi32(all, 16), 0xaa);
}

static void transform_weights(const ln_winograd_i8_weights *w, int16_t *to)
{
    const __m256i zeros[2] = {load_zeros(w->zeros), load_zeros(w->zeros + 8)};
    for (size_t i = 0; i < w->count; i++, to += 4 * LANES) {
        const int8_t *fours = w->fours + i * 4 * LN_TILE_I8_LANES;
        for (size_t j = 0; j < 2; j++) {
            transform_pairs(w, fours + 32 * j, zeros[j], false, to + j * LANES);
            transform_pairs(w, fours + 32 * j, zeros[j], true, to + (2 + j) * LANES);
        }
    }
}

// ---- Products ----

#define ROWS 6 // tiles: with weights and inputs their sums fill 15 registers

VF_VERB void multiply_tiles(const ln_winograd_i8_product *p, size_t tile, const size_t tiles)
{
    const int16_t *x = p->inputs + tile * p->tile_step, *w = p->weights;
    int32_t *to = p->sums + tile * LN_TILE_I8_LANES;
    const size_t step = p->tile_step;
    __m256i sum[ROWS][2];
    LN_UNROLL
    for (size_t i = 0; i < tiles; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_si256();
    for (size_t pair = 0; pair < 2 * p->fours; pair++, x += 2, w += 2 * LANES) {
        const __m256i w0 = _mm256_loadu_si256((const void *)w);
        const __m256i w1 = _mm256_loadu_si256((const void *)(w + LANES));
        LN_UNROLL
        for (size_t i = 0; i < tiles; i++) {
            int32_t two;
            memcpy(&two, x + i * step, sizeof two);
            const __m256i twos = _mm256_set1_epi32(two);
            sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(twos, w0));
            sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(twos, w1));
        }
    }
    LN_UNROLL
    for (size_t i = 0; i < 2 * tiles; i++) {
        void *at = to + i * VF_LANES;
        __m256i all = sum[i / 2][i % 2];
        if (!p->is_first)
            all = _mm256_add_epi32(all, _mm256_loadu_si256(at));
        _mm256_storeu_si256(at, all);
    }
}

static void multiply(const ln_winograd_i8_product *p)
{
    size_t tile = 0;
    for (; tile + ROWS <= p->tiles; tile += ROWS)
        multiply_tiles(p, tile, ROWS);
    for (; tile + 2 <= p->tiles; tile += 2)
        multiply_tiles(p, tile, 2);
    if (tile < p->tiles)
        multiply_tiles(p, tile, 1);
}

// ---- Outputs ----

// The rows of A.
VF_VERB void mix_outputs(const __m256i m[4], __m256i to[2])
{
    to[0] = _mm256_add_epi32(_mm256_add_epi32(m[0], m[1]), m[2]);
    to[1] = _mm256_sub_epi32(_mm256_sub_epi32(m[1], m[2]), m[3]);
}

VF_VERB void transform_sums(const ln_winograd_i8_outputs *o, size_t at, size_t to)
{
    __m256i half[4][2];
    LN_UNROLL
    for (size_t x = 0; x < 4; x++) {
        __m256i m[4];
        LN_UNROLL
        for (size_t y = 0; y < 4; y++)
            m[y] =
                _mm256_loadu_si256((const void *)(o->sums + (4 * y + x) * o->position_step + at));
        mix_outputs(m, half[x]);
    }
    LN_UNROLL
    for (size_t y = 0; y < 2; y++) {
        const __m256i row[4] = {half[0][y], half[1][y], half[2][y], half[3][y]};
        __m256i mixed[2];
        mix_outputs(row, mixed);
        LN_UNROLL
        for (size_t x = 0; x < 2; x++)
            _mm256_storeu_si256((void *)(o->rows[y] + to + x * LN_TILE_I8_LANES),
                                _mm256_srai_epi32(mixed[x], 2));
    }
}

static void transform_outputs(const ln_winograd_i8_outputs *o)
{
    for (size_t tile = 0; tile < o->tiles; tile++)
        for (size_t j = 0; j < LN_TILE_I8_LANES; j += VF_LANES)
            transform_sums(o, tile * LN_TILE_I8_LANES + j, 2 * tile * LN_TILE_I8_LANES + j);
}

static void put(const ln_winograd_i8_pixels *p)
{
    const epilogue_columns c = {.m = p->count,
                                .n = ln_min(p->columns - p->column, (size_t)LN_TILE_I8_LANES),
                                .step = p->y_step,
                                .sums = p->sums,
                                .sums_step = LN_TILE_I8_LANES,
                                .epilogue = p->epilogue,
                                .column = p->column};
    epilogue_put(&c, p->y);
}

const ln_winograd_i8_kernels ln_k_winograd_i8__x86_avx2 = {
    .transform_inputs = transform_inputs,
    .transform_weights = transform_weights,
    .multiply = multiply,
    .transform_outputs = transform_outputs,
    .put = put,
};
