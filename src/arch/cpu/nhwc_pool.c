// SPDX-License-Identifier: Apache-2.0
// Channels-last poolings: parameters, shapes, the kernel's arguments.

#include "arch/cpu/nhwc_pool.h"

#include <string.h>

#include <lightnet/convdim.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/kernels/quant/quant.h"
#include "arch/cpu/kernels/tasks.h"
#include "op/functions.h"
#include "op/prepare.h"

ln_status ln_pool_nhwc_infer(ln_pool_nhwc *pooling)
{
    for (int i = 0; i < 2; i++) {
        int in = pooling->src->dims[1 + i], *out = &pooling->out[1 + i];
        bool is_past =
            *out && ((int64_t)*out - 1) * pooling->stride[i] >= (int64_t)in + pooling->padding[i];
        if (*out && !is_past)
            continue;
        int fitting =
            ln_output_dim_conv(in, pooling->size[i], pooling->stride[i], pooling->padding[i],
                               pooling->padding[2 + i], pooling->dilation[i]);
        if (fitting < 0)
            return ln_error_status();
        // A window over the padding at the end alone is there if it fits whole.
        if (*out > fitting)
            return LN_FAIL(LN_INVALID, "window %d is past the end of an image of %d pixels",
                           *out - 1, in);
        if (*out == 0)
            *out = fitting;
    }
    return ln_channels_shape(pooling->out, pooling->src, pooling->into, &pooling->channels,
                             ln_channels_count(pooling->src, &pooling->channels));
}

static ln_window_1d window_of(const ln_pool_nhwc *pooling, int axis)
{
    return (ln_window_1d){.in = (size_t)pooling->src->dims[1 + axis],
                          .kernel = (size_t)pooling->size[axis],
                          .stride = (size_t)pooling->stride[axis],
                          .dilation = (size_t)pooling->dilation[axis],
                          .pad = (size_t)pooling->padding[axis]};
}

ln_pool_nhwc_f32_args ln_pool_nhwc_args(const ln_pool_nhwc *pooling, const tl_tensor *dst)
{
    const tl_tensor *src = pooling->src;
    const ln_channels *at = &pooling->channels;
    return (ln_pool_nhwc_f32_args){
        .kind = pooling->kind,
        .counts_padding = pooling->counts_padding,
        .batch = (size_t)src->dims[0],
        .channels = (size_t)ln_channels_count(src, at),
        .out_h = (size_t)pooling->out[1],
        .out_w = (size_t)pooling->out[2],
        .rows = window_of(pooling, 0),
        .columns = window_of(pooling, 1),
        .pad_after = {(size_t)pooling->padding[2], (size_t)pooling->padding[3]},
        .x = src->data ? (const float *)src->data + at->src_first : NULL,
        .x_stride = (size_t)src->dims[3],
        .y = dst ? (float *)dst->data + at->dst_first : NULL,
        .y_stride = dst ? (size_t)dst->dims[3] : 0,
    };
}

static void set_tensors(ln_call *call, ln_pool_nhwc *pooling)
{
    pooling->src = ln_call_in(call, 0);
    pooling->into = ln_call_in(call, 1);
}

static ln_status read_pooling(ln_call *call, ln_pool_nhwc *pooling)
{
    static const ln_nhwc_param params[] = {
        {"size", 2, 1, offsetof(ln_pool_nhwc, size)},
        {"stride", 2, 1, offsetof(ln_pool_nhwc, stride)},
        {"padding", 4, 0, offsetof(ln_pool_nhwc, padding)},
        {"dilation", 2, 1, offsetof(ln_pool_nhwc, dilation)},
        {"out", 2, 0, offsetof(ln_pool_nhwc, out) + sizeof(int)},
        {NULL, 0, 0, 0},
    };
    *pooling = (ln_pool_nhwc){.counts_padding = ln_call_int(call, "count_padding") != 0};
    set_tensors(call, pooling);
    LN_TRY(ln_nhwc_check_ranks(call, 2, (const int[]){4, 4}));
    LN_TRY(ln_nhwc_read(call, params, pooling));
    LN_TRY(ln_channels_read(call, &pooling->channels));
    return ln_nhwc_pass_on(call, ln_pool_nhwc_infer(pooling));
}

