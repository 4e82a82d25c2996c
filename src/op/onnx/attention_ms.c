// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of Attention, MultiHeadAttention and GroupQueryAttention of com.microsoft.

#include "op/onnx/attention_ms.h"
#include "op/functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static ln_status read_heads(ln_call *call, const char *param, int *out_heads)
{
    int64_t heads = ln_call_int(call, param);
    *out_heads = 0;
    if (heads < 1 || heads > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "has %s %lld", param, (long long)heads);
    *out_heads = (int)heads;
    return LN_OK;
}

static double read_scale(const ln_call *call, int head_size)
{
    double scale = ln_call_float(call, "scale");
    return scale != 0 ? scale : 1 / sqrt((double)head_size);
}

// [batch, heads, len, size]; `len` -1 is any.
static ln_status check_state(ln_call *call, const tl_tensor *t, const char *name,
                             const ln_ms_attention *a, int len, int size)
{
    bool fits = t->ndim == 4 && t->dims[0] == a->batch && t->dims[1] == a->kv_heads &&
                (len < 0 || t->dims[2] == len) && t->dims[3] == size;
    if (!fits)
        return ln_call_fail(call, LN_INVALID, "needs %s for %d x %d heads of %d", name, a->batch,
                            a->kv_heads, size);
    return LN_OK;
}

static ln_status set_total(ln_call *call, ln_ms_attention *a)
{
    if (a->past_len > INT32_MAX - a->new_len)
        return ln_call_fail(call, LN_LIMIT, "has %d past and %d new keys", a->past_len, a->new_len);
    a->kv_len = a->past_len + a->new_len;
    return LN_OK;
}

// Loops go over all of these, even where there is nothing in them.
static ln_status check_counts(ln_call *call, const ln_ms_attention *a)
{
    int count;
    if (!tl_shape_len(3, (int[]){a->batch, a->q_heads, a->q_len}, &count) ||
        !tl_shape_len(3, (int[]){a->batch, a->kv_heads, a->kv_len}, &count))
        return ln_call_fail(call, LN_LIMIT, "has too many heads");
    return LN_OK;
}

// A mask of whole sequences, of keys, or of keys for each query.
static ln_status check_mask(ln_call *call, const tl_tensor *mask, const ln_ms_attention *a)
{
    if (!mask)
        return LN_OK;
    const int *dims = mask->dims;
    bool fits = false;
    if (mask->ndim == 1)
        fits = dims[0] == a->batch || dims[0] == 2 * (int64_t)a->batch;
    else if (mask->ndim == 2)
        fits = (dims[0] == a->batch && (dims[1] == a->kv_len || dims[1] == a->new_len)) ||
               (dims[1] == 1 && (dims[0] == 1 || dims[0] == a->batch)); // hides nothing
    else if (mask->ndim == 3)
        fits = dims[0] == a->batch && dims[1] == a->q_len && dims[2] == a->kv_len;
    return fits ? LN_OK : ln_call_fail(call, LN_UNSUPPORTED, "has a mask of another kind");
}

// What is added to scores: [batch or 1, heads or 1, queries, keys].
static ln_status check_scores(ln_call *call, const tl_tensor *t, const ln_ms_attention *a, int keys)
{
    if (!t)
        return LN_OK;
    bool fits = t->ndim == 4 && (t->dims[0] == a->batch || t->dims[0] == 1) &&
                (t->dims[1] == a->q_heads || t->dims[1] == 1) && t->dims[2] == a->q_len &&
                t->dims[3] >= keys;
    return fits ? LN_OK : ln_call_fail(call, LN_INVALID, "has an attention_bias of another shape");
}

// Rows of `width` elements in which heads of `size` are `stride` apart, from `first` on.
static ln_head_view view_rows(int64_t len, int64_t width, int64_t first, int64_t stride)
{
    return (ln_head_view){(size_t)first, (size_t)(len * width), (size_t)width, (size_t)stride};
}

