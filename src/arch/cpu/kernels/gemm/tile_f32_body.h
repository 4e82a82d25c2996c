// SPDX-License-Identifier: Apache-2.0
// The tile, written once in vector verbs. A kernel file includes the verbs of its instruction set,
// then this, and makes functions of it with constant numbers of rows and panels.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_TILE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_GEMM_TILE_F32_BODY_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm/pack_f32.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/simd/unroll.h"

#define TILE_VECTORS (LN_TILE_LANES / VF_LANES) // of a panel
#define TILE_MAX_NV  (LN_TILE_MAX_PANELS * LN_TILE_LANES / VF_LANES)

// The first half of a vector, twice; for sets of instructions whose tiles have pairs.
#ifndef TILE_LOAD_TWICE
#define TILE_LOAD_TWICE(p) vf_load(p)
#endif

// How many rows of tiles with one panel, which have at least so many, load A by fours: for sets of
// instructions of which a panel is one vector.
#ifndef TILE_SPREAD_ROWS
#define TILE_SPREAD_ROWS     0
#define TILE_SPREAD_MIN_ROWS (LN_TILE_MAX_ROWS + 1)
#define TILE_LOAD_FOUR(p)    vf_load(p)
#endif

// ---- Epilogue ----

// Sums that wait for an epilogue: those of the columns [column, column + n) of a tile.
typedef struct tile_waiting {
    ln_tile_f32_sums sums;
    const ln_tile_f32_args *tile;
    size_t row, column, n; // the row is that of the first of several tiles
} tile_waiting;

VF_VERB vf tile_load_some(const float *p, size_t count)
{
    return count == VF_LANES ? vf_load(p) : vf_load_n(p, count);
}

#if !VF_IS_PORTABLE

// Some columns of such sums, from a row on. At hand in copies, since stores to the output could be
// stores to anything.
typedef struct tile_finishing {
    const float *sums;
    const float *addend; // NULL: none
    float *y;
    size_t addend_stride, y_stride;
    bool is_addend_last;
    vf bias, alpha, beta;
} tile_finishing;

// The epilogue of the next `count` rows, for `cols` <= VF_LANES columns.
VF_VERB void tile_finish_vectors(tile_finishing *f, const ln_act act, const int count,
                                 const size_t cols)
{
    vf y[VF_ABREAST_MAX], addend[VF_ABREAST_MAX];
    LN_UNROLL
    for (int r = 0; r < count; r++) {
        y[r] = vf_add(vf_load(f->sums + r * (LN_TILE_MAX_PANELS * LN_TILE_LANES)), f->bias);
        addend[r] = f->bias;
    }
    if (f->addend) {
        LN_UNROLL
        for (int r = 0; r < count; r++, f->addend += f->addend_stride)
            addend[r] = tile_load_some(f->addend, cols);
        if (!f->is_addend_last) {
            LN_UNROLL
            for (int r = 0; r < count; r++)
                y[r] = vf_add(y[r], addend[r]);
        }
    }
    vf_act_each(act, f->alpha, f->beta, y, count);
    if (f->addend && f->is_addend_last) {
        LN_UNROLL
        for (int r = 0; r < count; r++)
            y[r] = vf_add(y[r], addend[r]);
    }
    LN_UNROLL
    for (int r = 0; r < count; r++, f->y += f->y_stride) {
        if (cols == VF_LANES)
            vf_store(f->y, y[r]);
        else
            vf_store_n(f->y, y[r], cols);
    }
    f->sums += count * (LN_TILE_MAX_PANELS * LN_TILE_LANES);
}

