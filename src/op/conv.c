// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions: of the core, and of ONNX and com.microsoft.

#include "op/conv.h"
#include "op/functions.h"

#include <limits.h>
#include <string.h>

#include "op/activation.h"

// ---- Parts that all have ----

static ln_status read_group(ln_call *call, const char *name, int64_t *out_group)
{
    *out_group = ln_call_has(call, name) ? ln_call_int(call, name) : 1;
    if (*out_group >= 1 && *out_group <= INT_MAX)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "%s is %lld", name, (long long)*out_group);
}

static ln_status check_bias(ln_call *call, const tl_tensor *bias, int64_t channels)
{
    if (!bias || (bias->ndim == 1 && bias->dims[0] == channels))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "the bias has rank %d and %d elements, not one for each of %lld channels",
                        bias->ndim, bias->len, (long long)channels);
}

static ln_status out_image(ln_call *call, const ln_conv_call *conv)
{
    int64_t dims[TL_MAXDIM] = {conv->src->dims[0], conv->out_channels * conv->group};
    ln_window_out_dims(&conv->window, dims);
    return ln_call_out64(call, 0, conv->src->dtype, conv->src->ndim, dims);
}

static double taps_of(const tl_tensor *weight)
{
    double taps = 1;
    for (int i = 2; i < weight->ndim; i++)
        taps *= weight->dims[i];
    return taps;
}

// ---- conv, Conv, FusedConv ----

static ln_status read_channels(ln_call *call, ln_conv_call *conv)
{
    const int *src = conv->src->dims, *weight = conv->weight->dims;
    conv->in_channels = weight[1];
    conv->out_channels = weight[0] / conv->group;
    if (weight[0] % conv->group != 0 || conv->in_channels * conv->group != src[1])
        return ln_call_fail(call, LN_INVALID,
                            "%d channels, weights for %d of them and %d outputs, "
                            "%lld groups",
                            src[1], weight[1], weight[0], (long long)conv->group);
    return check_bias(call, conv->bias, weight[0]);
}

static ln_status read_conv(ln_call *call, const tl_tensor *bias, ln_conv_call *conv)
{
    *conv = (ln_conv_call){.src = ln_call_in(call, 0), .weight = ln_call_in(call, 1), .bias = bias};
    LN_TRY(ln_window_read(call, conv->src, conv->weight, &conv->window));
    LN_TRY(read_group(call, "group", &conv->group));
    return read_channels(call, conv);
}

ln_status ln_conv_call_read(ln_call *call, ln_conv_call *out_conv)
{
    return read_conv(call, ln_call_in(call, 2), out_conv);
}

ln_status ln_conv_call_read_plain(ln_call *call, ln_conv_call *out_conv)
{
    return read_conv(call, NULL, out_conv);
}

static ln_status check_addend(ln_call *call, const tl_tensor *addend, const ln_conv_call *conv)
{
    bool fits = addend->ndim == conv->src->ndim && addend->dims[0] == conv->src->dims[0] &&
                addend->dims[1] == conv->weight->dims[0];
    for (int i = 0; fits && i < conv->window.axis_count; i++)
        fits = addend->dims[2 + i] == conv->window.axis[i].out;
    if (fits)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "the addend has not the shape of the output");
}

// Integers have no other activation.
static ln_status check_activation(ln_call *call, tl_dtype dtype)
{
    ln_activation activation;
    LN_TRY(ln_activation_read(call, &activation));
    if (activation.act == LN_ACT_NONE || activation.act == LN_ACT_RELU ||
        (LN_TYPES_FLOAT & LN_TYPE(dtype)))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "activation %s is for floating types, not %s",
                        ln_act_name(activation.act), tl_dtype_title(dtype));
}

ln_status ln_infer_conv(ln_call *call)
{
    ln_conv_call conv;
    LN_TRY(ln_conv_call_read(call, &conv));
    LN_TRY(check_activation(call, conv.src->dtype));
    if (ln_call_in(call, 3))
        LN_TRY(check_addend(call, ln_call_in(call, 3), &conv));
    return out_image(call, &conv);
}

// conv2d, deconv2d
static ln_status check_image_form(ln_call *call)
{
    const char *act = ln_call_string(call, "act");
    if (strcmp(act, "none") != 0 && strcmp(act, "relu") != 0)
        return ln_call_fail(call, LN_INVALID, "act should be none or relu, but is '%s'", act);
    return ln_window_check_image(call, ln_call_in(call, 0));
}

ln_status ln_infer_conv2d(ln_call *call)
{
    LN_TRY(check_image_form(call));
    return ln_infer_conv(call);
}

double ln_macs_conv(const ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 1), *dst = ln_call_dst(call, 0);
    return dst ? (double)dst->len * weight->dims[1] * taps_of(weight) : 0;
}

// ---- deconv, ConvTranspose ----

