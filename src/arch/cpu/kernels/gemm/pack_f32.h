// SPDX-License-Identifier: Apache-2.0
// Packing a panel, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_PACK_F32_H
#define LN_ARCH_CPU_KERNELS_GEMM_PACK_F32_H

#include <stddef.h>
#include <string.h>

#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/simd/unroll.h"

// Where the row after the one at `row` is packed.
VF_VERB size_t next_row(size_t row, size_t channels, size_t k)
{
    row += channels;
    return row < k ? row : row - k + 1;
}

// Columns are neighbours: rows are copied, to all panels at once.
VF_VERB void pack_rows(size_t k, size_t columns, size_t channels, const float *w, size_t row_step,
                       float *panels)
{
    for (size_t p = 0, row = 0; p < k; p++, w += row_step, row = next_row(row, channels, k)) {
        float *to = panels + row * LN_TILE_LANES;
        size_t first = 0;
        for (; first + LN_TILE_LANES <= columns; first += LN_TILE_LANES, to += k * LN_TILE_LANES) {
            LN_UNROLL
            for (size_t j = 0; j < LN_TILE_LANES; j += VF_LANES)
                vf_store(to + j, vf_load(w + first + j));
        }
        for (size_t j = first; first < columns && j < first + LN_TILE_LANES; j += VF_LANES) {
            vf v = vf_set1(0.0f);
            if (j < columns)
                v = vf_load_n(w + j, columns - j < VF_LANES ? columns - j : VF_LANES);
            vf_store(to + j - first, v);
        }
    }
}

// Rows are neighbours: squares are transposed in registers.
VF_VERB void pack_columns(size_t k, size_t columns, size_t channels, const float *w,
                          size_t column_step, float *panel)
{
    size_t square_row = 0, row = 0;
    for (size_t p = 0; p < k; p += VF_LANES, square_row = row) {
        size_t rows = k - p < VF_LANES ? k - p : VF_LANES;
        for (size_t first = 0; first < LN_TILE_LANES; first += VF_LANES) {
            vf square[VF_LANES];
            LN_UNROLL
            for (size_t j = 0; j < VF_LANES; j++) {
                const float *from = w + (first + j) * column_step + p;
                square[j] = first + j >= columns ? vf_set1(0.0f)
                            : rows == VF_LANES   ? vf_load(from)
                                                 : vf_load_n(from, rows);
            }
            vf_transpose(square);
            row = square_row;
            for (size_t i = 0; i < rows; i++, row = next_row(row, channels, k))
                vf_store(panel + row * LN_TILE_LANES + first, square[i]);
        }
    }
}

VF_VERB void pack_any(size_t k, size_t columns, size_t channels, const float *w, size_t row_step,
                      size_t column_step, float *panel)
{
    for (size_t p = 0, row = 0; p < k; p++, row = next_row(row, channels, k)) {
        for (size_t j = 0; j < LN_TILE_LANES; j++) {
            float v = 0;
            if (j < columns)
                memcpy(&v, w + p * row_step + j * column_step, sizeof v);
            panel[row * LN_TILE_LANES + j] = v;
        }
    }
}

VF_VERB void pack_panels(size_t k, size_t columns, size_t channels, const float *w, size_t row_step,
                         size_t column_step, float *panels)
{
    if (column_step == 1) {
        pack_rows(k, columns, channels, w, row_step, panels);
        return;
    }
    for (size_t first = 0; first < columns; first += LN_TILE_LANES) {
        size_t count = columns - first < LN_TILE_LANES ? columns - first : LN_TILE_LANES;
        const float *from = w + first * column_step;
        if (row_step == 1)
            pack_columns(k, count, channels, from, column_step, panels);
        else
            pack_any(k, count, channels, from, row_step, column_step, panels);
        panels += k * LN_TILE_LANES;
    }
}

#endif