VF_VERB void tile_finish_columns(const tile_waiting *w, const ln_act act, size_t j,
                                 const size_t cols)
{
    const ln_tile_f32_args *t = w->tile;
    const ln_epilogue_f32 *e = &t->epilogue;
    const size_t column = w->column + j;
    tile_finishing f = {
        .sums = w->sums[0] + j,
        .addend = e->addend ? e->addend + w->row * e->addend_stride + column : NULL,
        .y = t->y + w->row * t->y_stride + column,
        .addend_stride = e->addend_stride,
        .y_stride = t->y_stride,
        .is_addend_last = e->is_addend_last,
        .bias = e->bias ? tile_load_some(e->bias + column, cols) : vf_set1(-0.0f), // no change
        .alpha = vf_set1(e->alpha),
        .beta = vf_set1(e->beta),
    };
    const size_t abreast = (size_t)vf_act_abreast(act);
    size_t left = t->m;
    for (; left >= abreast; left -= abreast)
        tile_finish_vectors(&f, act, (int)abreast, cols);
    for (; abreast > 1 && left > 0; left--)
        tile_finish_vectors(&f, act, 1, cols);
}

VF_VERB void tile_finish(const tile_waiting *w, const ln_act act)
{
    size_t j = 0;
    for (; j + VF_LANES <= w->n; j += VF_LANES)
        tile_finish_columns(w, act, j, VF_LANES);
    if (j < w->n)
        tile_finish_columns(w, act, j, w->n - j);
}

