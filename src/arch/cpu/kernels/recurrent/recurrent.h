// SPDX-License-Identifier: Apache-2.0
// What recurrent networks are made of: products with rows of weights as models hold them, and cells
// after their gates.
//
// The bits: a product has sixteen lanes; lane i takes fma(a[i], b[i], lane), then i + 16, ... in
// this order, starting at +0; lanes are added as lanes.h says, then the bias. Cells follow the
// formulas below, each step rounded, with vf_sigmoid and vf_tanh of mathf.h.

#ifndef LN_ARCH_CPU_KERNELS_RECURRENT_H
#define LN_ARCH_CPU_KERNELS_RECURRENT_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

#define LN_PRODUCT_LANES 16

// y[i][j] = a[i] . b[j] + bias[j], rows of k floats that follow each other; y is [m, n].
typedef struct ln_row_products_f32 {
    size_t m, n, k;
    const float *a;
    const float *b;
    const float *bias; // NULL: none
    float *y;          // apart from the others
} ln_row_products_f32;

// Gates i, o, f, c of `hidden` each, one after the other: s = x + h, and
//     i, o, f = sigmoid(s), of which s is fma(peephole, cell, s) where there is one, for o of the
//               new cell
//     cell    = fma(f, cell, i tanh(s of c));     f is 1 - i where the input gate says what is kept
//     state   = o tanh(cell)
typedef struct ln_lstm_cell_f32 {
    size_t hidden;
    const float *x, *h;
    const float *peephole; // of i, o, f; NULL: none
    bool is_input_forget;
    float *cell;
    float *state;
} ln_lstm_cell_f32;

// Gates z, r, h of `hidden` each: with r = sigmoid(x + h) of the second one,
//     reset   = r times `from`
typedef struct ln_gru_reset_f32 {
    size_t hidden;
    const float *x, *h;
    const float *from;
    float *reset; // may be `from`
} ln_gru_reset_f32;

//     z       = sigmoid(x + h) of the first one
//     state   = fma(z, state, (1 - z) tanh(x of the third one + h_h))
typedef struct ln_gru_cell_f32 {
    size_t hidden;
    const float *x, *h;
    const float *h_h;
    float *state;
} ln_gru_cell_f32;

typedef void ln_row_products_f32_fn(const ln_row_products_f32 *p);
typedef void ln_lstm_cell_f32_fn(const ln_lstm_cell_f32 *cell);
typedef void ln_gru_reset_f32_fn(const ln_gru_reset_f32 *gate);
typedef void ln_gru_cell_f32_fn(const ln_gru_cell_f32 *cell);

typedef struct ln_recurrent_f32_kernels {
    ln_row_products_f32_fn *products;
    ln_lstm_cell_f32_fn *lstm;
    ln_gru_reset_f32_fn *gru_reset;
    ln_gru_cell_f32_fn *gru;
} ln_recurrent_f32_kernels;

LN_KERNELS(const ln_recurrent_f32_kernels, recurrent_f32)

LN_CPPEND

#endif
