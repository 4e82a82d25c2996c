// SPDX-License-Identifier: Apache-2.0
// From convolutions, and their transposes, to the kernels' arguments. One axis is a row of two.

#include "arch/cpu/kernels/conv/conv.h"
#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/deconv/deconv.h"
#include "op/activation.h"
#include "op/conv.h"
#include "op/functions.h"

#define WORKSPACE 1 // the output after dst

typedef ln_status read_fn(ln_call *call, ln_conv_call *out_conv);
typedef ln_status check_fn(const ln_conv_shape *shape);

static ln_conv_shape shape_of(const ln_conv_call *conv)
{
    const ln_window_axis *y = ln_window_axis_from_last(&conv->window, 1);
    const ln_window_axis *x = ln_window_axis_from_last(&conv->window, 0);
    return (ln_conv_shape){.batch = (size_t)conv->src->dims[0],
                           .group = (size_t)conv->group,
                           .in_channels = (size_t)conv->src->dims[1],
                           .out_channels = (size_t)(conv->out_channels * conv->group),
                           .in_h = (size_t)y->in,
                           .in_w = (size_t)x->in,
                           .out_h = (size_t)y->out,
                           .out_w = (size_t)x->out,
                           .kernel_h = (size_t)y->size,
                           .kernel_w = (size_t)x->size,
                           .stride_h = (size_t)y->stride,
                           .stride_w = (size_t)x->stride,
                           .dilation_h = (size_t)y->dilation,
                           .dilation_w = (size_t)x->dilation,
                           .pad_top = (size_t)y->pad_begin,
                           .pad_left = (size_t)x->pad_begin};
}

static ln_status accepts(ln_call *call, read_fn *read, check_fn *check)
{
    ln_conv_call conv;
    LN_TRY(read(call, &conv));
    if (conv.src->dtype != TL_FLOAT)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    if (conv.window.axis_count > 2)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for one or two axes here");
    ln_conv_shape shape = shape_of(&conv);
    if (check(&shape) != LN_OK)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for a shape like this here");
    return LN_OK;
}

typedef size_t workspace_fn(const ln_conv_shape *shape);

// Of what the kernels do not take, a workspace of nothing.
static ln_status infer_workspace(ln_call *call, read_fn *read, check_fn *check,
                                 workspace_fn *workspace)
{
    ln_conv_call conv;
    LN_TRY(read(call, &conv));
    bool is_taken = conv.src->dtype == TL_FLOAT && conv.window.axis_count <= 2;
    ln_conv_shape shape = {0};
    if (is_taken) {
        shape = shape_of(&conv);
        is_taken = check(&shape) == LN_OK;
    }
    return ln_cpu_call_infer_workspace(call, WORKSPACE, is_taken ? workspace(&shape) : 0);
}

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// The activation that the kernel does itself.
static ln_act act_of_kernel(const ln_activation *activation, const tl_tensor *addend)
{
    return activation->act == LN_ACT_RELU && !addend ? LN_ACT_RELU : LN_ACT_NONE;
}

// What the kernel does not do itself: y = activation(y + addend).
static void finish(ln_call *call, const ln_activation *activation, const tl_tensor *addend)
{
    ln_pool *pool = ln_cpu_call_pool(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    float alpha = (float)activation->alpha, beta = (float)activation->beta;
    if (addend)
        (void)ln_cpu_elew(pool, dst, addend, dst, TL_SUM, activation->act, alpha, beta);
    else if (activation->act != LN_ACT_NONE && activation->act != LN_ACT_RELU)
        (void)ln_cpu_act(pool, dst, dst, activation->act, alpha, beta);
}

typedef struct convolution {
    ln_conv_shape shape;
    ln_activation activation;
} convolution;

static ln_status prepare(ln_call *call, read_fn *read)
{
    convolution *kept = ln_call_keep(call, 1, sizeof *kept);
    ln_conv_call conv;
    if (!kept)
        return ln_error_status();
    LN_TRY(read(call, &conv));
    kept->shape = shape_of(&conv);
    return ln_activation_read(call, &kept->activation);
}

// ---- conv ----

ln_status ln_cpu_infer_conv(ln_call *call)
{
    LN_TRY(ln_infer_conv(call));
    return infer_workspace(call, ln_conv_call_read, ln_conv2d_check, ln_conv2d_f32_workspace);
}

ln_status ln_cpu_accepts_conv(ln_call *call)
{
    return accepts(call, ln_conv_call_read, ln_conv2d_check);
}

ln_status ln_cpu_prepare_conv(ln_call *call)
{
    return prepare(call, ln_conv_call_read);
}

ln_status ln_cpu_conv(ln_call *call)
{
    const convolution *conv = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    const tl_tensor *addend = ln_call_in(call, 3);
    if (dst->len == 0)
        return LN_OK;

    ln_conv2d_f32_args args = {.shape = conv->shape,
                               .x = floats(ln_call_in(call, 0)),
                               .weight = floats(ln_call_in(call, 1)),
                               .bias = floats(ln_call_in(call, 2)),
                               .y = dst->data,
                               .act = act_of_kernel(&conv->activation, addend)};
    float *workspace = ln_cpu_call_workspace(call, WORKSPACE, ln_conv2d_f32_workspace(&args.shape));
    if (!workspace)
        return ln_error_status();
    ln_conv2d_f32(ln_cpu_isa_get(), &args, workspace);
    finish(call, &conv->activation, addend);
    return LN_OK;
}

// ---- deconv ----

ln_status ln_cpu_infer_deconv(ln_call *call)
{
    LN_TRY(ln_infer_deconv(call));
    return infer_workspace(call, ln_deconv_call_read, ln_deconv2d_check, ln_deconv2d_f32_workspace);
}

ln_status ln_cpu_accepts_deconv(ln_call *call)
{
    return accepts(call, ln_deconv_call_read, ln_deconv2d_check);
}

ln_status ln_cpu_prepare_deconv(ln_call *call)
{
    return prepare(call, ln_deconv_call_read);
}

ln_status ln_cpu_deconv(ln_call *call)
{
    const convolution *conv = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->len == 0)
        return LN_OK;

    ln_deconv2d_f32_args args = {.shape = conv->shape,
                                 .x = floats(ln_call_in(call, 0)),
                                 .weight = floats(ln_call_in(call, 1)),
                                 .bias = floats(ln_call_in(call, 2)),
                                 .y = dst->data,
                                 .act = act_of_kernel(&conv->activation, NULL)};
    float *workspace =
        ln_cpu_call_workspace(call, WORKSPACE, ln_deconv2d_f32_workspace(&args.shape));
    if (!workspace)
        return ln_error_status();
    ln_deconv2d_f32(ln_cpu_isa_get(), &args, workspace);
    finish(call, &conv->activation, NULL);
    return LN_OK;
}
