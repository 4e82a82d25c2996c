// SPDX-License-Identifier: Apache-2.0
// What attention on arch cpu calls: from tensors and parameters to the kernel. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_ATTENTION_H
#define LN_ARCH_CPU_ATTENTION_H

#include <lightnet/context.h>
#include <lightnet/status.h>

#include "base/pool.h"
#include "op/attention.h"

LN_CPPSTART

typedef struct ln_cpu_attention_tensors {
    const tl_tensor *q, *k, *v, *mask; // `mask` may be NULL
    tl_tensor *dst, *workspace;
} ln_cpu_attention_tensors;

// A scale of 0 is 1 / sqrt(head_size).
ln_status ln_cpu_attention(ln_pool *pool, const ln_cpu_attention_tensors *tensors,
                           const ln_attention_heads *given, float scale, ln_bool is_causal,
                           ln_bool is_guarded);

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_attention_workspace(int *dims, const tl_tensor *q, const tl_tensor *k,
                               const ln_attention_heads *given);

LN_CPPEND

#endif
