// SPDX-License-Identifier: Apache-2.0
// From ONNX's elementwise operators, BatchNormalization and Softmax to the kernels' arguments.

#include "arch/cpu/onnx/elementwise.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

ln_status ln_cpu_onnx_erf(ln_call *call)
{
    return unary(call, LN_UNARY_ERF, 0);
}

ln_status ln_cpu_accepts_onnx_gelu(ln_call *call)
{
    const char *approximate = ln_call_string(call, "approximate");
    if (approximate && strcmp(approximate, "none") != 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is without approximation here");
    return check_floats(call);
}

ln_status ln_cpu_onnx_gelu(ln_call *call)
{
    return unary(call, LN_UNARY_GELU, 0);
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

// In blocks that stay in the nearest cache. Of a bound that is NaN the plain loop makes what it
// should.
#define CLIP_BLOCK 4096
void ln_cpu_clip_f32(size_t n, const float *x, float least, float most, float *y)
{
    ln_cpu_isa isa = ln_cpu_isa_get();
    if (isnan(least) || isnan(most)) {
        for (size_t i = 0; i < n; i++)
            y[i] = clipped(x[i], least, most);
        return;
    }
    for (size_t i = 0; i < n; i += CLIP_BLOCK) {
        size_t count = n - i < CLIP_BLOCK ? n - i : CLIP_BLOCK;
        ln_binary_f32(isa, LN_BINARY_MAX, count, &least, 0, x + i, 1, y + i);
        ln_binary_f32(isa, LN_BINARY_MIN, count, &most, 0, y + i, 1, y + i);
    }
}

ln_status ln_cpu_onnx_clip(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const float *x = floats(ln_call_in(call, 0));
    float least = bound_of(call, 1, "min", -INFINITY), most = bound_of(call, 2, "max", INFINITY);
    ln_cpu_clip_f32((size_t)dst->len, x, least, most, dst->data);
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

// ---- LayerNormalization ----

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

// Eight sums at once: they do not wait for each other.
#define SUMS 8
static double sum_of(const float *x, size_t n, double mean, bool is_squared)
{
    double sums[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS) {
        for (size_t j = 0; j < SUMS; j++) {
            double value = (double)x[i + j] - mean;
            sums[j] += is_squared ? value * value : value;
        }
    }
    for (; i < n; i++) {
        double value = (double)x[i] - mean;
        sums[0] += is_squared ? value * value : value;
    }
    for (size_t j = 1; j < SUMS; j++)
        sums[0] += sums[j];
    return sums[0];
}

ln_status ln_cpu_onnx_layer_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    size_t n = (size_t)src->dims[src->ndim - 1];
    const float *x = floats(src), *scale = floats(ln_call_in(call, 1));
    const float *bias = floats(ln_call_in(call, 2));
    float *y = ln_call_dst(call, 0)->data;
    double epsilon = ln_call_float(call, "epsilon");
    for (size_t i = 0; i < (size_t)src->len; i += n, x += n, y += n) {
        double mean = sum_of(x, n, 0, false) / (double)n;
        double variance = sum_of(x, n, mean, true) / (double)n;
        double factor = 1 / sqrt(variance + epsilon);
        for (size_t j = 0; j < n; j++) {
            double value = ((double)x[j] - mean) * factor * (double)scale[j];
            y[j] = (float)(bias ? value + (double)bias[j] : value);
        }
    }
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