// ---- Attention ----

// Widths of queries, keys and values in the product.
static ln_status read_widths(ln_call *call, const ln_ms_attention *a, int64_t *out_widths)
{
    const tl_tensor *weights = ln_call_in(call, LN_MS_ATTENTION_WEIGHTS);
    int count = ln_call_count(call, "qkv_hidden_sizes");
    if (count != 0 && count != 3)
        return ln_call_fail(call, LN_INVALID, "has %d qkv_hidden_sizes", count);
    int64_t left = weights->dims[1];
    bool fits = count == 3 || left % 3 == 0;
    for (int i = 0; i < 3; i++) {
        out_widths[i] = count ? ln_call_int_at(call, "qkv_hidden_sizes", i) : weights->dims[1] / 3;
        fits =
            fits && out_widths[i] >= 0 && out_widths[i] <= left && out_widths[i] % a->q_heads == 0;
        left -= fits ? out_widths[i] : 0;
    }
    if (!fits || left != 0 || out_widths[0] != out_widths[1])
        return ln_call_fail(call, LN_INVALID, "cannot split %d columns of weights into %d heads",
                            weights->dims[1], a->q_heads);
    return LN_OK;
}

static ln_status read_projected(ln_call *call, const tl_tensor *past, const tl_tensor *mask,
                                ln_ms_attention *a)
{
    const tl_tensor *x = ln_call_in(call, LN_MS_ATTENTION_X);
    const tl_tensor *weights = ln_call_in(call, LN_MS_ATTENTION_WEIGHTS);
    const tl_tensor *bias = ln_call_in(call, LN_MS_ATTENTION_BIAS);
    *a = (ln_ms_attention){0};
    if (ln_call_int(call, "do_rotary"))
        return ln_call_fail(call, LN_UNSUPPORTED, "has do_rotary");
    if (x->ndim != 3 || weights->ndim != 2 || weights->dims[0] != x->dims[2])
        return ln_call_fail(call, LN_INVALID, "takes input of rank 3 and a matrix that fits it");
    if (bias && (bias->ndim != 1 || bias->dims[0] != weights->dims[1]))
        return ln_call_fail(call, LN_INVALID, "needs a bias of %d", weights->dims[1]);
    LN_TRY(read_heads(call, "num_heads", &a->q_heads));
    a->kv_heads = a->q_heads;
    int64_t widths[3];
    LN_TRY(read_widths(call, a, widths));

    a->batch = x->dims[0];
    a->q_len = a->new_len = x->dims[1];
    a->size = (int)(widths[0] / a->q_heads);
    a->v_size = (int)(widths[2] / a->q_heads);
    if (past) {
        bool fits = past->ndim == 5 && past->dims[0] == 2 && past->dims[1] == a->batch &&
                    past->dims[2] == a->kv_heads && past->dims[4] == a->size &&
                    a->size == a->v_size;
        if (!fits)
            return ln_call_fail(call, LN_INVALID, "needs a past for 2 x %d x %d heads of %d",
                                a->batch, a->kv_heads, a->size);
        a->past_len = past->dims[3];
    }
    LN_TRY(set_total(call, a));
    LN_TRY(check_counts(call, a));
    LN_TRY(check_mask(call, mask, a));
    return LN_OK;
}

static ln_status read_ms_attention(ln_call *call, ln_ms_attention *out_attention)
{
    if (ln_call_in(call, LN_MS_ATTENTION_PAST_LEN))
        return ln_call_fail(call, LN_UNSUPPORTED, "has past_sequence_length");
    LN_TRY(read_projected(call, ln_call_in(call, LN_MS_ATTENTION_PAST),
                          ln_call_in(call, LN_MS_ATTENTION_MASK), out_attention));
    return check_scores(call, ln_call_in(call, LN_MS_ATTENTION_SCORES), out_attention,
                        out_attention->kv_len);
}

