// SPDX-License-Identifier: Apache-2.0
// Layout of rectifiers with slopes: slopes of channels become a row, all others are computed
// element by element.

#include "arch/cpu/layout.h"

// One slope for each channel, or one for all of them.
static bool has_channel_slopes(const ln_layout_build *build)
{
    const tl_tensor *src = ln_layout_tensor(build, "src")->tensor;
    const tl_tensor *slope = ln_layout_tensor(build, "slope")->tensor;
    int at = slope->ndim - src->ndim + 1; // the place of the channels
    return slope->len == 1 ||
           (slope->len == src->dims[1] && at >= 0 && slope->dims[at] == slope->len);
}

// The slope of all channels in each of them.
static const char *spread_slope(ln_layout_build *build, const char *slope, int channels)
{
    const double zero = 0;
    ln_list *params = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    params = ln_param_list_append_array_int(params, "dims", 1, &channels);
    params = ln_param_list_append_array_double(params, "data", 1, &zero);
    const char *zeros =
        ln_layout_emit_step(build, "create", "zeros", NULL, params, ln_list_length(params) == 3);
    if (!zeros)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src1", zeros);
    ins = ln_tensor_list_append(ins, "src2", slope);
    params = ln_param_list_append_string(NULL, "elew_op", "TL_SUM");
    return ln_layout_emit_step(build, "elew", "slopes", ins, params,
                               ln_list_length(ins) == 2 && params);
}

// The slopes as a row.
static const char *slope_row(ln_layout_build *build)
{
    int channels = ln_layout_tensor(build, "src")->tensor->dims[1];
    const char *slope = ln_layout_input(build, "slope");
    ln_list *ins = ln_tensor_list_append(NULL, "src", slope);
    int count = ln_layout_tensor(build, "slope")->tensor->len;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 1, &count);
    const char *row = ln_layout_emit_step(build, "reshape", "slope", ins, params, ins && params);
    return !row || count == channels ? row : spread_slope(build, row, channels);
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
    return ln_layout_emit_nhwc(build, "prelu_nhwc_cpu", "dst", ins, NULL, ln_list_length(ins) == 2);
}

const ln_layout_op ln_layout_prelus[] = {
    {"prelu", ln_layout_fits_elementwise, rewrite_prelu},
    {NULL, NULL, NULL},
};
