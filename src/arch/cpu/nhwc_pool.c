// SPDX-License-Identifier: Apache-2.0
// Channels-last poolings: parameters, shapes, the kernel's arguments.

#include "arch/cpu/nhwc_pool.h"

#include <string.h>

#include <lightnet/convdim.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/kernels/quant/maxpool_i8.h"
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
    ln_maxpool_i8_args args;
    const uint8_t *x, *x_end;
    uint8_t *y;
} byte_pooling;

// One row of the output.
static void pool_row(void *user, size_t index)
{
    const byte_pooling *b = user;
    const ln_maxpool_i8_args *a = &b->args;
    const size_t image_bytes = a->rows.in * a->columns.in * a->x_step;
    const ln_lines_i8 lines = {.at = b->x + index / a->out_h * image_bytes, .end = b->x_end};
    ln_maxpool_i8_row(ln_cpu_isa_get(), a, &lines, index % a->out_h,
                      b->y + index * a->out_w * a->y_step);
}

static void run_bytes(const ln_pool_nhwc *pooling, tl_tensor *dst, ln_pool *pool)
{
    const tl_tensor *src = pooling->src;
    byte_pooling b = {
        .args = {.rows = window_of(pooling, 0),
                 .columns = window_of(pooling, 1),
                 .out_h = (size_t)pooling->out[1],
                 .out_w = (size_t)pooling->out[2],
                 .channels = (size_t)ln_channels_count(src, &pooling->channels),
                 .x_step = (size_t)src->dims[3],
                 .y_step = (size_t)dst->dims[3],
                 .is_signed = src->dtype == TL_INT8},
        .x = (const uint8_t *)src->data + pooling->channels.src_first,
        .x_end = (const uint8_t *)src->data + src->len,
        .y = (uint8_t *)dst->data + pooling->channels.dst_first,
    };
    const double bytes = (double)dst->len * pooling->size[0] * pooling->size[1];
    ln_pool_run(ln_tasks_pool(pool, bytes / 16000),
                (size_t)pooling->out[0] * (size_t)pooling->out[1], pool_row, &b);
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
