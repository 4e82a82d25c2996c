// SPDX-License-Identifier: Apache-2.0
// The tile of bytes on AVX2. Bytes are multiplied two by two and summed in 16 bits where spans and
// limits say that nothing saturates (tile_i8.h), four products of a column or two; else as words.

#include "arch/cpu/simd/i8__x86_avx2.h"

#include <assert.h>

#include "arch/cpu/kernels/gemm_i8/tile_sums_i8.h"
#include "arch/cpu/simd/unroll.h"
#include "base/minmax.h"

#define FOUR_BYTES  (4 * LN_TILE_I8_LANES) // of a panel
#define EIGHT_BYTES (2 * FOUR_BYTES)

// Sums of four products of a column stay within 16 bits.
VF_VERB void multiply_double(const char *a, size_t step, const int8_t *eight, const size_t rows,
                             vi_sum sums[VI_ROWS])
{
    const vi_bytes first = vi_load_bytes(eight), second = vi_load_bytes(eight + FOUR_BYTES);
    LN_UNROLL
    for (size_t i = 0; i < rows; i++, a += step)
        sums[i] = vi_dot_double(sums[i], a, first, second);
}

// Sums of two do.
VF_VERB void multiply_narrow(const char *a, size_t step, const int8_t *four, const size_t rows,
                             vi_sum sums[VI_ROWS])
{
    const vi_bytes w = vi_load_bytes(four);
    LN_UNROLL
    for (size_t i = 0; i < rows; i++, a += step)
        sums[i] = vi_dot(sums[i], vi_load_fours(a), w);
}

VF_VERB void multiply_wide(const char *words, size_t step, const int8_t *four, const size_t rows,
                           vi_sum sums[VI_ROWS])
{
    const vi_bytes w = vi_load_bytes(four);
    const __m256i even = vi_even_bytes(w), odd = vi_odd_bytes(w);
    LN_UNROLL
    for (size_t i = 0; i < rows; i++, words += step)
        sums[i] = vi_dot_words(sums[i], words, even, odd);
}

// Eights that are looked at together, each a bit.
#define LOOK 64

// Which spans are within their limits. Those of as many vectors as are begun are read.
VF_VERB uint64_t are_within(const uint8_t *spans, const uint8_t *limits, size_t count)
{
    uint64_t within = 0;
    for (size_t i = 0; i < count; i += 32) {
        const __m256i s = _mm256_loadu_si256((const void *)(spans + i));
        const __m256i l = _mm256_loadu_si256((const void *)(limits + i));
        const __m256i is_within = _mm256_cmpeq_epi8(_mm256_min_epu8(s, l), s);
        within |= (uint64_t)(uint32_t)_mm256_movemask_epi8(is_within) << i;
    }
    return within;
}

// Eights, each a bit, by how their products are summed.
typedef struct ways {
    uint64_t doubles, narrow, wide;
} ways;

// So few fours are all wide: loops whose lengths change from half to half are mispredicted.
#define FEW_FOURS 8

// The ways of `count` eights. `step` is from their first spans to the second ones.
VF_VERB ways find_ways(const uint8_t *spans, size_t step, const uint8_t *limits, size_t count)
{
    const uint64_t all = UINT64_MAX >> (LOOK - count);
    const uint64_t within = are_within(spans, limits, count) & all;
    const uint64_t doubles = are_within(spans + step, limits, count) & within;
    return (ways){doubles, within & ~doubles, all & ~within};
}

// The same weights of the next panel; of the last one, what is after it, which may be anything.
VF_VERB void fetch_ahead(const int8_t *eight, size_t panel_step)
{
    const uintptr_t next = (uintptr_t)eight + panel_step;
    __builtin_prefetch((const void *)next);
    __builtin_prefetch((const void *)(next + FOUR_BYTES));
}

