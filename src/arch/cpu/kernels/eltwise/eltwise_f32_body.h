// SPDX-License-Identifier: Apache-2.0
// The element-wise loops, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/simd/unroll.h"

// ---- Activations ----

VF_VERB void act_f32_vectors(const ln_act act, const int count, vf alpha, vf beta, const float *x,
                             float *y)
{
    vf v[VF_ABREAST_MAX];
    LN_UNROLL
    for (int i = 0; i < count; i++)
        v[i] = vf_load(x + i * VF_LANES);
    vf_act_each(act, alpha, beta, v, count);
    LN_UNROLL
    for (int i = 0; i < count; i++)
        vf_store(y + i * VF_LANES, v[i]);
}

// The loop; `act` is a constant where it is inlined. It goes twice, for whole vectors and for the
// rest that was put into one, so that the code is there once.
VF_VERB void act_f32_loop(const ln_act act, float alpha, float beta, size_t n, const float *x,
                          float *y)
{
    const vf a = vf_set1(alpha), b = vf_set1(beta);
    const size_t abreast = (size_t)vf_act_abreast(act), few = abreast > 2 ? 2 : 1;
    const size_t rest = n % VF_LANES, whole = n - rest;
    float last[VF_LANES];
    if (rest > 0)
        vf_store(last, vf_load_n(x + whole, rest));
    const float *from = x;
    float *to = y;
    for (size_t len = whole;; len = VF_LANES) {
        size_t i = 0;
        for (; i + abreast * VF_LANES <= len; i += abreast * VF_LANES)
            act_f32_vectors(act, (int)abreast, a, b, from + i, to + i);
        for (; few > 1 && i + few * VF_LANES <= len; i += few * VF_LANES)
            act_f32_vectors(act, (int)few, a, b, from + i, to + i);
        for (; abreast > 1 && i < len; i += VF_LANES)
            act_f32_vectors(act, 1, a, b, from + i, to + i);
        if (rest == 0 || to == last)
            break;
        from = to = last;
    }
    if (rest > 0)
        vf_store_n(y + whole, vf_load(last), rest);
}

void VF_KERNEL(ln_k_act_f32)(const ln_act_f32_args *act, size_t n, const float *x, float *y)
{
#define ACT_CASE(constant, name, doc)                                                              \
    case LN_ACT_##constant: act_f32_loop(LN_ACT_##constant, act->alpha, act->beta, n, x, y); break;

    switch (act->act) {
        LN_ACT_LIST(ACT_CASE)
    case LN_ACT_COUNT: break;
    }
#undef ACT_CASE
}

// Adding 2^23 leaves no bits for a fraction, and rounds ties to even. From there on, and where x is
// NaN, it stays.
VF_VERB vf vf_round(vf x)
{
    const vf whole = vf_set1(0x1p23f), magnitude = vf_abs(x);
    vf rounded = vf_copysign(vf_sub(vf_add(magnitude, whole), whole), x);
    return vf_if_ge(magnitude, whole, x, rounded);
}

VF_VERB vf vf_floor(vf x)
{
    vf rounded = vf_round(x);
    return vf_if_ge(x, rounded, rounded, vf_sub(rounded, vf_set1(1.0f)));
}

VF_VERB vf vf_ceil(vf x)
{
    return vf_neg(vf_floor(vf_neg(x)));
}

// Adding 0 makes -0 one of 0.
VF_VERB vf vf_sign(vf x)
{
    return vf_if_ge(vf_abs(x), vf_set1(0x1p-149f), vf_copysign(vf_set1(1.0f), x),
                    vf_add(x, vf_set1(0.0f)));
}

// The function stands once in each loop, also for the last elements, because it is long.
#define UNARY_LOOP(vector, function)                                                               \
    for (size_t i = 0; i < n; i += VF_LANES) {                                                     \
        const bool is_whole = n - i >= VF_LANES;                                                   \
        vf vector = is_whole ? vf_load(x + i) : vf_load_n(x + i, n - i);                           \
        vector = function;                                                                         \
        if (is_whole)                                                                              \
            vf_store(y + i, vector);                                                               \
        else                                                                                       \
            vf_store_n(y + i, vector, n - i);                                                      \
    }

