// SPDX-License-Identifier: Apache-2.0
// Recurrent networks in vector verbs.

#ifndef LN_ARCH_CPU_KERNELS_RECURRENT_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_RECURRENT_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/lanes.h"
#include "arch/cpu/kernels/mathf.h"
#include "arch/cpu/kernels/recurrent/recurrent.h"
#include "arch/cpu/simd/unroll.h"

// ---- Products ----

#define PRODUCT_VECTORS (LN_PRODUCT_LANES / VF_LANES)
#define MAX_A           4
#define MAX_B           8

// `count` <= 16 elements from p on, of the products of `ma` rows and `nb` rows.
VF_VERB void product_step(vf (*lanes)[MAX_B][PRODUCT_VECTORS], const size_t ma, const size_t nb,
                          size_t k, size_t p, size_t count, const float *a, const float *b)
{
    LN_UNROLL
    for (size_t v = 0; v < PRODUCT_VECTORS; v++) {
        size_t at = v * VF_LANES, cols = count > at ? count - at : 0;
        if (cols == 0)
            break;
        cols = cols < VF_LANES ? cols : VF_LANES;
        vf x[MAX_A];
        LN_UNROLL
        for (size_t i = 0; i < ma; i++)
            x[i] = vf_load_n(a + i * k + p + at, cols);
        LN_UNROLL
        for (size_t j = 0; j < nb; j++) {
            vf w = vf_load_n(b + j * k + p + at, cols);
            LN_UNROLL
            for (size_t i = 0; i < ma; i++)
                lanes[i][j][v] = vf_fma(x[i], w, lanes[i][j][v]);
        }
    }
}

// The same for all 16.
VF_VERB void product_whole_step(vf (*lanes)[MAX_B][PRODUCT_VECTORS], const size_t ma,
                                const size_t nb, size_t k, size_t p, const float *a, const float *b)
{
    LN_UNROLL
    for (size_t v = 0; v < PRODUCT_VECTORS; v++) {
        vf x[MAX_A];
        LN_UNROLL
        for (size_t i = 0; i < ma; i++)
            x[i] = vf_load(a + i * k + p + v * VF_LANES);
        LN_UNROLL
        for (size_t j = 0; j < nb; j++) {
            vf w = vf_load(b + j * k + p + v * VF_LANES);
            LN_UNROLL
            for (size_t i = 0; i < ma; i++)
                lanes[i][j][v] = vf_fma(x[i], w, lanes[i][j][v]);
        }
    }
}

// The tile of y at (i0, j0); ma and nb are constants where this is inlined.
VF_VERB void product_tile(const ln_row_products_f32 *t, const size_t ma, const size_t nb, size_t i0,
                          size_t j0)
{
    const float *a = t->a + i0 * t->k, *b = t->b + j0 * t->k;
    vf lanes[MAX_A][MAX_B][PRODUCT_VECTORS];
    LN_UNROLL
    for (size_t i = 0; i < ma; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nb; j++) {
            LN_UNROLL
            for (size_t v = 0; v < PRODUCT_VECTORS; v++)
                lanes[i][j][v] = vf_set1(0.0f);
        }
    }
    size_t p = 0;
    for (; p + LN_PRODUCT_LANES <= t->k; p += LN_PRODUCT_LANES)
        product_whole_step(lanes, ma, nb, t->k, p, a, b);
    if (p < t->k)
        product_step(lanes, ma, nb, t->k, p, t->k - p, a, b);
    LN_UNROLL
    for (size_t i = 0; i < ma; i++) {
        LN_UNROLL
        for (size_t j = 0; j < nb; j++) {
            vf sum = vf_sum_lanes(lanes[i][j], LN_PRODUCT_LANES);
            if (t->bias)
                sum = vf_add(sum, vf_set1(t->bias[j0 + j]));
            vf_store_n(&t->y[(i0 + i) * t->n + j0 + j], sum, 1);
        }
    }
}

// Weights are the larger side: they are read once for four rows of the other.
static void row_products_f32(const ln_row_products_f32 *t)
{
    size_t i = 0;
    for (; i + 4 <= t->m; i += 4) {
        size_t j = 0;
        for (; j + 4 <= t->n; j += 4)
            product_tile(t, 4, 4, i, j);
        for (; j < t->n; j++)
            product_tile(t, 4, 1, i, j);
    }
    for (; i < t->m; i++) {
        size_t j = 0;
        for (; j + 8 <= t->n; j += 8)
            product_tile(t, 1, 8, i, j);
        for (; j < t->n; j++)
            product_tile(t, 1, 1, i, j);
    }
}

// ---- Cells ----

VF_VERB vf gate_sum(const float *x, const float *h, size_t at, size_t n)
{
    return vf_add(vf_load_n(x + at, n), vf_load_n(h + at, n));
}

VF_VERB vf peephole_sum(const ln_lstm_cell_f32 *c, size_t gate, size_t j, size_t n, vf cell)
{
    size_t at = gate * c->hidden + j;
    vf sum = gate_sum(c->x, c->h, at, n);
    return c->peephole ? vf_fma(vf_load_n(c->peephole + at, n), cell, sum) : sum;
}

static void lstm_cell_f32(const ln_lstm_cell_f32 *c)
{
    for (size_t j = 0; j < c->hidden; j += VF_LANES) {
        size_t n = c->hidden - j < VF_LANES ? c->hidden - j : VF_LANES;
        vf cell = vf_load_n(c->cell + j, n);
        vf in = vf_sigmoid(peephole_sum(c, 0, j, n, cell));
        vf forget = c->is_input_forget ? vf_sub(vf_set1(1.0f), in)
                                       : vf_sigmoid(peephole_sum(c, 2, j, n, cell));
        vf candidate = vf_tanh(gate_sum(c->x, c->h, 3 * c->hidden + j, n));
        cell = vf_fma(forget, cell, vf_mul(in, candidate));
        vf out = vf_sigmoid(peephole_sum(c, 1, j, n, cell));
        vf_store_n(c->cell + j, cell, n);
        vf_store_n(c->state + j, vf_mul(out, vf_tanh(cell)), n);
    }
}

static void gru_reset_f32(const ln_gru_reset_f32 *g)
{
    for (size_t j = 0; j < g->hidden; j += VF_LANES) {
        size_t n = g->hidden - j < VF_LANES ? g->hidden - j : VF_LANES;
        vf gate = vf_sigmoid(gate_sum(g->x, g->h, g->hidden + j, n));
        vf_store_n(g->reset + j, vf_mul(gate, vf_load_n(g->from + j, n)), n);
    }
}

static void gru_cell_f32(const ln_gru_cell_f32 *c)
{
    for (size_t j = 0; j < c->hidden; j += VF_LANES) {
        size_t n = c->hidden - j < VF_LANES ? c->hidden - j : VF_LANES;
        vf update = vf_sigmoid(gate_sum(c->x, c->h, j, n));
        vf candidate = vf_add(vf_load_n(c->x + 2 * c->hidden + j, n), vf_load_n(c->h_h + j, n));
        vf fresh = vf_mul(vf_sub(vf_set1(1.0f), update), vf_tanh(candidate));
        vf_store_n(c->state + j, vf_fma(update, vf_load_n(c->state + j, n), fresh), n);
    }
}

const ln_recurrent_f32_kernels VF_KERNEL(ln_k_recurrent_f32) = {
    .products = row_products_f32,
    .lstm = lstm_cell_f32,
    .gru_reset = gru_reset_f32,
    .gru = gru_cell_f32,
};

#endif