// The activations of well-known networks, done on the way from the sums to the output.
#define TILE_ACT_LIST(X) X(NONE) X(RELU) X(CLIP) X(LRELU) X(SIGMOID) X(SILU) X(HARD_SWISH) X(GELU)
#define TILE_FINISH(constant)                                                                      \
    static __attribute__((noinline)) void tile_finish_##constant(const tile_waiting *w)            \
    {                                                                                              \
        tile_finish(w, LN_ACT_##constant);                                                         \
    }
TILE_ACT_LIST(TILE_FINISH)
#undef TILE_FINISH

#else
#define TILE_ACT_LIST(X) // all are calls of the kernel for rows of them
#endif

// Any activation, by the kernel for rows of them: sums move together, for it to go over all at
// once.
static __attribute__((noinline)) void tile_finish_rarely(const tile_waiting *w)
{
    const ln_tile_f32_args *t = w->tile;
    const ln_epilogue_f32 *e = &t->epilogue;
    const ln_act_f32_args act = {.act = e->act, .alpha = e->alpha, .beta = e->beta};
    _Alignas(64) float together[sizeof w->sums / sizeof(float)];
    float *to = together;
    for (size_t i = 0; i < t->m; i++) {
        const float *addend = NULL;
        if (e->addend)
            addend = e->addend + (w->row + i) * e->addend_stride + w->column;
        for (size_t j = 0; j < w->n; j += VF_LANES, to += VF_LANES) {
            const size_t cols = w->n - j < VF_LANES ? w->n - j : VF_LANES;
            vf bias = e->bias ? vf_load_n(e->bias + w->column + j, cols) : vf_set1(-0.0f);
            vf y = vf_add(vf_load(w->sums[i] + j), bias); // -0 changes nothing
            if (addend && !e->is_addend_last)
                y = vf_add(y, vf_load_n(addend + j, cols));
            vf_store(to, y);
        }
    }
    VF_KERNEL(ln_k_act_f32)(&act, (size_t)(to - together), together, together);
    to = together;
    for (size_t i = 0; i < t->m; i++) {
        const size_t row = w->row + i;
        for (size_t j = 0; j < w->n; j += VF_LANES, to += VF_LANES) {
            const size_t cols = w->n - j < VF_LANES ? w->n - j : VF_LANES, at = w->column + j;
            vf y = vf_load(to);
            if (e->addend && e->is_addend_last)
                y = vf_add(y, vf_load_n(e->addend + row * e->addend_stride + at, cols));
            vf_store_n(t->y + row * t->y_stride + at, y, cols);
        }
    }
}

// Any epilogue, from sums in memory.
static __attribute__((noinline)) void tile_finish_any(const tile_waiting *w)
{
    switch (w->tile->epilogue.act) {
#define TILE_FINISH_CASE(constant)                                                                 \
    case LN_ACT_##constant: tile_finish_##constant(w); break;
        TILE_ACT_LIST(TILE_FINISH_CASE)
#undef TILE_FINISH_CASE
    default: tile_finish_rarely(w); break;
    }
}

// A part of a panel is a part of one vector.
#define TILE_HAS_PARTS (TILE_VECTORS == 1)

// Panels that so many vectors of sums belong to.
#define TILE_PANELS(nv) (((nv) + TILE_VECTORS - 1) / TILE_VECTORS)

// Some columns of a tile, those of `nv` vectors or fewer: what belongs to them. Its first row is
// number `row` of several tiles.
typedef struct tile_columns {
    size_t row, first, n;
    const float *panels, *bias, *addend; // NULL: none
    float *y;
} tile_columns;

VF_VERB tile_columns tile_columns_at(const ln_tile_f32_args *t, size_t row, size_t first,
                                     size_t end, const size_t nv)
{
    const ln_epilogue_f32 *e = &t->epilogue;
    return (tile_columns){
        .row = row,
        .first = first,
        .n = end - first < nv * VF_LANES ? end - first : nv * VF_LANES,
        .panels = t->panels + first / LN_TILE_LANES * t->panel_stride,
        .bias = e->bias ? e->bias + first : NULL,
        .addend = e->addend ? e->addend + row * e->addend_stride + first : NULL,
        .y = t->y + row * t->y_stride + first,
    };
}

// Whether tile_finish_bounds can do it: an activation that is two bounds, and whole vectors, but
// for a last panel to which nothing is added, or that is a vector.
VF_VERB bool tile_is_bounds(const ln_tile_f32_args *t, const tile_columns *c, const size_t nv)
{
    const ln_act act = t->epilogue.act;
    return (act == LN_ACT_NONE || act == LN_ACT_RELU || act == LN_ACT_CLIP) &&
           (c->n == nv * VF_LANES || !c->addend || TILE_HAS_PARTS);
}

VF_VERB vf tile_load_bias(const float *bias, size_t j, size_t n)
{
    if (j + VF_LANES <= n)
        return vf_load(bias + j);
    return j < n ? vf_load_n(bias + j, n - j) : vf_set1(0.0f);
}

// The first `columns` < LN_TILE_LANES of each row.
static __attribute__((noinline)) void tile_store_columns(const float (*from)[LN_TILE_LANES],
                                                         size_t rows, size_t columns, float *y,
                                                         size_t y_stride)
{
    for (size_t i = 0; i < rows; i++, y += y_stride) {
        for (size_t j = 0; j < columns; j += VF_LANES) {
            size_t count = columns - j < VF_LANES ? columns - j : VF_LANES;
            vf_store_n(y + j, vf_load(from[i] + j), count);
        }
    }
}

// The row below `row`. Its address is worked out when it is needed: the compiler would keep those
// of all rows for each use of them, on the stack, and take more instructions for that than for
// sums.
VF_VERB float *tile_row_below(const float *row, size_t stride)
{
    row += stride;
    __asm__("" : "+r"(row));
    return (float *)(uintptr_t)row;
}

VF_VERB void tile_add_addend(const tile_columns *c, size_t stride, vf (*sum)[TILE_MAX_NV],
                             const size_t mr, size_t rows, const size_t nv)
{
    const float *from = c->addend;
    LN_UNROLL
    for (size_t i = 0; i < mr && i < rows; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const float *at = from + j * VF_LANES;
            bool is_part = TILE_HAS_PARTS && j + 1 == nv;
            vf addend = is_part ? vf_load_n(at, c->n - j * VF_LANES) : vf_load(at);
            sum[i][j] = vf_add(sum[i][j], addend);
        }
        from = tile_row_below(from, stride);
    }
}

// An activation that is two bounds.
VF_VERB void tile_bound(const ln_epilogue_f32 *e, vf (*sum)[TILE_MAX_NV], const size_t mr,
                        const size_t nv)
{
    if (e->act != LN_ACT_NONE) {
        const vf low = vf_set1(e->act == LN_ACT_RELU ? 0.0f : e->alpha);
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_max(low, sum[i][j]);
        }
    }
    if (e->act == LN_ACT_CLIP) {
        const vf high = vf_set1(e->beta);
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vf_min(high, sum[i][j]);
        }
    }
}

