// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention on arrays of double; every operator of that kind ends here.

#ifndef LN_ARCH_REF_ONNX_ATTENTION_CORE_H
#define LN_ARCH_REF_ONNX_ATTENTION_CORE_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/attention.h"

// One attention. Arrays are dense: [batch, heads, len, size]. Heads of keys are shared by equal
// runs of heads of queries.
typedef struct ln_attend {
    size_t batch, q_heads, kv_heads, q_len, kv_len, size, v_size;
    const double *q, *k, *v;
    double scale;
    double softcap; // scores are in (-softcap, softcap) before the bias; 0: anywhere

    // Returns the keys that query `at` may look at, and fills in what is added to their scores, one
    // number for each; minus infinity hides one of these. The others take no part, whatever they
    // and their values are. NULL: all, and nothing is added.
    ln_key_span (*bias)(const void *self, size_t b, size_t head, size_t at, double *out_row);
    const void *self;
    bool is_guarded;     // weights that are NaN count as 0
    bool zero_if_hidden; // a query whose keys are all hidden gives 0, and not NaN

    const double *sink; // of each head: a score that takes its share of the sum; NULL: none
    double *y;          // [batch, q_heads, q_len, v_size]
    double *qk;         // [batch, q_heads, q_len, kv_len], or NULL
    ln_qk_mode qk_mode; // what `qk` receives
} ln_attend;

ln_status ln_ref_attend(ln_call *call, const ln_attend *a);

// Probabilities from `count` scores, in place: all 0 where no score is above minus infinity. `sink`
// NULL, or a further score, which gets no place.
void ln_ref_softmax_row(double *row, size_t count, const double *sink);

// The elements of `t` as [batch, heads, len, size]; NULL with a recorded failure.
double *ln_ref_load_heads(ln_call *call, const tl_tensor *t, const ln_heads *heads);

// The reverse; `t` NULL is fine.
void ln_ref_store_heads(const double *values, const ln_heads *heads, tl_tensor *t);

// The elements of `past`, [batch, heads, past_len, size] or NULL, and after each head's those of
// `t`; NULL with a recorded failure.
double *ln_ref_join_heads(ln_call *call, const tl_tensor *past, size_t past_len, const tl_tensor *t,
                          const ln_heads *heads);

#endif
