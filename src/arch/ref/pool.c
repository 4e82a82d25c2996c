// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes: the maximum, the mean or the p-norm of each window, of any
// numbers. And MaxUnpool.
//
// A window is walked row by row; what is outside of the input is not visited. Floating elements
// are summed in double and rounded once, integers in 64 bits.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/element.h"
#include "arch/ref/onnx/taps.h"
#include "base/deadline.h"
#include "op/pool.h"
#include "tensor/elem.h"

typedef struct pool {
    ln_pooling pooling;
    const tl_tensor *src;
    tl_tensor *dst, *places; // one of them may be NULL
    int64_t in_len;
    bool is_column_major; // of the places
} pool;

// What a window has come to so far.
typedef struct tally {
    ln_ref_number max, sum; // the sum of powers too
    int64_t at;             // the maximum's place in its channel; -1: none yet
    int64_t count;
} tally;

// ---- Elements ----

// Narrow floating types are computed as double.
LN_REF_INLINE tl_dtype computed_as(tl_dtype dtype)
{
    return TL_DTYPE_IS_NATIVE(dtype) ? dtype : TL_DOUBLE;
}

LN_REF_INLINE ln_ref_number load(const tl_tensor *t, int64_t i, tl_dtype dtype)
{
    if (TL_DTYPE_IS_NATIVE(dtype))
        return ln_ref_load(t->data, (size_t)i, dtype);
    return ln_ref_real(ln_elem_real(t, (size_t)i));
}

LN_REF_INLINE double real_of(ln_ref_number x, tl_dtype dtype)
{
    return ln_ref_is_floating(dtype) ? x.real
           : ln_ref_is_signed(dtype) ? (double)(int64_t)x.whole
                                     : (double)x.whole;
}

static void store(tl_tensor *t, int64_t i, ln_ref_number x)
{
    if (ln_ref_is_floating(computed_as(t->dtype)))
        ln_elem_set_real(t, (size_t)i, x.real);
    else
        ln_ref_store(t->data, (size_t)i, t->dtype, x);
}

// In one of some turns, each of which may be a long row.
static inline bool is_late(int64_t turn)
{
    return turn % 64 == 0 && ln_deadline_passed();
}

// ---- One window ----

LN_REF_INLINE void meet(const pool *p, tl_dtype dtype, ln_ref_number x, int64_t at, tally *met)
{
    double power = p->pooling.p;
    switch (p->pooling.kind) {
    case LN_POOL_OF_MAX:
        if (met->at >= 0 && !ln_ref_less(met->max, x, dtype) &&
            !(isnan(x.real) && !isnan(met->max.real)))
            return;
        met->max = x;
        met->at = at;
        return;
    case LN_POOL_OF_MEAN:
        met->sum = ln_ref_add(met->sum, x);
        met->count++;
        return;
    case LN_POOL_OF_NORM:
        x.real = real_of(x, dtype);
        met->sum.real += power == 2   ? x.real * x.real
                         : power == 1 ? fabs(x.real)
                                      : pow(fabs(x.real), power);
        return;
    }
}

// The taps first to end - 1 meet the inputs start + tap * dilation.
typedef struct span {
    int64_t start, first, end;
} span;

static span span_of(const ln_window_axis *axis, int64_t out)
{
    span s = {.start = out * axis->stride - axis->pad_begin};
    ln_window_inside(s.start, axis->dilation, axis->in, axis->size, &s.first, &s.end);
    return s;
}

// `channel` is the first element of the channel, `spans` has one for each axis.
LN_REF_INLINE void meet_window(const pool *p, tl_dtype dtype, int64_t channel, const span *spans,
                               tally *met)
{
    const ln_window *window = &p->pooling.window;
    int last = window->axis_count - 1;
    int64_t taps[LN_WINDOW_MAX_AXES], row = 0;
    for (int a = 0; a <= last; a++) {
        if (spans[a].first >= spans[a].end)
            return;
        taps[a] = spans[a].first;
    }
    for (;;) {
        int64_t at = 0;
        for (int a = 0; a <= last; a++)
            at = at * window->axis[a].in + spans[a].start + taps[a] * window->axis[a].dilation;
        for (int64_t tap = taps[last]; tap < spans[last].end; tap++) {
            meet(p, computed_as(dtype), load(p->src, channel + at, dtype), at, met);
            at += window->axis[last].dilation;
        }
        int a = last - 1;
        for (; a >= 0 && ++taps[a] == spans[a].end; a--)
            taps[a] = spans[a].first;
        if (a < 0 || is_late(++row))
            return;
    }
}

// ---- What becomes of a window ----

// Places count the elements of all channels before, then those of the image: with the last axis
// fastest, or the first.
static int64_t place_of(const pool *p, int64_t at)
{
    const ln_window *window = &p->pooling.window;
    if (!p->is_column_major)
        return at;
    int64_t place = 0, step = 1, digits[LN_WINDOW_MAX_AXES];
    for (int a = window->axis_count - 1; a >= 0; a--) {
        digits[a] = at % window->axis[a].in;
        at /= window->axis[a].in;
    }
    for (int a = 0; a < window->axis_count; a++) {
        place += digits[a] * step;
        step *= window->axis[a].in;
    }
    return place;
}

