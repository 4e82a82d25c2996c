// SPDX-License-Identifier: Apache-2.0
// The tile of bytes, written once in verbs. A kernel file includes those of its instruction set,
// then this.

#ifndef LN_ARCH_CPU_KERNELS_TILE_I8_BODY_H
#define LN_ARCH_CPU_KERNELS_TILE_I8_BODY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"
#include "arch/cpu/kernels/gemm_i8/tile_sums_i8.h"
#include "arch/cpu/simd/unroll.h"

#define TILE_VECTORS (LN_TILE_I8_LANES / VF_LANES) // of a panel

// Panels come from the cache of the second level so long before their use, as those of floats do.
#define TILE_SOON_BYTES 384

// `mr` rows, of which `rows` are there, times `np` panels; mr and np are constants where it is
// inlined, so that the sums stay in registers.
VF_VERB void tile_multiply(const ln_tile_i8_args *t, size_t column, size_t row, const size_t mr,
                           const size_t np, tile_sums *out)
{
    const size_t nv = np * TILE_VECTORS;
    vi_sum sum[VI_ROWS][VI_PANELS * TILE_VECTORS];
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            sum[i][j] = vi_zero();
    }
    const size_t a_step = t->a_step, panel_step = t->panel_step;
    // Rows are addressed from every third one: addresses reach the step once and twice.
    const char *a[(VI_ROWS + 2) / 3];
    LN_UNROLL
    for (size_t i = 0; i < mr; i += 3)
        a[i / 3] = t->a + (row + i) * a_step;
    const int8_t *panel = t->panels + column / LN_TILE_I8_LANES * panel_step;
    for (size_t p = 0; p < t->fours; p++) {
        vi_bytes w[VI_PANELS * TILE_VECTORS];
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            w[j] = vi_load_bytes(panel + j / TILE_VECTORS * panel_step +
                                 j % TILE_VECTORS * 4 * VF_LANES);
        LN_UNROLL
        for (size_t j = 0; j < np; j++)
            __builtin_prefetch(panel + j * panel_step + TILE_SOON_BYTES);
        LN_UNROLL
        for (size_t i = 0; i < mr; i++) {
            vi_fours x = vi_load_fours(a[i / 3] + i % 3 * a_step);
            LN_UNROLL
            for (size_t j = 0; j < nv; j++)
                sum[i][j] = vi_dot(sum[i][j], x, w[j]);
        }
        panel += 4 * LN_TILE_I8_LANES;
        LN_UNROLL
        for (size_t i = 0; i < mr; i += 3)
            a[i / 3] += 4;
    }
    LN_UNROLL
    for (size_t i = 0; i < mr; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nv; j++)
            vi_store(&out->of[row + i][j * VF_LANES], sum[i][j]);
    }
}

// ---- Rows ----

// Fewer rows than a whole tile are made in parts of these sizes.
#define TILE_PARTS(X) X(8) X(4) X(2) X(1)

#define TILE_PART(count, np)                                                                       \
    for (; count <= VI_ROWS && row + count <= t->m; row += count)                                  \
        tile_multiply(t, column, row, count <= VI_ROWS ? count : 1, np, &sums);
#define TILE_PART_OF_ONE(count)  TILE_PART(count, 1)
#define TILE_PART_OF_MANY(count) TILE_PART(count, VI_PANELS)

static __attribute__((noinline)) void tile_one_panel(const ln_tile_i8_args *t, size_t column)
{
    tile_sums sums;
    size_t row = 0;
    if (t->m == VI_ROWS) {
        tile_multiply(t, column, 0, VI_ROWS, 1, &sums);
        row = VI_ROWS;
    }
    TILE_PARTS(TILE_PART_OF_ONE)
    tile_finish(t, column, &sums);
}

#if VI_PANELS > 1
static __attribute__((noinline)) void tile_many_panels(const ln_tile_i8_args *t, size_t column)
{
    tile_sums sums;
    size_t row = 0;
    if (t->m == VI_ROWS) {
        tile_multiply(t, column, 0, VI_ROWS, VI_PANELS, &sums);
        row = VI_ROWS;
    }
    TILE_PARTS(TILE_PART_OF_MANY)
    tile_finish(t, column, &sums);
}
#endif

static void tile_run(const ln_tile_i8_args *t)
{
    assert(t->m >= 1 && t->m <= VI_ROWS && t->n >= 1);
    size_t column = 0;
#if VI_PANELS > 1
    for (; column + TILE_COLUMNS - LN_TILE_I8_LANES < t->n; column += TILE_COLUMNS)
        tile_many_panels(t, column);
#endif
    for (; column < t->n; column += LN_TILE_I8_LANES)
        tile_one_panel(t, column);
}

const ln_tile_i8_kernel VI_KERNEL(ln_k_tile_i8) = {
    .rows = VI_ROWS,
    .panels = VI_PANELS,
    .offset = VI_OFFSET,
    .run = tile_run,
    .expand = vi_expand,
};

#endif