ln_status ln_cpu_infer_pool2d_nhwc(ln_call *call)
{
    ln_pool_nhwc pooling;
    LN_TRY(read_pooling(call, &pooling));
    return ln_call_out(call, 0, pooling.src->dtype, 4, pooling.out);
}

// What is outside of the image costs nothing.
double ln_cpu_cost_pool2d_nhwc(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    double count = ln_call_float(call, "src_channels");
    count = count > 0 ? count : src->dims[3];
    for (int i = 0; i < 2; i++) {
        double taps = ln_call_float_at(call, "size", i), in = src->dims[1 + i];
        count *= taps < in ? taps : in;
    }
    if (dst)
        count *= (double)dst->dims[0] * dst->dims[1] * dst->dims[2];
    return ln_cost_steps(call) + count;
}

LN_PREPARE(ln_cpu_prepare_pool2d_nhwc, ln_pool_nhwc, read_pooling)

// ---- Bytes ----

typedef struct byte_pooling {
    const ln_pool_nhwc *pooling;
    const ln_quant_kernels *kernels;
    const uint8_t *src;
    uint8_t *dst;
    size_t src_step, dst_step; // from pixel to pixel
    ln_quant_window window;    // its channels and their type
} byte_pooling;

// One row of the output.
static void pool_bytes(void *user, size_t index)
{
    const byte_pooling *b = user;
    const ln_pool_nhwc *p = b->pooling;
    const ln_window_1d rows = window_of(p, 0), columns = window_of(p, 1);
    const size_t out_h = (size_t)p->out[1], out_w = (size_t)p->out[2], y = index % out_h;
    const ln_taps down = ln_window_taps(&rows, y);
    ln_quant_window window = b->window;
    window.rows = down.end - down.first;
    window.row_step = rows.dilation * columns.in * b->src_step;
    window.column_step = columns.dilation * b->src_step;
    uint8_t *to = b->dst + index * out_w * b->dst_step;
    for (size_t x = 0; x < out_w; x++, to += b->dst_step) {
        const ln_taps across = ln_window_taps(&columns, x);
        window.columns = across.end - across.first;
        if (window.rows == 0 || window.columns == 0) {
            memset(to, window.is_signed ? 128 : 0, window.channels);
            continue;
        }
        const size_t line = index / out_h * rows.in + ln_window_at(&rows, y, down.first);
        const size_t pixel = line * columns.in + ln_window_at(&columns, x, across.first);
        window.x = b->src + pixel * b->src_step;
        b->kernels->greatest(&window, to);
    }
}

static void run_bytes(const ln_pool_nhwc *pooling, tl_tensor *dst, ln_pool *pool)
{
    const tl_tensor *src = pooling->src;
    byte_pooling b = {
        .pooling = pooling,
        .kernels = ln_quant_select(ln_cpu_isa_get()),
        .src = (const uint8_t *)src->data + pooling->channels.src_first,
        .dst = (uint8_t *)dst->data + pooling->channels.dst_first,
        .src_step = (size_t)src->dims[3],
        .dst_step = (size_t)dst->dims[3],
        .window = {.channels = (size_t)ln_channels_count(src, &pooling->channels),
                   .is_signed = src->dtype == TL_INT8},
    };
    const double bytes = (double)dst->len * pooling->size[0] * pooling->size[1];
    ln_pool_run(ln_tasks_pool(pool, bytes / 16000),
                (size_t)pooling->out[0] * (size_t)pooling->out[1], pool_bytes, &b);
}

static ln_status run(ln_call *call, ln_pool2d_kind kind)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_pool_nhwc pooling = *(const ln_pool_nhwc *)ln_call_prepared(call);
    set_tensors(call, &pooling);
    pooling.kind = kind;
    if (dst->len == 0)
        return LN_OK;
    ln_nhwc_start(pooling.into, dst);
    if (dst->dtype != TL_FLOAT) {
        run_bytes(&pooling, dst, ln_cpu_call_pool(call));
        return LN_OK;
    }
    const ln_pool_nhwc_f32_args args = ln_pool_nhwc_args(&pooling, dst);
    ln_pool_nhwc_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_maxpool2d_nhwc(ln_call *call)
{
    return run(call, LN_POOL_MAX);
}

ln_status ln_cpu_avgpool2d_nhwc(ln_call *call)
{
    return run(call, LN_POOL_AVERAGE);
}
