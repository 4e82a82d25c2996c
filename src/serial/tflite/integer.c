// SPDX-License-Identifier: Apache-2.0
// Operators on int16 as TensorFlow Lite's reference kernels compute them: exact sums and products,
// rescaled by a 32-bit multiplier and a shift. Multipliers are made in the precision in which each
// kernel makes them.

#include "serial/tflite/builder.h"

#include <math.h>
#include <string.h>

#include <lightnet/allocator.h>

// Before two numbers of 16 bits are added they are shifted left by so many.
#define ADD_LEFT 15

enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6 };

// ---- Which operators ----

static const char *zero_point(ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const int64_t zero =
        t->zeros.count > 0 ? ln_flat_number_at(op->b->file, t->zeros, 0, LN_FLAT_I64) : 0;
    return zero == 0 ? NULL : ln_tflite_scalar(op->b, t->dtype, (double)zero);
}

// Scale `i`, or the one that there is.
static float scale_of(const ln_tflite_op *op, const ln_tflite_tensor *t, size_t i)
{
    return ln_flat_float_at(op->b->file, t->scales, t->scales.count > 1 ? i : 0);
}

static bool has_zero_point(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    for (size_t i = 0; i < t->zeros.count; i++)
        if (ln_flat_number_at(op->b->file, t->zeros, i, LN_FLAT_I64) != 0)
            return true;
    return false;
}

static bool fits_zero_point(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const double zero =
        t->zeros.count > 0 ? (double)ln_flat_number_at(op->b->file, t->zeros, 0, LN_FLAT_I64) : 0;
    return zero >= tl_dtype_min_double(t->dtype) && zero <= tl_dtype_max_double(t->dtype);
}

static bool has_scales(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    for (size_t i = 0; i < t->scales.count; i++) {
        const float scale = scale_of(op, t, i);
        if (!(scale > 0) || !isfinite(scale))
            return false;
    }
    return t->scales.count > 0;
}

// TensorFlow Lite has no zero points in int16.
static bool is_int16(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return t->dtype == TL_INT16 && t->scales.count == 1 && has_scales(op, t) &&
           !has_zero_point(op, t);
}