// Those epilogues without leaving the registers.
VF_VERB void tile_finish_bounds(const ln_tile_f32_args *t, const tile_columns *c,
                                vf (*sum)[TILE_MAX_NV], const size_t mr, size_t rows,
                                const size_t nv)
{
    const size_t whole = (TILE_PANELS(nv) - 1) * TILE_VECTORS; // vectors before the last panel
    const ln_epilogue_f32 *e = &t->epilogue;
    if (c->bias) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            vf bias = j < whole ? vf_load(c->bias + j * VF_LANES)
                                : tile_load_bias(c->bias, j * VF_LANES, c->n);
            LN_UNROLL
            for (size_t i = 0; i < mr; i++)
                sum[i][j] = vf_add(sum[i][j], bias);
        }
    }
    // What is added first and what is added last is one piece of code, which has a turn of its own.
    const int addend_turn = !c->addend ? 2 : e->is_addend_last;
    int turn = 0;
    do {
        __asm__("" : "+r"(turn));
        if (turn == addend_turn)
            tile_add_addend(c, e->addend_stride, sum, mr, rows, nv);
        if (turn == 0)
            tile_bound(e, sum, mr, nv);
    } while (turn++ == 0);

    const size_t y_stride = t->y_stride;
    float *y = c->y;
    bool is_whole = c->n == nv * VF_LANES;
    if (TILE_HAS_PARTS && !is_whole) {
        const size_t columns = c->n - whole * VF_LANES;
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i++) {
            LN_UNROLL
            for (size_t j = 0; j < whole; j++)
                vf_store(y + j * VF_LANES, sum[i][j]);
            vf_store_n(y + whole * VF_LANES, sum[i][whole], columns);
            y = tile_row_below(y, y_stride);
        }
        return;
    }
    _Alignas(64) float last[LN_TILE_MAX_ROWS][LN_TILE_LANES];
    float *to = is_whole ? y + whole * VF_LANES : last[0];
    size_t to_stride = is_whole ? y_stride : LN_TILE_LANES;
    LN_UNROLL
    for (size_t i = 0; i < mr && i < rows; i++) {
        LN_UNROLL
        for (size_t j = 0; j < whole; j++)
            vf_store(y + j * VF_LANES, sum[i][j]);
        LN_UNROLL
        for (size_t j = whole; j < nv; j++)
            vf_store(to + (j - whole) * VF_LANES, sum[i][j]);
        y = tile_row_below(y, y_stride);
        to = tile_row_below(to, to_stride);
    }
    if (!is_whole)
        tile_store_columns(last, rows, c->n - whole * VF_LANES, c->y + whole * VF_LANES, y_stride);
}

// ---- The tile ----

// An address that need not be inside anything.
VF_VERB uintptr_t tile_after(const float *p, ptrdiff_t floats)
{
    return (uintptr_t)p + (uintptr_t)floats * sizeof(float);
}

// What is added to the results comes from far away while the sums are made.
VF_VERB void tile_fetch_addend(const tile_columns *c, size_t stride, size_t rows, const size_t np)
{
    if (!c->addend)
        return;
    const float *from = c->addend;
    for (size_t i = 0; i < rows; i++, from += stride) {
        LN_UNROLL
        for (size_t j = 0; j < np; j++)
            __builtin_prefetch(from + j * LN_TILE_LANES, 0, 3);
    }
}

// What is particular about a tile.
typedef enum tile_kind {
    TILE_PLAIN,
    TILE_PAIRS, // takes no sums from before, and leaves out the last half of the last panel
    TILE_RARE,  // sums wait in memory for any epilogue, which is less code
} tile_kind;

// The sums of a tile. Where the last panel has columns for half a vector only, it has a vector for
// two rows each instead: `pairs`, the one of the even row in front.
typedef struct tile_sums {
    vf of[LN_TILE_MAX_ROWS][TILE_MAX_NV];
    vf pairs[(LN_TILE_MAX_ROWS + 1) / 2];
} tile_sums;

