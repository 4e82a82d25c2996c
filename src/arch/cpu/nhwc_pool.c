// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters of channels-last poolings and resizing to the kernels' arguments.

#include "arch/cpu/nhwc_pool.h"

#include <limits.h>
#include <string.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/pool/pool_nhwc.h"
#include "arch/cpu/kernels/resize/resize_nhwc.h"

static void start_dst(const tl_tensor *into, tl_tensor *dst)
{
    if (into && into->data != dst->data)
        memcpy(dst->data, into->data, (size_t)dst->len * sizeof(float));
}

// ---- Pooling ----

static ln_window_1d window_of(const ln_cpu_pool_nhwc *pooling, int axis)
{
    return (ln_window_1d){.in = (size_t)pooling->src->dims[1 + axis],
                          .kernel = (size_t)pooling->size[axis],
                          .stride = (size_t)pooling->stride[axis],
                          .dilation = (size_t)pooling->dilation[axis],
                          .pad = (size_t)pooling->padding[axis]};
}

ln_status ln_cpu_pool2d_nhwc(ln_pool *pool, const ln_cpu_pool_nhwc *pooling)
{
    const tl_tensor *src = pooling->src, *dst = pooling->dst;
    if (dst->len == 0)
        return LN_OK;
    start_dst(pooling->into, pooling->dst);
    ln_pool_nhwc_f32_args args = {
        .kind = pooling->kind,
        .counts_padding = pooling->counts_padding,
        .batch = (size_t)src->dims[0],
        .channels = (size_t)ln_nhwc_channels(src, pooling->src_channels),
        .out_h = (size_t)dst->dims[1],
        .out_w = (size_t)dst->dims[2],
        .rows = window_of(pooling, 0),
        .columns = window_of(pooling, 1),
        .pad_after = {(size_t)pooling->padding[2], (size_t)pooling->padding[3]},
        .x = (const float *)src->data + pooling->src_first,
        .x_stride = (size_t)src->dims[3],
        .y = (float *)dst->data + pooling->dst_first,
        .y_stride = (size_t)dst->dims[3],
    };
    ln_pool_nhwc_f32(ln_cpu_isa_get(), &args, pool);
    return LN_OK;
}

// ---- Resizing ----

int ln_cpu_resize_nhwc_places(int *dims, const int out[2])
{
    if (out[0] > INT_MAX / 2 - out[1]) {
        ln_fail(LN_LIMIT, "an image of %d x %d pixels", out[0], out[1]);
        return -1;
    }
    dims[0] = 2 * (out[0] + out[1]);
    return 1;
}

// Places of one axis, and its weights if there are any.
static void find_places(const ln_cpu_resize_nhwc *resize, int axis, int32_t *places, float *weights)
{
    const ln_resize_axis a = {.in = resize->src->dims[1 + axis],
                              .out = resize->dst->dims[1 + axis],
                              .scale = resize->scale[axis],
                              .coordinates = resize->coordinates};
    for (int i = 0; i < a.out; i++) {
        if (resize->mode == LN_RESIZE_NHWC_NEAREST) {
            places[i] = ln_resize_nearest_at(&a, resize->rounding, i);
            continue;
        }
        int pair[2];
        weights[i] = (float)ln_resize_linear_at(&a, i, pair);
        places[2 * i] = pair[0];
        places[2 * i + 1] = pair[1];
    }
}

ln_status ln_cpu_resize_nhwc_run(ln_pool *pool, const ln_cpu_resize_nhwc *resize)
{
    const tl_tensor *src = resize->src, *dst = resize->dst;
    if (dst->len == 0)
        return LN_OK;
    start_dst(resize->into, resize->dst);
    size_t out_h = (size_t)dst->dims[1], out_w = (size_t)dst->dims[2];
    bool is_linear = resize->mode == LN_RESIZE_NHWC_LINEAR;
    int32_t *places = resize->places->data;
    float *weights = resize->weights->data;
    find_places(resize, 0, places, weights);
    find_places(resize, 1, places + 2 * out_h, weights + out_h);
    ln_resize_nhwc_f32_args args = {
        .batch = (size_t)src->dims[0],
        .channels = (size_t)ln_nhwc_channels(src, resize->src_channels),
        .in_h = (size_t)src->dims[1],
        .in_w = (size_t)src->dims[2],
        .out_h = out_h,
        .out_w = out_w,
        .rows = places,
        .columns = places + 2 * out_h,
        .row_weights = is_linear ? weights : NULL,
        .column_weights = is_linear ? weights + out_h : NULL,
        .x = (const float *)src->data + resize->src_first,
        .x_stride = (size_t)src->dims[3],
        .y = (float *)dst->data + resize->dst_first,
        .y_stride = (size_t)dst->dims[3],
    };
    ln_resize_nhwc_f32(ln_cpu_isa_get(), &args, pool);
    return LN_OK;
}