// Fails unless `t`, perhaps left out, has one element or one for each of `columns`.
static ln_status check_spread(ln_call *call, const char *name, const tl_tensor *t, int columns)
{
    if (!t || t->len == 1 || (t->ndim == 1 && t->len == columns))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "needs a %s of 1 or %d elements", name, columns);
}

static ln_status read_ms_qattention(ln_call *call, ln_ms_attention *out_attention)
{
    LN_TRY(read_projected(call, ln_call_in(call, LN_QATTENTION_PAST),
                          ln_call_in(call, LN_QATTENTION_MASK), out_attention));
    int columns = ln_call_in(call, LN_QATTENTION_WEIGHTS)->dims[1];
    LN_TRY(check_spread(call, "input_scale", ln_call_in(call, LN_QATTENTION_X_SCALE), 1));
    LN_TRY(check_spread(call, "input_zero_point", ln_call_in(call, LN_QATTENTION_X_ZERO), 1));
    LN_TRY(
        check_spread(call, "weight_scale", ln_call_in(call, LN_QATTENTION_WEIGHTS_SCALE), columns));
    return check_spread(call, "weight_zero_point", ln_call_in(call, LN_QATTENTION_WEIGHTS_ZERO),
                        columns);
}

static ln_status give_attention(ln_call *call, const ln_ms_attention *a, tl_dtype dtype)
{
    const int64_t y[] = {a->batch, a->q_len, (int64_t)a->q_heads * a->v_size};
    const int present[] = {2, a->batch, a->kv_heads, a->kv_len, a->size};
    LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    if (ln_call_wants(call, 1) && a->size != a->v_size)
        return ln_call_fail(call, LN_INVALID, "cannot put keys of %d and values of %d together",
                            a->size, a->v_size);
    return ln_call_out(call, 1, dtype, 5, present);
}

ln_status ln_infer_ms_attention(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(read_ms_attention(call, &a));
    return give_attention(call, &a, ln_call_in(call, LN_MS_ATTENTION_X)->dtype);
}

ln_status ln_infer_ms_qattention(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(read_ms_qattention(call, &a));
    return give_attention(call, &a, ln_call_in(call, LN_QATTENTION_X_SCALE)->dtype);
}

// ---- MultiHeadAttention ----

// Empty tensors may have dimensions whose product fits nothing.
static ln_status check_width(ln_call *call, int64_t heads, int64_t size)
{
    if (heads * size > INT32_MAX / 3)
        return ln_call_fail(call, LN_LIMIT, "has %lld heads of %lld", (long long)heads,
                            (long long)size);
    return LN_OK;
}

// All of queries, keys and values are in the first input: [batch, tokens, heads, 3, size].
static ln_status read_packed_qkv(ln_call *call, ln_ms_attention *a)
{
    const tl_tensor *q = ln_call_in(call, LN_MHA_Q);
    if (ln_call_in(call, LN_MHA_V))
        return ln_call_fail(call, LN_INVALID, "has a value without key");
    if (q->ndim != 5 || q->dims[2] != a->q_heads || q->dims[3] != 3)
        return ln_call_fail(call, LN_INVALID, "needs a key, or query in five dimensions");
    int size = q->dims[4];
    LN_TRY(check_width(call, a->q_heads, size));
    a->q_len = a->new_len = q->dims[1];
    a->size = a->v_size = size;
    return LN_OK;
}

// Keys and values are in the second input: [batch, tokens, heads, 2, size].
static ln_status read_packed_kv(ln_call *call, const tl_tensor *k, ln_ms_attention *a)
{
    if (ln_call_in(call, LN_MHA_V) || k->dims[2] != a->kv_heads || k->dims[3] != 2 ||
        k->dims[4] != a->size)
        return ln_call_fail(call, LN_INVALID, "needs keys and values for %d heads of %d",
                            a->kv_heads, a->size);
    LN_TRY(check_width(call, a->kv_heads, a->size));
    a->new_len = k->dims[1];
    a->v_size = a->size;
    return LN_OK;
}