// Vectors x and `before` of the row `i` and the one before, as the last panel's sums of pairs take
// them.
VF_VERB vf tile_pair(vf before, vf x, const size_t i)
{
    return i % 2 ? vf_first_n(before, x, VF_LANES / 2) : x;
}

// Four products for each sum of a lone panel. A float of A serves one of them only, so that loads
// would be as many as products: some rows have theirs four at a time, and spread them.
VF_VERB void tile_add_four(const float *b, uintptr_t ahead, uintptr_t fetch,
                           const uintptr_t *at_row, uintptr_t at, tile_sums *sums, const size_t mr)
{
    vf four[TILE_SPREAD_ROWS + 1];
    LN_UNROLL
    for (int i = 0; i < TILE_SPREAD_ROWS; i++)
        four[i] = TILE_LOAD_FOUR((const float *)(at_row[i] + at));
    LN_UNROLL
    for (int j = 0; j < 4; j++, b += LN_TILE_LANES) {
        const vf w = vf_load(b);
        __builtin_prefetch((const void *)((uintptr_t)b + ahead), 0, 3);
        __builtin_prefetch((const void *)((uintptr_t)b + fetch), 0, 2);
        LN_UNROLL
        for (int i = 0; i < (int)mr; i++) {
            vf x = i < TILE_SPREAD_ROWS ? vf_spread4(four[i], j)
                                        : vf_set1(((const float *)(at_row[i] + at))[j]);
            sums->of[i][0] = vf_fma_inline(x, w, sums->of[i][0]);
        }
    }
}

// One run of the sums; `at_row` are the addresses where rows of A start, `next` is 0 or the floats
// from the first of them to what is fetched meanwhile.
VF_VERB void tile_add_run(const ln_tile_f32_args *t, const tile_columns *c,
                          const ln_tile_f32_run *run, const uintptr_t *at_row, ptrdiff_t next,
                          tile_sums *sums, const size_t mr, size_t rows, const size_t nv,
                          const tile_kind kind)
{
    const size_t np = TILE_PANELS(nv), panel_stride = t->panel_stride;
    const bool has_pairs = kind == TILE_PAIRS;
    const bool fetches = nv % TILE_VECTORS == 0; // halves of panels have no loads to spare
    const size_t whole = has_pairs ? nv - 1 : nv;
    const float *b = c->panels + run->panel;
    const uintptr_t ahead = (t->ahead ? t->ahead : LN_TILE_SOON_FLOATS) * sizeof(float);
    uintptr_t at = (uintptr_t)run->x * sizeof(float);
    const uintptr_t end = at + run->k * sizeof(float);
    const uintptr_t fetch =
        next ? at_row[0] + at + (uintptr_t)next * sizeof(float) - (uintptr_t)b : 0;
    while (np == 1 && rows == mr && mr >= TILE_SPREAD_MIN_ROWS && end - at >= 4 * sizeof(float)) {
        tile_add_four(b, ahead, fetch, at_row, at, sums, mr);
        b += 4 * LN_TILE_LANES;
        at += 4 * sizeof(float);
    }
    for (; at != end; at += sizeof(float)) {
        vf w[TILE_MAX_NV];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const float *from = b + j / TILE_VECTORS * panel_stride + j % TILE_VECTORS * VF_LANES;
            w[j] = j < whole ? vf_load(from) : TILE_LOAD_TWICE(from);
        }
        LN_UNROLL
        for (size_t j = 0; j < np && fetches; j++)
            __builtin_prefetch((const void *)((uintptr_t)(b + j * panel_stride) + ahead), 0, 3);
        if (fetches)
            __builtin_prefetch((const void *)((uintptr_t)b + fetch), 0, 2);
        b += LN_TILE_LANES;
        vf before = w[0];
        LN_UNROLL
        for (size_t i = 0; i < mr && i < rows; i++) {
            vf x = vf_set1(*(const float *)(at_row[i] + at));
            LN_UNROLL
            for (size_t j = 0; j < whole; j++)
                sums->of[i][j] = vf_fma_inline(x, w[j], sums->of[i][j]);
            if (has_pairs && (i % 2 || i + 1 == mr))
                sums->pairs[i / 2] =
                    vf_fma_inline(tile_pair(before, x, i), w[whole], sums->pairs[i / 2]);
            before = x;
        }
    }
}

