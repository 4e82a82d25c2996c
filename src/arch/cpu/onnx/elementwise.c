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
#include "arch/cpu/onnx/typed.h"

static ln_status check_floats(ln_call *call)
{
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    return LN_OK;
}

static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// ---- One input ----

ln_status ln_cpu_accepts_onnx_unary(ln_call *call)
{
    return check_floats(call);
}

static ln_status act(ln_call *call, ln_act act, double alpha, double beta)
{
    return ln_cpu_act(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_dst(call, 0), act,
                      (float)alpha, (float)beta);
}

ln_status ln_cpu_onnx_relu(ln_call *call)
{
    return act(call, LN_ACT_RELU, 0, 0);
}

ln_status ln_cpu_onnx_leaky_relu(ln_call *call)
{
    return act(call, LN_ACT_LRELU, ln_call_float(call, "alpha"), 0);
}

ln_status ln_cpu_onnx_sigmoid(ln_call *call)
{
    return act(call, LN_ACT_SIGMOID, 0, 0);
}

ln_status ln_cpu_onnx_tanh(ln_call *call)
{
    return act(call, LN_ACT_TANH, 0, 0);
}

ln_status ln_cpu_onnx_elu(ln_call *call)
{
    return act(call, LN_ACT_ELU, ln_call_float(call, "alpha"), 0);
}

ln_status ln_cpu_onnx_softplus(ln_call *call)
{
    return act(call, LN_ACT_SOFTPLUS, 0, 0);
}

ln_status ln_cpu_onnx_mish(ln_call *call)
{
    return act(call, LN_ACT_MISH, 0, 0);
}

ln_status ln_cpu_onnx_exp(ln_call *call)
{
    return act(call, LN_ACT_EXP, 0, 0);
}

ln_status ln_cpu_onnx_erf(ln_call *call)
{
    return act(call, LN_ACT_ERF, 0, 0);
}

ln_status ln_cpu_onnx_sqrt(ln_call *call)
{
    return act(call, LN_ACT_SQRT, 0, 0);
}

ln_status ln_cpu_onnx_abs(ln_call *call)
{
    return act(call, LN_ACT_ABS, 0, 0);
}

ln_status ln_cpu_onnx_neg(ln_call *call)
{
    return act(call, LN_ACT_NEG, 0, 0);
}

ln_status ln_cpu_onnx_hard_sigmoid(ln_call *call)
{
    return act(call, LN_ACT_HARD_SIGMOID, ln_call_float(call, "alpha"),
               ln_call_float(call, "beta"));
}

ln_status ln_cpu_onnx_hard_swish(ln_call *call)
{
    return act(call, LN_ACT_HARD_SWISH, 1.0 / 6, 0.5);
}

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

ln_status ln_cpu_onnx_gelu(ln_call *call)
{
    const char *approximate = ln_call_string(call, "approximate");
    bool is_tanh = approximate && strcmp(approximate, "tanh") == 0;
    return act(call, is_tanh ? LN_ACT_GELU_TANH : LN_ACT_GELU, 0, 0);
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
    return act(call, LN_ACT_CLIP, least, most);
}

// ---- Two inputs ----

// Before version 7 the second input is laid out by attributes.
ln_status ln_cpu_accepts_onnx_binary(ln_call *call)
{
    if (ln_call_since(call) < 7)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for its first versions here");
    return check_floats(call);
}

static ln_status binary(ln_call *call, tl_elew_op op)
{
    return ln_cpu_elew(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1),
                       ln_call_dst(call, 0), op, LN_ACT_NONE, 0, 0);
}

ln_status ln_cpu_onnx_add(ln_call *call)
{
    return binary(call, TL_SUM);
}

ln_status ln_cpu_onnx_sub(ln_call *call)
{
    return binary(call, TL_SUB);
}

ln_status ln_cpu_onnx_mul(ln_call *call)
{
    return binary(call, TL_MUL);
}

ln_status ln_cpu_onnx_div(ln_call *call)
{
    return binary(call, TL_DIV);
}

ln_status ln_cpu_onnx_sum(ln_call *call)
{
    return ln_call_in_count(call) == 2 ? binary(call, TL_SUM) : ln_cpu_onnx_sum_of_any(call);
}

ln_status ln_cpu_onnx_max(ln_call *call)
{
    return ln_call_in_count(call) == 2 ? binary(call, TL_MAX) : ln_cpu_onnx_max_of_any(call);
}

ln_status ln_cpu_onnx_min(ln_call *call)
{
    return ln_call_in_count(call) == 2 ? binary(call, TL_MIN) : ln_cpu_onnx_min_of_any(call);
}

// ---- BatchNormalization ----

ln_status ln_cpu_accepts_onnx_batch_normalization(ln_call *call)
{
    LN_TRY(check_floats(call));
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
    LN_TRY(check_floats(call));
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
