// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention, one query at a time.

#include "arch/ref/onnx/attention_core.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/doubles.h"
#include "base/deadline.h"

void ln_ref_softmax_row(double *row, size_t count, const double *sink)
{
    double max = sink ? *sink : -INFINITY, sum = 0;
    for (size_t j = 0; j < count; j++) {
        if (row[j] > max || isnan(row[j]))
            max = row[j];
        if (isnan(max))
            break;
    }
    bool is_hidden = max == -INFINITY;
    for (size_t j = 0; j < count; j++) {
        row[j] = is_hidden ? 0 : exp(row[j] - max);
        sum += row[j];
    }
    if (sink && !is_hidden)
        sum += exp(*sink - max);
    for (size_t j = 0; sum != 0 && j < count; j++)
        row[j] /= sum;
}

// A query sees nothing when the bias alone hides every key, whatever its scores are: these may be
// NaN in memory that is only hidden.
static bool hides_all(const double *bias, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        if (bias[j] != -INFINITY)
            return false;
    }
    return true;
}

// Probabilities of what a query sees; the others' are 0. Those of a query that sees nothing are
// NaN, or 0. Guarded, one whose probabilities are NaN sees nothing, whatever the values are.
// Returns what its results start with.
static double weigh(const ln_attend *a, size_t head, double *row, ln_key_span *seen)
{
    size_t count = seen->end - seen->begin;
    double nothing = a->kv_len == 0 || a->zero_if_hidden || a->is_guarded ? 0 : NAN;
    double others = hides_all(row + seen->begin, count) ? nothing : 0;
    ln_ref_softmax_row(row + seen->begin, count, a->sink ? a->sink + head : NULL);
    if (a->is_guarded && count > 0 && isnan(row[seen->begin]))
        seen->end = seen->begin;
    for (size_t j = 0; j < a->kv_len; j++) {
        if (j < seen->begin || j >= seen->end || isnan(others))
            row[j] = others;
    }
    return others;
}

static void attend_query(const ln_attend *a, size_t b, size_t head, size_t at, double *row,
                         double *bias)
{
    size_t kv_head = head / (a->q_heads / a->kv_heads), count = a->kv_len;
    size_t query = (b * a->q_heads + head) * a->q_len + at;
    size_t first_key = (b * a->kv_heads + kv_head) * count;
    double *qk = a->qk ? a->qk + query * count : NULL;

    for (size_t j = 0; j < count; j++)
        row[j] = a->scale * ln_ref_sum_products(a->q + query * a->size,
                                                a->k + (first_key + j) * a->size, a->size);
    if (qk && a->qk_mode == LN_QK_RAW)
        memcpy(qk, row, count * sizeof *row);
    for (size_t j = 0; a->softcap > 0 && j < count; j++)
        row[j] = a->softcap * tanh(row[j] / a->softcap);
    if (qk && a->qk_mode == LN_QK_CAPPED)
        memcpy(qk, row, count * sizeof *row);
    ln_key_span seen = {0, count};
    if (a->bias)
        seen = a->bias(a->self, b, head, at, bias);
    for (size_t j = 0; a->bias && j < count; j++)
        row[j] = j >= seen.begin && j < seen.end ? row[j] + bias[j] : -INFINITY;
    if (qk && a->qk_mode == LN_QK_BIASED)
        memcpy(qk, row, count * sizeof *row);

    double start = 0;
    if (a->zero_if_hidden && a->bias && hides_all(bias + seen.begin, seen.end - seen.begin)) {
        memset(row, 0, count * sizeof *row);
        seen.end = seen.begin;
    } else {
        start = weigh(a, head, row, &seen);
    }
    if (qk && a->qk_mode == LN_QK_PROBABILITIES)
        memcpy(qk, row, count * sizeof *row);

    double *y = a->y + query * a->v_size;
    for (size_t e = 0; e < a->v_size; e++)
        y[e] = start;
    for (size_t j = seen.begin; j < seen.end; j++) {
        const double *value = a->v + (first_key + j) * a->v_size;
        for (size_t e = 0; e < a->v_size; e++)
            y[e] += row[j] * value[e];
    }
}

ln_status ln_ref_attend(ln_call *call, const ln_attend *a)
{
    if (a->q_heads == 0 || a->kv_heads == 0)
        return LN_OK;
    double *row = ln_ref_new_doubles(call, a->kv_len), *bias = ln_ref_new_doubles(call, a->kv_len);
    if (!row || !bias)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t b = 0; b < a->batch; b++) {
        for (size_t head = 0; head < a->q_heads; head++) {
            for (size_t at = 0; at < a->q_len && !ln_deadline_passed(); at++)
                attend_query(a, b, head, at, row, bias);
        }
    }
    return LN_OK;
}

// ---- Heads ----

double *ln_ref_join_heads(ln_call *call, const tl_tensor *past, size_t past_len, const tl_tensor *t,
                          const ln_heads *heads)
{
    size_t batch = (size_t)heads->batch, count = (size_t)heads->heads, len = (size_t)heads->len;
    size_t size = (size_t)heads->size, past_size = past ? past_len * size : 0;
    double *joined = ln_ref_new_doubles(call, (past ? (size_t)past->len : 0) + (size_t)t->len);
    if (!joined || size == 0 || ln_call_is_counting(call))
        return joined;
    double *out = joined;
    for (size_t row = 0; row < batch * count; row++) {
        for (size_t i = 0; i < past_size; i++)
            *out++ = ln_elem_real(past, row * past_size + i);
        for (size_t at = 0; at < len; at++) {
            size_t from = ln_heads_at(heads, row / count, row % count, at);
            for (size_t i = 0; i < size; i++)
                *out++ = ln_elem_real(t, from + i);
        }
    }
    return joined;
}

double *ln_ref_load_heads(ln_call *call, const tl_tensor *t, const ln_heads *heads)
{
    return ln_ref_join_heads(call, NULL, 0, t, heads);
}

void ln_ref_store_heads(const double *values, const ln_heads *heads, tl_tensor *t)
{
    size_t count = (size_t)heads->heads, len = (size_t)heads->len, size = (size_t)heads->size;
    size_t rows = (size_t)heads->batch * count;
    if (!t || size == 0)
        return;
    for (size_t row = 0; row < rows; row++) {
        for (size_t at = 0; at < len; at++) {
            size_t to = ln_heads_at(heads, row / count, row % count, at);
            for (size_t i = 0; i < size; i++)
                ln_elem_set_real(t, to + i, *values++);
        }
    }
}
