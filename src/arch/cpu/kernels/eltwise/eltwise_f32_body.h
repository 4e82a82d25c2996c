// SPDX-License-Identifier: Apache-2.0
// The element-wise loops, written once in vector verbs. A kernel file includes the verbs of its
// instruction set, then this.

#ifndef LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H
#define LN_ARCH_CPU_KERNELS_ELTWISE_F32_BODY_H

#include <stddef.h>

#include "arch/cpu/kernels/actf.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"

// ---- Activations ----

// The loop; `act` is a constant where it is inlined.
VF_VERB void act_f32_loop(const ln_act act, float alpha, float beta, size_t n, const float *x,
                          float *y)
{
    vf a = vf_set1(alpha), b = vf_set1(beta);
    const int abreast = vf_act_abreast(act);
    const size_t step = (size_t)abreast * VF_LANES;
    size_t i = 0;
    for (; abreast > 1 && i + step <= n; i += step) {
        vf v[VF_ABREAST_MAX];
        VF_EACH(j, abreast) v[j] = vf_load(x + i + (size_t)j * VF_LANES);
        vf_act_each(act, a, b, v, abreast);
        VF_EACH(j, abreast) vf_store(y + i + (size_t)j * VF_LANES, v[j]);
    }
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, vf_act(act, a, b, vf_load(x + i)));
    if (i < n)
        vf_store_n(y + i, vf_act(act, a, b, vf_load_n(x + i, n - i)), n - i);
}

VF_VERB void act_f32(const ln_act_f32_args *act, size_t n, const float *x, float *y)
{
#define ACT_CASE(constant, name, doc)                                                              \
    case LN_ACT_##constant: act_f32_loop(LN_ACT_##constant, act->alpha, act->beta, n, x, y); break;

    switch (act->act) {
        LN_ACT_LIST(ACT_CASE)
    case LN_ACT_COUNT: break;
    }
#undef ACT_CASE
}

VF_VERB void log_f32(size_t n, const float *x, float *y)
{
    size_t i = 0;
    for (; i + VF_LANES <= n; i += VF_LANES)
        vf_store(y + i, vf_log(vf_load(x + i)));
    if (i < n)
        vf_store_n(y + i, vf_log(vf_load_n(x + i, n - i)), n - i);
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

VF_VERB vf binary_act(const ln_binary op, const int is_relu, vf x1, vf x2)
{
    vf v = binary_value(op, x1, x2);
    return is_relu ? vf_max(vf_set1(0.0f), v) : v;
}

VF_VERB vf operand(const float *x, const size_t step, size_t i)
{
    return step == 0 ? vf_set1(*x) : vf_load(x + i);
}

VF_VERB vf operand_n(const float *x, const size_t step, size_t i, size_t lanes)
{
    return step == 0 ? vf_set1(*x) : vf_load_n(x + i, lanes);
}

// `op`, `is_relu` and the steps are constants where it is inlined.
VF_VERB void binary_rows(const ln_binary op, const int is_relu, size_t rows, size_t n,
                         const ln_rows_f32 *x1, const size_t x1_step, const ln_rows_f32 *x2,
                         const size_t x2_step, float *y, size_t y_row)
{
    for (size_t r = 0; r < rows; r++, y += y_row) {
        const float *a = x1->p + r * x1->row, *b = x2->p + r * x2->row;
        size_t i = 0;
        for (; i + VF_LANES <= n; i += VF_LANES)
            vf_store(y + i,
                     binary_act(op, is_relu, operand(a, x1_step, i), operand(b, x2_step, i)));
        if (i < n)
            vf_store_n(y + i,
                       binary_act(op, is_relu, operand_n(a, x1_step, i, n - i),
                                  operand_n(b, x2_step, i, n - i)),
                       n - i);
    }
}

VF_VERB void binary_steps(const ln_binary op, const int is_relu, size_t rows, size_t n,
                          const ln_rows_f32 *x1, const ln_rows_f32 *x2, float *y, size_t y_row)
{
    if (x1->step == 0)
        binary_rows(op, is_relu, rows, n, x1, 0, x2, 1, y, y_row);
    else if (x2->step == 0)
        binary_rows(op, is_relu, rows, n, x1, 1, x2, 0, y, y_row);
    else
        binary_rows(op, is_relu, rows, n, x1, 1, x2, 1, y, y_row);
}

VF_VERB void binary_f32(ln_binary op, int is_relu, size_t rows, size_t n, const ln_rows_f32 *x1,
                        const ln_rows_f32 *x2, float *y, size_t y_row)
{
#define BINARY_CASE(name)                                                                          \
    case LN_BINARY_##name:                                                                         \
        if (is_relu)                                                                               \
            binary_steps(LN_BINARY_##name, 1, rows, n, x1, x2, y, y_row);                          \
        else                                                                                       \
            binary_steps(LN_BINARY_##name, 0, rows, n, x1, x2, y, y_row);                          \
        break;

    switch (op) {
        LN_BINARY_LIST(BINARY_CASE)
    case LN_BINARY_COUNT: break;
    }
#undef BINARY_CASE
}

// ---- Scale and offset ----

VF_VERB vf scale_shift_value(const int is_relu, vf x, vf scale, vf offset)
{
    vf v = vf_fma(x, scale, offset);
    return is_relu ? vf_max(vf_set1(0.0f), v) : v;
}

VF_VERB void scale_shift_rows(const int is_relu, size_t rows, size_t n, const float *x,
                              size_t x_row, const float *scale, const float *offset, float *y,
                              size_t y_row)
{
    for (size_t r = 0; r < rows; r++, x += x_row, y += y_row) {
        size_t i = 0;
        for (; i + VF_LANES <= n; i += VF_LANES)
            vf_store(y + i, scale_shift_value(is_relu, vf_load(x + i), vf_load(scale + i),
                                              vf_load(offset + i)));
        if (i < n)
            vf_store_n(y + i,
                       scale_shift_value(is_relu, vf_load_n(x + i, n - i),
                                         vf_load_n(scale + i, n - i), vf_load_n(offset + i, n - i)),
                       n - i);
    }
}

VF_VERB void scale_shift_f32(int is_relu, size_t rows, size_t n, const float *x, size_t x_row,
                             const float *scale, const float *offset, float *y, size_t y_row)
{
    if (is_relu)
        scale_shift_rows(1, rows, n, x, x_row, scale, offset, y, y_row);
    else
        scale_shift_rows(0, rows, n, x, x_row, scale, offset, y, y_row);
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
