// SPDX-License-Identifier: Apache-2.0
// From heads in memory, wherever they stand, to the attention kernel.

#ifndef LN_ARCH_CPU_ATTENTION_CORE_H
#define LN_ARCH_CPU_ATTENTION_CORE_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "arch/cpu/call.h"
#include "op/onnx/attention.h"

LN_CPPSTART

// Heads of all tokens: those of an input, or of the workspace.
typedef struct ln_cpu_heads {
    const float *data;
    ln_head_view view;
} ln_cpu_heads;

// Addends of scores: [batch or 1, heads or 1, queries or 1, keys]. -infinity hides a key.
typedef struct ln_cpu_mask {
    const float *data; // NULL: nothing is added
    size_t strides[3]; // floats from one image, head, query to the next; 0: the same
} ln_cpu_mask;

typedef struct ln_cpu_attend {
    size_t batch, q_heads, kv_heads, q_len, kv_len, size;
    ln_cpu_heads q, k, v;
    float *y;
    ln_head_view y_view;
    double scale; // 0: 1 / sqrt(size)
    ln_cpu_mask mask;
    bool is_causal;
    bool is_guarded;     // weights that are NaN count as 0
    bool zero_if_hidden; // queries of which all keys are hidden give 0
    size_t keys_before;  // the first query, if they are causal

    // The keys that a query of an image may look at, of which `is_causal` and the mask know too.
    // The others take no part, whatever they and their values are. Neither end goes back from one
    // query to the next. NULL: all.
    ln_key_span (*seen)(const void *self, size_t b, size_t query);
    const void *self;
} ln_cpu_attend;

// LN_UNSUPPORTED with a reason where the kernel does not take the sizes.
ln_status ln_cpu_attend_check(ln_call *call, const ln_cpu_attend *attend);

// While planning it takes what any number of threads needs.
void ln_cpu_attend_run(ln_call *call, const ln_cpu_attend *attend, ln_cpu_carver *carver);

// Heads that stand as [batch, heads, capacity, size].
ln_head_view ln_cpu_dense_view(size_t heads, size_t capacity, size_t size);

// Copies `len` tokens from `from` into such memory, from token `start` on.
typedef struct ln_cpu_head_copy {
    ln_cpu_heads from;
    size_t batch, heads, len, size;
    float *to;
    size_t capacity, start;
} ln_cpu_head_copy;

void ln_cpu_copy_heads(const ln_cpu_head_copy *copy);

LN_CPPEND

#endif
