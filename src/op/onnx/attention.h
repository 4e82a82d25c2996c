// SPDX-License-Identifier: Apache-2.0
// Attention and its companions: shapes and attributes, checked once and read by whoever computes
// them.

#ifndef LN_OP_ONNX_ATTENTION_H
#define LN_OP_ONNX_ATTENTION_H

#include <stdbool.h>

#include <lightnet/call.h>

// How a tensor holds vectors for heads of tokens: element e of a head of a token is at
// first + batch * batch_stride + token * token_stride + head * head_stride + e.
typedef struct ln_head_view {
    size_t first, batch_stride, token_stride, head_stride;
} ln_head_view;

// A tensor of `heads` vectors of `size` elements for each of `len` tokens of a batch, be it packed,
// [batch, len, heads * size or more], or not, [batch, heads, len, size].
typedef struct ln_heads {
    int batch, heads, len, size;
    bool is_packed;
    ln_head_view view;
} ln_heads;

// Reads a shape of rank 4, or of rank 3 with `heads` heads; `name` stands in messages.
ln_status ln_heads_read(ln_call *call, const tl_tensor *t, const char *name, int64_t heads,
                        ln_heads *out_heads);

// Heads of [batch, len, heads * size], and of [batch, heads, len, size].
ln_heads ln_heads_packed(int batch, int heads, int len, int size);
ln_heads ln_heads_in_front(int batch, int heads, int len, int size);

// Position of the first element of token `at` of a head.
static inline size_t ln_heads_at(const ln_heads *x, size_t b, size_t head, size_t at)
{
    const ln_head_view *v = &x->view;
    return v->first + b * v->batch_stride + at * v->token_stride + head * v->head_stride;
}

// ---- Attention, of the core and of ONNX ----

enum {
    LN_ATTENTION_Q,
    LN_ATTENTION_K,
    LN_ATTENTION_V,
    LN_ATTENTION_MASK,
    LN_ATTENTION_PAST_K,
    LN_ATTENTION_PAST_V,
    LN_ATTENTION_KV_LENS
};

// What output qk_matmul_output holds.
typedef enum ln_qk_mode { LN_QK_RAW, LN_QK_CAPPED, LN_QK_BIASED, LN_QK_PROBABILITIES } ln_qk_mode;

typedef struct ln_attention {
    ln_heads q, k, v, y; // of the inputs and of output 0
    int past_len, kv_len;
    double scale; // 0: 1 / sqrt(size)
    double softcap;
    bool is_causal;
    bool is_guarded;                   // weights that are NaN count as 0
    bool zero_if_hidden;               // a query whose keys are all hidden gives 0
    bool repeats_mask;                 // of one key
    int64_t left_window, right_window; // -1: unbounded
    ln_qk_mode qk_mode;
} ln_attention;

// Of the core's operator.
ln_status ln_attention_read(ln_call *call, ln_attention *out_attention);

// The mask of an attention.
typedef struct ln_attention_mask {
    const tl_tensor *tensor; // or NULL
    size_t strides[4];       // 0 where it is broadcast
    int64_t len;             // keys it has something to say about
} ln_attention_mask;

ln_attention_mask ln_attention_mask_of(const ln_call *call, const ln_attention *a);

// Keys from `begin` on that come before `end`: begin <= end.
typedef struct ln_key_span {
    size_t begin, end;
} ln_key_span;

// The keys that causal order and the window leave to a query at `position`: those from *out_begin
// on that come before *out_end, which may be none.
void ln_attention_span(const ln_attention *a, int64_t position, int64_t *out_begin,
                       int64_t *out_end);

// Fails unless the lengths, which come from data, fit the keys.
ln_status ln_attention_check_lens(ln_call *call, const ln_attention *a);

// ---- FlexAttention ----

// Shapes of Q, K and V, checked against one another; all have rank 4.
ln_status ln_flex_attention_read(ln_call *call, ln_attention *out_attention);

// ---- LinearAttention ----

enum { LN_LINEAR_Q, LN_LINEAR_K, LN_LINEAR_V, LN_LINEAR_PAST, LN_LINEAR_DECAY, LN_LINEAR_BETA };

typedef struct ln_linear_attention {
    ln_heads q, k, v;
    bool is_gated, is_delta;
    int decay_size; // values of `decay` for each head: 1 or k.size
    int beta_heads; // heads of `beta`: 1 or k.heads
    double scale;
} ln_linear_attention;

ln_status ln_linear_attention_read(ln_call *call, ln_linear_attention *out_attention);

// ---- RotaryEmbedding, of ONNX and of com.microsoft ----

typedef struct ln_rotary {
    ln_heads x;
    int rotated; // elements of each head that are rotated, an even number
    bool is_interleaved;
    const tl_tensor *cos, *sin, *positions; // positions: NULL where cos has a row for each token
} ln_rotary;

ln_status ln_rotary_read(ln_call *call, ln_rotary *out_rotary);
ln_status ln_ms_rotary_read(ln_call *call, ln_rotary *out_rotary);

#endif
