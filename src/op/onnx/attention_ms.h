// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft: shapes and attributes of its three operators.

#ifndef LN_OP_ONNX_ATTENTION_MS_H
#define LN_OP_ONNX_ATTENTION_MS_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/attention.h"

typedef struct ln_ms_attention {
    int batch, q_heads, kv_heads;
    int q_len;    // queries of each sequence
    int new_len;  // keys that this call brings
    int past_len; // keys that are there already, or the capacity for them
    int kv_len;   // keys of the present state, or the capacity for them
    int size, v_size;
    double scale, softcap;
    bool is_causal;
    ln_head_view q, k, v; // k and v of the new keys
} ln_ms_attention;

enum {
    LN_MS_ATTENTION_X,
    LN_MS_ATTENTION_WEIGHTS,
    LN_MS_ATTENTION_BIAS,
    LN_MS_ATTENTION_MASK,
    LN_MS_ATTENTION_PAST,
    LN_MS_ATTENTION_SCORES,
    LN_MS_ATTENTION_PAST_LEN
};

enum {
    LN_QATTENTION_X,
    LN_QATTENTION_WEIGHTS,
    LN_QATTENTION_BIAS,
    LN_QATTENTION_X_SCALE,
    LN_QATTENTION_WEIGHTS_SCALE,
    LN_QATTENTION_MASK,
    LN_QATTENTION_X_ZERO,
    LN_QATTENTION_WEIGHTS_ZERO,
    LN_QATTENTION_PAST
};

enum {
    LN_MHA_Q,
    LN_MHA_K,
    LN_MHA_V,
    LN_MHA_BIAS,
    LN_MHA_MASK,
    LN_MHA_SCORES,
    LN_MHA_PAST_K,
    LN_MHA_PAST_V,
    LN_MHA_PAST_LEN,
    LN_MHA_CACHE
};

enum {
    LN_GQA_Q,
    LN_GQA_K,
    LN_GQA_V,
    LN_GQA_PAST_K,
    LN_GQA_PAST_V,
    LN_GQA_LENS,
    LN_GQA_TOTAL,
    LN_GQA_COS,
    LN_GQA_SIN,
    LN_GQA_POSITIONS,
    LN_GQA_SCORES,
    LN_GQA_SINK,
    LN_GQA_K_SCALE,
    LN_GQA_V_SCALE
};

enum { LN_MASK_MASK, LN_MASK_Q, LN_MASK_K, LN_MASK_PAST };

// Lengths alone.
ln_status ln_attention_mask_read(ln_call *call, ln_ms_attention *out_attention);

// *out_total is the number of keys after the longest past, -1 if it is not known yet; kv_len is
// then not known either.
ln_status ln_ms_gqa_read(ln_call *call, ln_ms_attention *out_attention, int64_t *out_total);

#endif
