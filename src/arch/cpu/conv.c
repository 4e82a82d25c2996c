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

typedef struct conv_form {
    ln_status (*read)(ln_call *call, ln_conv_call *out_conv);
    ln_status (*check)(const ln_conv_shape *shape);
    size_t (*workspace)(const ln_conv_shape *shape);
    void (*run)(ln_cpu_isa isa, const ln_conv2d_f32_args *args, float *workspace);
} conv_form;

static const conv_form forward = {ln_conv_call_read, ln_conv2d_check, ln_conv2d_f32_workspace,
                                  ln_conv2d_f32};
static const conv_form transposed = {ln_deconv_call_read, ln_deconv2d_check,
                                     ln_deconv2d_f32_workspace, ln_deconv2d_f32};

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

static ln_status accepts(ln_call *call, const conv_form *form)
{
    ln_conv_call conv;
    LN_TRY(form->read(call, &conv));
    if (conv.src->dtype != TL_FLOAT)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    if (conv.window.axis_count > 2)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for one or two axes here");
    ln_conv_shape shape = shape_of(&conv);
    if (form->check(&shape) != LN_OK)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for a shape like this here");
    return LN_OK;
}

// Of what the kernels do not take, a workspace of nothing.
static ln_status infer_workspace(ln_call *call, const conv_form *form)
{
    ln_conv_call conv;
    LN_TRY(form->read(call, &conv));
    bool is_taken = conv.src->dtype == TL_FLOAT && conv.window.axis_count <= 2;
    ln_conv_shape shape = {0};
    if (is_taken) {
        shape = shape_of(&conv);
        is_taken = form->check(&shape) == LN_OK;
    }
    return ln_cpu_call_infer_workspace(call, WORKSPACE, is_taken ? form->workspace(&shape) : 0);
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

static ln_status prepare(ln_call *call, const conv_form *form)
{
    convolution *kept = ln_call_keep(call, 1, sizeof *kept);
    ln_conv_call conv;
    if (!kept)
        return ln_error_status();
    LN_TRY(form->read(call, &conv));
    kept->shape = shape_of(&conv);
    return ln_activation_read(call, &kept->activation);
}

static ln_status run(ln_call *call, const conv_form *form, const tl_tensor *addend)
{
    const convolution *conv = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->len == 0)
        return LN_OK;

    ln_conv2d_f32_args args = {.shape = conv->shape,
                               .x = floats(ln_call_in(call, 0)),
                               .weight = floats(ln_call_in(call, 1)),
                               .bias = floats(ln_call_in(call, 2)),
                               .y = dst->data,
                               .act = act_of_kernel(&conv->activation, addend)};
    float *workspace = ln_cpu_call_workspace(call, WORKSPACE, form->workspace(&args.shape));
    if (!workspace)
        return ln_error_status();
    form->run(ln_cpu_isa_get(), &args, workspace);
    finish(call, &conv->activation, addend);
    return LN_OK;
}

// ---- conv, deconv ----

ln_status ln_cpu_infer_conv(ln_call *call)
{
    LN_TRY(ln_infer_conv(call));
    return infer_workspace(call, &forward);
}

ln_status ln_cpu_accepts_conv(ln_call *call)
{
    return accepts(call, &forward);
}

ln_status ln_cpu_prepare_conv(ln_call *call)
{
    return prepare(call, &forward);
}

ln_status ln_cpu_conv(ln_call *call)
{
    return run(call, &forward, ln_call_in(call, 3));
}

ln_status ln_cpu_infer_deconv(ln_call *call)
{
    LN_TRY(ln_infer_deconv(call));
    return infer_workspace(call, &transposed);
}

ln_status ln_cpu_accepts_deconv(ln_call *call)
{
    return accepts(call, &transposed);
}

ln_status ln_cpu_prepare_deconv(ln_call *call)
{
    return prepare(call, &transposed);
}

ln_status ln_cpu_deconv(ln_call *call)
{
    return run(call, &transposed, NULL);
}