// Up to LOOK eights of all rows.
VF_VERB void multiply_eights(const char *a, size_t a_step, const char *words, size_t words_step,
                             const int8_t *panel, size_t panel_step, ways by, const size_t rows,
                             vi_sum sums[VI_ROWS])
{
    for (uint64_t left = by.doubles; left; left &= left - 1) {
        const size_t e = (size_t)__builtin_ctzll(left);
        fetch_ahead(panel + e * EIGHT_BYTES, panel_step);
        multiply_double(a + 8 * e, a_step, panel + e * EIGHT_BYTES, rows, sums);
    }
    for (uint64_t left = by.narrow; left; left &= left - 1) {
        const size_t e = (size_t)__builtin_ctzll(left);
        const int8_t *eight = panel + e * EIGHT_BYTES;
        fetch_ahead(eight, panel_step);
        multiply_narrow(a + 8 * e, a_step, eight, rows, sums);
        multiply_narrow(a + 8 * e + 4, a_step, eight + FOUR_BYTES, rows, sums);
    }
    for (uint64_t left = by.wide; left; left &= left - 1) {
        const size_t e = (size_t)__builtin_ctzll(left);
        const int8_t *eight = panel + e * EIGHT_BYTES;
        fetch_ahead(eight, panel_step);
        multiply_wide(words + 16 * e, words_step, eight, rows, sums);
        multiply_wide(words + 16 * e + 8, words_step, eight + FOUR_BYTES, rows, sums);
    }
}

// The columns of a vector.
VF_VERB void multiply(const ln_tile_i8_args *t, size_t column, size_t row, const size_t rows,
                      tile_sums *out)
{
    const size_t half = column / VF_LANES, words_step = 8 * t->fours;
    const size_t all_eights = t->fours / 2, eights = t->fours <= FEW_FOURS ? 0 : all_eights;
    const int8_t *panel = t->panels + half / 2 * t->panel_step + half % 2 * 4 * VF_LANES;
    const uint8_t *spans = t->spans + half * 2 * all_eights;
    const char *a = t->a + row * t->a_step, *words = t->words + row * words_step;
    vi_sum sums[VI_ROWS];
    LN_UNROLL
    for (size_t i = 0; i < rows; i++)
        sums[i] = vi_zero();
    for (size_t p = 0; p < eights; p += LOOK) {
        const size_t count = ln_min(eights - p, (size_t)LOOK);
        multiply_eights(a + 8 * p, t->a_step, words + 16 * p, words_step, panel + p * EIGHT_BYTES,
                        t->panel_step, find_ways(spans + p, eights, t->limits + p, count), rows,
                        sums);
    }
    for (size_t p = 2 * eights; p < t->fours; p++)
        multiply_wide(words + 8 * p, words_step, panel + p * FOUR_BYTES, rows, sums);
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

// ---- Rows of A ----

// Some fours of all rows: 8, or fewer at the end.
typedef struct column_block {
    const ln_ready_i8_args *rows;
    size_t first; // byte of a row
    __m256i mask; // of fours
} column_block;

VF_VERB __m256i load_block(const column_block *b, const uint8_t *from, const bool is_whole)
{
    const ln_ready_i8_args *r = b->rows;
    const __m256i flips = _mm256_set1_epi8((char)r->flip);
    if (is_whole)
        return _mm256_xor_si256(_mm256_loadu_si256((const void *)from), flips);
    _Alignas(32) uint8_t end[32] = {0};
    __m256i bytes;
    if (r->k % 4 == 0)
        bytes = _mm256_maskload_epi32((const void *)from, b->mask);
    else {
        memcpy(end, from, r->k - b->first);
        bytes = _mm256_load_si256((const void *)end);
    }
    return _mm256_blendv_epi8(_mm256_set1_epi8((char)r->offset), _mm256_xor_si256(bytes, flips),
                              b->mask);
}

// Words 0, 2, 1, 3 of fours.
VF_VERB __m256i words_of(__m128i bytes, __m256i offset)
{
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0,
                                           1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    return _mm256_shuffle_epi8(_mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), offset), order);
}