// Keys or values by themselves: [batch, tokens, heads * size] or [batch, heads, tokens, size].
static ln_status read_rows(ln_call *call, const tl_tensor *t, const char *name,
                           const ln_ms_attention *a, int *out_len, int *out_size,
                           ln_head_view *out_view)
{
    int heads = a->kv_heads;
    if (t->ndim == 4 && t->dims[1] == heads) {
        *out_len = t->dims[2];
        *out_size = t->dims[3];
        size_t size = (size_t)*out_size, rows = (size_t)*out_len * size;
        *out_view = (ln_head_view){0, (size_t)heads * rows, size, rows};
    } else if (t->ndim == 3 && t->dims[2] % heads == 0) {
        *out_len = t->dims[1];
        *out_size = t->dims[2] / heads;
        *out_view = view_rows(t->dims[1], t->dims[2], 0, *out_size);
    } else {
        return ln_call_fail(call, LN_INVALID, "needs %s for %d heads", name, heads);
    }
    if (t->dims[0] != a->batch)
        return ln_call_fail(call, LN_INVALID, "has %s for %d of %d sequences", name, t->dims[0],
                            a->batch);
    return LN_OK;
}

static ln_status read_q_k_v(ln_call *call, ln_ms_attention *a)
{
    const tl_tensor *q = ln_call_in(call, LN_MHA_Q), *k = ln_call_in(call, LN_MHA_K);
    const tl_tensor *v = ln_call_in(call, LN_MHA_V);
    if (q->ndim != 3 || q->dims[2] % a->q_heads != 0)
        return ln_call_fail(call, LN_INVALID, "needs a query of rank 3 for %d heads", a->q_heads);
    a->q_len = q->dims[1];
    a->size = q->dims[2] / a->q_heads;
    if (k->ndim == 5)
        return read_packed_kv(call, k, a);
    if (!v)
        return ln_call_fail(call, LN_INVALID, "needs a value");
    int key_size, v_len;
    LN_TRY(read_rows(call, k, "key", a, &a->new_len, &key_size, &a->k));
    LN_TRY(read_rows(call, v, "value", a, &v_len, &a->v_size, &a->v));
    if (key_size != a->size || v_len != a->new_len)
        return ln_call_fail(call, LN_INVALID, "has keys of %d for queries of %d, %d values for %d",
                            key_size, a->size, v_len, a->new_len);
    return LN_OK;
}

static ln_status read_mha_past(ln_call *call, ln_ms_attention *a)
{
    const tl_tensor *k = ln_call_in(call, LN_MHA_PAST_K), *v = ln_call_in(call, LN_MHA_PAST_V);
    if (!k != !v)
        return ln_call_fail(call, LN_INVALID, "takes past_key and past_value only together");
    if (k) {
        LN_TRY(check_state(call, k, "past_key", a, -1, a->size));
        LN_TRY(check_state(call, v, "past_value", a, k->dims[2], a->v_size));
        a->past_len = k->dims[2];
    }
    return set_total(call, a);
}

static ln_status read_ms_mha(ln_call *call, ln_ms_attention *out_attention)
{
    ln_ms_attention *a = out_attention;
    const tl_tensor *q = ln_call_in(call, LN_MHA_Q), *bias = ln_call_in(call, LN_MHA_BIAS);
    *a = (ln_ms_attention){0};
    if (ln_call_in(call, LN_MHA_PAST_LEN) || ln_call_in(call, LN_MHA_CACHE))
        return ln_call_fail(call, LN_UNSUPPORTED, "has past_sequence_length or cache_indirection");
    LN_TRY(read_heads(call, "num_heads", &a->q_heads));
    a->kv_heads = a->q_heads;
    a->batch = q->ndim > 0 ? q->dims[0] : 0;
    if (ln_call_in(call, LN_MHA_K))
        LN_TRY(read_q_k_v(call, a));
    else
        LN_TRY(read_packed_qkv(call, a));
    int64_t width = (int64_t)a->q_heads * (2 * (int64_t)a->size + a->v_size);
    if (bias && (bias->ndim != 1 || bias->dims[0] != width))
        return ln_call_fail(call, LN_INVALID, "needs a bias of %lld", (long long)width);
    LN_TRY(read_mha_past(call, a));
    LN_TRY(check_counts(call, a));
    LN_TRY(check_mask(call, ln_call_in(call, LN_MHA_MASK), a));
    LN_TRY(check_scores(call, ln_call_in(call, LN_MHA_SCORES), a, a->kv_len));
    return LN_OK;
}