static void unary_f32(ln_unary op, size_t n, const float *x, float *y)
{
    const vf quarters = vf_set1(op == LN_UNARY_COS ? 1.0f : 0.0f);
    switch (op) {
    case LN_UNARY_LOG: UNARY_LOOP(v, vf_log(v)) break;
    case LN_UNARY_SIN:
    case LN_UNARY_COS: UNARY_LOOP(v, vf_sin_quarters(v, quarters)) break;
    case LN_UNARY_FLOOR: UNARY_LOOP(v, vf_floor(v)) break;
    case LN_UNARY_CEIL: UNARY_LOOP(v, vf_ceil(v)) break;
    case LN_UNARY_ROUND: UNARY_LOOP(v, vf_round(v)) break;
    case LN_UNARY_SIGN: UNARY_LOOP(v, vf_sign(v)) break;
    }
}

// ---- Two operands ----

VF_VERB vf binary_value(const ln_binary op, vf x1, vf x2)
{
    switch (op) {
    case LN_BINARY_SUM: return vf_add(x1, x2);
    case LN_BINARY_SUB: return vf_sub(x1, x2);
    case LN_BINARY_MUL: return vf_mul(x1, x2);
    case LN_BINARY_DIV: return vf_div(x1, x2);
    case LN_BINARY_MAX: return vf_max_nan(x1, x2);
    case LN_BINARY_MIN: return vf_min_nan(x1, x2);
    case LN_BINARY_PRELU: return vf_if_ge(x1, vf_set1(0.0f), x1, vf_mul(x1, x2));
    case LN_BINARY_COUNT: break;
    }
    return x1;
}

// The function is long, so it stands once.
static void power_f32(size_t n, const ln_rows_f32 *x, const ln_rows_f32 *y, float *z)
{
    for (size_t i = 0; i < n; i += VF_LANES) {
        const size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        vf base = x->step ? vf_load_n(x->p + i, lanes) : vf_set1(*x->p);
        vf exponent = y->step ? vf_load_n(y->p + i, lanes) : vf_set1(*y->p);
        vf_store_n(z + i, vf_power(base, exponent), lanes);
    }
}

// The least value that comes out: -inf, which changes nothing, without relu.
VF_VERB vf lower_bound(int is_relu)
{
    return vf_set1(is_relu ? 0.0f : -__builtin_inff());
}

VF_VERB vf operand(const float *x, const size_t step, size_t i)
{
    return step == 0 ? vf_set1(*x) : vf_load(x + i);
}

VF_VERB vf operand_n(const float *x, const size_t step, size_t i, size_t lanes)
{
    return step == 0 ? vf_set1(*x) : vf_load_n(x + i, lanes);
}

// `op` and the steps are constants where it is inlined.
VF_VERB void binary_rows(const ln_binary op, vf low, size_t rows, size_t n, const ln_rows_f32 *x1,
                         const size_t x1_step, const ln_rows_f32 *x2, const size_t x2_step,
                         float *y, size_t y_row)
{
    for (size_t r = 0; r < rows; r++, y += y_row) {
        const float *a = x1->p + r * x1->row, *b = x2->p + r * x2->row;
        size_t i = 0;
        for (; i + VF_LANES <= n; i += VF_LANES)
            vf_store(y + i,
                     vf_max(low, binary_value(op, operand(a, x1_step, i), operand(b, x2_step, i))));
        if (i < n)
            vf_store_n(y + i,
                       vf_max(low, binary_value(op, operand_n(a, x1_step, i, n - i),
                                                operand_n(b, x2_step, i, n - i))),
                       n - i);
    }
}

VF_VERB void binary_steps(const ln_binary op, vf low, size_t rows, size_t n, const ln_rows_f32 *x1,
                          const ln_rows_f32 *x2, float *y, size_t y_row)
{
    if (x1->step == 0)
        binary_rows(op, low, rows, n, x1, 0, x2, 1, y, y_row);
    else if (x2->step == 0)
        binary_rows(op, low, rows, n, x1, 1, x2, 0, y, y_row);
    else
        binary_rows(op, low, rows, n, x1, 1, x2, 1, y, y_row);
}

