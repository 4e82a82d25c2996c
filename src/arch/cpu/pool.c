// SPDX-License-Identifier: Apache-2.0
// From poolings to the kernels' arguments. One axis is a row of two, and of a whole image of any
// rank the last axis is one, all others the other. Of three axes the last two are pooled, then the
// first.

#include "arch/cpu/kernels/pool/pool.h"
#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "base/minmax.h"
#include "op/functions.h"
#include "op/pool.h"

#define WORKSPACE 1 // the output after dst

static ln_pool2d_shape shape_of(const tl_tensor *src, const ln_window *window)
{
    const ln_window_axis *y = ln_window_axis_from_last(window, 1);
    const ln_window_axis *x = ln_window_axis_from_last(window, 0);
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

// What the steps need, after what is between them.
static size_t volume_workspace(const volume_steps *steps)
{
    size_t planes = ln_pool2d_f32_workspace(&steps->planes);
    size_t depths = steps->has_depths ? ln_pool2d_f32_workspace(&steps->depths) : 0;
    return between_bytes(steps) + ln_max(planes, depths);
}

static bool is_volume_taken(const volume_steps *steps)
{
    return ln_pool2d_check(&steps->planes) == LN_OK &&
           (!steps->has_depths || ln_pool2d_check(&steps->depths) == LN_OK);
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

// ---- What is pooled how ----

typedef struct problem {
    ln_pool2d_kind kind;
    bool is_volume;
    ln_pool2d_shape shape;
    volume_steps steps; // of a volume
} problem;

// Each says why the kernels do not take it; NULL: they do.
static const char *window_refusal(const ln_pooling *pooling)
{
    bool counts = pooling->kind == LN_POOL_OF_MEAN && pooling->counts_padding;
    if (pooling->window.axis_count > 3 && !ln_pooling_is_global(pooling))
        return "more than three axes";
    for (int i = 0; i < pooling->window.axis_count; i++) {
        const ln_window_axis *axis = &pooling->window.axis[i];
        if (axis->dilation != 1)
            return "dilations";
        if (counts && (axis->pad_begin > 0 || axis->pad_end > 0))
            return "padding that counts";
    }
    return NULL;
}

static const char *volume_refusal(const tl_tensor *src, const ln_pooling *pooling, problem *p)
{
    p->is_volume = true;
    p->steps = steps_of(src, &pooling->window);
    if (pooling->kind == LN_POOL_OF_MEAN && p->steps.has_depths)
        return "three axes"; // a mean of means is another one
    return is_volume_taken(&p->steps) ? NULL : "a shape like this";
}

static const char *read_problem(ln_call *call, problem *p)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_pooling pooling;
    if (src->dtype != TL_FLOAT)
        return "other types than float32";
    if (ln_pooling_read(call, src, &pooling) != LN_OK)
        return "such windows";
    if (pooling.kind == LN_POOL_OF_NORM)
        return "norms";
    *p = (problem){.kind = pooling.kind == LN_POOL_OF_MAX ? LN_POOL_MAX : LN_POOL_AVERAGE};
    const char *refusal = window_refusal(&pooling);
    if (refusal)
        return refusal;
    bool is_global = ln_pooling_is_global(&pooling);
    if (pooling.window.axis_count == 3 && !is_global)
        return volume_refusal(src, &pooling, p);
    p->shape = is_global ? shape_of_images(src) : shape_of(src, &pooling.window);
    return ln_pool2d_check(&p->shape) == LN_OK ? NULL : "a shape like this";
}

ln_status ln_cpu_accepts_pool(ln_call *call)
{
    problem p;
    const char *refusal = read_problem(call, &p);
    return refusal ? ln_call_fail(call, LN_UNSUPPORTED, "is not for %s here", refusal) : LN_OK;
}

static size_t workspace_of(const problem *p)
{
    return p->is_volume ? volume_workspace(&p->steps) : ln_pool2d_f32_workspace(&p->shape);
}

ln_status ln_cpu_infer_pool(ln_call *call)
{
    problem p;
    LN_TRY(ln_infer_pool(call));
    bool is_taken = !read_problem(call, &p);
    return ln_cpu_call_infer_workspace(call, WORKSPACE, is_taken ? workspace_of(&p) : 0);
}

// ---- Running ----

static void run_volumes(const problem *p, const float *src, float *dst, float *between)
{
    float *workspace = between + between_bytes(&p->steps) / sizeof(float);
    ln_pool2d_f32_args args = {.kind = p->kind,
                               .shape = p->steps.planes,
                               .x = src,
                               .y = p->steps.has_depths ? between : dst};
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    if (!p->steps.has_depths)
        return;
    args = (ln_pool2d_f32_args){.kind = p->kind, .shape = p->steps.depths, .x = between, .y = dst};
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
}

ln_status ln_cpu_prepare_pool(ln_call *call)
{
    problem *p = ln_call_keep(call, 1, sizeof *p);
    if (p)
        (void)read_problem(call, p); // `accepts` has asked
    return p ? LN_OK : ln_error_status();
}

ln_status ln_cpu_pool2d(ln_call *call)
{
    const float *src = ln_call_in(call, 0)->data;
    tl_tensor *dst = ln_call_dst(call, 0);
    const problem *p = ln_call_prepared(call);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, WORKSPACE, workspace_of(p));
    if (!workspace)
        return ln_error_status();
    if (p->is_volume) {
        run_volumes(p, src, dst->data, workspace);
        return LN_OK;
    }
    ln_pool2d_f32_args args = {.kind = p->kind, .shape = p->shape, .x = src, .y = dst->data};
    ln_pool2d_f32(ln_cpu_isa_get(), &args, workspace);
    return LN_OK;
}