ln_status ln_infer_ms_mha(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(read_ms_mha(call, &a));
    tl_dtype dtype = ln_call_in(call, LN_MHA_Q)->dtype;
    const int64_t y[] = {a.batch, a.q_len, (int64_t)a.q_heads * a.v_size};
    const int k[] = {a.batch, a.kv_heads, a.kv_len, a.size};
    const int v[] = {a.batch, a.kv_heads, a.kv_len, a.v_size};
    const int qk[] = {a.batch, a.q_heads, a.q_len, a.kv_len};
    LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    LN_TRY(ln_call_out(call, 1, dtype, 4, k));
    LN_TRY(ln_call_out(call, 2, dtype, 4, v));
    return ln_call_out(call, 3, dtype, 4, qk);
}

// ---- GroupQueryAttention ----

static ln_status read_gqa_heads(ln_call *call, ln_ms_attention *a)
{
    const tl_tensor *q = ln_call_in(call, LN_GQA_Q), *k = ln_call_in(call, LN_GQA_K);
    const tl_tensor *v = ln_call_in(call, LN_GQA_V);
    if (q->ndim != 3 || !k != !v)
        return ln_call_fail(call, LN_INVALID, "takes a query of rank 3, and key and value or none");
    a->batch = q->dims[0];
    a->q_len = a->new_len = q->dims[1];
    int64_t heads = k ? a->q_heads : (int64_t)a->q_heads + 2 * (int64_t)a->kv_heads;
    if (q->dims[2] % heads != 0)
        return ln_call_fail(call, LN_INVALID, "cannot split %d elements into %lld heads",
                            q->dims[2], (long long)heads);
    a->size = a->v_size = (int)(q->dims[2] / heads);
    int64_t size = a->size, width = q->dims[2];
    a->q = view_rows(a->q_len, width, 0, size);
    a->k = view_rows(a->q_len, width, a->q_heads * size, size);
    a->v = view_rows(a->q_len, width, ((int64_t)a->q_heads + a->kv_heads) * size, size);
    if (!k)
        return LN_OK;
    int k_size, v_len;
    LN_TRY(read_rows(call, k, "key", a, &a->new_len, &k_size, &a->k));
    LN_TRY(read_rows(call, v, "value", a, &v_len, &a->v_size, &a->v));
    if (k_size != size || a->v_size != size || v_len != a->new_len || a->new_len != a->q_len)
        return ln_call_fail(call, LN_INVALID, "has keys and values that do not fit the queries");
    return LN_OK;
}

static ln_status check_rotary(ln_call *call, const ln_ms_attention *a)
{
    const tl_tensor *cos = ln_call_in(call, LN_GQA_COS), *sin = ln_call_in(call, LN_GQA_SIN);
    const tl_tensor *positions = ln_call_in(call, LN_GQA_POSITIONS);
    if (!ln_call_int(call, "do_rotary"))
        return LN_OK;
    bool fits = cos && sin && cos->ndim == 2 && tl_tensor_issameshape(cos, sin) &&
                cos->dims[1] <= a->size / 2;
    if (!fits)
        return ln_call_fail(call, LN_INVALID, "needs cos_cache and sin_cache for heads of %d",
                            a->size);
    int64_t tokens = (int64_t)a->batch * a->q_len;
    if (positions && positions->len != tokens)
        return ln_call_fail(call, LN_INVALID, "needs %lld position_ids", (long long)tokens);
    return LN_OK;
}