static void binary_f32(ln_binary op, int is_relu, size_t rows, size_t n, const ln_rows_f32 *x1,
                       const ln_rows_f32 *x2, float *y, size_t y_row)
{
#define BINARY_CASE(name)                                                                          \
    case LN_BINARY_##name:                                                                         \
        binary_steps(LN_BINARY_##name, lower_bound(is_relu), rows, n, x1, x2, y, y_row);           \
        break;

    switch (op) {
        LN_BINARY_LIST(BINARY_CASE)
    case LN_BINARY_COUNT: break;
    }
#undef BINARY_CASE
}

// ---- Scale and offset ----

// `n` of the channels; all but the last ones are whole vectors.
VF_VERB vf scale_shift_load(const float *p, size_t n)
{
    return n == VF_LANES ? vf_load(p) : vf_load_n(p, n);
}

VF_VERB vf scale_shift_value(const int is_relu, const int is_centered, size_t n, size_t i,
                             const float *x, const float *mean, const float *lost,
                             const float *scale, const float *offset)
{
    vf v = scale_shift_load(x + i, n);
    if (is_centered)
        v = vf_sub(vf_sub(v, scale_shift_load(mean + i, n)), scale_shift_load(lost + i, n));
    v = vf_fma(v, scale_shift_load(scale + i, n), scale_shift_load(offset + i, n));
    return is_relu ? vf_max(vf_set1(0.0f), v) : v;
}

VF_VERB void scale_shift_rows(const int is_relu, const int is_centered, size_t rows, size_t n,
                              const float *x, size_t x_row, const float *mean, const float *lost,
                              const float *scale, const float *offset, float *y, size_t y_row)
{
    for (size_t r = 0; r < rows; r++, x += x_row, y += y_row) {
        size_t i = 0;
        for (; i + VF_LANES <= n; i += VF_LANES)
            vf_store(y + i, scale_shift_value(is_relu, is_centered, VF_LANES, i, x, mean, lost,
                                              scale, offset));
        if (i < n)
            vf_store_n(
                y + i,
                scale_shift_value(is_relu, is_centered, n - i, i, x, mean, lost, scale, offset),
                n - i);
    }
}

static void scale_shift_f32(int is_relu, size_t rows, size_t n, const float *x, size_t x_row,
                            const float *mean, const float *lost, const float *scale,
                            const float *offset, float *y, size_t y_row)
{
    if (mean && is_relu)
        scale_shift_rows(1, 1, rows, n, x, x_row, mean, lost, scale, offset, y, y_row);
    else if (mean)
        scale_shift_rows(0, 1, rows, n, x, x_row, mean, lost, scale, offset, y, y_row);
    else if (is_relu)
        scale_shift_rows(1, 0, rows, n, x, x_row, NULL, NULL, scale, offset, y, y_row);
    else
        scale_shift_rows(0, 0, rows, n, x, x_row, NULL, NULL, scale, offset, y, y_row);
}

VF_VERB vf affine_value(vf x, vf mean, vf factor, vf offset)
{
    return vf_fma(vf_sub(x, mean), factor, offset);
}

static void affine_f32(size_t n, const float *x, float mean, float factor, float offset, float *y)
{
    vf m = vf_set1(mean), f = vf_set1(factor), o = vf_set1(offset);
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, affine_value(vf_load(x + i), m, f, o));
    if (i < n)
        vf_store_n(y + i, affine_value(vf_load_n(x + i, n - i), m, f, o), n - i);
}

const ln_eltwise_f32_kernels VF_KERNEL(ln_k_eltwise_f32) = {
    .act = VF_KERNEL(ln_k_act_f32),
    .unary = unary_f32,
    .power = power_f32,
    .binary = binary_f32,
    .scale_shift = scale_shift_f32,
    .affine = affine_f32,
};

#endif
