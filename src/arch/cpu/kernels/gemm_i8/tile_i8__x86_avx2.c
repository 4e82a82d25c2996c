// SPDX-License-Identifier: Apache-2.0
// The tile of bytes on AVX2: narrow fours are multiplied as bytes, the others as words.

#include "arch/cpu/simd/i8__x86_avx2.h"

#include <assert.h>

#include "arch/cpu/kernels/gemm_i8/tile_sums_i8.h"
#include "arch/cpu/simd/unroll.h"

#define FOUR_BYTES (4 * LN_TILE_I8_LANES) // of a panel

// So few fours are words all: two loops whose lengths change from half to half are mispredicted.
#define FEW_FOURS 8

VF_VERB void multiply_narrow(const char *a, size_t a_step, const int8_t *four, const size_t rows,
                             vi_sum sums[VI_ROWS])
{
    const vi_bytes w = vi_load_bytes(four);
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        sums[i] = vi_dot(sums[i], vi_load_fours(a + i * a_step), w);
}

VF_VERB void multiply_wide(const char *words, size_t step, const int8_t *four, const size_t rows,
                           vi_sum sums[VI_ROWS])
{
    const vi_bytes w = vi_load_bytes(four);
    const __m256i even = vi_even_bytes(w), odd = vi_odd_bytes(w);
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        sums[i] = vi_dot_words(sums[i], words + i * step, even, odd);
}

// The columns of a vector.
VF_VERB void multiply(const ln_tile_i8_args *t, size_t column, size_t row, const size_t rows,
                      tile_sums *out)
{
    const size_t half = column / VF_LANES;
    const int8_t *panel = t->panels + half / 2 * t->panel_step + half % 2 * 4 * VF_LANES;
    const uint16_t *order =
        t->orders && t->fours > FEW_FOURS ? t->orders + half * t->order_step : NULL;
    const size_t narrow = order ? order[0] : 0, a_step = t->a_step, words_step = 8 * t->fours;
    const char *a = t->a + row * a_step, *words = t->words + row * words_step;
    vi_sum sums[VI_ROWS];
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        sums[i] = vi_zero();
    size_t p = 0;
    for (; p < narrow; p++)
        multiply_narrow(a + 4 * order[1 + p], a_step, panel + order[1 + p] * FOUR_BYTES, rows,
                        sums);
    for (; p < t->fours; p++) {
        const size_t four = order ? order[1 + p] : p;
        multiply_wide(words + 8 * four, words_step, panel + four * FOUR_BYTES, rows, sums);
    }
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        vi_store(&out->of[row + i][column % TILE_COLUMNS], sums[i]);
}

static __attribute__((noinline)) void multiply_8(const ln_tile_i8_args *t, size_t column,
                                                 tile_sums *sums)
{
    multiply(t, column, 0, 8, sums);
}

static __attribute__((noinline)) void multiply_fewer(const ln_tile_i8_args *t, size_t column,
                                                     tile_sums *sums)
{
    size_t row = 0;
    for (; row + 4 <= t->m; row += 4)
        multiply(t, column, row, 4, sums);
    for (; row + 2 <= t->m; row += 2)
        multiply(t, column, row, 2, sums);
    if (row < t->m)
        multiply(t, column, row, 1, sums);
}

static void run(const ln_tile_i8_args *t)
{
    assert(t->m >= 1 && t->m <= VI_ROWS && t->n >= 1);
    tile_sums sums;
    for (size_t column = 0; column < t->n; column += TILE_COLUMNS) {
        for (size_t half = column; half < t->n && half < column + TILE_COLUMNS; half += VF_LANES) {
            if (t->m == VI_ROWS)
                multiply_8(t, half, &sums);
            else
                multiply_fewer(t, half, &sums);
        }
        tile_finish(t, column, &sums);
    }
}

_Static_assert(VI_ROWS <= LN_TILE_I8_MAX_WIDE_ROWS, "workspaces are sized for fewer words");
const ln_tile_i8_kernel VI_KERNEL(ln_k_tile_i8) = {
    .rows = VI_ROWS,
    .panels = VI_PANELS,
    .offset = VI_OFFSET,
    .widen = vi_widen,
    .run = run,
    .expand = vi_expand,
};
