// SPDX-License-Identifier: Apache-2.0
// From ONNX's elementwise operators, BatchNormalization and Softmax to the kernels' arguments.

#include "arch/cpu/onnx/elementwise.h"

#include <math.h>
#include <stdbool.h>

#include "arch/cpu/cpu_ops.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/softmax/softmax.h"

static ln_status check_floats(ln_call *call)
{
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for TL_FLOAT here");
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

static ln_status unary(ln_call *call, ln_unary op, double arg)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_unary_f32(ln_cpu_isa_get(), op, (size_t)dst->len, floats(ln_call_in(call, 0)), (float)arg,
                 dst->data);
    return LN_OK;
}

ln_status ln_cpu_onnx_relu(ln_call *call)
{
    return unary(call, LN_UNARY_RELU, 0);
}

ln_status ln_cpu_onnx_leaky_relu(ln_call *call)
{
    return unary(call, LN_UNARY_LRELU, ln_call_float(call, "alpha"));
}

ln_status ln_cpu_onnx_sigmoid(ln_call *call)
{
    return unary(call, LN_UNARY_SIGMOID, 0);
}

ln_status ln_cpu_onnx_exp(ln_call *call)
{
    return unary(call, LN_UNARY_EXP, 0);
}

static float bound_of(const ln_call *call, int index, const char *param, float otherwise)
{
    const tl_tensor *bound = ln_call_in(call, index);
    if (bound)
        return *floats(bound);
    return ln_call_has(call, param) ? (float)ln_call_float(call, param) : otherwise;
}

// NaN stays, and an upper bound below the lower one wins.
static float clipped(float x, float least, float most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

ln_status ln_cpu_onnx_clip(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const float *x = floats(ln_call_in(call, 0));
    float *y = dst->data;
    float least = bound_of(call, 1, "min", -INFINITY), most = bound_of(call, 2, "max", INFINITY);
    for (int i = 0; i < dst->len; i++)
        y[i] = clipped(x[i], least, most);
    return LN_OK;
}

ln_status ln_cpu_onnx_hard_sigmoid(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const float *x = floats(ln_call_in(call, 0));
    float *y = dst->data;
    float alpha = (float)ln_call_float(call, "alpha"), beta = (float)ln_call_float(call, "beta");
    for (int i = 0; i < dst->len; i++)
        y[i] = clipped(alpha * x[i] + beta, 0, 1);
    return LN_OK;
}

ln_status ln_cpu_onnx_hard_swish(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const float *x = floats(ln_call_in(call, 0));
    float *y = dst->data;
    for (int i = 0; i < dst->len; i++)
        y[i] = x[i] * clipped(x[i] / 6 + 0.5f, 0, 1);
    return LN_OK;
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
    return ln_cpu_elew(ln_call_in(call, 0), ln_call_in(call, 1), ln_call_dst(call, 0), op);
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
        ln_batchnorm_f32(ln_cpu_isa_get(), &args);
    return LN_OK;
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
        ln_softmax_f32(ln_cpu_isa_get(), &args);
    return LN_OK;
}
