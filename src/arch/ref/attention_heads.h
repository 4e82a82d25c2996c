// SPDX-License-Identifier: Apache-2.0
// Attention of heads side by side, in double.

#ifndef LN_ARCH_REF_ATTENTION_HEADS_H
#define LN_ARCH_REF_ATTENTION_HEADS_H

#include <stdbool.h>

#include "op/attention.h"

// Tensors and parameters have passed ln_shape_attention. `mask` may be NULL.
void ln_ref_attention_heads(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                            const tl_tensor *mask, tl_tensor *dst, const ln_attention_heads *given,
                            double scale, bool is_causal, bool is_guarded);

#endif
