// SPDX-License-Identifier: Apache-2.0
// Channels-last poolings and resizing, one output element after the other.

#include "arch/ref/nhwc_pool.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"

// Element [n, y, x, c] of a channels-last image.
static float *at(const tl_tensor *t, int n, int y, int x, int c)
{
    size_t pixel = ((size_t)n * (size_t)t->dims[1] + (size_t)y) * (size_t)t->dims[2] + (size_t)x;
    return (float *)t->data + pixel * (size_t)t->dims[3] + (size_t)c;
}

static void start_dst(const tl_tensor *into, tl_tensor *dst)
{
    if (into && into->data != dst->data)
        memcpy(dst->data, into->data, (size_t)dst->len * sizeof(float));
}

// ---- Pooling ----

// The elements of a window on one axis: inputs first, first + dilation, ... below end; and how many
// there are with those in the padding.
typedef struct span {
    int64_t first, end, padded;
} span;

static span span_of(const ln_ref_pool_nhwc *pool, int axis, int i)
{
    int64_t in = pool->src->dims[1 + axis], dilation = pool->dilation[axis];
    int64_t start = (int64_t)i * pool->stride[axis] - pool->padding[axis];
    int64_t end = start + (pool->size[axis] - 1) * dilation + 1;
    int64_t limit = in + pool->padding[2 + axis];
    span s = {.first = start, .end = end < in ? end : in};
    if (start < 0)
        s.first = start + (dilation - 1 - start) / dilation * dilation;
    limit = end < limit ? end : limit;
    s.padded = limit > start ? (limit - start + dilation - 1) / dilation : 0;
    return s;
}

static float max_at(const ln_ref_pool_nhwc *pool, int n, span rows, span columns, int c)
{
    float max = -INFINITY;
    for (int64_t y = rows.first; y < rows.end; y += pool->dilation[0])
        for (int64_t x = columns.first; x < columns.end; x += pool->dilation[1]) {
            float value = *at(pool->src, n, (int)y, (int)x, c);
            max = value > max || isnan(value) ? value : max;
            if (isnan(max))
                return max;
        }
    return max;
}

static float mean_at(const ln_ref_pool_nhwc *pool, int n, span rows, span columns, int c)
{
    double sum = 0, count = 0;
    for (int64_t y = rows.first; y < rows.end; y += pool->dilation[0])
        for (int64_t x = columns.first; x < columns.end; x += pool->dilation[1]) {
            sum += (double)*at(pool->src, n, (int)y, (int)x, c);
            count++;
        }
    if (pool->counts_padding)
        count = (double)rows.padded * (double)columns.padded;
    return (float)(sum / count);
}

typedef float window_fn(const ln_ref_pool_nhwc *pool, int n, span rows, span columns, int c);

static void pool_all(const ln_ref_pool_nhwc *pool, window_fn *of_window)
{
    const int *out = pool->dst->dims;
    int channels = ln_nhwc_channels(pool->src, pool->src_channels);
    if (pool->dst->len == 0)
        return;
    start_dst(pool->into, pool->dst);
    for (int n = 0; n < out[0]; n++)
        for (int y = 0; y < out[1]; y++)
            for (int x = 0; x < out[2] && !ln_deadline_passed(); x++) {
                span rows = span_of(pool, 0, y), columns = span_of(pool, 1, x);
                float *dst = at(pool->dst, n, y, x, pool->dst_first);
                for (int c = 0; c < channels; c++)
                    dst[c] = of_window(pool, n, rows, columns, pool->src_first + c);
            }
}

void ln_ref_maxpool2d_nhwc(const ln_ref_pool_nhwc *pool)
{
    pool_all(pool, max_at);
}

void ln_ref_avgpool2d_nhwc(const ln_ref_pool_nhwc *pool)
{
    pool_all(pool, mean_at);
}

// ---- Resizing ----

// What has no weight has no share, be it infinite.
static double mix(double a, double b, double weight)
{
    return weight == 0 ? a : a * (1 - weight) + b * weight;
}

static void resize_pixel(const ln_ref_resize_nhwc *resize, const ln_resize_axis axis[2], int n,
                         int y, int x)
{
    const tl_tensor *src = resize->src;
    int channels = ln_nhwc_channels(src, resize->src_channels), rows[2], columns[2];
    float *dst = at(resize->dst, n, y, x, resize->dst_first);
    if (resize->mode == LN_RESIZE_NHWC_NEAREST) {
        int row = ln_resize_nearest_at(&axis[0], resize->rounding, y);
        int column = ln_resize_nearest_at(&axis[1], resize->rounding, x);
        memcpy(dst, at(src, n, row, column, resize->src_first), (size_t)channels * sizeof *dst);
        return;
    }
    double down = ln_resize_linear_at(&axis[0], y, rows);
    double right = ln_resize_linear_at(&axis[1], x, columns);
    for (int c = 0; c < channels; c++) {
        double line[2];
        for (int i = 0; i < 2; i++)
            line[i] = mix((double)*at(src, n, rows[i], columns[0], resize->src_first + c),
                          (double)*at(src, n, rows[i], columns[1], resize->src_first + c), right);
        dst[c] = (float)mix(line[0], line[1], down);
    }
}

void ln_ref_resize_nhwc_run(const ln_ref_resize_nhwc *resize)
{
    const int *out = resize->dst->dims;
    ln_resize_axis axis[2];
    for (int i = 0; i < 2; i++)
        axis[i] = (ln_resize_axis){.in = resize->src->dims[1 + i],
                                   .out = out[1 + i],
                                   .scale = resize->scale[i],
                                   .coordinates = resize->coordinates};
    if (resize->dst->len == 0)
        return;
    start_dst(resize->into, resize->dst);
    for (int n = 0; n < out[0]; n++)
        for (int y = 0; y < out[1]; y++)
            for (int x = 0; x < out[2] && !ln_deadline_passed(); x++)
                resize_pixel(resize, axis, n, y, x);
}