ln_status ln_deconv_call_read(ln_call *call, ln_conv_call *out_conv)
{
    ln_conv_call *conv = out_conv;
    *conv = (ln_conv_call){
        .src = ln_call_in(call, 0), .weight = ln_call_in(call, 1), .bias = ln_call_in(call, 2)};
    LN_TRY(ln_window_read_transposed(call, conv->src, conv->weight, &conv->window));
    LN_TRY(read_group(call, "group", &conv->group));

    const int *src = conv->src->dims, *weight = conv->weight->dims;
    conv->in_channels = src[1] / conv->group;
    conv->out_channels = weight[1];
    if (src[1] % conv->group != 0 || weight[0] != src[1])
        return ln_call_fail(call, LN_INVALID, "%d channels, weights for %d, %lld groups", src[1],
                            weight[0], (long long)conv->group);
    return check_bias(call, conv->bias, conv->out_channels * conv->group);
}

ln_status ln_infer_deconv(ln_call *call)
{
    ln_conv_call conv;
    LN_TRY(ln_deconv_call_read(call, &conv));
    LN_TRY(check_activation(call, conv.src->dtype));
    return out_image(call, &conv);
}

ln_status ln_infer_deconv2d(ln_call *call)
{
    ln_conv_call conv;
    LN_TRY(check_image_form(call));
    LN_TRY(ln_deconv_call_read(call, &conv));
    int64_t dims[TL_MAXDIM] = {conv.src->dims[0], conv.out_channels * conv.group};
    ln_window_out_dims(&conv.window, dims);
    for (int i = 0; i < ln_call_count(call, "output_dims"); i++) {
        int64_t wanted = ln_call_int_at(call, "output_dims", i);
        if (wanted != 0 && wanted != dims[i])
            return ln_call_fail(call, LN_INVALID, "output_dims says %lld where there are %lld",
                                (long long)wanted, (long long)dims[i]);
    }
    return ln_call_out64(call, 0, conv.src->dtype, 4, dims);
}

double ln_macs_deconv(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *weight = ln_call_in(call, 1);
    return (double)src->len * weight->dims[1] * taps_of(weight);
}

// ---- DeformConv ----

// `t` is [N, channels, outputs ...].
static ln_status check_places(ln_call *call, const char *name, const tl_tensor *t,
                              const ln_conv_call *conv, int64_t channels)
{
    bool fits =
        t->ndim == conv->src->ndim && t->dims[0] == conv->src->dims[0] && t->dims[1] == channels;
    for (int i = 0; fits && i < conv->window.axis_count; i++)
        fits = t->dims[2 + i] == conv->window.axis[i].out;
    if (fits)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "%s does not fit: %lld channels and the size of the "
                        "output are needed",
                        name, (long long)channels);
}

ln_status ln_deform_conv_call_read(ln_call *call, ln_deform_conv_call *out_deform)
{
    ln_conv_call *conv = &out_deform->conv;
    LN_TRY(read_conv(call, ln_call_in(call, 3), conv));
    out_deform->offset = ln_call_in(call, 2);
    out_deform->mask = ln_call_in(call, 4);
    LN_TRY(read_group(call, "offset_group", &out_deform->offset_group));
    if (conv->src->dims[1] % out_deform->offset_group != 0)
        return ln_call_fail(call, LN_INVALID, "%d channels do not divide into %lld offset groups",
                            conv->src->dims[1], (long long)out_deform->offset_group);

    int64_t taps = ln_window_tap_count(&conv->window), places;
    if (__builtin_mul_overflow(taps, out_deform->offset_group, &places) || places > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "%lld taps in %lld groups", (long long)taps,
                            (long long)out_deform->offset_group);
    LN_TRY(
        check_places(call, "offset", out_deform->offset, conv, places * conv->window.axis_count));
    return out_deform->mask ? check_places(call, "mask", out_deform->mask, conv, places) : LN_OK;
}

ln_status ln_infer_deform_conv(ln_call *call)
{
    ln_deform_conv_call deform;
    LN_TRY(ln_deform_conv_call_read(call, &deform));
    return out_image(call, &deform.conv);
}

// ---- CausalConvWithState ----

ln_status ln_infer_causal_conv(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *weight = ln_call_in(call, 1);
    const tl_tensor *past = ln_call_in(call, 3);
    if (src->ndim != 3 || weight->ndim != 3)
        return ln_call_fail(call, LN_INVALID, "ranks %d and %d instead of 3", src->ndim,
                            weight->ndim);
    if (weight->dims[0] != src->dims[1] || weight->dims[1] != 1 || weight->dims[2] < 1)
        return ln_call_fail(call, LN_INVALID,
                            "weights [%d, %d, %d] for %d channels, each with its own",
                            weight->dims[0], weight->dims[1], weight->dims[2], src->dims[1]);
    LN_TRY(check_bias(call, ln_call_in(call, 2), src->dims[1]));

    int state[] = {src->dims[0], src->dims[1], weight->dims[2] - 1};
    if (past && (past->ndim != 3 || past->dims[0] != state[0] || past->dims[1] != state[1] ||
                 past->dims[2] != state[2]))
        return ln_call_fail(call, LN_INVALID, "the past state is not [%d, %d, %d]", state[0],
                            state[1], state[2]);
    LN_TRY(ln_call_out_like(call, 0, 0));
    return ln_call_out(call, 1, src->dtype, 3, state);
}

double ln_macs_causal_conv(const ln_call *call)
{
    return (double)ln_call_in(call, 0)->len * ln_call_in(call, 1)->dims[2];
}
