// SPDX-License-Identifier: Apache-2.0
// From ONNX's poolings to the kernels' arguments. One axis is a row of two, and a whole image of
// any rank one row. Of three axes the last two are pooled, then the first.

#include "arch/cpu/kernels/pool/pool.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/onnx/workspace.h"
#include "op/functions.h"
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

// Pooling of volumes in two steps, of which the second may have nothing to do.
typedef struct volume_steps {
    ln_pool2d_shape planes; // of all volumes
    ln_pool2d_shape depths; // what the first step makes, a pixel of all planes in a column
    bool has_depths;
} volume_steps;

static volume_steps steps_of(const tl_tensor *src, const ln_window *window)
{
    const ln_window_axis *z = &window->axis[0];
    const ln_window plane = {.axis_count = 2, .axis = {window->axis[1], window->axis[2]}};
    volume_steps steps = {.planes = shape_of(src, &plane)};
    size_t volumes = steps.planes.planes, row = steps.planes.out_h * steps.planes.out_w;
    steps.planes.planes *= (size_t)z->in;
    steps.depths = (ln_pool2d_shape){.planes = volumes,
                                     .in_h = (size_t)z->in,
                                     .in_w = row,
                                     .out_h = (size_t)z->out,
                                     .out_w = row,
                                     .kernel_h = (size_t)z->size,
                                     .kernel_w = 1,
                                     .stride_h = (size_t)z->stride,
                                     .stride_w = 1,
                                     .pad_top = (size_t)z->pad_begin};
    steps.has_depths = z->size != 1 || z->stride != 1 || z->pad_begin != 0 || z->out != z->in;
    return steps;
}

static size_t between_bytes(const volume_steps *steps)
{
    const ln_pool2d_shape *s = &steps->planes;
    return steps->has_depths ? s->planes * s->out_h * s->out_w * sizeof(float) : 0;
}

// What the steps need, behind what is between them.
static size_t volume_workspace(const volume_steps *steps)
{
    size_t planes = ln_pool2d_f32_workspace(&steps->planes);
    size_t depths = steps->has_depths ? ln_pool2d_f32_workspace(&steps->depths) : 0;
    return between_bytes(steps) + (planes > depths ? planes : depths);
}

static bool is_volume_taken(const volume_steps *steps)
{
    return ln_pool2d_check(&steps->planes) == LN_OK &&
           (!steps->has_depths || ln_pool2d_check(&steps->depths) == LN_OK);
}

static ln_status accepts(ln_call *call, ln_window *window)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(ln_window_read(call, src, NULL, window));
    if (src->dtype != TL_FLOAT)
        return unsupported(call, "other types than float32");
    if (window->axis_count > 3)
        return unsupported(call, "more than three axes");
    for (int i = 0; i < window->axis_count; i++) {
        if (window->axis[i].dilation != 1)
            return unsupported(call, "dilations");
    }
    if (window->axis_count == 3) {
        volume_steps steps = steps_of(src, window);
        return is_volume_taken(&steps) ? LN_OK : unsupported(call, "a shape like this");
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
    if (window.axis_count == 3 && steps_of(ln_call_in(call, 0), &window).has_depths)
        return unsupported(call, "three axes"); // a mean of means is another one
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
        return unsupported(call, "other types than float32");
    return src->len > 0 ? LN_OK : unsupported(call, "empty images");
}

// ---- Workspace ----

// The output behind those of ONNX.
#define WORKSPACE_OF_MAX_POOL 2
#define WORKSPACE             1

// Of what the kernels do not take, a workspace of nothing.
static ln_status infer_workspace(ln_call *call, int index, const ln_pool2d_shape *shape)
{
    bool is_taken = ln_call_in(call, 0)->dtype == TL_FLOAT && ln_pool2d_check(shape) == LN_OK;
    return ln_cpu_call_infer_workspace(call, index, is_taken ? ln_pool2d_f32_workspace(shape) : 0);
}

static ln_status infer_windows(ln_call *call, int index)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read(call, src, NULL, &window));
    ln_pool2d_shape shape = {0};
    if (window.axis_count == 3 && src->dtype == TL_FLOAT) {
        volume_steps steps = steps_of(src, &window);
        return ln_cpu_call_infer_workspace(call, index,
                                           is_volume_taken(&steps) ? volume_workspace(&steps) : 0);
    }
    if (window.axis_count <= 2)
        shape = shape_of(src, &window);
    return infer_workspace(call, index, &shape);
}

