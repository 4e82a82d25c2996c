// SPDX-License-Identifier: Apache-2.0
// The transpose of a matrix of elements of four bytes, and rows whose elements take turns, written
// once. A kernel file includes the verbs of its instruction set, of which only those that move
// lanes are used, then this.

#ifndef LN_ARCH_CPU_KERNELS_TRANSPOSE_U32_BODY_H
#define LN_ARCH_CPU_KERNELS_TRANSPOSE_U32_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/simd/unroll.h"
#include "base/minmax.h"

// ---- Squares ----

// `rows` x `columns` of y, at most VF_LANES each.
VF_VERB void transpose_tile(const float *x, size_t x_step, float *y, size_t y_step, size_t rows,
                            size_t columns)
{
    vf v[VF_LANES];
    if (rows == VF_LANES && columns == VF_LANES) {
        LN_UNROLL
        for (int i = 0; i < VF_LANES; i++)
            v[i] = vf_load(x + (size_t)i * x_step);
        vf_transpose(v);
        LN_UNROLL
        for (int i = 0; i < VF_LANES; i++)
            vf_store(y + (size_t)i * y_step, v[i]);
        return;
    }
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i++)
        v[i] = (size_t)i < columns ? vf_load_n(x + (size_t)i * x_step, rows) : vf_set1(0);
    vf_transpose(v);
    LN_UNROLL
    for (int i = 0; i < VF_LANES; i++)
        if ((size_t)i < rows)
            vf_store_n(y + (size_t)i * y_step, v[i], columns);
}

// Rows of y that are made together: their elements of x are whole cache lines next to each other.
#define TRANSPOSE_ROWS ((size_t)64)

static void transpose_squares(const ln_transpose_matrices *m, const float *x, float *y)
{
    for (size_t top = 0; top < m->rows; top += TRANSPOSE_ROWS) {
        size_t bottom = ln_min(m->rows, top + TRANSPOSE_ROWS);
        for (size_t j = 0; j < m->columns; j += VF_LANES)
            for (size_t i = top; i < bottom; i += VF_LANES)
                transpose_tile(x + j * m->x_step + i, m->x_step, y + i * m->y_step + j, m->y_step,
                               ln_min(VF_LANES, bottom - i), ln_min(VF_LANES, m->columns - j));
    }
}

// ---- Few columns, few rows ----

#define TRANSPOSE_FEW 4

// Vector j of what follows from mixing `few` vectors is made of lanes from[i] of vector k in the
// lanes of to[j][k].
typedef struct transpose_mix {
    vf_index from[TRANSPOSE_FEW][TRANSPOSE_FEW];
    vf_choice to[TRANSPOSE_FEW][TRANSPOSE_FEW];
} transpose_mix;

// `is_interleaved`: the vectors made are one row with elements of each of those given in turn;
// else it is the other way round.
VF_VERB void transpose_make_mix(transpose_mix *mix, size_t few, bool is_interleaved)
{
    for (size_t j = 0; j < few; j++)
        for (size_t k = 0; k < few; k++) {
            uint32_t lanes[VF_LANES], is_there[VF_LANES];
            for (size_t i = 0; i < VF_LANES; i++) {
                size_t n = is_interleaved ? j * VF_LANES + i : i * few + j;
                size_t vector = is_interleaved ? n % few : n / VF_LANES;
                lanes[i] = (uint32_t)(is_interleaved ? n / few : n % VF_LANES);
                is_there[i] = vector == k;
            }
            mix->from[j][k] = vf_index_of(lanes);
            mix->to[j][k] = vf_choice_of(is_there);
        }
}

VF_VERB void transpose_mix_vectors(const transpose_mix *mix, const size_t few, const vf *in,
                                   vf *out)
{
    LN_UNROLL
    for (size_t j = 0; j < few; j++) {
        out[j] = in[0];
        LN_UNROLL
        for (size_t k = 0; k < few; k++)
            out[j] = vf_pick(out[j], in[k], mix->from[j][k], mix->to[j][k]);
    }
}

// Lanes of vector `j` that are among the first `count` elements.
VF_VERB size_t transpose_lanes(size_t count, size_t j)
{
    return count <= j * VF_LANES ? 0 : ln_min(VF_LANES, count - j * VF_LANES);
}

// Columns that are next to each other in y become alternating elements.
VF_VERB void transpose_interleave(const size_t few, const transpose_mix *mix,
                                  const ln_transpose_matrices *m, const float *x, float *y)
{
    for (size_t i = 0; i < m->rows; i += VF_LANES) {
        size_t count = ln_min(VF_LANES, m->rows - i);
        vf in[TRANSPOSE_FEW], out[TRANSPOSE_FEW];
        LN_UNROLL
        for (size_t j = 0; j < few; j++)
            in[j] = count == VF_LANES ? vf_load(x + j * m->x_step + i)
                                      : vf_load_n(x + j * m->x_step + i, count);
        transpose_mix_vectors(mix, few, in, out);
        LN_UNROLL
        for (size_t j = 0; j < few; j++) {
            float *to = y + i * few + j * VF_LANES;
            size_t lanes = transpose_lanes(count * few, j);
            if (lanes == VF_LANES)
                vf_store(to, out[j]);
            else if (lanes)
                vf_store_n(to, out[j], lanes);
        }
    }
}

