// SPDX-License-Identifier: Apache-2.0
// Layout of convolutions of volumes, [N, C, D, H, W]: each between transposes of its own, of which
// those that meet go later.

#include "pass/layout_conv3d.h"

#include <lightnet/act.h>
#include <lightnet/allocator.h>
#include <lightnet/call.h>

#include "op/conv_nhwc.h"
#include "op/onnx/conv.h"
#include "op/onnx/conv_activation.h"

static const int to_last[] = {0, 2, 3, 4, 1}, from_last[] = {0, 4, 1, 2, 3};

// A convolution as the channels-last operator wants it.
typedef struct conv3d {
    const char *src, *weight, *bias; // names; bias NULL: none
    int group;
    int size[3], stride[3], dilation[3], padding[6];
    ln_act act;
    double alpha, beta;
} conv3d;

static bool is_volume(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return entry && !entry->is_open && !entry->known && entry->tensor &&
           entry->tensor->dtype == TL_FLOAT && entry->tensor->ndim == 5 && entry->tensor->len > 0;
}

static bool read_act(ln_call *call, conv3d *c)
{
    ln_activation activation;
    if (ln_activation_read(call, &activation) != LN_OK)
        return false;
    c->alpha = activation.alpha;
    c->beta = activation.beta;
    c->act = LN_ACT_NONE;
    if (activation.kind == LN_ACTIVATION_RELU)
        c->act = LN_ACT_RELU;
    else if (activation.kind == LN_ACTIVATION_LEAKY_RELU)
        c->act = LN_ACT_LRELU;
    return c->act != LN_ACT_NONE || activation.kind == LN_ACTIVATION_NONE;
}

static bool read_conv3d(const ln_layout_build *build, conv3d *c)
{
    ln_call *call = build->op->op_arg->priv;
    ln_conv_call found;
    *c = (conv3d){.src = ln_layout_input(build, "X"),
                  .weight = ln_layout_input(build, "W"),
                  .bias = ln_layout_input(build, "B")};
    if (!call || !is_volume(build, c->src) || !is_volume(build, ln_layout_first_out(build)) ||
        ln_tensor_list_find_name(build->op->op_arg->tensors_in, "Z") ||
        ln_conv_call_read(call, &found) != LN_OK || found.window.axis_count != 3)
        return false;
    c->group = (int)found.group;
    for (int i = 0; i < 3; i++) {
        const ln_window_axis *axis = &found.window.axis[i];
        if (axis->pad_begin < 0 || axis->pad_end < 0)
            return false;
        c->size[i] = (int)axis->size;
        c->stride[i] = (int)axis->stride;
        c->dilation[i] = (int)axis->dilation;
        c->padding[i] = (int)axis->pad_begin;
        c->padding[3 + i] = (int)axis->pad_end;
    }
    return read_act(call, c);
}

bool ln_layout_fits_conv3d(const ln_layout_build *build)
{
    conv3d c;
    return read_conv3d(build, &c);
}

// The name of a new tensor that `optype` makes; takes the lists. NULL with a recorded failure.
static const char *emit_step(ln_layout_build *build, const char *optype, const char *suffix,
                             ln_list *ins, ln_list *params, bool is_complete)
{
    char *name = ln_layout_new_name(build, ln_layout_first_out(build), suffix);
    ln_list *outs = name ? ln_tensor_list_append(NULL, "dst", name) : NULL;
    ln_status status =
        ln_layout_emit(build, optype, suffix, ins, outs, params, is_complete && outs);
    ln_free(name);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

static const char *emit_to_last(ln_layout_build *build, const char *src)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *params = ln_param_list_append_array_int(NULL, "axes", 5, to_last);
    return emit_step(build, "transpose", "ndhwc", ins, params, ins && params);
}

static const char *algorithm_of(const ln_layout_build *build, const conv3d *c)
{
    const int *w = ln_layout_find(build, c->weight)->tensor->dims;
    const int *out = ln_layout_find(build, ln_layout_first_out(build))->tensor->dims;
    const int plane[] = {w[0], w[1], w[3], w[4]};
    return ln_conv_algorithm_name(
        ln_conv_algorithm_choose(plane, c->group, out + 3, c->stride + 1, c->dilation + 1));
}

static const char *emit_pack(ln_layout_build *build, const conv3d *c, const char *algorithm)
{
    ln_list *ins = ln_tensor_list_append(NULL, "weight", c->weight);
    ln_layout_params said = {0};
    ln_layout_add_int(&said, "group", c->group, 1);
    ln_layout_add_string(&said, "algorithm", algorithm, "direct");
    return emit_step(build, "conv3d_pack", "packed", ins, said.list,
                     ins && ln_layout_are_complete(&said));
}

static const char *emit_conv(ln_layout_build *build, const conv3d *c, const char *algorithm,
                             const char *src, const char *packed)
{
    ln_layout_params said = {0};
    ln_layout_add_int(&said, "channels", ln_layout_find(build, c->weight)->tensor->dims[0], 0);
    ln_layout_add_ints(&said, "size", 3, c->size, 0);
    ln_layout_add_ints(&said, "stride", 3, c->stride, 1);
    ln_layout_add_ints(&said, "padding", 6, c->padding, 0);
    ln_layout_add_ints(&said, "dilation", 3, c->dilation, 1);
    ln_layout_add_int(&said, "group", c->group, 1);
    ln_layout_add_string(&said, "algorithm", algorithm, "direct");
    ln_layout_add_string(&said, "act", ln_act_name(c->act), "none");
    if (c->act == LN_ACT_LRELU)
        ln_layout_add_number(&said, "alpha", c->alpha);
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "packed", packed);
    if (c->bias)
        ins = ln_tensor_list_append(ins, "bias", c->bias);
    return emit_step(build, "conv3d_ndhwc", "ndhwc", ins, said.list,
                     ln_list_length(ins) == 2 + (c->bias != NULL) && ln_layout_are_complete(&said));
}

ln_status ln_layout_rewrite_conv3d(ln_layout_build *build)
{
    conv3d c;
    if (!read_conv3d(build, &c))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const char *algorithm = algorithm_of(build, &c);
    const char *src = emit_to_last(build, c.src);
    const char *packed = src ? emit_pack(build, &c, algorithm) : NULL;
    const char *made = packed ? emit_conv(build, &c, algorithm, src, packed) : NULL;
    if (!made)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", made);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", ln_layout_first_out(build));
    ln_list *params = ln_param_list_append_array_int(NULL, "axes", 5, from_last);
    return ln_layout_emit(build, "transpose", NULL, ins, outs, params, ins && outs && params);
}
