// SPDX-License-Identifier: Apache-2.0
// com.microsoft's operators on quantized tensors: each element becomes a real number, is computed
// with, and is quantized again.

#include "op/onnx/quant_elementwise.h"
#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/quant_round.h"
#include "base/deadline.h"

// A tensor's scale and zero point as numbers.
typedef struct operand {
    const tl_tensor *values;
    double scale, zero;
} operand;

static ln_status read_operand(ln_call *call, int values, int scale, int zero_point, operand *out)
{
    ln_quant_tensor t;
    LN_TRY(ln_quant_tensor_read(call, values, scale, zero_point, &t));
    *out = (operand){.values = t.values,
                     .scale = ln_elem_real(t.scale, 0),
                     .zero = t.zero_point ? ln_elem_real(t.zero_point, 0) : 0};
    return LN_OK;
}

// What an element stands for. Here and in `put` each step is rounded to float, as by whoever has
// made the models, since ties are frequent.
static double real_at(const operand *o, int64_t i)
{
    return (double)(float)(o->scale * (ln_elem_real(o->values, (size_t)i) - o->zero));
}

static void put(tl_tensor *dst, const operand *out, int64_t i, double x)
{
    float quotient = (float)x / (float)out->scale;
    ln_put_quantized(dst->data, dst->dtype, (size_t)i, (double)quotient, out->zero);
}

// ---- Broadcasting ----

enum { MOST_SOURCES = 3 };

// Positions in up to three tensors while the output is walked in order.
typedef struct walk {
    const tl_tensor *dst;
    int64_t steps[MOST_SOURCES][TL_MAXDIM];
    int64_t at[MOST_SOURCES];
    int coords[TL_MAXDIM];
    int count;
} walk;

static void walk_start(walk *w, const tl_tensor *dst, int count, const tl_tensor *const *sources)
{
    *w = (walk){.dst = dst, .count = count};
    for (int s = 0; s < count; s++)
        ln_broadcast_strides(sources[s], dst->ndim, w->steps[s]);
}

static void walk_next(walk *w)
{
    for (int d = w->dst->ndim - 1; d >= 0; d--) {
        bool is_end = ++w->coords[d] == w->dst->dims[d];
        for (int s = 0; s < w->count; s++)
            w->at[s] += is_end ? -w->steps[s][d] * (w->dst->dims[d] - 1) : w->steps[s][d];
        if (!is_end)
            return;
        w->coords[d] = 0;
    }
}

// The sum in float with the scales divided first, as the models' makers have rounded it.
ln_status ln_ref_onnx_qlinear_add(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    operand a, b, c;
    walk w;
    LN_TRY(read_operand(call, 0, 1, 2, &a));
    LN_TRY(read_operand(call, 3, 4, 5, &b));
    LN_TRY(read_operand(call, -1, 6, 7, &c));
    float a_factor = (float)a.scale / (float)c.scale, b_factor = (float)b.scale / (float)c.scale;
    float start = (float)c.zero - (a_factor * (float)a.zero + b_factor * (float)b.zero);
    walk_start(&w, dst, 2, (const tl_tensor *const[]){a.values, b.values});
    for (int64_t i = 0; i < dst->len; i++, walk_next(&w)) {
        float x = (float)ln_elem_real(a.values, (size_t)w.at[0]);
        float y = (float)ln_elem_real(b.values, (size_t)w.at[1]);
        float sum = start + x * a_factor + y * b_factor;
        ln_put_quantized(dst->data, dst->dtype, (size_t)i, (double)sum, 0);
    }
    return LN_OK;
}

// The product of integers, scaled by one float.
ln_status ln_ref_onnx_qlinear_mul(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    operand a, b, c;
    walk w;
    LN_TRY(read_operand(call, 0, 1, 2, &a));
    LN_TRY(read_operand(call, 3, 4, 5, &b));
    LN_TRY(read_operand(call, -1, 6, 7, &c));
    float factor = (float)a.scale * (float)b.scale / (float)c.scale;
    walk_start(&w, dst, 2, (const tl_tensor *const[]){a.values, b.values});
    for (int64_t i = 0; i < dst->len; i++, walk_next(&w)) {
        double x = ln_elem_real(a.values, (size_t)w.at[0]) - a.zero;
        double y = ln_elem_real(b.values, (size_t)w.at[1]) - b.zero;
        ln_put_quantized(dst->data, dst->dtype, (size_t)i, (double)((float)(x * y) * factor),
                         c.zero);
    }
    return LN_OK;
}