ln_status ln_cpu_infer_onnx_max_pool(ln_call *call)
{
    LN_TRY(ln_infer_max_pool(call));
    return infer_windows(call, WORKSPACE_OF_MAX_POOL);
}

ln_status ln_cpu_infer_onnx_average_pool(ln_call *call)
{
    LN_TRY(ln_infer_pool(call));
    return infer_windows(call, WORKSPACE);
}

// The rows of an image stay rows, if it has any, so that columns are summed side by side.
static ln_pool2d_shape shape_of_images(const tl_tensor *src)
{
    size_t planes = (size_t)src->dims[0] * (size_t)src->dims[1];
    size_t width = (size_t)src->dims[src->ndim - 1];
    size_t height = src->len > 0 ? (size_t)src->len / (planes * width) : 0;
    return (ln_pool2d_shape){.planes = planes,
                             .in_h = height,
                             .in_w = width,
                             .out_h = 1,
                             .out_w = 1,
                             .kernel_h = height,
                             .kernel_w = width,
                             .stride_h = 1,
                             .stride_w = 1};
}

ln_status ln_cpu_infer_onnx_global_pool(ln_call *call)
{
    LN_TRY(ln_infer_global_pool(call));
    ln_pool2d_shape shape = shape_of_images(ln_call_in(call, 0));
    return infer_workspace(call, WORKSPACE, &shape);
}

// ---- Running ----

static ln_status run(ln_call *call, ln_pool2d_kind kind, int index, const ln_pool2d_shape *shape)
{
    ln_pool2d_f32_args args = {.kind = kind,
                               .shape = *shape,
                               .x = ln_call_in(call, 0)->data,
                               .y = ln_call_dst(call, 0)->data};
    float *workspace = ln_cpu_call_workspace(call, index, ln_pool2d_f32_workspace(shape));
    if (!workspace)
        return ln_error_status();
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    return LN_OK;
}

static ln_status run_volumes(ln_call *call, ln_pool2d_kind kind, int index,
                             const volume_steps *steps)
{
    float *between = ln_cpu_call_workspace(call, index, volume_workspace(steps));
    if (!between)
        return ln_error_status();
    float *workspace = between + between_bytes(steps) / sizeof(float);
    float *dst = ln_call_dst(call, 0)->data;
    ln_pool2d_f32_args args = {.kind = kind,
                               .shape = steps->planes,
                               .x = ln_call_in(call, 0)->data,
                               .y = steps->has_depths ? between : dst};
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    if (!steps->has_depths)
        return LN_OK;
    args = (ln_pool2d_f32_args){.kind = kind, .shape = steps->depths, .x = between, .y = dst};
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    return LN_OK;
}

static ln_status run_windows(ln_call *call, ln_pool2d_kind kind, int index)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_window window;
    LN_TRY(ln_window_read(call, src, NULL, &window));
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    if (window.axis_count == 3) {
        volume_steps steps = steps_of(src, &window);
        return run_volumes(call, kind, index, &steps);
    }
    ln_pool2d_shape shape = shape_of(src, &window);
    return run(call, kind, index, &shape);
}

ln_status ln_cpu_onnx_max_pool(ln_call *call)
{
    return run_windows(call, LN_POOL_MAX, WORKSPACE_OF_MAX_POOL);
}

ln_status ln_cpu_onnx_average_pool(ln_call *call)
{
    return run_windows(call, LN_POOL_AVERAGE, WORKSPACE);
}

static ln_status run_images(ln_call *call, ln_pool2d_kind kind)
{
    ln_pool2d_shape shape = shape_of_images(ln_call_in(call, 0));
    return run(call, kind, WORKSPACE, &shape);
}

ln_status ln_cpu_onnx_global_max_pool(ln_call *call)
{
    return run_images(call, LN_POOL_MAX);
}

ln_status ln_cpu_onnx_global_average_pool(ln_call *call)
{
    return run_images(call, LN_POOL_AVERAGE);
}