// Of four eights from the largest bytes and from what is below the offset.
VF_VERB void put_limits(__m256i max, __m256i below, uint8_t *limits)
{
    const __m256i places = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    max = _mm256_max_epu8(max, _mm256_srli_epi64(max, 32));
    max = _mm256_max_epu8(max, _mm256_srli_epi64(max, 16));
    max = _mm256_max_epu8(max, _mm256_srli_epi64(max, 8));
    const __m256i is_right = _mm256_cmpeq_epi64(below, _mm256_setzero_si256());
    const __m128i right = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(is_right, places));
    __m128i m = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(max, places));
    m = _mm_max_epi32(_mm_and_si128(m, _mm_set1_epi32(255)), _mm_set1_epi32(64));
    m = _mm_cvttps_epi32(_mm_div_ps(_mm_set1_ps(16383.5f), _mm_cvtepi32_ps(m)));
    m = _mm_and_si128(_mm_min_epi32(m, _mm_set1_epi32(254)), right);
    m = _mm_shuffle_epi8(
        m, _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    const int32_t four = _mm_cvtsi128_si32(m);
    memcpy(limits, &four, sizeof four);
}

// Four fours of words at `words`, of which those are there that the mask has.
VF_VERB void put_words(char *words, __m256i of, __m128i mask, const bool is_whole)
{
    if (is_whole)
        _mm256_storeu_si256((void *)words, of);
    else
        _mm256_maskstore_epi64((void *)words, _mm256_cvtepi32_epi64(mask), of);
}

VF_VERB void put_bytes(char *bytes, __m256i of, __m256i mask, const bool is_whole)
{
    if (is_whole)
        _mm256_storeu_si256((void *)bytes, of);
    else
        _mm256_maskstore_epi32((void *)bytes, mask, of);
}

VF_VERB void ready_block(const column_block *b, const bool is_whole)
{
    const ln_ready_i8_args *r = b->rows;
    const size_t fours = (r->k + 3) / 4;
    const __m256i offset = _mm256_set1_epi8((char)r->offset);
    const __m256i word_offset = _mm256_set1_epi16(r->offset);
    __m256i max = _mm256_setzero_si256(), below = max;
    for (size_t i = 0; i < r->m; i++) {
        const __m256i given = load_block(b, r->from + i * r->step + b->first, is_whole);
        const __m256i bytes = _mm256_sub_epi8(given, offset);
        below = _mm256_or_si256(below, _mm256_subs_epu8(offset, given));
        max = _mm256_max_epu8(max, bytes);
        char *words = r->words + i * 8 * fours + 2 * b->first;
        put_words(words, words_of(_mm256_castsi256_si128(given), word_offset),
                  _mm256_castsi256_si128(b->mask), is_whole);
        put_words(words + 32, words_of(_mm256_extracti128_si256(given, 1), word_offset),
                  _mm256_extracti128_si256(b->mask, 1), is_whole);
        if (r->bytes && fours > FEW_FOURS)
            put_bytes(r->bytes + i * 4 * fours + b->first, bytes, b->mask, is_whole);
    }
    if (fours > FEW_FOURS)
        put_limits(max, below, r->limits + b->first / 8);
}

static void ready(const ln_ready_i8_args *r)
{
    column_block b = {.rows = r, .mask = _mm256_set1_epi32(-1)};
    for (; b.first + 32 <= r->k; b.first += 32)
        ready_block(&b, true);
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    b.mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)((r->k - b.first + 3) / 4)), lanes);
    if (b.first < r->k)
        ready_block(&b, false);
}

_Static_assert(VI_ROWS <= LN_TILE_I8_MAX_WIDE_ROWS, "workspaces are sized for fewer words");
const ln_tile_i8_kernel VI_KERNEL(ln_k_tile_i8) = {
    .rows = VI_ROWS,
    .panels = VI_PANELS,
    .offset = VI_OFFSET,
    .ready = ready,
    .run = run,
};