static bool is_quantized(const ln_call *call, const char *param)
{
    const char *type = ln_call_string(call, param);
    return type && strcmp(type, "NONE") != 0;
}

static ln_status read_gqa_past(ln_call *call, ln_ms_attention *a, int64_t *out_total)
{
    const tl_tensor *k = ln_call_in(call, LN_GQA_PAST_K), *v = ln_call_in(call, LN_GQA_PAST_V);
    const tl_tensor *lens = ln_call_in(call, LN_GQA_LENS);
    if (!k != !v)
        return ln_call_fail(call, LN_INVALID, "takes past_key and past_value only together");
    if (k) {
        LN_TRY(check_state(call, k, "past_key", a, -1, a->size));
        LN_TRY(check_state(call, v, "past_value", a, k->dims[2], a->size));
        a->past_len = k->dims[2];
    }
    if (lens->len != a->batch)
        return ln_call_fail(call, LN_INVALID, "needs seqlens_k for %d sequences", a->batch);
    int count = ln_call_value_ints(call, LN_GQA_TOTAL, 1, out_total);
    if (count == -1)
        *out_total = -1;
    if (count == -1)
        return LN_OK;
    if (count != 1 || *out_total < a->q_len || *out_total > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "has a total_sequence_length that does not fit");
    a->kv_len = a->past_len > *out_total ? a->past_len : (int)*out_total;
    return check_counts(call, a);
}

ln_status ln_ms_gqa_read(ln_call *call, ln_ms_attention *out_attention, int64_t *out_total)
{
    ln_ms_attention *a = out_attention;
    const tl_tensor *sink = ln_call_in(call, LN_GQA_SINK);
    *a = (ln_ms_attention){.is_causal = true};
    *out_total = 0;
    if (is_quantized(call, "k_quant_type") || is_quantized(call, "v_quant_type"))
        return ln_call_fail(call, LN_UNSUPPORTED, "has a quantized state");
    LN_TRY(read_heads(call, "num_heads", &a->q_heads));
    LN_TRY(read_heads(call, "kv_num_heads", &a->kv_heads));
    if (a->q_heads % a->kv_heads != 0)
        return ln_call_fail(call, LN_INVALID, "cannot share %d heads of keys among %d", a->kv_heads,
                            a->q_heads);
    LN_TRY(read_gqa_heads(call, a));
    LN_TRY(check_rotary(call, a));
    if (sink && sink->len != a->q_heads)
        return ln_call_fail(call, LN_INVALID, "needs a head_sink for %d heads", a->q_heads);
    LN_TRY(read_gqa_past(call, a, out_total));
    int keys = *out_total < 0 ? 0 : (int)*out_total;
    LN_TRY(check_scores(call, ln_call_in(call, LN_GQA_SCORES), a, keys));
    a->scale = read_scale(call, a->size);
    a->softcap = ln_call_float(call, "softcap");
    return LN_OK;
}

ln_status ln_infer_ms_gqa(ln_call *call)
{
    ln_ms_attention a;
    int64_t total;
    LN_TRY(ln_ms_gqa_read(call, &a, &total));
    if (total < 0)
        return ln_call_out_open(call);
    tl_dtype dtype = ln_call_in(call, LN_GQA_Q)->dtype;
    const int64_t y[] = {a.batch, a.q_len, (int64_t)a.q_heads * a.size};
    const int state[] = {a.batch, a.kv_heads, a.kv_len, a.size};
    const int qk[] = {a.batch, a.q_heads, a.q_len, (int)total};
    LN_TRY(ln_call_out64(call, 0, dtype, 3, y));
    LN_TRY(ln_call_out(call, 1, dtype, 4, state));
    LN_TRY(ln_call_out(call, 2, dtype, 4, state));
    return ln_call_out(call, 3, dtype, 4, qk);
}