ln_status ln_ref_onnx_qlinear_where(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const tl_tensor *condition = ln_call_in(call, 0);
    operand x, y, z;
    walk w;
    LN_TRY(read_operand(call, 1, 2, 3, &x));
    LN_TRY(read_operand(call, 4, 5, 6, &y));
    LN_TRY(read_operand(call, -1, 7, 8, &z));
    walk_start(&w, dst, 3, (const tl_tensor *const[]){condition, x.values, y.values});
    for (int64_t i = 0; i < dst->len; i++, walk_next(&w)) {
        bool is_x = ln_elem_int(condition, (size_t)w.at[0]) != 0;
        put(dst, &z, i, is_x ? real_at(&x, w.at[1]) : real_at(&y, w.at[2]));
    }
    return LN_OK;
}

// ---- One tensor ----

static double sigmoid(double x, double unused)
{
    (void)unused;
    return 1 / (1 + exp(-x));
}

static double leaky_relu(double x, double alpha)
{
    return x < 0 ? alpha * x : x;
}

static ln_status map(ln_call *call, double (*function)(double x, double alpha), double alpha)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    operand x, y;
    LN_TRY(read_operand(call, 0, 1, 2, &x));
    LN_TRY(read_operand(call, -1, 3, 4, &y));
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++)
        put(dst, &y, i, function(real_at(&x, i), alpha));
    return LN_OK;
}

ln_status ln_ref_onnx_qlinear_sigmoid(ln_call *call)
{
    return map(call, sigmoid, 0);
}

ln_status ln_ref_onnx_qlinear_leaky_relu(ln_call *call)
{
    return map(call, leaky_relu, ln_call_float(call, "alpha"));
}

// One row of `count` elements that are `step` apart.
static void softmax_row(tl_tensor *dst, const operand *x, const operand *y, int64_t first,
                        int64_t count, int64_t step)
{
    double most = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, real_at(x, first + i * step));
    for (int64_t i = 0; i < count; i++)
        sum += exp(real_at(x, first + i * step) - most);
    for (int64_t i = 0; i < count; i++)
        put(dst, y, first + i * step, exp(real_at(x, first + i * step) - most) / sum);
}

ln_status ln_ref_onnx_qlinear_softmax(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    operand x, y;
    int axis = 0;
    LN_TRY(read_operand(call, 0, 1, 2, &x));
    LN_TRY(read_operand(call, -1, 3, 4, &y));
    if (dst->ndim > 0)
        LN_TRY(ln_call_axis(call, "axis", dst->ndim, &axis));
    if (dst->len == 0)
        return LN_OK;
    bool is_flat = ln_call_int(call, "opset") < 13;
    int64_t count = 1, inner = 1;
    for (int d = axis; d < dst->ndim; d++)
        *(d == axis || is_flat ? &count : &inner) *= dst->dims[d];
    for (int64_t outer = 0; outer < dst->len / (count * inner); outer++)
        for (int64_t i = 0; i < inner; i++)
            softmax_row(dst, &x, &y, outer * count * inner + i, count, inner);
    return LN_OK;
}

// ---- Concat ----

ln_status ln_ref_onnx_qlinear_concat(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    operand out, in;
    int axis;
    LN_TRY(read_operand(call, -1, 0, 1, &out));
    LN_TRY(ln_call_axis(call, "axis", dst->ndim, &axis));
    int64_t row = 1, to = 0; // elements of the output from one index before the axis to the next
    for (int d = axis; d < dst->ndim; d++)
        row *= dst->dims[d];
    if (dst->len == 0)
        return LN_OK;
    for (int k = 2; k < ln_call_in_count(call); k += 3) {
        LN_TRY(read_operand(call, k, k + 1, k + 2, &in));
        int64_t part = in.values->len / (dst->len / row);
        for (int64_t i = 0; i < in.values->len; i++)
            put(dst, &out, i / part * row + to + i % part, real_at(&in, i));
        to += part;
    }
    return LN_OK;
}
