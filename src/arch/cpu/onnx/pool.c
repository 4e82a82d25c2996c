// SPDX-License-Identifier: Apache-2.0
// From ONNX's poolings to the kernels' arguments. One axis is a row of two, and a whole image of
// any rank one row.

#include "arch/cpu/onnx/pool.h"

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/pool/pool.h"
#include "op/onnx/pool.h"

static ln_status unsupported(ln_call *call, const char *reason)
{
    return ln_call_fail(call, LN_UNSUPPORTED, "is not for %s here", reason);
}

static ln_pool2d_shape shape_of(const tl_tensor *src, const ln_window *window)
{
    const ln_window_axis single = {.in = 1, .out = 1, .size = 1, .stride = 1};
    const ln_window_axis *y = window->axis_count == 2 ? &window->axis[0] : &single;
    const ln_window_axis *x = &window->axis[window->axis_count - 1];
    return (ln_pool2d_shape){.planes = (size_t)src->dims[0] * (size_t)src->dims[1],
                             .in_h = (size_t)y->in,
                             .in_w = (size_t)x->in,
                             .out_h = (size_t)y->out,
                             .out_w = (size_t)x->out,
                             .kernel_h = (size_t)y->size,
                             .kernel_w = (size_t)x->size,
                             .stride_h = (size_t)y->stride,
                             .stride_w = (size_t)x->stride,
                             .pad_top = (size_t)y->pad_begin,
                             .pad_left = (size_t)x->pad_begin};
}

static ln_status accepts(ln_call *call, ln_window *window)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(ln_window_read(call, src, NULL, window));
    if (src->dtype != TL_FLOAT)
        return unsupported(call, "other types than TL_FLOAT");
    if (window->axis_count > 2)
        return unsupported(call, "more than two axes");
    for (int i = 0; i < window->axis_count; i++) {
        if (window->axis[i].dilation != 1)
            return unsupported(call, "dilations");
    }
    ln_pool2d_shape shape = shape_of(src, window);
    if (ln_pool2d_check(&shape) != LN_OK)
        return unsupported(call, "a shape like this");
    return LN_OK;
}

ln_status ln_cpu_accepts_onnx_max_pool(ln_call *call)
{
    ln_window window;
    if (ln_call_wants(call, 1))
        return unsupported(call, "indices");
    return accepts(call, &window);
}

ln_status ln_cpu_accepts_onnx_average_pool(ln_call *call)
{
    ln_window window;
    LN_TRY(accepts(call, &window));
    if (ln_call_int(call, "count_include_pad") == 0)
        return LN_OK;
    for (int i = 0; i < window.axis_count; i++) {
        if (window.axis[i].pad_begin > 0 || window.axis[i].pad_end > 0)
            return unsupported(call, "padding that counts");
    }
    return LN_OK;
}

ln_status ln_cpu_accepts_onnx_global_pool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->dtype != TL_FLOAT)
        return unsupported(call, "other types than TL_FLOAT");
    return src->len > 0 ? LN_OK : unsupported(call, "empty images");
}

static ln_status run(ln_call *call, ln_pool2d_kind kind, const ln_pool2d_shape *shape)
{
    ln_pool2d_f32_args args = {.kind = kind,
                               .shape = *shape,
                               .x = ln_call_in(call, 0)->data,
                               .y = ln_call_dst(call, 0)->data};
    float *workspace = ln_call_scratch(call, ln_pool2d_f32_workspace(shape), 1);
    if (!workspace)
        return ln_error_status();
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    return LN_OK;
}

static ln_status run_windows(ln_call *call, ln_pool2d_kind kind)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read(call, src, NULL, &window));
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    ln_pool2d_shape shape = shape_of(src, &window);
    return run(call, kind, &shape);
}

ln_status ln_cpu_onnx_max_pool(ln_call *call)
{
    return run_windows(call, LN_POOL_MAX);
}

ln_status ln_cpu_onnx_average_pool(ln_call *call)
{
    return run_windows(call, LN_POOL_AVERAGE);
}

// The rows of an image stay rows, if it has any, so that columns are summed side by side.
static ln_status run_images(ln_call *call, ln_pool2d_kind kind)
{
    const tl_tensor *src = ln_call_in(call, 0);
    size_t planes = (size_t)src->dims[0] * (size_t)src->dims[1];
    size_t width = (size_t)src->dims[src->ndim - 1];
    size_t height = (size_t)src->len / (planes * width);
    ln_pool2d_shape shape = {.planes = planes,
                             .in_h = height,
                             .in_w = width,
                             .out_h = 1,
                             .out_w = 1,
                             .kernel_h = height,
                             .kernel_w = width,
                             .stride_h = 1,
                             .stride_w = 1};
    return run(call, kind, &shape);
}

ln_status ln_cpu_onnx_global_max_pool(ln_call *call)
{
    return run_images(call, LN_POOL_MAX);
}

ln_status ln_cpu_onnx_global_average_pool(ln_call *call)
{
    return run_images(call, LN_POOL_AVERAGE);
}
