// SPDX-License-Identifier: Apache-2.0
// FlexAttention: two graphs of the model look at all scores and at all probabilities.

#include "arch/ref/functions.h"
#include "op/onnx/attention.h"

#include <math.h>

#include "arch/ref/onnx/attention_core.h"
#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

// The attention, with dimensions as sizes.
typedef struct flex {
    ln_attention attention;
    size_t batch, q_heads, kv_heads, q_len, kv_len, size, v_size;
    double *weights; // [batch, q heads, queries, keys]: scores, then probabilities
} flex;

static void score(const flex *f, const double *q, const double *k)
{
    size_t group = f->q_heads / f->kv_heads;
    double *out = f->weights;
    for (size_t row = 0; row < f->batch * f->q_heads * f->q_len && !ln_deadline_passed(); row++) {
        size_t head = row / f->q_len, b = head / f->q_heads;
        size_t kv_head = b * f->kv_heads + head % f->q_heads / group;
        const double *keys = k + kv_head * f->kv_len * f->size;
        for (size_t j = 0; j < f->kv_len; j++)
            *out++ = f->attention.scale *
                     ln_ref_sum_products(q + row * f->size, keys + j * f->size, f->size);
    }
}

// Takes the weights as they come out of the graph that `param` names.
static ln_status take_weights(ln_call *call, flex *f, const char *param, const ln_object *made,
                              const tl_tensor *like)
{
    const tl_tensor *t = ln_object_tensor(made);
    if (!t || !tl_tensor_issameshape(t, like))
        return ln_call_fail(call, LN_INVALID, "gets another shape from its graph '%s'", param);
    for (int i = 0; i < t->len; i++)
        f->weights[i] = ln_elem_real(t, (size_t)i);
    return LN_OK;
}

// Runs the graph that `param` names, if it does, on the weights.
static ln_status modify(ln_call *call, flex *f, const char *param, tl_dtype dtype)
{
    if (!ln_call_string(call, param))
        return LN_OK;
    const ln_attention *a = &f->attention;
    const int dims[] = {a->q.batch, a->q.heads, a->q.len, a->kv_len};
    ln_object *in = ln_object_new_tensor(dtype, 4, dims, ln_call_meter(call)), *out = NULL;
    if (!in)
        return LN_NO_MEMORY;
    tl_tensor *t = ln_object_tensor(in);
    for (int i = 0; i < t->len; i++)
        ln_elem_set_real(t, (size_t)i, f->weights[i]);
    ln_status status = ln_call_run_graph(call, param, 1, &in, 1, &out);
    if (status == LN_OK)
        status = take_weights(call, f, param, out, t);
    ln_object_release(in);
    ln_object_release(out);
    return status;
}

// A row without a score above minus infinity has no softmax; here that stays NaN.
static void softmax_rows(const flex *f)
{
    for (size_t row = 0; row < f->batch * f->q_heads * f->q_len && !ln_deadline_passed(); row++) {
        double *weights = f->weights + row * f->kv_len;
        bool is_hidden = true;
        for (size_t j = 0; j < f->kv_len; j++)
            is_hidden = is_hidden && weights[j] == -INFINITY;
        ln_ref_softmax_row(weights, f->kv_len, NULL);
        for (size_t j = 0; is_hidden && j < f->kv_len; j++)
            weights[j] = NAN;
    }
}

static void weigh(const flex *f, const double *v, tl_tensor *y)
{
    size_t group = f->q_heads / f->kv_heads;
    for (size_t row = 0; row < f->batch * f->q_heads * f->q_len && !ln_deadline_passed(); row++) {
        size_t head = row / f->q_len, b = head / f->q_heads;
        size_t kv_head = b * f->kv_heads + head % f->q_heads / group;
        const double *values = v + kv_head * f->kv_len * f->v_size;
        for (size_t e = 0; e < f->v_size; e++) {
            double sum = 0;
            for (size_t j = 0; j < f->kv_len; j++)
                sum += f->weights[row * f->kv_len + j] * values[j * f->v_size + e];
            ln_elem_set_real(y, row * f->v_size + e, sum);
        }
    }
}

static ln_status read_precision(ln_call *call, tl_dtype *out_dtype)
{
    bool is_double = ln_call_in(call, LN_ATTENTION_Q)->dtype == TL_DOUBLE;
    *out_dtype = is_double ? TL_DOUBLE : TL_FLOAT;
    if (!ln_call_has(call, "softmax_precision"))
        return LN_OK;
    return ln_call_dtype(call, "softmax_precision", out_dtype);
}

ln_status ln_ref_flex_attention(ln_call *call)
{
    flex f;
    tl_dtype dtype;
    int weight_count;
    LN_TRY(ln_flex_attention_read(call, &f.attention));
    LN_TRY(read_precision(call, &dtype));
    const ln_attention *a = &f.attention;
    if (!tl_shape_len(4, (int[]){a->q.batch, a->q.heads, a->q.len, a->kv_len}, &weight_count))
        return ln_call_fail(call, LN_LIMIT, "has too many scores");
    f = (flex){.attention = f.attention,
               .batch = (size_t)a->q.batch,
               .q_heads = (size_t)a->q.heads,
               .kv_heads = (size_t)a->k.heads,
               .q_len = (size_t)a->q.len,
               .kv_len = (size_t)a->kv_len,
               .size = (size_t)a->q.size,
               .v_size = (size_t)a->v.size};
    if (f.kv_heads == 0)
        return LN_OK;
    const double *q = ln_ref_doubles(call, ln_call_in(call, LN_ATTENTION_Q));
    const double *k = ln_ref_doubles(call, ln_call_in(call, LN_ATTENTION_K));
    const double *v = ln_ref_doubles(call, ln_call_in(call, LN_ATTENTION_V));
    f.weights = ln_ref_new_doubles(call, (size_t)weight_count);
    if (!q || !k || !v || !f.weights)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call)) // a graph gets its tensors from elsewhere
        return ln_call_string(call, "score_mod") || ln_call_string(call, "prob_mod")
                   ? LN_UNSUPPORTED
                   : LN_OK;

    score(&f, q, k);
    LN_TRY(modify(call, &f, "score_mod", dtype));
    softmax_rows(&f);
    LN_TRY(modify(call, &f, "prob_mod", dtype));
    weigh(&f, v, ln_call_dst(call, 0));
    return LN_OK;
}