VF_VERB void tile_start(const ln_tile_f32_args *t, tile_sums *sums, const size_t mr, size_t rows,
                        const size_t nv)
{
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        sums->pairs[i / 2] = vf_set1(0.0f);
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sums->of[i][j] = vf_set1(0.0f);
    }
    if (!t->starts_from_sums)
        return;
    LN_UNROLL
    for (size_t i = 0; i < mr && i < rows; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sums->of[i][j] = vf_load(t->sums[i] + j * VF_LANES);
    }
}

// Some columns of a tile; `rows` and `next` as above. With constants where this is inlined, the
// sums stay in registers.
VF_VERB void tile_make(const ln_tile_f32_args *t, const tile_columns *c, const uintptr_t *at_row,
                       ptrdiff_t next, const size_t mr, size_t rows, const size_t nv,
                       const tile_kind kind)
{
    tile_sums sums;
    tile_start(t, &sums, mr, rows, nv);
    tile_fetch_addend(c, t->epilogue.addend_stride, rows, TILE_PANELS(nv));
    for (size_t r = 0; r < t->run_count; r++)
        tile_add_run(t, c, &t->runs[r], at_row, next, &sums, mr, rows, nv, kind);
    const size_t paired = kind == TILE_PAIRS ? mr : 0;
    LN_UNROLL
    for (size_t i = 0; i < paired; i++)
        sums.of[i][nv - 1] = i % 2 ? vf_swap(sums.pairs[i / 2], VF_LANES / 2) : sums.pairs[i / 2];

    if (kind != TILE_RARE && !t->ends_in_sums && tile_is_bounds(t, c, nv)) {
        tile_finish_bounds(t, c, sums.of, mr, rows, nv);
        return;
    }
    _Alignas(64) tile_waiting waiting;
    LN_UNROLL
    for (size_t i = 0; i < mr && i < rows; i++) {
        float *to = t->ends_in_sums ? t->sums[i] : waiting.sums[i];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            vf_store(to + j * VF_LANES, sums.of[i][j]);
    }
    if (t->ends_in_sums)
        return;
    waiting.tile = t;
    waiting.row = c->row;
    waiting.column = c->first;
    waiting.n = c->n;
    tile_finish_any(&waiting);
}

// The columns [first, end) of the tiles [tile, tile_end), each of `rows` <= `mr` rows, `nv` vectors
// at a time. Where `rows` is `mr`, a constant, nothing is tested; where it is known late, each row
// is, which is a branch that is foreseen.
// (Four numbers, not a struct: that would go through memory by way of vector registers, and wait
// there for the sums of the tile before.)
VF_VERB void tile_f32(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t first,
                      size_t end, const size_t mr, size_t rows, const size_t nv,
                      const tile_kind kind)
{
    const uintptr_t step = (uintptr_t)t->tile_step * sizeof(float);
    uintptr_t at_row[LN_TILE_MAX_ROWS] = {0};
    LN_UNROLL
    for (size_t i = 0; i < mr && i < rows; i++)
        at_row[i] = tile_after(t->x, t->rows[i]) + tile * step;
    for (; tile < tile_end; tile++) {
        for (size_t column = first; column < end; column += nv * VF_LANES) {
            const tile_columns c = tile_columns_at(t, tile * rows, column, end, nv);
            tile_make(t, &c, at_row, column ? 0 : t->next, mr, rows, nv, kind);
        }
        LN_UNROLL
        for (size_t i = 0; i < mr; i++)
            at_row[i] += step;
    }
}

// How many panels a tile takes at once.
VF_VERB size_t tile_width(const ln_tile_f32_args *t)
{
    return t->width ? t->width : (t->n + LN_TILE_LANES - 1) / LN_TILE_LANES;
}