// Elements of the window at `out`, with those in the padding, but not those after it that ceil_mode
// adds.
static int64_t count_padded(const ln_window *window, const int64_t *out)
{
    int64_t count = 1;
    for (int a = 0; a < window->axis_count; a++) {
        ln_window_axis axis = window->axis[a];
        axis.in += axis.pad_end;
        count *= span_of(&axis, out[a]).end; // those in the padding at the beginning, too
    }
    return count;
}

LN_REF_INLINE ln_ref_number mean_of(const pool *p, tl_dtype dtype, const int64_t *out,
                                    const tally *met)
{
    int64_t count = p->pooling.counts_padding ? count_padded(&p->pooling.window, out) : met->count;
    if (ln_ref_is_floating(dtype))
        return ln_ref_real(met->sum.real / (double)count);
    if (count == 0)
        return ln_ref_unsigned(0);
    return ln_ref_is_signed(dtype) ? ln_ref_signed((int64_t)met->sum.whole / count)
                                   : ln_ref_unsigned(met->sum.whole / (uint64_t)count);
}

static void store_norm(const pool *p, int64_t to, double sum)
{
    double power = p->pooling.p;
    ln_elem_set_real(p->dst, (size_t)to,
                     power == 2   ? sqrt(sum)
                     : power == 1 ? sum
                                  : pow(sum, 1 / power));
}

LN_REF_INLINE void finish(const pool *p, tl_dtype dtype, int64_t channel, const int64_t *out,
                          int64_t to, const tally *met)
{
    if (p->pooling.kind == LN_POOL_OF_NORM)
        store_norm(p, to, met->sum.real);
    else if (p->pooling.kind == LN_POOL_OF_MEAN)
        store(p->dst, to, mean_of(p, dtype, out, met));
    else if (p->dst)
        store(p->dst, to, met->at >= 0 ? met->max : ln_ref_least(dtype));
    if (p->places)
        ((int64_t *)p->places->data)[to] = met->at >= 0 ? channel + place_of(p, met->at) : -1;
}

// ---- All windows ----

LN_REF_INLINE void pool_all(const pool *p, tl_dtype dtype)
{
    const ln_window *window = &p->pooling.window;
    const tl_tensor *dst = p->dst ? p->dst : p->places;
    int64_t out[LN_WINDOW_MAX_AXES] = {0}, channel = 0;
    span spans[LN_WINDOW_MAX_AXES];
    for (int a = 0; a < window->axis_count && dst->len > 0; a++)
        spans[a] = span_of(&window->axis[a], 0);
    for (int64_t to = 0; to < dst->len && !is_late(to); to++) {
        tally met = {.at = -1};
        meet_window(p, dtype, channel, spans, &met);
        finish(p, computed_as(dtype), channel, out, to, &met);
        int a = window->axis_count - 1;
        for (; a >= 0 && ++out[a] == window->axis[a].out; a--) {
            out[a] = 0;
            spans[a] = span_of(&window->axis[a], 0);
        }
        if (a >= 0)
            spans[a] = span_of(&window->axis[a], out[a]);
        else
            channel += p->in_len;
    }
}

ln_status ln_ref_pool(ln_call *call)
{
    pool p = {.src = ln_call_in(call, 0), .dst = ln_call_dst(call, 0)};
    LN_TRY(ln_pooling_read(call, p.src, &p.pooling));
    p.in_len = ln_window_in_len(&p.pooling.window);
    if (!ln_call_has(call, "kind")) { // MaxPool
        p.places = ln_call_dst(call, 1);
        p.is_column_major = ln_call_int(call, "storage_order") == 1;
    }
    if (!p.dst && !p.places)
        return LN_OK;
    if (p.src->dtype == TL_FLOAT)
        pool_all(&p, TL_FLOAT);
    else if (p.src->dtype == TL_DOUBLE)
        pool_all(&p, TL_DOUBLE);
    else
        pool_all(&p, p.src->dtype);
    return LN_OK;
}

// ---- MaxUnpool ----

// Place `at` of a tensor of shape `dims` in one of shape `dst`; -1: it is outside of that.
static int64_t place_in(const tl_tensor *dst, const int64_t *dims, int64_t at)
{
    int64_t place = 0, step = 1;
    for (int d = dst->ndim - 1; d >= 0; d--) {
        int64_t x = at % dims[d];
        if (x >= dst->dims[d])
            return -1;
        place += x * step;
        step *= dst->dims[d];
        at /= dims[d];
    }
    return place;
}

ln_status ln_ref_max_unpool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *places = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    int64_t dims[TL_MAXDIM], len = 1;
    bool is_as_large = true; // as dst
    LN_TRY(ln_max_unpool_image(call, dims));
    for (int d = 0; d < src->ndim; d++) {
        is_as_large = is_as_large && dims[d] == dst->dims[d];
        if (__builtin_mul_overflow(len, dims[d], &len))
            return ln_call_fail(call, LN_LIMIT, "the image has too many elements");
    }

    memset(dst->data, 0, tl_tensor_size(dst));
    for (int i = 0; i < src->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at = ((const int64_t *)places->data)[i];
        int64_t place = at < 0 || at >= len ? -1 : is_as_large ? at : place_in(dst, dims, at);
        if (place < 0)
            return ln_call_fail(call, LN_INVALID, "index %lld of element %d is outside",
                                (long long)at, i);
        ln_elem_copy(dst, (size_t)place, src, (size_t)i);
    }
    return LN_OK;
}
