// SPDX-License-Identifier: Apache-2.0
// The element-wise loops, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/mathf.h"

VF_VERB vf unary_value(const ln_unary op, vf x, vf arg)
{
    switch (op) {
    case LN_UNARY_RELU: return vf_max(vf_set1(0.0f), x);
    case LN_UNARY_LRELU: return vf_if_ge(x, vf_set1(0.0f), x, vf_mul(x, arg));
    case LN_UNARY_SIGMOID: return vf_sigmoid(x);
    case LN_UNARY_EXP: return vf_exp(x);
    case LN_UNARY_ERF: return vf_erf(x);
    case LN_UNARY_GELU: return vf_gelu(x);
    case LN_UNARY_COUNT: break;
    }
    return x;
}

VF_VERB vf binary_value(const ln_binary op, vf x1, vf x2)
{
    switch (op) {
    case LN_BINARY_SUM: return vf_add(x1, x2);
    case LN_BINARY_SUB: return vf_sub(x1, x2);
    case LN_BINARY_MUL: return vf_mul(x1, x2);
    case LN_BINARY_DIV: return vf_div(x1, x2);
    case LN_BINARY_MAX: return vf_max_nan(x1, x2);
    case LN_BINARY_MIN: return vf_min_nan(x1, x2);
    case LN_BINARY_COUNT: break;
    }
    return x1;
}

// The loops; `op` is a constant where they are inlined.
VF_VERB void unary_f32_loop(const ln_unary op, size_t n, const float *x, float arg, float *y)
{
    vf arg_v = vf_set1(arg);
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, unary_value(op, vf_load(x + i), arg_v));
    if (i < n)
        vf_store_n(y + i, unary_value(op, vf_load_n(x + i, n - i), arg_v), n - i);
}

VF_VERB vf operand(const float *x, const size_t step, size_t i, size_t lanes)
{
    return step == 0 ? vf_set1(*x) : lanes == VF_LANES ? vf_load(x + i) : vf_load_n(x + i, lanes);
}

// The steps are constants as well.
VF_VERB void binary_f32_loop(const ln_binary op, size_t n, const float *x1, const size_t x1_step,
                             const float *x2, const size_t x2_step, float *y)
{
    size_t i = 0;
    if (n == 0)
        return; // there may be no element that stands for all
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, binary_value(op, operand(x1, x1_step, i, VF_LANES),
                                     operand(x2, x2_step, i, VF_LANES)));
    if (i < n) {
        vf v = binary_value(op, operand(x1, x1_step, i, n - i), operand(x2, x2_step, i, n - i));
        vf_store_n(y + i, v, n - i);
    }
}

VF_VERB void unary_f32(ln_unary op, size_t n, const float *x, float arg, float *y)
{
#define UNARY_CASE(name)                                                                           \
    case LN_UNARY_##name: unary_f32_loop(LN_UNARY_##name, n, x, arg, y); break;

    switch (op) {
        LN_UNARY_LIST(UNARY_CASE)
    case LN_UNARY_COUNT: break;
    }
#undef UNARY_CASE
}

VF_VERB void binary_f32(ln_binary op, size_t n, const float *x1, size_t x1_step, const float *x2,
                        size_t x2_step, float *y)
{
#define BINARY_CASE(name)                                                                          \
    case LN_BINARY_##name:                                                                         \
        if (x1_step == 0)                                                                          \
            binary_f32_loop(LN_BINARY_##name, n, x1, 0, x2, 1, y);                                 \
        else if (x2_step == 0)                                                                     \
            binary_f32_loop(LN_BINARY_##name, n, x1, 1, x2, 0, y);                                 \
        else                                                                                       \
            binary_f32_loop(LN_BINARY_##name, n, x1, 1, x2, 1, y);                                 \
        break;

    switch (op) {
        LN_BINARY_LIST(BINARY_CASE)
    case LN_BINARY_COUNT: break;
    }
#undef BINARY_CASE
}

VF_VERB vf affine_value(vf x, vf mean, vf factor, vf offset)
{
    return vf_fma(vf_sub(x, mean), factor, offset);
}

VF_VERB void affine_f32(size_t n, const float *x, float mean, float factor, float offset, float *y)
{
    vf m = vf_set1(mean), f = vf_set1(factor), o = vf_set1(offset);
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, affine_value(vf_load(x + i), m, f, o));
    if (i < n)
        vf_store_n(y + i, affine_value(vf_load_n(x + i, n - i), m, f, o), n - i);
}

#endif
