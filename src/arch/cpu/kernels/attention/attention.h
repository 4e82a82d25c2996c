// SPDX-License-Identifier: Apache-2.0
// Attention: for each head and query, the mean of the values, weighted by the softmax of how well
// the query fits the keys. Scores are kept for some queries at a time only.
//
// Heads of a token mostly stand next to each other, each of `size` floats. With kv_heads < heads,
// heads / kv_heads neighbours share keys and values.
//
// The bits, for a query q:
//     score j   = sum of q[c] * (k[j][c] * scale), by fma in the order of c, starting at +0;
//                 + mask[j] if there is a mask; -inf for j that a causal query does not see
//     weight j  = exp(score j - the largest score), vf_exp in mathf.h
//     y[c]      = (sum of weight j * v[j][c], by fma in the order of j, starting at +0) * share
//     share     = 1 / total, rounded
//     total     = the sum of the weights in sixteen lanes: lane i takes the weights i, i + 16, ...
//                 in this order, starting at +0, in runs as lanes.h says, and lanes are added
//                 as it says.
// A query with a score that is NaN or +inf, or with scores of -inf alone, gives NaN; if it is
// guarded, its weights are 0 and its total 1.

#ifndef LN_ARCH_CPU_KERNELS_ATTENTION_H
#define LN_ARCH_CPU_KERNELS_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

#define LN_ATTENTION_LANES 16

typedef struct ln_attention_f32_shape {
    size_t batch;
    size_t heads, kv_heads; // heads % kv_heads == 0
    size_t queries, keys;
    size_t size; // of a head
} ln_attention_f32_shape;

typedef struct ln_attention_f32_args {
    ln_attention_f32_shape shape;
    const float *q, *k, *v;
    size_t q_stride, k_stride, v_stride; // floats from one token to the next
    float *y;                            // apart from the others
    size_t y_stride;
    // Floats from one head to the next; 0: `size`. And from one image to the next; 0: those of its
    // tokens.
    size_t q_head, k_head, v_head, y_head;
    size_t q_image, k_image, v_image, y_image;
    const float *mask;      // an addend for each key; NULL: none
    size_t mask_strides[3]; // floats from one image, head, query to the next; 0: the same one
    float scale;
    bool is_causal;     // query i sees the keys up to i ...
    size_t keys_before; // ... and so many more, which are older than the first query
    bool is_guarded;    // weights that are NaN count as 0
} ln_attention_f32_args;

// LN_LIMIT or LN_INVALID where the shape is none that can be computed, or its workspace too large.
ln_status ln_attention_f32_check(const ln_attention_f32_shape *shape);

// Floats of workspace, the same on every machine, for a shape that has passed the check.
size_t ln_attention_f32_workspace(const ln_attention_f32_shape *shape);

void ln_attention_f32(ln_cpu_isa isa, const ln_attention_f32_args *args, float *workspace,
                      ln_pool *pool);

// ---- Kernels ----

// Keys as panels of 16: | c0: k0 ... k15 | c1: k0 ... k15 | ..., times scale, zeros after the
// last.
typedef void ln_attention_pack_keys_fn(size_t keys, size_t size, const float *k, size_t stride,
                                       float scale, float *to);

// Values as panels of 16: | j0: c0 ... c15 | j1: c0 ... c15 | ..., zeros after the last c.
typedef void ln_attention_pack_values_fn(size_t keys, size_t size, const float *v, size_t stride,
                                         float *to);

// Scores of some queries, `stride` floats apart, become weights; `totals` takes their sums.
typedef struct ln_attention_scores {
    size_t rows, keys;
    float *p;
    size_t stride;
    const float *mask; // or NULL
    size_t mask_stride;
    bool is_causal;
    size_t first_query; // keys in front of the first row's own, if they are causal
    bool is_guarded;
    float *totals;
} ln_attention_scores;

typedef void ln_attention_weigh_fn(const ln_attention_scores *scores);

// y *= 1 / its row's total.
typedef void ln_attention_divide_fn(size_t rows, size_t size, const float *totals, float *y,
                                    size_t stride);

typedef struct ln_attention_f32_kernels {
    ln_attention_pack_keys_fn *pack_keys;
    ln_attention_pack_values_fn *pack_values;
    ln_attention_weigh_fn *weigh;
    ln_attention_divide_fn *divide;
} ln_attention_f32_kernels;

LN_KERNELS(const ln_attention_f32_kernels, attention_f32)

LN_CPPEND

#endif