// Rows of y are every `few`th element of x.
VF_VERB void transpose_separate(const size_t few, const transpose_mix *mix,
                                const ln_transpose_matrices *m, const float *x, float *y)
{
    for (size_t i = 0; i < m->columns; i += VF_LANES) {
        size_t count = ln_min(VF_LANES, m->columns - i);
        vf in[TRANSPOSE_FEW], out[TRANSPOSE_FEW];
        LN_UNROLL
        for (size_t j = 0; j < few; j++) {
            const float *from = x + i * few + j * VF_LANES;
            size_t lanes = transpose_lanes(count * few, j);
            in[j] = lanes == VF_LANES ? vf_load(from) : lanes ? vf_load_n(from, lanes) : vf_set1(0);
        }
        transpose_mix_vectors(mix, few, in, out);
        LN_UNROLL
        for (size_t j = 0; j < few; j++) {
            if (count == VF_LANES)
                vf_store(y + j * m->y_step + i, out[j]);
            else
                vf_store_n(y + j * m->y_step + i, out[j], count);
        }
    }
}

// ---- The kernel ----

// `few` columns if `is_interleaved`, else rows.
VF_VERB void transpose_few(const size_t few, const bool is_interleaved,
                           const ln_transpose_matrices *m)
{
    transpose_mix mix;
    transpose_make_mix(&mix, few, is_interleaved);
    for (size_t n = 0; n < m->count; n++) {
        const float *x = (const float *)m->x + n * m->x_next;
        float *y = (float *)m->y + n * m->y_next;
        if (is_interleaved)
            transpose_interleave(few, &mix, m, x, y);
        else
            transpose_separate(few, &mix, m, x, y);
    }
}

void VF_KERNEL(ln_k_transpose_u32)(const ln_transpose_matrices *m)
{
#define CASE(few)                                                                                  \
    if (m->columns == (few) && m->y_step == (few)) {                                               \
        transpose_few(few, true, m);                                                               \
        return;                                                                                    \
    }                                                                                              \
    if (m->rows == (few) && m->x_step == (few)) {                                                  \
        transpose_few(few, false, m);                                                              \
        return;                                                                                    \
    }
    CASE(2)
    CASE(3)
    CASE(4)
#undef CASE
    for (size_t n = 0; n < m->count; n++)
        transpose_squares(m, (const float *)m->x + n * m->x_next, (float *)m->y + n * m->y_next);
}

// ---- Pairs ----

// `count` elements of each of a and b, VF_LANES at most, a constant where it is that.
VF_VERB void interleave_vectors(const transpose_mix *mix, const float *a, const float *b, float *y,
                                const size_t count)
{
    const bool is_whole = count == VF_LANES;
    const vf in[2] = {is_whole ? vf_load(a) : vf_load_n(a, count),
                      is_whole ? vf_load(b) : vf_load_n(b, count)};
    vf out[2];
    transpose_mix_vectors(mix, 2, in, out);
    if (is_whole) {
        vf_store(y, out[0]);
        vf_store(y + VF_LANES, out[1]);
        return;
    }
    vf_store_n(y, out[0], transpose_lanes(2 * count, 0));
    if (2 * count > VF_LANES)
        vf_store_n(y + VF_LANES, out[1], transpose_lanes(2 * count, 1));
}

// The last vectors of a row take elements again that the ones before had, unless there are none.
void VF_KERNEL(ln_k_interleave_u32)(const ln_interleave_rows *rows)
{
    transpose_mix mix;
    transpose_make_mix(&mix, 2, true);
    const size_t n = rows->columns;
    const float *a = rows->a, *b = rows->b;
    float *y = rows->y;
    for (size_t row = 0; row < rows->rows; row++) {
        size_t i = 0;
        for (; i + VF_LANES <= n; i += VF_LANES)
            interleave_vectors(&mix, a + i, b + i, y + 2 * i, VF_LANES);
        if (i < n && n > VF_LANES)
            interleave_vectors(&mix, a + n - VF_LANES, b + n - VF_LANES, y + 2 * (n - VF_LANES),
                               VF_LANES);
        else if (i < n)
            interleave_vectors(&mix, a, b, y, n);
        a += rows->a_step;
        b += rows->b_step;
        y += 2 * n;
    }
}

#endif
