// SPDX-License-Identifier: Apache-2.0
// Heads side by side in tokens: which channels of q, k and v an attention reads.

#ifndef LN_OP_ATTENTION_H
#define LN_OP_ATTENTION_H

#include <stddef.h>

#include <lightnet/tensor.h>

LN_CPPSTART

// The parameters of the operator, 0 where they stand for something else.
typedef struct ln_attention_heads {
    int heads, kv_heads, head_size;
    int q_first, k_first, v_first;
} ln_attention_heads;

// The same with what 0 stands for. q is [B, S, channels].
ln_attention_heads ln_attention_heads_of(const ln_attention_heads *given, const tl_tensor *q);

// Fills in `dims` and returns the rank, 3; -1 with a recorded failure if something does not fit.
int ln_shape_attention(int *dims, const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                       const tl_tensor *mask, const ln_attention_heads *given);

// Floats of a mask that has been found to fit from one image, head and query to the next; 0 where
// one stands for all.
void ln_attention_mask_strides(size_t strides[3], const tl_tensor *mask);

LN_CPPEND

#endif
