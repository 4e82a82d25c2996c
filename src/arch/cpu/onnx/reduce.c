// SPDX-License-Identifier: Apache-2.0
// From ONNX's reductions to the kernels' arguments.

#include "op/onnx/reduce.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/reduce/reduce.h"
#include "arch/cpu/onnx/pool_of.h"

// The data as [outer, count, inner], where the reduced axes are neighbours. Axes of one element are
// either, as it fits.
static ln_status lines_of(ln_call *call, ln_lines *out_lines)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool is_reduced[TL_MAXDIM], is_known;
    LN_TRY(ln_reduced_axes(call, is_reduced, &is_known));
    if (!is_known)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for known axes here");
    *out_lines = (ln_lines){1, 1, 1};
    for (int d = 0; d < data->ndim; d++) {
        size_t dim = (size_t)data->dims[d];
        if (dim == 1)
            continue;
        if (is_reduced[d] && out_lines->inner > 1) {
            if (out_lines->count > 1)
                return ln_call_fail(call, LN_UNSUPPORTED, "is for neighbouring axes here");
            out_lines->outer *= out_lines->inner;
            out_lines->inner = 1;
        }
        *(is_reduced[d] ? &out_lines->count : &out_lines->inner) *= dim;
    }
    if (out_lines->count == 1) { // nothing behind it is reduced: what is left are rows of one
        out_lines->outer *= out_lines->inner;
        out_lines->inner = 1;
    }
    return LN_OK;
}

ln_status ln_cpu_accepts_onnx_reduce(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    ln_lines lines;
    if (data->dtype != TL_FLOAT)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    if (data->len == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for some elements here");
    return lines_of(call, &lines);
}

static ln_status reduce(ln_call *call, ln_reduce op)
{
    ln_lines lines;
    LN_TRY(lines_of(call, &lines));
    ln_reduce_f32_args args = {.op = op,
                               .outer = lines.outer,
                               .n = lines.count,
                               .inner = lines.inner,
                               .x = ln_call_in(call, 0)->data,
                               .y = ln_call_dst(call, 0)->data};
    ln_reduce_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_onnx_reduce_sum(ln_call *call)
{
    return reduce(call, LN_REDUCE_SUM);
}

ln_status ln_cpu_onnx_reduce_mean(ln_call *call)
{
    return reduce(call, LN_REDUCE_MEAN);
}

ln_status ln_cpu_onnx_reduce_max(ln_call *call)
{
    return reduce(call, LN_REDUCE_MAX);
}

ln_status ln_cpu_onnx_reduce_min(ln_call *call)
{
    return reduce(call, LN_REDUCE_MIN);
}

ln_status ln_cpu_onnx_reduce_sum_square(ln_call *call)
{
    return reduce(call, LN_REDUCE_SQUARES);
}

ln_status ln_cpu_onnx_reduce_l1(ln_call *call)
{
    return reduce(call, LN_REDUCE_ABS);
}

ln_status ln_cpu_onnx_reduce_l2(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    LN_TRY(reduce(call, LN_REDUCE_SQUARES));
    return ln_cpu_act(ln_cpu_call_pool(call), dst, dst, LN_ACT_SQRT, 0, 0);
}
