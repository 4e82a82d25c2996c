// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and LpPool over any number of axes, and the pools over all of an image.
//
// A window is walked row by row; what lies outside of the input is not visited. Integers (int8 and
// uint8) are exact as float.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/reals.h"
#include "arch/ref/onnx/taps.h"
#include "base/deadline.h"
#include "op/onnx/pool.h"
#include "tensor/elem.h"

// What a window has come to so far.
typedef struct pooled {
    double value; // the maximum, or the sum
    int64_t at;   // the maximum's place in its channel; -1: none yet
    int64_t count;
    int64_t channel, column; // of the output
} pooled;

typedef void visit_fn(pooled *so_far, double x, int64_t at, double p);

static inline void visit_max(pooled *so_far, double x, int64_t at, double p)
{
    (void)p;
    if (so_far->at >= 0 && !(x > so_far->value) && !(isnan(x) && !isnan(so_far->value)))
        return;
    so_far->value = x;
    so_far->at = at;
}

static inline void visit_sum(pooled *so_far, double x, int64_t at, double p)
{
    (void)at, (void)p;
    so_far->value += x;
    so_far->count++;
}

static inline void visit_power(pooled *so_far, double x, int64_t at, double p)
{
    (void)at;
    so_far->value += p == 2 ? x * x : p == 1 ? fabs(x) : pow(fabs(x), p);
}

typedef struct pool pool;
typedef void finish_fn(const pool *p, int64_t to, const pooled *result);

struct pool {
    ln_window window;
    ln_reals src;
    tl_tensor *dst, *places;
    ln_taps taps;
    int64_t in_len;
    double p;
    bool counts_padding;
    bool is_column_major; // of the places
};

// ---- What becomes of a window ----

// Places count the elements of all channels before, then those of the image: with the last axis
// fastest, or the first.
static int64_t place_of(const pool *p, int64_t at)
{
    if (!p->is_column_major)
        return at;
    int64_t place = 0, step = 1, digits[LN_WINDOW_MAX_AXES];
    for (int a = p->window.axis_count - 1; a >= 0; a--) {
        digits[a] = at % p->window.axis[a].in;
        at /= p->window.axis[a].in;
    }
    for (int a = 0; a < p->window.axis_count; a++) {
        place += digits[a] * step;
        step *= p->window.axis[a].in;
    }
    return place;
}

// The least value that an element can have, for windows that see nothing.
static double least_of(tl_dtype dtype)
{
    return LN_TYPES_FLOAT & LN_TYPE(dtype) ? -INFINITY : tl_dtype_min_double(dtype);
}

static void finish_max(const pool *p, int64_t to, const pooled *result)
{
    double value = result->at >= 0 ? result->value : least_of(p->dst ? p->dst->dtype : TL_FLOAT);
    if (p->dst)
        ln_ref_store_reals(p->dst, to, 1, &value);
    if (p->places)
        ((int64_t *)p->places->data)[to] =
            result->at >= 0 ? result->channel * p->in_len + place_of(p, result->at) : -1;
}

// Elements of the window that starts in row `taps.at`, column `x`, with those in the padding, but
// not those behind it that ceil_mode adds.
static int64_t count_padded(const pool *p, int64_t x)
{
    int64_t count = 1;
    for (int a = 0; a < p->window.axis_count; a++) {
        const ln_window_axis *axis = &p->window.axis[a];
        int64_t at = a == p->window.axis_count - 1 ? x : p->taps.at[a];
        int64_t start = at * axis->stride - axis->pad_begin, first, end;
        ln_window_inside(start, axis->dilation, axis->in + axis->pad_end, axis->size, &first, &end);
        // Those in the padding at the beginning are in the range, too.
        count *= end;
    }
    return count;
}

static void finish_average(const pool *p, int64_t to, const pooled *result)
{
    int64_t count = p->counts_padding ? count_padded(p, result->column) : result->count;
    double mean = result->value / (double)count;
    ln_ref_store_reals(p->dst, to, 1, &mean);
}

static void finish_power(const pool *p, int64_t to, const pooled *result)
{
    double norm = p->p == 2   ? sqrt(result->value)
                  : p->p == 1 ? result->value
                              : pow(result->value, 1 / p->p);
    ln_ref_store_reals(p->dst, to, 1, &norm);
}

// ---- Walking ----

LN_REF_INLINE void pool_window(const pool *p, tl_dtype dtype, visit_fn *visit, pooled *result)
{
    const ln_window_axis *row = &p->window.axis[p->window.axis_count - 1];
    int64_t start = result->column * row->stride - row->pad_begin, first, end;
    ln_window_inside(start, row->dilation, row->in, row->size, &first, &end);
    for (int64_t t = 0; t < p->taps.count && !ln_deadline_passed(); t++) {
        for (int64_t u = first; u < end; u++) {
            int64_t at = p->taps.list[t].src + start + u * row->dilation;
            visit(result, ln_reals_at(p->src.data, result->channel * p->in_len + at, dtype), at,
                  p->p);
        }
    }
}

