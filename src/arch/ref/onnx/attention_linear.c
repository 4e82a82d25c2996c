// SPDX-License-Identifier: Apache-2.0
// LinearAttention: a matrix for each head, which tokens write to and read from in turn.

#include "arch/ref/functions.h"
#include "op/onnx/attention.h"

#include <math.h>

#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

typedef struct linear {
    const ln_linear_attention *attention;
    const double *q, *k, *v;
    const tl_tensor *decay, *beta;
    double *state, *y; // [batch, kv heads, k size, v size], [batch, q heads, tokens, v size]
    double *value;     // [v size]: what the token writes
} linear;

static void decay_state(const linear *l, double *state, size_t b, size_t head, size_t at)
{
    const ln_linear_attention *a = l->attention;
    size_t rows = (size_t)a->k.size, columns = (size_t)a->v.size, per_head = (size_t)a->decay_size;
    size_t first = ((b * (size_t)a->k.len + at) * (size_t)a->k.heads + head) * per_head;
    for (size_t r = 0; r < rows; r++) {
        double factor = exp(ln_elem_real(l->decay, first + (per_head == 1 ? 0 : r)));
        for (size_t c = 0; c < columns; c++)
            state[r * columns + c] *= factor;
    }
}

// Turns the value into the correction of what the state already has for this key.
static void correct_value(const linear *l, const double *state, const double *key, size_t b,
                          size_t head, size_t at)
{
    const ln_linear_attention *a = l->attention;
    size_t rows = (size_t)a->k.size, columns = (size_t)a->v.size, heads = (size_t)a->beta_heads;
    size_t token = b * (size_t)a->k.len + at;
    double beta = ln_elem_real(l->beta, token * heads + (heads == 1 ? 0 : head));
    for (size_t c = 0; c < columns; c++) {
        double known = 0;
        for (size_t r = 0; r < rows; r++)
            known += state[r * columns + c] * key[r];
        l->value[c] = beta * (l->value[c] - known);
    }
}

static void read_state(const linear *l, const double *state, const double *query, double *y)
{
    const ln_linear_attention *a = l->attention;
    size_t rows = (size_t)a->k.size, columns = (size_t)a->v.size;
    for (size_t c = 0; c < columns; c++) {
        double sum = 0;
        for (size_t r = 0; r < rows; r++)
            sum += query[r] * state[r * columns + c];
        y[c] = a->scale * sum;
    }
}

static void run_token(const linear *l, size_t b, size_t head, size_t at)
{
    const ln_linear_attention *a = l->attention;
    size_t rows = (size_t)a->k.size, columns = (size_t)a->v.size, len = (size_t)a->k.len;
    size_t kv_heads = (size_t)a->k.heads, q_heads = (size_t)a->q.heads;
    size_t group = q_heads / kv_heads, row = b * kv_heads + head;
    double *state = l->state + row * rows * columns;
    const double *key = l->k + (row * len + at) * rows, *value = l->v + (row * len + at) * columns;

    if (a->is_gated)
        decay_state(l, state, b, head, at);
    for (size_t c = 0; c < columns; c++)
        l->value[c] = value[c];
    if (a->is_delta)
        correct_value(l, state, key, b, head, at);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++)
            state[r * columns + c] += key[r] * l->value[c];
    }
    for (size_t g = 0; g < group; g++) {
        size_t query = (b * q_heads + head * group + g) * len + at;
        read_state(l, state, l->q + query * rows, l->y + query * columns);
    }
}

ln_status ln_ref_linear_attention(ln_call *call)
{
    ln_linear_attention a;
    LN_TRY(ln_linear_attention_read(call, &a));
    const tl_tensor *past = ln_call_in(call, LN_LINEAR_PAST);
    tl_tensor *present = ln_call_dst(call, 1);
    size_t batch = (size_t)a.k.batch, heads = (size_t)a.k.heads, len = (size_t)a.k.len;
    size_t columns = (size_t)a.v.size, state_len;
    // Only a state that is wanted has been checked to be of a size that can be.
    if (__builtin_mul_overflow(batch * heads, (size_t)a.k.size * columns, &state_len))
        return ln_call_fail(call, LN_LIMIT, "has a state that is too large");

    linear l = {.attention = &a,
                .decay = ln_call_in(call, LN_LINEAR_DECAY),
                .beta = ln_call_in(call, LN_LINEAR_BETA)};
    l.q = ln_ref_load_heads(call, ln_call_in(call, LN_LINEAR_Q), &a.q);
    l.k = ln_ref_load_heads(call, ln_call_in(call, LN_LINEAR_K), &a.k);
    l.v = ln_ref_load_heads(call, ln_call_in(call, LN_LINEAR_V), &a.v);
    l.state = past ? ln_ref_doubles(call, past) : ln_ref_new_doubles(call, state_len);
    l.y = ln_ref_new_doubles(call, batch * (size_t)a.q.heads * len * columns);
    l.value = ln_ref_new_doubles(call, columns);
    if (!l.q || !l.k || !l.v || !l.state || !l.y || !l.value)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;

    for (size_t b = 0; b < batch; b++) {
        for (size_t head = 0; head < heads; head++) {
            for (size_t at = 0; at < len && !ln_deadline_passed(); at++)
                run_token(&l, b, head, at);
        }
    }
    const ln_heads y_heads = ln_heads_packed(a.q.batch, a.q.heads, a.q.len, a.v.size);
    ln_ref_store_heads(l.y, &y_heads, ln_call_dst(call, 0));
    for (int i = 0; present && i < present->len; i++)
        ln_elem_set_real(present, (size_t)i, l.state[i]);
    return LN_OK;
}
