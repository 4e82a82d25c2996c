// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft in double, and what its operators have in common.

#ifndef LN_ARCH_REF_ONNX_ATTENTION_MS_H
#define LN_ARCH_REF_ONNX_ATTENTION_MS_H

#include <lightnet/call.h>

#include "op/onnx/attention.h" // the estimates that descriptions inherit
#include "op/onnx/attention_ms.h"

// Copies the heads that `view` finds in `data` to [batch, heads, capacity, size] in `out`; tokens
// of sequence b go to place starts[b], 0 if `starts` is NULL.
typedef struct ln_head_copy {
    const double *data;
    ln_head_view view;
    size_t batch, heads, len, size, capacity;
    const size_t *starts;
} ln_head_copy;

void ln_ref_copy_heads(const ln_head_copy *copy, double *out);

// Stores [batch, heads, len, size] as [batch, len, heads * size].
void ln_ref_pack_heads(const double *values, size_t batch, size_t heads, size_t len, size_t size,
                       tl_tensor *t);

#endif