bool ln_tflite_is_int16(ln_tflite_op *op, size_t count, int64_t activation)
{
    if (activation > ACT_RELU6 || !is_int16(op, ln_tflite_output(op, 0)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_int16(op, ln_tflite_input(op, i)))
            return false;
    return true;
}

bool ln_tflite_is_int16_product(ln_tflite_op *op, size_t x, size_t w, size_t bias,
                                int64_t activation)
{
    const ln_tflite_tensor *weights = ln_tflite_input(op, w);
    if (activation > ACT_RELU6 || !is_int16(op, ln_tflite_output(op, 0)) ||
        !is_int16(op, ln_tflite_input(op, x)) || weights->dtype != TL_INT8 ||
        !has_scales(op, weights) || has_zero_point(op, weights))
        return false;
    if (!ln_tflite_has(op, bias))
        return true;
    const tl_dtype dtype = ln_tflite_input(op, bias)->dtype;
    return dtype == TL_INT32 || dtype == TL_INT64;
}

// ---- Rescaling ----

// The bounds that a fused activation sets. TensorFlow Lite rounds them in float, ties away from 0.
static void find_bounds(const ln_tflite_op *op, const ln_tflite_tensor *out, int64_t activation,
                        double *low, double *high)
{
    const float scale = scale_of(op, out, 0);
    *low = -INFINITY;
    *high = INFINITY;
    if (activation == ACT_RELU || activation == ACT_RELU6)
        *low = 0;
    if (activation == ACT_RELU6)
        *high = (double)roundf(6 / scale);
    if (activation == ACT_RELU_N1_TO_1) {
        *low = (double)roundf(-1 / scale);
        *high = (double)roundf(1 / scale);
    }
}

// The multiplier, in units of 2^-31, and the shift, at most `max_shift`, of a factor; false where
// there is none.
static bool find_multiplier(double factor, int max_shift, int32_t *multiplier, int32_t *shift)
{
    int exponent;
    *multiplier = *shift = 0;
    if (!(fabs(factor) < 0x1p30))
        return false;
    double units = round(frexp(factor, &exponent) * 0x1p31);
    if (units == 0x1p31) {
        units /= 2;
        exponent++;
    }
    if (exponent >= -31) { // else it is 0
        *multiplier = (int32_t)units;
        *shift = exponent;
    }
    return exponent <= max_shift;
}

static const char *vector(ln_tflite_builder *b, size_t count, int32_t *owned)
{
    const int dim = (int)count;
    const char *name = ln_tflite_claim(b, b->tensor_names, b->op->name);
    ln_tflite_constant(b, name, TL_INT32, count > 1, &dim, owned, owned);
    return name;
}

// x times `factors`, one or one for each index of the axis; TL_INT32 where `out` is NULL.
static const char *rescale(ln_tflite_op *op, const char *x, const char *rounding, size_t count,
                           const double *factors, int axis, int left, const ln_tflite_tensor *out,
                           int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const int max_shift = strcmp(rounding, "q15") == 0 ? 7 : 30;
    if (!ln_tflite_is_going(b))
        return "";
    int32_t *multipliers = ln_alloc(count * sizeof *multipliers);
    int32_t *shifts = ln_alloc(count * sizeof *shifts);
    if (!multipliers || !shifts) {
        ln_free(multipliers);
        ln_free(shifts);
        ln_tflite_stop(b, LN_NO_MEMORY, "multipliers");
        return "";
    }
    for (size_t i = 0; i < count; i++)
        if (!find_multiplier(factors[i], max_shift, &multipliers[i], &shifts[i]))
            ln_tflite_problem(op, NULL, "its scales make a factor of %g", factors[i]);
    const char *multiplier = vector(b, count, multipliers), *shift = vector(b, count, shifts);
    const char *y = ln_tflite_ternary(b, "rescale", x, multiplier, shift);
    ln_tflite_string(b, "rounding", rounding);
    ln_tflite_number(b, "axis", axis);
    if (left != 0)
        ln_tflite_number(b, "left", left);
    if (out) {
        double low, high;
        find_bounds(op, out, activation, &low, &high);
        ln_tflite_string(b, "output_dtype", tl_dtype_name(out->dtype));
        if (isfinite(low))
            ln_tflite_number(b, "low", low);
        if (isfinite(high))
            ln_tflite_number(b, "high", high);
    }
    return y;
}

static const char *rescale_by(ln_tflite_op *op, const char *x, double factor, int left,
                              const ln_tflite_tensor *out, int64_t activation)
{
    return rescale(op, x, "q31", 1, &factor, 0, left, out, activation);
}

// ---- Products ----

const char *ln_tflite_wide_bias(ln_tflite_op *op, size_t i)
{
    if (!ln_tflite_has(op, i))
        return NULL;
    const char *bias = ln_tflite_raw(op, i);
    return ln_tflite_input(op, i)->dtype == TL_INT64 ? bias : ln_tflite_cast(op->b, bias, TL_INT64);
}

const char *ln_tflite_sums(ln_tflite_builder *b, const char *optype, const char *x, const char *w,
                           const char *bias)
{
    const char *y = ln_tflite_binary(b, optype, x, w);
    for (int i = 0; bias && i < 4; i++) // scales and zero points
        ln_tflite_in(b, NULL);
    if (bias)
        ln_tflite_in(b, bias);
    return y;
}

// Sums with a bias of int32 are of 32 bits, all others of 64.
const char *ln_tflite_rescaled_sums(ln_tflite_op *op, const char *sums, size_t x, size_t w,
                                    size_t bias, int axis, int64_t activation)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, x), *weights = ln_tflite_input(op, w);
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const size_t count = weights->scales.count;
    if (!ln_tflite_is_going(op->b))
        return "";
    double *factors = ln_alloc((count + 1) * sizeof *factors);
    if (!factors) {
        ln_tflite_stop(op->b, LN_NO_MEMORY, "factors");
        return "";
    }
    const float x_scale = scale_of(op, in, 0), y_scale = scale_of(op, out, 0);
    // That of a whole matrix is multiplied in float.
    const bool is_float = strcmp(op->type, "FULLY_CONNECTED") == 0 && count == 1;
    for (size_t i = 0; i < count; i++) {
        const float w_scale = scale_of(op, weights, i);
        const double unit =
            is_float ? (double)(x_scale * w_scale) : (double)x_scale * (double)w_scale;
        factors[i] = unit / (double)y_scale;
    }
    const bool is_short = ln_tflite_has(op, bias) && ln_tflite_input(op, bias)->dtype == TL_INT32;
    const char *y =
        rescale(op, sums, is_short ? "q31" : "q15", count, factors, axis, 0, out, activation);
    ln_free(factors);
    return y;
}

