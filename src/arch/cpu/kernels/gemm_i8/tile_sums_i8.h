// SPDX-License-Identifier: Apache-2.0
// The sums of a tile of byte products in memory, and their epilogue. A kernel file includes the
// verbs of its instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_TILE_SUMS_I8_H
#define LN_ARCH_CPU_KERNELS_TILE_SUMS_I8_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm_i8/epilogue_i8.h"
#include "arch/cpu/kernels/gemm_i8/tile_i8.h"

#define TILE_COLUMNS (VI_PANELS * LN_TILE_I8_LANES)

_Static_assert(VI_ROWS <= LN_TILE_I8_MAX_ROWS && VI_PANELS <= LN_TILE_I8_MAX_PANELS,
               "workspaces are sized for smaller tiles");

typedef struct tile_sums {
    _Alignas(64) int32_t of[VI_ROWS][TILE_COLUMNS];
} tile_sums;

// Weights with zero points are rare: their part is taken from the sums in memory.
static __attribute__((noinline)) void tile_subtract_zeros(const ln_tile_i8_args *t, size_t column,
                                                          size_t columns, tile_sums *sums)
{
    const ln_epilogue_i8 *e = &t->epilogue;
    uint32_t zeros[TILE_COLUMNS] = {0}; // apart from sums, so that vectors can be used
    memcpy(zeros, e->column_zeros + column, columns * sizeof *zeros);
    for (size_t i = 0; i < t->m; i++) {
        const uint32_t row_sum = (uint32_t)e->row_sums[i];
        for (size_t j = 0; j < TILE_COLUMNS; j++)
            sums->of[i][j] = (int32_t)((uint32_t)sums->of[i][j] - zeros[j] * row_sum);
    }
}

static __attribute__((noinline)) void tile_finish(const ln_tile_i8_args *t, size_t column,
                                                  tile_sums *sums)
{
    const size_t left = t->n - column, columns = left < TILE_COLUMNS ? left : TILE_COLUMNS;
    if (t->epilogue.row_sums)
        tile_subtract_zeros(t, column, columns, sums);
    const epilogue_columns c = {.m = t->m,
                                .n = columns,
                                .step = t->y_step,
                                .sums = &sums->of[0][0],
                                .sums_step = TILE_COLUMNS,
                                .epilogue = &t->epilogue,
                                .column = column};
    epilogue_put(&c, t->y);
}

#endif
