// SPDX-License-Identifier: Apache-2.0
// Layout of transposed convolutions.

#include "arch/cpu/layout_conv.h"

#include <lightnet/allocator.h>

static bool read_deconv(const ln_layout_build *build, ln_layout_conv *d)
{
    return ln_layout_is_float_image(build, ln_layout_input(build, "src")) &&
           ln_layout_is_float_image(build, ln_layout_first_out(build)) &&
           ln_layout_read_conv(build, 2, d) && ln_layout_is_image(ln_layout_find(build, d->weight));
}

static bool fits_deconv(const ln_layout_build *build)
{
    ln_layout_conv d;
    return read_deconv(build, &d);
}

// What packing and computing have in common.
static ln_layout_params shared_params(const ln_layout_conv *d)
{
    ln_layout_params p = {0};
    ln_layout_add_int(&p, "group", d->group, 1);
    ln_layout_add_ints(&p, "stride", 2, d->stride, 1);
    ln_layout_add_ints(&p, "dilation", 2, d->dilation, 1);
    return p;
}

static ln_status emit_pack(ln_layout_build *build, const ln_layout_conv *d, const char *packed)
{
    const char *weight = ln_layout_lifted(build, d->weight);
    if (!weight)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "weight", weight);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", packed);
    ln_layout_params said = shared_params(d);
    return ln_layout_emit(build, "deconv2d_pack_cpu", "pack", ins, outs, said.list,
                          ins && outs && ln_layout_are_complete(&said));
}

static ln_status emit_deconv(ln_layout_build *build, const ln_layout_conv *d, const char *src,
                             const char *packed)
{
    const ln_layout_dims out = ln_layout_dims_of(build, ln_layout_first_out(build));
    ln_layout_params said = shared_params(d);
    ln_layout_add_int(&said, "channels", out.d[1], 0);
    ln_layout_add_ints(&said, "size", 2, d->size, 0);
    ln_layout_add_ints(&said, "padding", 2, d->padding, 0);
    ln_layout_add_ints(&said, "out", 2, out.d + 2, 0);
    ln_layout_add_conv_act(&said, d);
    bool is_complete;
    ln_list *ins = ln_layout_conv_ins(d, src, packed, NULL, &is_complete);
    return ln_layout_emit_nhwc(build, "deconv2d_nhwc_cpu", "dst", ins, said.list,
                               is_complete && ln_layout_are_complete(&said));
}

static ln_status rewrite_deconv(ln_layout_build *build)
{
    ln_layout_conv d;
    if (!read_deconv(build, &d))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const char *src = ln_layout_nhwc(build, d.src);
    char *packed = ln_layout_new_name(build, ln_layout_first_out(build), "packed");
    ln_status status = src && packed ? emit_pack(build, &d, packed) : ln_error_status();
    if (status == LN_OK)
        status = emit_deconv(build, &d, src, packed);
    ln_free(packed);
    return status;
}

const ln_layout_op ln_layout_deconvs[] = {
    {"deconv", fits_deconv, rewrite_deconv},
    {NULL, NULL, NULL},
};
