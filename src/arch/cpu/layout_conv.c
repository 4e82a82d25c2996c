// SPDX-License-Identifier: Apache-2.0
// Layout of convolutions: weights packed, activation and addend taken along.

#include "arch/cpu/layout_conv.h"

#include <lightnet/allocator.h>

#include "arch/cpu/conv_choice.h"
#include "op/activation.h"
#include "op/conv.h"

// ---- What is shared ----

static bool read_activation(ln_call *call, ln_layout_conv *c)
{
    ln_activation activation;
    if (ln_activation_read(call, &activation) != LN_OK)
        return false;
    c->act = activation.act;
    c->alpha = activation.alpha;
    c->beta = activation.beta;
    return true;
}

static bool read_window(const ln_window *window, ln_layout_conv *c)
{
    if (window->axis_count > c->axis_count)
        return false;
    for (int i = 0; i < c->axis_count; i++) {
        const ln_window_axis *axis = ln_window_axis_from_last(window, c->axis_count - 1 - i);
        if (axis->pad_begin < 0 || axis->pad_end < 0)
            return false;
        c->size[i] = (int)axis->size;
        c->stride[i] = (int)axis->stride;
        c->dilation[i] = (int)axis->dilation;
        c->padding[i] = (int)axis->pad_begin;
        c->padding[c->axis_count + i] = (int)axis->pad_end;
    }
    return true;
}

bool ln_layout_read_conv(const ln_layout_build *build, int axis_count, ln_layout_conv *out_conv)
{
    ln_call *call = build->op->op_arg->priv;
    ln_conv_call found;
    *out_conv = (ln_layout_conv){.src = ln_layout_input(build, "src"),
                                 .weight = ln_layout_input(build, "weight"),
                                 .bias = ln_layout_input(build, "bias"),
                                 .addend = ln_layout_input(build, "addend"),
                                 .axis_count = axis_count};
    const char *optype = build->op->op_arg->optype;
    ln_status (*read)(ln_call *, ln_conv_call *) = ln_streq(optype, "deconv") ? ln_deconv_call_read
                                                   : ln_streq(optype, "quant_conv")
                                                       ? ln_conv_call_read_plain
                                                       : ln_conv_call_read;
    if (!call || read(call, &found) != LN_OK)
        return false;
    out_conv->group = (int)found.group;
    return read_window(&found.window, out_conv) && read_activation(call, out_conv);
}

const char *ln_layout_algorithm_name(const ln_layout_build *build, ln_conv_algorithm algorithm)
{
    return ln_conv_algorithm_name(ln_cpu_permit_conv(algorithm, build->avoids_winograd));
}

ln_layout_params ln_layout_conv_pack_params(const ln_layout_conv *conv, const char *algorithm)
{
    ln_layout_params p = {0};
    ln_layout_add_int(&p, "group", conv->group, 1);
    ln_layout_add_string(&p, "algorithm", algorithm, "direct");
    return p;
}

ln_layout_params ln_layout_conv_params(const ln_layout_conv *conv, int channels,
                                       const char *algorithm)
{
    ln_layout_params p = {0};
    ln_layout_add_int(&p, "channels", channels, 0);
    ln_layout_add_ints(&p, "size", conv->axis_count, conv->size, 0);
    ln_layout_add_ints(&p, "stride", conv->axis_count, conv->stride, 1);
    ln_layout_add_ints(&p, "padding", 2 * conv->axis_count, conv->padding, 0);
    ln_layout_add_ints(&p, "dilation", conv->axis_count, conv->dilation, 1);
    ln_layout_add_int(&p, "group", conv->group, 1);
    ln_layout_add_string(&p, "algorithm", algorithm, "direct");
    ln_layout_add_conv_act(&p, conv);
    return p;
}

void ln_layout_add_conv_act(ln_layout_params *p, const ln_layout_conv *conv)
{
    if (conv->act == LN_ACT_NONE)
        return;
    ln_layout_add_string(p, "act", ln_act_name(conv->act), "none");
    ln_layout_add_number(p, "alpha", conv->alpha);
    ln_layout_add_number(p, "beta", conv->beta);
}

ln_list *ln_layout_conv_ins(const ln_layout_conv *conv, const char *src, const char *packed,
                            const char *addend, bool *out_is_complete)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "packed", packed);
    if (conv->bias)
        ins = ln_tensor_list_append(ins, "bias", conv->bias);
    if (addend)
        ins = ln_tensor_list_append(ins, "addend", addend);
    *out_is_complete = ln_list_length(ins) == 2 + (conv->bias != NULL) + (addend != NULL);
    return ins;
}

// ---- Images ----

static bool read_conv(const ln_layout_build *build, ln_layout_conv *c)
{
    return ln_layout_is_float_image(build, ln_layout_input(build, "src")) &&
           ln_layout_is_float_image(build, ln_layout_first_out(build)) &&
           ln_layout_read_conv(build, 2, c) &&
           ln_layout_is_image(ln_layout_find(build, c->weight)) &&
           (!c->addend || ln_layout_is_float_image(build, c->addend));
}

static bool fits_conv(const ln_layout_build *build)
{
    ln_layout_conv c;
    return read_conv(build, &c) || ln_layout_fits_conv3d(build);
}

static ln_status emit_pack(ln_layout_build *build, const ln_layout_conv *c, const char *algorithm,
                           const char *packed)
{
    const char *weight = ln_layout_lifted(build, c->weight);
    if (!weight)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "weight", weight);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", packed);
    ln_layout_params said = ln_layout_conv_pack_params(c, algorithm);
    return ln_layout_emit(build, "conv2d_pack_cpu", "pack", ins, outs, said.list,
                          ins && outs && ln_layout_are_complete(&said));
}

static ln_status rewrite_conv(ln_layout_build *build)
{
    ln_layout_conv c;
    if (ln_layout_fits_conv3d(build))
        return ln_layout_rewrite_conv3d(build);
    if (!read_conv(build, &c))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const ln_layout_dims weight = ln_layout_dims_of(build, c.weight);
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    const char *algorithm = ln_layout_algorithm_name(
        build, ln_cpu_choose_conv(weight.d, c.group, out.d + 2, c.stride, c.dilation));
    const char *src = ln_layout_nhwc(build, c.src);
    const char *addend = c.addend ? ln_layout_nhwc(build, c.addend) : NULL;
    char *packed = ln_layout_new_name(build, ln_layout_first_out(build), "packed");
    ln_status status = src && packed && (addend || !c.addend)
                           ? emit_pack(build, &c, algorithm, packed)
                           : ln_error_status();
    if (status == LN_OK) {
        bool is_complete;
        ln_list *ins = ln_layout_conv_ins(&c, src, packed, addend, &is_complete);
        ln_layout_params said = ln_layout_conv_params(&c, weight.d[0], algorithm);
        status = ln_layout_emit_nhwc(build, "conv2d_nhwc_cpu", "dst", ins, said.list,
                                     is_complete && ln_layout_are_complete(&said));
    }
    ln_free(packed);
    return status;
}

const ln_layout_op ln_layout_convs[] = {
    {"conv", fits_conv, rewrite_conv},
    {NULL, NULL, NULL},
};
