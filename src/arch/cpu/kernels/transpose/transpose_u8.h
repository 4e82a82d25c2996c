// SPDX-License-Identifier: Apache-2.0
// The transpose of a matrix of bytes by squares of 16, in vectors of the compiler: four times the
// rows i and i + 8 are interleaved, by which the bits of a byte's row and column rotate.

#ifndef LN_ARCH_CPU_KERNELS_TRANSPOSE_U8_H
#define LN_ARCH_CPU_KERNELS_TRANSPOSE_U8_H

#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/simd/unroll.h"
#include "base/minmax.h"

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SQUARE_SHUFFLES
#endif
#endif

#ifdef SQUARE_SHUFFLES

#define SQUARE ((size_t)16)

typedef uint8_t square_row __attribute__((vector_size(16)));

static inline void square_rotate(const square_row v[16], square_row to[16])
{
    LN_UNROLL
    for (size_t i = 0; i < 8; i++) {
        to[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                            21, 6, 22, 7, 23);
        to[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                28, 13, 29, 14, 30, 15, 31);
    }
}

// From 4 to 16 bytes, in two parts that may overlap.
static inline void square_copy(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n == SQUARE) {
        memcpy(to, from, SQUARE);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    }
}

// `rows` x `columns` of y, from 4 to 16 each.
static inline void square_transpose(const uint8_t *x, size_t x_step, uint8_t *y, size_t y_step,
                                    size_t rows, size_t columns)
{
    square_row v[16] = {{0}}, w[16];
    for (size_t j = 0; j < columns; j++)
        square_copy((uint8_t *)&v[j], x + j * x_step, rows);
    square_rotate(v, w);
    square_rotate(w, v);
    square_rotate(v, w);
    square_rotate(w, v);
    for (size_t i = 0; i < rows; i++)
        square_copy(y + i * y_step, (const uint8_t *)&v[i], columns);
}

// The last squares take rows and columns again that the ones before had.
static void transpose_squares(const ln_transpose_matrices *m, const uint8_t *x, uint8_t *y)
{
    const size_t rows = ln_min(m->rows, SQUARE), columns = ln_min(m->columns, SQUARE);
    for (size_t at = 0; at < m->columns; at += SQUARE) {
        const size_t j = ln_min(at, m->columns - columns);
        for (size_t top = 0; top < m->rows; top += SQUARE) {
            const size_t i = ln_min(top, m->rows - rows);
            const uint8_t *from = x + j * m->x_step + i;
            uint8_t *to = y + i * m->y_step + j;
            if (rows == SQUARE && columns == SQUARE)
                square_transpose(from, m->x_step, to, m->y_step, SQUARE, SQUARE);
            else
                square_transpose(from, m->x_step, to, m->y_step, rows, columns);
        }
    }
}

#endif
#endif
