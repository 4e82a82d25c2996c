// SPDX-License-Identifier: Apache-2.0
// From ONNX's elementwise operators, BatchNormalization and Softmax to the kernels' arguments.

#include "arch/cpu/functions.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arch/cpu/elementwise.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/softmax/softmax.h"
#include "arch/cpu/onnx/pool_of.h"
static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// ---- One input ----

typedef void function_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

static ln_status run_function(ln_call *call, function_f32 *function)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    function(ln_cpu_isa_get(), (size_t)dst->len, floats(ln_call_in(call, 0)), dst->data,
             ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_onnx_log(ln_call *call)
{
    return run_function(call, ln_log_f32);
}

ln_status ln_cpu_onnx_sin(ln_call *call)
{
    return run_function(call, ln_sin_f32);
}

ln_status ln_cpu_onnx_cos(ln_call *call)
{
    return run_function(call, ln_cos_f32);
}

ln_status ln_cpu_onnx_reciprocal(ln_call *call)
{
    float one = 1;
    const tl_tensor numerator = {.dtype = TL_FLOAT, .len = 1, .ndim = 0, .data = &one};
    return ln_cpu_elew(ln_cpu_call_pool(call), &numerator, ln_call_in(call, 0),
                       ln_call_dst(call, 0), TL_DIV, LN_ACT_NONE, 0, 0);
}

static double bound_of(const ln_call *call, int index, const char *param, double otherwise)
{
    const tl_tensor *bound = ln_call_in(call, index);
    if (bound)
        return (double)*floats(bound);
    return ln_call_has(call, param) ? ln_call_float(call, param) : otherwise;
}

ln_status ln_cpu_onnx_clip(ln_call *call)
{
    double least = bound_of(call, 1, "min", -INFINITY), most = bound_of(call, 2, "max", INFINITY);
    return ln_cpu_act(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_dst(call, 0),
                      LN_ACT_CLIP, (float)least, (float)most);
}

// ---- Two inputs ----

// Before version 7 the second input is laid out by attributes.
ln_status ln_cpu_accepts_onnx_binary(ln_call *call)
{
    if (ln_call_since(call) < 7)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for its first versions here");
    return ln_cpu_accepts_floats(call);
}

ln_status ln_cpu_onnx_div(ln_call *call)
{
    return ln_cpu_elew(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1),
                       ln_call_dst(call, 0), TL_DIV, LN_ACT_NONE, 0, 0);
}

// ---- BatchNormalization ----

ln_status ln_cpu_accepts_onnx_batch_normalization(ln_call *call)
{
    LN_TRY(ln_cpu_accepts_floats(call));
    if (ln_call_since(call) < 7 || ln_call_int(call, "training_mode") != 0 ||
        ln_call_out_count(call) > 1)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for known means and variances here");
    if (ln_call_int(call, "spatial") == 0 || ln_call_in(call, 0)->ndim < 2)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for channels here");
    return LN_OK;
}

ln_status ln_cpu_onnx_batch_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    size_t inner = 1;
    for (int d = 2; d < src->ndim; d++)
        inner *= (size_t)src->dims[d];
    ln_batchnorm_f32_args args = {.batch = (size_t)src->dims[0],
                                  .channels = (size_t)src->dims[1],
                                  .inner = inner,
                                  .x = floats(src),
                                  .scale = floats(ln_call_in(call, 1)),
                                  .offset = floats(ln_call_in(call, 2)),
                                  .mean = floats(ln_call_in(call, 3)),
                                  .var = floats(ln_call_in(call, 4)),
                                  .epsilon = (float)ln_call_float(call, "epsilon"),
                                  .y = ln_call_dst(call, 0)->data};
    if (src->len > 0)
        ln_batchnorm_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- LayerNormalization and those without a mean ----

static bool has_line_length(const tl_tensor *t, int64_t length)
{
    return !t || (t->ndim > 0 && t->len == length && t->dims[t->ndim - 1] == length);
}

ln_status ln_cpu_accepts_onnx_layer_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis;
    LN_TRY(ln_cpu_accepts_floats(call));
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    if (axis != src->ndim - 1 || ln_call_out_count(call) > 1 ||
        !has_line_length(ln_call_in(call, 1), src->dims[axis]) ||
        !has_line_length(ln_call_in(call, 2), src->dims[axis]))
        return ln_call_fail(call, LN_UNSUPPORTED, "is for the last axis alone here");
    return LN_OK;
}

ln_status ln_cpu_onnx_layer_normalization(ln_call *call)
{
    return ln_cpu_layernorm(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1),
                            ln_call_in(call, 2), ln_call_dst(call, 0),
                            (float)ln_call_float(call, "epsilon"), LN_TRUE);
}

ln_status ln_cpu_onnx_rms_normalization(ln_call *call)
{
    return ln_cpu_layernorm(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1), NULL,
                            ln_call_dst(call, 0), (float)ln_call_float(call, "epsilon"), LN_FALSE);
}

// ---- Softmax ----

// Up to version 11 all axes from `axis` on are one line.
ln_status ln_cpu_onnx_softmax(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_flat = ln_call_since(call) < 13;
    int64_t axis = ln_call_has(call, "axis") ? ln_call_int(call, "axis") : is_flat ? 1 : -1;
    if (axis < 0)
        axis += src->ndim;
    ln_softmax_f32_args args = {
        .outer = 1, .n = 1, .inner = 1, .x = floats(src), .y = ln_call_dst(call, 0)->data};
    for (int d = 0; d < src->ndim; d++) {
        size_t size = (size_t)src->dims[d];
        if (d < axis)
            args.outer *= size;
        else if (d == axis || is_flat)
            args.n *= size;
        else
            args.inner *= size;
    }
    if (src->len > 0)
        ln_softmax_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}
