// SPDX-License-Identifier: Apache-2.0
// Layout of PReLU: slopes of channels become a row; with all others it is computed element by
// element.

#include "arch/cpu/layout.h"

// One slope for each channel, or one for all of them.
static bool has_channel_slopes(const ln_layout_build *build)
{
    const tl_tensor *src = ln_layout_tensor(build, "src")->tensor;
    const tl_tensor *slope = ln_layout_tensor(build, "slope")->tensor;
    int at = slope->ndim - src->ndim + 1; // the axis of the channels
    return slope->len == 1 ||
           (slope->len == src->dims[1] && at >= 0 && slope->dims[at] == slope->len);
}

// The slopes as a row, which is broadcast along the last axis.
static const char *slope_row(ln_layout_build *build)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", ln_layout_input(build, "slope"));
    int count = ln_layout_tensor(build, "slope")->tensor->len;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 1, &count);
    return ln_layout_emit_step(build, "reshape", "slope", ins, params, ins && params);
}

static ln_status rewrite_prelu(ln_layout_build *build)
{
    if (!has_channel_slopes(build))
        return ln_layout_rewrite_elementwise(build);
    const char *slope = slope_row(build);
    const char *src = slope ? ln_layout_nhwc(build, ln_layout_input(build, "src")) : NULL;
    if (!src)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "slope", slope);
    return ln_layout_emit_nhwc(build, "prelu", "dst", ins, NULL, ln_list_length(ins) == 2);
}

const ln_layout_op ln_layout_prelus[] = {
    {"prelu", ln_layout_fits_elementwise, rewrite_prelu},
    {NULL, NULL, NULL},
};