LN_REF_INLINE void pool_all(pool *p, tl_dtype dtype, visit_fn *visit, finish_fn *finish)
{
    const tl_tensor *dst = p->dst ? p->dst : p->places;
    int64_t rows = ln_window_rows(&p->window), to = 0;
    int64_t width = p->window.axis[p->window.axis_count - 1].out;
    if (dst->len == 0)
        return;
    int64_t channels = dst->len / (rows * width);
    for (int64_t row = 0; row < rows; row++) {
        ln_taps_list(&p->taps);
        for (int64_t channel = 0; channel < channels; channel++) {
            to = (channel * rows + row) * width;
            for (int64_t x = 0; x < width && !ln_deadline_passed(); x++) {
                pooled result = {.at = -1, .channel = channel, .column = x};
                pool_window(p, dtype, visit, &result);
                finish(p, to + x, &result);
            }
        }
        ln_taps_next(&p->taps);
    }
}

static ln_status read_pool(ln_call *call, pool *p)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *p = (pool){.dst = ln_call_dst(call, 0)};
    LN_TRY(ln_window_read(call, src, NULL, &p->window));
    LN_TRY(ln_ref_reals(call, src, &p->src));
    p->in_len = ln_window_in_len(&p->window);
    return ln_taps_create(call, &p->window, &p->taps);
}

ln_status ln_ref_onnx_max_pool(ln_call *call)
{
    pool p;
    LN_TRY(read_pool(call, &p));
    p.places = ln_call_dst(call, 1);
    p.is_column_major = ln_call_int(call, "storage_order") == 1;
    if (!p.dst && !p.places)
        return LN_OK;
    if (p.src.dtype == TL_DOUBLE)
        pool_all(&p, TL_DOUBLE, visit_max, finish_max);
    else
        pool_all(&p, TL_FLOAT, visit_max, finish_max);
    return LN_OK;
}

ln_status ln_ref_onnx_average_pool(ln_call *call)
{
    pool p;
    LN_TRY(read_pool(call, &p));
    p.counts_padding = ln_call_int(call, "count_include_pad") != 0;
    if (p.src.dtype == TL_DOUBLE)
        pool_all(&p, TL_DOUBLE, visit_sum, finish_average);
    else
        pool_all(&p, TL_FLOAT, visit_sum, finish_average);
    return LN_OK;
}

// The power of LpPool and GlobalLpPool, an integer but for the first version.
static ln_status read_power(ln_call *call, double *out_p)
{
    *out_p = ln_call_has(call, "p") ? ln_call_float(call, "p") : 2;
    return *out_p > 0 ? LN_OK : ln_call_fail(call, LN_INVALID, "p = %g", *out_p);
}

ln_status ln_ref_onnx_lp_pool(ln_call *call)
{
    pool p;
    LN_TRY(read_pool(call, &p));
    LN_TRY(read_power(call, &p.p));
    if (p.src.dtype == TL_DOUBLE)
        pool_all(&p, TL_DOUBLE, visit_power, finish_power);
    else
        pool_all(&p, TL_FLOAT, visit_power, finish_power);
    return LN_OK;
}

// ---- All of an image ----

// Visits each channel, whatever its shape, as one window.
LN_REF_INLINE void pool_channels(const pool *p, tl_dtype dtype, visit_fn *visit, finish_fn *finish)
{
    for (int64_t channel = 0; channel < p->dst->len; channel++) {
        pooled result = {.at = -1, .channel = channel};
        for (int64_t i = 0; i < p->in_len; i++)
            visit(&result, ln_reals_at(p->src.data, channel * p->in_len + i, dtype), i, p->p);
        finish(p, channel, &result);
    }
}

LN_REF_INLINE ln_status pool_images(ln_call *call, visit_fn *visit, finish_fn *finish, double power)
{
    const tl_tensor *src = ln_call_in(call, 0);
    pool p = {.dst = ln_call_dst(call, 0), .p = power};
    LN_TRY(ln_ref_reals(call, src, &p.src));
    p.in_len = p.dst->len ? src->len / p.dst->len : 0;
    if (p.src.dtype == TL_DOUBLE)
        pool_channels(&p, TL_DOUBLE, visit, finish);
    else
        pool_channels(&p, TL_FLOAT, visit, finish);
    return LN_OK;
}

ln_status ln_ref_onnx_global_max_pool(ln_call *call)
{
    return pool_images(call, visit_max, finish_max, 0);
}

ln_status ln_ref_onnx_global_average_pool(ln_call *call)
{
    return pool_images(call, visit_sum, finish_average, 0);
}

ln_status ln_ref_onnx_global_lp_pool(ln_call *call)
{
    double p;
    LN_TRY(read_power(call, &p));
    return pool_images(call, visit_power, finish_power, p);
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

ln_status ln_ref_onnx_max_unpool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *places = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    int64_t dims[TL_MAXDIM], len = 1;
    LN_TRY(ln_max_unpool_image(call, dims));
    for (int d = 0; d < src->ndim; d++) {
        if (__builtin_mul_overflow(len, dims[d], &len))
            return ln_call_fail(call, LN_LIMIT, "the image has too many elements");
    }

    memset(dst->data, 0, tl_tensor_size(dst));
    for (int i = 0; i < src->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at = ((const int64_t *)places->data)[i];
        int64_t place = at >= 0 && at < len ? place_in(dst, dims, at) : -1;
        if (place < 0)
            return ln_call_fail(call, LN_INVALID, "index %lld of element %d is outside",
                                (long long)at, i);
        ln_elem_copy(dst, (size_t)place, src, (size_t)i);
    }
    return LN_OK;
}
