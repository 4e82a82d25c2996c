// SPDX-License-Identifier: Apache-2.0
// Planes of bytes to pixels of two to four channels, in vectors of the compiler that are shuffled.

#ifndef LN_ARCH_CPU_KERNELS_JOIN_PLANES_BODY_H
#define LN_ARCH_CPU_KERNELS_JOIN_PLANES_BODY_H

#include <string.h>

#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/simd/unroll.h"

// `columns` is a constant where this is inlined.
static inline __attribute__((always_inline)) void join_bytes(const uint8_t *x, size_t step,
                                                             size_t rows, const size_t columns,
                                                             uint8_t *restrict y)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            y[i * columns + j] = x[j * step + i];
}

#define JOIN_PIXELS 16

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define JOIN_SHUFFLES
#endif
#endif

#ifdef JOIN_SHUFFLES

typedef uint8_t join_vector __attribute__((vector_size(JOIN_PIXELS)));

static inline join_vector join_load(const uint8_t *p)
{
    join_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

// One by one, since a copy of all of them would go through memory.
#define JOIN_STORE(y, all)                                                                         \
    LN_UNROLL                                                                                      \
    for (size_t i = 0; i < sizeof(all) / sizeof *(all); i++)                                       \
        memcpy((y) + i * JOIN_PIXELS, &(all)[i], JOIN_PIXELS);

// In turn one of a and one of b: the first halves, then the second ones.
#define JOIN_LOW(a, b)                                                                             \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define JOIN_HIGH(a, b)                                                                            \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

static inline void join_two(const uint8_t *x, size_t step, uint8_t *y)
{
    const join_vector a = join_load(x), b = join_load(x + step);
    const join_vector all[2] = {JOIN_LOW(a, b), JOIN_HIGH(a, b)};
    JOIN_STORE(y, all)
}

// Two planes first, with every third byte left out.
static inline void join_three(const uint8_t *x, size_t step, uint8_t *y)
{
    const join_vector a = join_load(x), b = join_load(x + step), c = join_load(x + 2 * step);
    const join_vector first =
        __builtin_shufflevector(a, b, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
    const join_vector second =
        __builtin_shufflevector(a, b, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
    const join_vector third =
        __builtin_shufflevector(a, b, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
    const join_vector all[3] = {
        __builtin_shufflevector(first, c, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15),
        __builtin_shufflevector(second, c, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15),
        __builtin_shufflevector(third, c, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14,
                                31)};
    JOIN_STORE(y, all)
}

static inline void join_four(const uint8_t *x, size_t step, uint8_t *y)
{
    const join_vector a = join_load(x), b = join_load(x + step);
    const join_vector c = join_load(x + 2 * step), d = join_load(x + 3 * step);
    const join_vector ac[2] = {JOIN_LOW(a, c), JOIN_HIGH(a, c)};
    const join_vector bd[2] = {JOIN_LOW(b, d), JOIN_HIGH(b, d)};
    const join_vector all[4] = {JOIN_LOW(ac[0], bd[0]), JOIN_HIGH(ac[0], bd[0]),
                                JOIN_LOW(ac[1], bd[1]), JOIN_HIGH(ac[1], bd[1])};
    JOIN_STORE(y, all)
}

// The last pixels are made together with some that have been made.
#define JOIN_MATRIX(columns, join)                                                                 \
    if (m->rows < JOIN_PIXELS) {                                                                   \
        join_bytes(x, m->x_step, m->rows, columns, y);                                             \
        continue;                                                                                  \
    }                                                                                              \
    for (size_t i = 0; i + JOIN_PIXELS < m->rows; i += JOIN_PIXELS)                                \
        join(x + i, m->x_step, y + i * columns);                                                   \
    join(x + m->rows - JOIN_PIXELS, m->x_step, y + (m->rows - JOIN_PIXELS) * columns);

#else

#define JOIN_MATRIX(columns, join) join_bytes(x, m->x_step, m->rows, columns, y);

#endif

void VF_KERNEL(ln_k_join_planes)(const ln_transpose_matrices *m)
{
    const uint8_t *x = m->x;
    uint8_t *y = m->y;
    for (size_t n = 0; n < m->count; n++, x += m->x_next, y += m->y_next) {
        if (m->columns == 2) {
            JOIN_MATRIX(2, join_two)
        } else if (m->columns == 3) {
            JOIN_MATRIX(3, join_three)
        } else {
            JOIN_MATRIX(4, join_four)
        }
    }
}

#endif
