// SPDX-License-Identifier: Apache-2.0
// Activations in double.

#include "arch/ref/act.h"

#include <math.h>

#include "arch/ref/element.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// Bounds that equal the number leave it, so that zeros keep their signs, as in the kernels of
// `cpu`.
static double clip(double x, double low, double high)
{
    x = low > x ? low : x;
    return high < x ? high : x;
}

// exp never sees a positive number, so nothing overflows and small results keep their digits.
static double logistic(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

// An activation without a case does not compile, in any build.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
double ln_ref_act(ln_act act, double alpha, double beta, double x)
{
    const double root_2_over_pi = 0.79788456080286535588, root_half = 0.70710678118654752440;
    switch (act) {
    case LN_ACT_NONE: return x;
    case LN_ACT_RELU: return 0 > x ? 0 : x;
    case LN_ACT_CLIP: return clip(x, alpha, beta);
    case LN_ACT_LRELU: return x >= 0 ? x : alpha * x;
    case LN_ACT_SIGMOID: return logistic(x);
    case LN_ACT_TANH: return tanh(x);
    case LN_ACT_SILU: return x / (1 + exp(-x));
    case LN_ACT_HARD_SIGMOID: return clip(alpha * x + beta, 0, 1);
    case LN_ACT_HARD_SWISH: return x * clip(alpha * x + beta, 0, 1);
    case LN_ACT_GELU: return x / 2 * erfc(-x * root_half);
    case LN_ACT_GELU_TANH: return x / 2 * (1 + tanh(root_2_over_pi * (x + 0.044715 * x * x * x)));
    case LN_ACT_ELU: return x >= 0 ? x : alpha * expm1(x);
    case LN_ACT_SOFTPLUS: return softplus(x);
    case LN_ACT_MISH: return x * tanh(softplus(x));
    case LN_ACT_EXP: return exp(x);
    case LN_ACT_ERF: return erf(x);
    case LN_ACT_SQRT: return sqrt(x);
    case LN_ACT_ABS: return fabs(x);
    case LN_ACT_NEG: return -x;
    case LN_ACT_AFFINE: return alpha * x + beta;
    case LN_ACT_SCALED_TANH: return alpha * tanh(beta * x);
    case LN_ACT_SOFTSIGN: return isinf(x) ? copysign(1, x) : x / (1 + fabs(x));
    case LN_ACT_THRESHOLDED_RELU: return alpha >= x ? 0 : x;
    case LN_ACT_SWISH: return x * logistic(alpha * x);
    case LN_ACT_SELU: return beta * (x >= 0 ? x : alpha * expm1(x));
    case LN_ACT_COUNT: break;
    }
    return x;
}
#pragma GCC diagnostic pop

// The largest number that rounds to a zero of the type.
static double rounds_to_zero(tl_dtype dtype)
{
    return dtype == TL_FLOAT      ? 0x1p-150
           : dtype == TL_FLOAT16  ? 0x1p-25
           : dtype == TL_BFLOAT16 ? 0x1p-134
                                  : 0;
}

// A negative number that rounds to a zero has made that -0 for an activation of its own: a ReLU,
// which is exact, leaves it.
void ln_ref_act_values(ln_act act, double alpha, double beta, tl_dtype dtype, int64_t count,
                       double *values)
{
    const double least = -rounds_to_zero(dtype);
    for (int64_t i = 0; act != LN_ACT_NONE && i < count; i++)
        values[i] =
            ln_ref_act(act, alpha, beta, values[i] < 0 && values[i] >= least ? -0.0 : values[i]);
}

// Of integers: what has a meaning in them wraps, the others are computed in double and go toward
// zero.
static void act_whole(const tl_tensor *src, tl_tensor *dst, size_t i, ln_act act, double alpha,
                      double beta)
{
    int64_t x = ln_elem_int(src, i);
    bool is_negative = ln_number_kind_of(src->dtype) == LN_NUMBER_WHOLE && x < 0;
    uint64_t wrapped = (uint64_t)x;
    switch (act) {
    case LN_ACT_NONE: ln_elem_set_int(dst, i, x); return;
    case LN_ACT_RELU: ln_elem_set_int(dst, i, is_negative ? 0 : x); return;
    case LN_ACT_LRELU:
        ln_elem_set_int(dst, i,
                        is_negative ? (int64_t)(wrapped * (uint64_t)ln_call_to_int(alpha)) : x);
        return;
    case LN_ACT_ABS: ln_elem_set_int(dst, i, is_negative ? (int64_t)(0 - wrapped) : x); return;
    case LN_ACT_NEG: ln_elem_set_int(dst, i, (int64_t)(0 - wrapped)); return;
    default: break;
    }
    double value = ln_ref_act(act, alpha, beta, ln_elem_real(src, i));
    if (TL_DTYPE_IS_NATIVE(dst->dtype))
        ln_ref_store_double(dst->data, i, dst->dtype, value);
    else
        ln_elem_set_real(dst, i, trunc(value));
}

void ln_ref_act_tensor(const tl_tensor *src, tl_tensor *dst, ln_act act, double alpha, double beta)
{
    const float *x = src->data;
    float *y = dst->data;
    bool is_real = ln_number_kind_of(src->dtype) == LN_NUMBER_REAL;
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        if (src->dtype == TL_FLOAT)
            y[i] = (float)ln_ref_act(act, alpha, beta, (double)x[i]);
        else if (is_real)
            ln_elem_set_real(dst, i, ln_ref_act(act, alpha, beta, ln_elem_real(src, i)));
        else
            act_whole(src, dst, i, act, alpha, beta);
    }
}

ln_status ln_ref_act_of(ln_call *call)
{
    ln_act_of of;
    LN_TRY(ln_act_read(call, &of));
    ln_ref_act_tensor(ln_call_in(call, 0), ln_call_dst(call, 0), of.act, (double)of.alpha,
                      (double)of.beta);
    return LN_OK;
}

ln_status ln_ref_scale_shift(ln_call *call)
{
    ln_act_of of;
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1),
                    *offset = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t first = (size_t)ln_call_int(call, "src_first"), channels = (size_t)scale->len;
    size_t row = (size_t)src->dims[src->ndim - 1];
    LN_TRY(ln_act_read(call, &of));
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        size_t c = i % channels;
        double value = ln_elem_real(src, i / channels * row + first + c) * ln_elem_real(scale, c) +
                       ln_elem_real(offset, c);
        ln_ref_act_values(of.act, (double)of.alpha, (double)of.beta, dst->dtype, 1, &value);
        ln_elem_set_real(dst, i, value);
    }
    return LN_OK;
}