// ---- Element by element ----

void ln_tflite_read_int16_sum(ln_tflite_op *op, int64_t activation)
{
    const float first = scale_of(op, ln_tflite_input(op, 0), 0),
                second = scale_of(op, ln_tflite_input(op, 1), 0);
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const double most = 2 * (double)(first > second ? first : second);
    const char *x = rescale_by(op, ln_tflite_raw(op, 0), (double)first / most, ADD_LEFT, NULL, 0);
    const char *y = rescale_by(op, ln_tflite_raw(op, 1), (double)second / most, ADD_LEFT, NULL, 0);
    const char *sum = ln_tflite_binary(op->b, op->builtin->optype, x, y);
    const double unit = (double)(float)(1 << ADD_LEFT) * (double)scale_of(op, out, 0);
    ln_tflite_give_raw(op, 0, rescale_by(op, sum, most / unit, 0, out, activation));
}

void ln_tflite_read_int16_product(ln_tflite_op *op, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float unit =
        scale_of(op, ln_tflite_input(op, 0), 0) * scale_of(op, ln_tflite_input(op, 1), 0);
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *y = ln_tflite_cast(b, ln_tflite_raw(op, 1), TL_INT32);
    const char *product = ln_tflite_binary(b, "Mul", x, y);
    const double factor = (double)(unit / scale_of(op, out, 0));
    ln_tflite_give_raw(op, 0, rescale_by(op, product, factor, 0, out, activation));
}

void ln_tflite_read_int16_leaky_relu(ln_tflite_op *op, float alpha)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float from = scale_of(op, ln_tflite_input(op, 0), 0), to = scale_of(op, out, 0);
    const char *x = ln_tflite_raw(op, 0);
    const char *up = rescale_by(op, x, (double)(from / to), 0, out, ACT_NONE);
    const char *down = rescale_by(op, x, (double)(from * alpha / to), 0, out, ACT_NONE);
    const char *zero = ln_tflite_scalar(b, TL_INT16, 0);
    const char *is_up = ln_tflite_binary(b, "GreaterOrEqual", x, zero);
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_up, up, down));
}

// ---- Another scale ----

bool ln_tflite_is_int16_quantize(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    const bool is_to_int16 = is_int16(op, out);
    if (out->scales.count != 1 || !has_scales(op, out) || !fits_zero_point(op, out) ||
        in->scales.count != 1 || !has_scales(op, in) || !fits_zero_point(op, in))
        return false;
    if (is_int16(op, in))
        return is_to_int16 || out->dtype == TL_INT8 ||
               (out->dtype == TL_INT32 && !has_zero_point(op, out));
    return in->dtype == TL_INT8 && is_to_int16;
}

void ln_tflite_read_int16_quantize(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    const double factor = (double)scale_of(op, in, 0) / (double)scale_of(op, out, 0);
    const char *src_zero = zero_point(op, in), *dst_zero = zero_point(op, out);
    const char *y = rescale_by(op, ln_tflite_raw(op, 0), factor, 0, out, ACT_NONE);
    ln_tflite_in(op->b, src_zero);
    ln_tflite_in(op->b, dst_zero);
    ln_tflite_give_raw(op, 0, y);
}