// Bytes of A that should be found again by the last columns.
#define NEAR_BYTES (size_t)(16 << 10)

// How many tiles take turns with the last columns, which other functions make.
VF_VERB size_t tiles_near(const ln_tile_f32_args *t)
{
    const size_t bytes = t->more_tiles ? t->m * t->runs[0].k * sizeof(float) : NEAR_BYTES;
    return bytes < NEAR_BYTES ? NEAR_BYTES / (bytes + 1) : 1;
}

#if VF_LANES < 16 && VF_IS_PORTABLE
#define TILE_MR 4

static void run_tile(const ln_tile_f32_args *tile)
{
    assert(tile->m >= 1 && tile->m <= TILE_MR);
    tile_f32(tile, 0, tile->more_tiles + 1, 0, tile->n, TILE_MR, tile->m, TILE_VECTORS, TILE_PLAIN);
}

const ln_tile_f32_kernel VF_KERNEL(ln_k_tile_f32) = {
    .max_rows = {TILE_MR}, .run = run_tile, .pack = pack_panels};
#elif VF_LANES < 16
// Rows of tiles of a panel, of half a panel, and of one and a half: 12 or 24 vectors of sums in 16
// or 32 registers.
#define TILE_MR          6
#define TILE_HALF_MR     8
#define TILE_AND_HALF_MR 4
#define TILE_HALF        (TILE_VECTORS / 2)

// Some tiles: all panels, or all but a last one that is filled to a half.
static void run_whole(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t end)
{
    if (t->m == TILE_MR)
        tile_f32(t, tile, tile_end, 0, end, TILE_MR, TILE_MR, TILE_VECTORS, TILE_PLAIN);
    else
        tile_f32(t, tile, tile_end, 0, end, TILE_MR - 1, t->m, TILE_VECTORS, TILE_PLAIN);
}

static void run_half(const ln_tile_f32_args *t, size_t tile, size_t tile_end, size_t first)
{
    if (t->m == TILE_HALF_MR)
        tile_f32(t, tile, tile_end, first, t->n, TILE_HALF_MR, TILE_HALF_MR, TILE_HALF, TILE_RARE);
    else
        tile_f32(t, tile, tile_end, first, t->n, TILE_HALF_MR - 1, t->m, TILE_HALF, TILE_RARE);
}

static void run_and_half(const ln_tile_f32_args *t, size_t count)
{
    const size_t nv = TILE_VECTORS + TILE_HALF;
    if (t->m == TILE_AND_HALF_MR)
        tile_f32(t, 0, count, 0, t->n, TILE_AND_HALF_MR, TILE_AND_HALF_MR, nv, TILE_PLAIN);
    else
        tile_f32(t, 0, count, 0, t->n, TILE_AND_HALF_MR - 1, t->m, nv, TILE_RARE);
}

static void run_tile(const ln_tile_f32_args *t)
{
    const size_t count = t->more_tiles + 1, rest = t->n % LN_TILE_LANES;
    const size_t half = rest && rest <= LN_TILE_LANES / 2 ? rest : 0, end = t->n - half;
    assert(t->m >= 1 && t->m <= (end ? TILE_MR : TILE_HALF_MR));
    if (half && end == LN_TILE_LANES && t->m <= TILE_AND_HALF_MR && tile_width(t) == 2) {
        run_and_half(t, count);
        return;
    }
    const size_t at_once = half && end ? tiles_near(t) : count;
    for (size_t i = 0; i < count; i += at_once) {
        const size_t until = count - i < at_once ? count : i + at_once;
        if (end)
            run_whole(t, i, until, end);
        if (half)
            run_half(t, i, until, end);
    }
}

const ln_tile_f32_kernel VF_KERNEL(ln_k_tile_f32) = {.max_rows = {TILE_MR},
                                                     .half_rows = {TILE_HALF_MR, TILE_AND_HALF_MR},
                                                     .run = run_tile,
                                                     .pack = pack_panels};
#endif

#endif
