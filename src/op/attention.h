// SPDX-License-Identifier: Apache-2.0
// Heads side by side in tokens, or in front of them: where an attention reads q, k and v.

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

// Where the heads of a tensor are, in floats; and how many tokens they have.
typedef struct ln_attention_view {
    size_t first, image, token, head;
    size_t tokens;
} ln_attention_view;

// Of a tensor [B, tokens, channels] whose first head begins at channel `first`, or [B, heads,
// tokens, size].
ln_attention_view ln_attention_view_of(const tl_tensor *t, int first, int head_size);

// The same with what 0 stands for. q has rank 3 or 4.
ln_attention_heads ln_attention_heads_of(const ln_attention_heads *given, const tl_tensor *q);

// Fills in `dims` and returns the rank, that of q; -1 with a recorded failure if something does not
// fit.
int ln_shape_attention(int *dims, const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                       const tl_tensor *mask, const ln_attention_heads *given);

// Floats of a mask that has been found to fit from one image, head and query to the next; 0 where
// one stands for all.
void ln_attention_mask_strides(size_t strides[3], const tl_tensor *mask);

LN_CPPEND

#endif
