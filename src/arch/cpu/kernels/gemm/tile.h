// SPDX-License-Identifier: Apache-2.0
// The innermost product of convolutions and matrices: a tile of rows of A, anywhere in memory,
// times panels of packed weights, with an epilogue.
//
// Packed weights, in panels of n = 16 columns whatever the instruction set:
//
//     | k0: c0 ... c15 | k1: c0 ... c15 | ...        (zeros after the last column)
//
// A row of A is a list of runs: places where floats follow each other that meet following rows of
// the panel. A row of a matrix is one run; a window of an image is a run for each of its rows, or
// pixels.
//
// The bits: a sum starts at +0, or where an earlier call left it, and takes fma(a, weight, sum) in
// the order of the runs, ascending inside them. Then the epilogue (act.h).

#ifndef LN_ARCH_CPU_KERNELS_GEMM_TILE_H
#define LN_ARCH_CPU_KERNELS_GEMM_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_TILE_LANES 16

// The largest tile of all instruction sets.
#define LN_TILE_MAX_ROWS   14
#define LN_TILE_MAX_PANELS 4

// Panels that are in the cache of the second level come from there so many floats in front of their
// use: what processors foresee by themselves leaves a tile of 6 rows waiting for a tenth of its
// time.
#define LN_TILE_SOON_FLOATS (size_t)96

typedef struct ln_tile_f32_run {
    ptrdiff_t x;  // floats from the start of a row of A to its first one
    size_t panel; // floats from the start of a panel to its first row
    size_t k;
} ln_tile_f32_run;

// Sums of a tile that several calls make: a row for each of its rows.
typedef float ln_tile_f32_sums[LN_TILE_MAX_ROWS][LN_TILE_MAX_PANELS * LN_TILE_LANES];

typedef struct ln_tile_f32_args {
    size_t m;     // rows: those of the kernel's table for so many panels
    size_t n;     // columns
    size_t width; // panels that are made at once, one set after the other; 0: all
    const float *x;
    const ptrdiff_t *rows; // floats from x to the start of each row
    // As many tiles follow, with the rows after these: each row of A is tile_step floats from that
    // of the tile before. They take no sums.
    size_t more_tiles;
    ptrdiff_t tile_step;
    const ln_tile_f32_run *runs;
    size_t run_count;
    const float *panels; // of columns 0..15, 16..31, ...
    size_t panel_stride; // floats from one panel to the next
    // Floats from what is read to what is fetched meanwhile. Of the panels, 0: LN_TILE_SOON_FLOATS;
    // and, with the first panels, from the first row of A to what follows it, as many bytes as a
    // panel has, 0: nothing.
    size_t ahead;
    ptrdiff_t next;
    float *const *sums; // for the two below: 16 floats a panel for each row, of panels made at once
    bool starts_from_sums;
    bool ends_in_sums; // y and the epilogue are left alone
    float *y;
    size_t y_stride;
    ln_epilogue_f32 epilogue; // its pointers are those of the tile's first row and column
} ln_tile_f32_args;

typedef void ln_tile_f32_fn(const ln_tile_f32_args *tile);

// Packs columns from W[p][j] = w[p * row_step + j * column_step] into panels one after the other;
// w may be at any address. Rows are packed `channels` one after the other, those of the second
// channel between them, and so on: 1 leaves them in their order.
typedef void ln_panel_f32_fn(size_t k, size_t columns, size_t channels, const float *w,
                             size_t row_step, size_t column_step, float *panels);

typedef struct ln_tile_f32_kernel {
    size_t max_rows[LN_TILE_MAX_PANELS]; // for 1, 2, ... panels; 0: none so wide
    // Where there are 1 or 2 panels, and the last is filled to a half at most; 0: those above.
    size_t half_rows[2];
    ln_tile_f32_fn *run;
    ln_panel_f32_fn *pack;
} ln_tile_f32_kernel;

LN_KERNELS(const ln_tile_f32_kernel, tile_f32)

// How many rows and panels a tile should have.
typedef struct ln_tile_f32_size {
    size_t rows, panels;
} ln_tile_f32_size;

// For `m` rows that are mostly `row_distance` floats from each other, of `panels` that are filled,
// or of `columns`.
ln_tile_f32_size ln_tile_f32_choose(const ln_tile_f32_kernel *kernel, size_t m, size_t panels,
                                    size_t row_distance);
ln_tile_f32_size ln_tile_f32_choose_columns(const ln_tile_f32_kernel *kernel, size_t m,
                                            size_t columns, size_t row_distance);

LN_CPPEND

#endif