// ---- What masks add ----

ln_status ln_attention_mask_read(ln_call *call, ln_ms_attention *out_attention)
{
    ln_ms_attention *a = out_attention;
    const tl_tensor *q = ln_call_in(call, LN_MASK_Q), *k = ln_call_in(call, LN_MASK_K);
    const tl_tensor *past = ln_call_in(call, LN_MASK_PAST);
    *a = (ln_ms_attention){0};
    if (q->ndim < 2 || k->ndim < 2 || (past && past->ndim < 2))
        return ln_call_fail(call, LN_INVALID, "takes no queries, keys or past of rank %d, %d, %d",
                            q->ndim, k->ndim, past ? past->ndim : 0);
    a->batch = q->dims[0];
    a->q_len = q->dims[1];
    a->new_len = k->dims[k->ndim == 4 ? 2 : 1];
    a->past_len = past ? past->dims[past->ndim - 2] : 0;
    LN_TRY(set_total(call, a));
    return check_mask(call, ln_call_in(call, LN_MASK_MASK), a);
}

ln_status ln_infer_attention_mask(ln_call *call)
{
    ln_ms_attention a;
    LN_TRY(ln_attention_mask_read(call, &a));
    const int dims[] = {a.batch, 1, ln_call_in(call, LN_MASK_MASK)->ndim == 3 ? a.q_len : 1,
                        a.kv_len};
    return ln_call_out(call, 0, ln_call_in(call, LN_MASK_Q)->dtype, 4, dims);
}

// ---- Cost ----

static double scores_of(const ln_ms_attention *a)
{
    return (double)a->batch * a->q_heads * a->q_len * a->kv_len;
}

static double macs_of(const ln_ms_attention *a)
{
    return scores_of(a) * ((double)a->size + a->v_size);
}

// Of the projections that are made first.
static double projection_macs(const ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, LN_MS_ATTENTION_X);
    return (double)x->len * ln_call_in(call, LN_MS_ATTENTION_WEIGHTS)->dims[1];
}

typedef ln_status reader(ln_call *call, ln_ms_attention *out_attention);

static ln_status read_gqa(ln_call *call, ln_ms_attention *out_attention)
{
    int64_t total;
    LN_TRY(ln_ms_gqa_read(call, out_attention, &total));
    return total < 0 ? LN_STATE : LN_OK;
}

static double macs_with(const ln_call *call, reader *read)
{
    ln_ms_attention a;
    return read((ln_call *)(uintptr_t)call, &a) == LN_OK ? macs_of(&a) : 0;
}

// Heads may be empty, and the scores still many.
static double cost_with(const ln_call *call, reader *read)
{
    ln_ms_attention a;
    bool is_read = read((ln_call *)(uintptr_t)call, &a) == LN_OK;
    return ln_cost_steps(call) + (is_read ? scores_of(&a) : 0);
}

double ln_macs_ms_attention(const ln_call *call)
{
    return projection_macs(call) + macs_with(call, read_ms_attention);
}

double ln_cost_ms_attention(const ln_call *call)
{
    return cost_with(call, read_ms_attention);
}

double ln_macs_ms_qattention(const ln_call *call)
{
    return projection_macs(call) + macs_with(call, read_ms_qattention);
}

double ln_cost_ms_qattention(const ln_call *call)
{
    return cost_with(call, read_ms_qattention);
}

// Estimates of an operator whose parameters `read` reads.
#define ESTIMATES(name, read)                                                                      \
    double ln_macs_##name(const ln_call *call)                                                     \
    {                                                                                              \
        return macs_with(call, read);                                                              \
    }                                                                                              \
    double ln_cost_##name(const ln_call *call)                                                     \
    {                                                                                              \
        return cost_with(call, read);                                                              \
    }

ESTIMATES(ms_mha, read_ms_mha)

ESTIMATES(ms_gqa, read_gqa)
