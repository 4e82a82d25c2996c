// SPDX-License-Identifier: Apache-2.0
// Layout of transposed convolutions.

#include "arch/cpu/layout.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/opshape.h>
#include <lightnet/util.h>

#include "op/onnx/conv.h"

// A transposed convolution as the channels-last operator wants it, whichever operator says it.
typedef struct deconv {
    const char *src, *weight, *bias; // names; NULL: none
    int group;
    int size[2], stride[2], dilation[2], padding[2];
    bool has_relu;
} deconv;

static bool are_images(const ln_layout_build *build, const char *src)
{
    return ln_layout_is_free(build, src) && ln_layout_is_free(build, ln_layout_first_out(build));
}

static bool read_onnx(const ln_layout_build *build, deconv *d)
{
    static const ln_window_axis single = {.size = 1, .stride = 1, .dilation = 1};
    ln_call *call = build->op->op_arg->priv;
    ln_conv_call found;
    *d = (deconv){.src = ln_layout_input(build, "X"),
                  .weight = ln_layout_input(build, "W"),
                  .bias = ln_layout_input(build, "B")};
    if (!call || !are_images(build, d->src) || ln_conv_transpose_call_read(call, &found) != LN_OK ||
        found.window.axis_count > 2)
        return false;
    d->group = (int)found.group;
    for (int i = 0; i < 2; i++) {
        int at = i + found.window.axis_count - 2;
        const ln_window_axis *axis = at < 0 ? &single : &found.window.axis[at];
        if (axis->pad_begin < 0)
            return false;
        d->size[i] = (int)axis->size;
        d->stride[i] = (int)axis->stride;
        d->dilation[i] = (int)axis->dilation;
        d->padding[i] = (int)axis->pad_begin;
    }
    return true;
}

static const int *ints(const ln_layout_build *build, const char *name, const int *usual)
{
    const ln_param_entry *param = ln_param_list_find(build->op->op_arg->params, name);
    return param ? param->value_array_int : usual;
}

// deconv2d, once it is checked.
static bool read_own(const ln_layout_build *build, deconv *d)
{
    static const int zeros[4], ones[2] = {1, 1};
    const ln_list *params = build->op->op_arg->params;
    const ln_param_entry *group = ln_param_list_find(params, "group");
    const ln_param_entry *autopad = ln_param_list_find(params, "autopad");
    const ln_param_entry *act = ln_param_list_find(params, "act");
    *d = (deconv){.src = ln_layout_input(build, "src"),
                  .weight = ln_layout_input(build, "weight"),
                  .bias = ln_layout_input(build, "bias"),
                  .group = group ? group->value_int : 1,
                  .has_relu = act && ln_streq(act->value_string, "relu")};
    if (!are_images(build, d->src))
        return false;
    memcpy(d->size, ints(build, "size", ones), sizeof d->size);
    memcpy(d->stride, ints(build, "stride", ones), sizeof d->stride);
    memcpy(d->dilation, ints(build, "dilation", ones), sizeof d->dilation);
    int padding[4];
    if (ln_effective_deconv_padding(
            padding, ints(build, "padding", zeros), autopad ? autopad->value_string : "NOTSET",
            ln_layout_find(build, d->src)->tensor->dims + 2, ints(build, "output_dims", zeros) + 2,
            d->size, d->stride, ints(build, "output_padding", zeros), d->dilation) != LN_OK)
        return false;
    memcpy(d->padding, padding, sizeof d->padding);
    return padding[0] >= 0 && padding[1] >= 0;
}

static bool read_deconv(const ln_layout_build *build, deconv *d)
{
    bool is_own = ln_streq(build->op->op_arg->optype, "deconv2d");
    return (is_own ? read_own(build, d) : read_onnx(build, d)) &&
           ln_layout_is_image(ln_layout_find(build, d->weight));
}

static bool fits_deconv(const ln_layout_build *build)
{
    deconv d;
    return read_deconv(build, &d);
}

// What packing and computing have in common.
static ln_layout_params shared_params(const deconv *d)
{
    ln_layout_params p = {0};
    ln_layout_add_int(&p, "group", d->group, 1);
    ln_layout_add_ints(&p, "stride", 2, d->stride, 1);
    ln_layout_add_ints(&p, "dilation", 2, d->dilation, 1);
    return p;
}

static ln_status emit_pack(ln_layout_build *build, const deconv *d, const char *packed)
{
    const char *weight = ln_layout_lifted(build, d->weight);
    if (!weight)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "weight", weight);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", packed);
    ln_layout_params said = shared_params(d);
    return ln_layout_emit(build, "deconv2d_pack", "pack", ins, outs, said.list,
                          ins && outs && ln_layout_are_complete(&said));
}

static ln_status emit_deconv(ln_layout_build *build, const deconv *d, const char *src,
                             const char *packed)
{
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    ln_layout_params said = shared_params(d);
    ln_layout_add_int(&said, "channels", out.d[1], 0);
    ln_layout_add_ints(&said, "size", 2, d->size, 0);
    ln_layout_add_ints(&said, "padding", 2, d->padding, 0);
    ln_layout_add_ints(&said, "out", 2, out.d + 2, 0);
    ln_layout_add_string(&said, "act", d->has_relu ? "relu" : "none", "none");
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "packed", packed);
    if (d->bias)
        ins = ln_tensor_list_append(ins, "bias", d->bias);
    return ln_layout_emit_twin(build, "deconv2d_nhwc", "dst", ins, said.list,
                               ln_list_length(ins) == 2 + (d->bias != NULL) &&
                                   ln_layout_are_complete(&said));
}

static ln_status rewrite_deconv(ln_layout_build *build)
{
    deconv d;
    if (!read_deconv(build, &d))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const char *src = ln_layout_twin(build, d.src);
    char *packed = ln_layout_new_name(build, ln_layout_first_out(build), "packed");
    ln_status status = src && packed ? emit_pack(build, &d, packed) : ln_error_status();
    if (status == LN_OK)
        status = emit_deconv(build, &d, src, packed);
    ln_free(packed);
    return status;
}

const ln_layout_op ln_layout_deconvs[] = {
    {"ConvTranspose", fits_deconv, rewrite_deconv},
    {"deconv2d", fits_deconv, rewrite_deconv},
    {NULL, NULL, NULL},
};
