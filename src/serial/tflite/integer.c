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

float ln_tflite_scale(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return scale_of(op, t, 0);
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

bool ln_tflite_find_multiplier(double factor, int max_shift, int32_t *multiplier, int32_t *shift)
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

const char *ln_tflite_int32s(ln_tflite_builder *b, size_t count, int32_t *owned)
{
    const int dim = (int)count;
    const char *name = ln_tflite_claim(b, b->tensor_names, b->op->name);
    ln_tflite_constant(b, name, TL_INT32, count > 1, &dim, owned, owned);
    return name;
}

// `multipliers` and `shifts` are the context's from here on. TL_INT32 where `out` is NULL.
static const char *add_rescale(ln_tflite_op *op, const char *x, const char *rounding, size_t count,
                               int32_t *multipliers, int32_t *shifts, int axis,
                               const ln_tflite_tensor *out, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const char *multiplier = ln_tflite_int32s(b, count, multipliers);
    const char *shift = ln_tflite_int32s(b, count, shifts);
    const char *y = ln_tflite_ternary(b, "rescale", x, multiplier, shift);
    ln_tflite_string(b, "rounding", rounding);
    ln_tflite_number(b, "axis", axis);
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

static bool new_numbers(ln_tflite_builder *b, size_t count, int32_t **multipliers, int32_t **shifts)
{
    if (!ln_tflite_is_going(b))
        return false;
    *multipliers = ln_alloc(count * sizeof **multipliers);
    *shifts = ln_alloc(count * sizeof **shifts);
    if (*multipliers && *shifts)
        return true;
    ln_free(*multipliers);
    ln_free(*shifts);
    ln_tflite_stop(b, LN_NO_MEMORY, "multipliers");
    return false;
}

// x times `factors`, one or one for each index of the axis; TL_INT32 where `out` is NULL.
static const char *rescale(ln_tflite_op *op, const char *x, const char *rounding, size_t count,
                           const double *factors, int axis, int left, const ln_tflite_tensor *out,
                           int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const int max_shift = strcmp(rounding, "q15") == 0 ? 7 : 30;
    int32_t *multipliers, *shifts;
    if (!new_numbers(b, count, &multipliers, &shifts))
        return "";
    for (size_t i = 0; i < count; i++)
        if (!ln_tflite_find_multiplier(factors[i], max_shift, &multipliers[i], &shifts[i]))
            ln_tflite_problem(op, NULL, "its scales make a factor of %g", factors[i]);
    const char *y = add_rescale(op, x, rounding, count, multipliers, shifts, axis, out, activation);
    if (left != 0)
        ln_tflite_number(b, "left", left);
    return y;
}

static const char *rescale_by(ln_tflite_op *op, const char *x, double factor, int left,
                              const ln_tflite_tensor *out, int64_t activation)
{
    return rescale(op, x, "q31", 1, &factor, 0, left, out, activation);
}

const char *ln_tflite_rescaled(ln_tflite_op *op, const char *x, double factor, double low)
{
    const char *y = rescale_by(op, x, factor, 0, NULL, 0);
    ln_tflite_number(op->b, "low", low);
    return y;
}

const char *ln_tflite_rescaled_wide(ln_tflite_op *op, const char *x, double factor, bool is_result)
{
    const ln_tflite_tensor *out = is_result ? ln_tflite_output(op, 0) : NULL;
    return rescale(op, x, "q15", 1, &factor, 0, 0, out, ACT_NONE);
}

const char *ln_tflite_bounded(ln_tflite_op *op, const char *x, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    double low, high;
    find_bounds(op, ln_tflite_output(op, 0), activation, &low, &high);
    x = ln_tflite_binary(b, "Max", x, ln_tflite_scalar(b, TL_INT64, fmax(low, INT16_MIN)));
    x = ln_tflite_binary(b, "Min", x, ln_tflite_scalar(b, TL_INT64, fmin(high, INT16_MAX)));
    return ln_tflite_cast(b, x, TL_INT16);
}

const char *ln_tflite_shifted(ln_tflite_builder *b, const char *x, int bits)
{
    const char *y = ln_tflite_binary(b, "rescale", x, NULL);
    ln_tflite_in(b, ln_tflite_scalar(b, TL_INT32, bits));
    ln_tflite_string(b, "rounding", "shift");
    return y;
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

void ln_tflite_read_int16_relu(ln_tflite_op *op)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float from = scale_of(op, ln_tflite_input(op, 0), 0), to = scale_of(op, out, 0);
    const int64_t activation = strcmp(op->type, "RELU6") == 0 ? ACT_RELU6 : ACT_RELU;
    const char *x = ln_tflite_raw(op, 0);
    ln_tflite_give_raw(op, 0, rescale_by(op, x, (double)(from / to), 0, out, activation));
}

void ln_tflite_read_int16_abs(ln_tflite_op *op)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float from = scale_of(op, ln_tflite_input(op, 0), 0), to = scale_of(op, out, 0);
    const char *x = ln_tflite_cast(op->b, ln_tflite_raw(op, 0), TL_INT32);
    const char *size = ln_tflite_unary(op->b, "Abs", x);
    ln_tflite_give_raw(op, 0, rescale_by(op, size, (double)(from / to), 0, out, ACT_NONE));
}

bool ln_tflite_is_int16_prelu(ln_tflite_op *op)
{
    const ln_tflite_tensor *slope = ln_tflite_input(op, 1);
    return ln_tflite_is_int16(op, 1, ACT_NONE) && slope->dtype == TL_INT8 &&
           slope->scales.count == 1 && has_scales(op, slope) && fits_zero_point(op, slope);
}

void ln_tflite_read_int16_prelu(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0), *slope = ln_tflite_input(op, 1);
    const float from = scale_of(op, ln_tflite_input(op, 0), 0), to = scale_of(op, out, 0);
    const float unit = from * scale_of(op, slope, 0);
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *slopes = ln_tflite_cast(b, ln_tflite_raw(op, 1), TL_INT32);
    const char *zero = zero_point(op, slope);
    if (zero)
        slopes = ln_tflite_binary(b, "Sub", slopes, ln_tflite_cast(b, zero, TL_INT32));
    const char *product = ln_tflite_binary(b, "Mul", x, slopes);
    const char *down = rescale_by(op, product, (double)(unit / to), 0, out, ACT_NONE);
    const char *up = rescale_by(op, x, (double)(from / to), 0, out, ACT_NONE);
    const char *is_up = ln_tflite_binary(b, "GreaterOrEqual", x, ln_tflite_scalar(b, TL_INT32, 0));
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_up, up, down));
}

void ln_tflite_read_int16_squared_difference(ln_tflite_op *op)
{
    const double first = (double)scale_of(op, ln_tflite_input(op, 0), 0),
                 second = (double)scale_of(op, ln_tflite_input(op, 1), 0);
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const double unit = 2 * (first > second ? first : second);
    const char *x = rescale_by(op, ln_tflite_raw(op, 0), first / unit, 0, NULL, 0);
    const char *y = rescale_by(op, ln_tflite_raw(op, 1), second / unit, 0, NULL, 0);
    const char *d = ln_tflite_binary(op->b, "Sub", x, y);
    const char *square = ln_tflite_binary(op->b, "Mul", d, d);
    const double factor = unit * unit / (double)scale_of(op, out, 0);
    ln_tflite_give_raw(op, 0, rescale_by(op, square, factor, 0, out, ACT_NONE));
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

// ---- Sums and means ----

int64_t ln_tflite_find_taps(ln_tflite_op *op, bool *is_reduced)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int64_t axes[TL_MAXDIM], taps = 1;
    size_t count;
    for (int i = 0; i < TL_MAXDIM; i++)
        is_reduced[i] = false;
    if (!ln_tflite_is_known(op, 1) ||
        !ln_tflite_known(op, 1, "list of axes", TL_MAXDIM, axes, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + in->ndim : axes[i];
        if (axis < 0 || axis >= in->ndim || in->dims[axis] < 0)
            return 0;
        if (!is_reduced[axis])
            taps *= in->dims[axis];
        if (taps > INT32_MAX)
            return 0;
        is_reduced[axis] = true;
    }
    return count > 0 ? taps : 0;
}

// Divides the factor by the number of taps, in what is left of its 31 bits.
static void divide_factor(int64_t taps, int32_t *multiplier, int32_t *shift)
{
    int bits = 0;
    while (taps >> (bits + 1) != 0)
        bits++;
    bits = bits < 31 + *shift ? bits : 31 + *shift;
    *multiplier = (int32_t)(((int64_t)*multiplier << bits) / taps);
    *shift -= bits;
}

bool ln_tflite_read_int16_reduction(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const bool is_mean = strcmp(op->type, "MEAN") == 0;
    int32_t multiplier, shift, *multipliers, *shifts;
    if ((!is_mean && strcmp(op->type, "SUM") != 0) || !ln_tflite_is_int16(op, 1, ACT_NONE))
        return false;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float from = ln_tflite_scale(op, ln_tflite_input(op, 0)), to = ln_tflite_scale(op, out);
    bool is_reduced[TL_MAXDIM];
    const int64_t taps = ln_tflite_find_taps(op, is_reduced);
    if (taps == 0 || !ln_tflite_find_multiplier((double)from / (double)to, 30, &multiplier, &shift))
        return false;
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *sum = ln_tflite_reduced(op, is_mean ? "ReduceSum" : op->builtin->optype, x);
    if (!is_mean && from == to) { // of 16 bits, which wrap
        ln_tflite_give_raw(op, 0, ln_tflite_cast(b, sum, TL_INT16));
        return true;
    }
    if (is_mean)
        divide_factor(taps, &multiplier, &shift);
    if (!new_numbers(b, 1, &multipliers, &shifts))
        return true;
    *multipliers = multiplier;
    *shifts = shift;
    bool is_scalar = ln_tflite_small_option(op, 0) == 0;
    for (int i = 0; i < ln_tflite_input(op, 0)->ndim; i++)
        is_scalar = is_scalar && is_reduced[i];
    if (is_scalar) // which has no axis to rescale along
        sum = ln_tflite_reshape(b, sum, 1, (const int64_t[]){1});
    const char *y = add_rescale(op, sum, "q31", 1, multipliers, shifts, 0, out, ACT_NONE);
    ln_tflite_give_raw(op, 0, is_scalar ? ln_tflite_reshape(b, y, 0, (const int64_t[]){0}) : y);
    return true;
}

// Rounded to nearest, ties away from zero. A mean that is not halfway is at least half of its
// number of taps' reciprocal from there; what doubles lose, and what is added so that halfway is
// never missed, is far less.
#define ALMOST_HALF (0.5 + 0x1p-26)
#define MAX_TAPS    (1 << 24)

bool ln_tflite_has_int16_means(ln_tflite_op *op, int64_t width, int64_t height, int64_t activation)
{
    return ln_tflite_is_int16(op, 1, activation) && ln_tflite_is_moved(op, 0, 1) && width > 0 &&
           height > 0 && width <= MAX_TAPS && height <= MAX_TAPS / width;
}

const char *ln_tflite_int16_means(ln_tflite_op *op, const char *means, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    double low, high;
    find_bounds(op, ln_tflite_output(op, 0), activation, &low, &high);
    const char *size = ln_tflite_unary(b, "Abs", means);
    size = ln_tflite_binary(b, "Add", size, ln_tflite_scalar(b, TL_DOUBLE, ALMOST_HALF));
    size = ln_tflite_unary(b, "Floor", size);
    const char *y = ln_tflite_binary(b, "Mul", size, ln_tflite_unary(b, "Sign", means));
    if (isfinite(low))
        y = ln_tflite_binary(b, "Max", y, ln_tflite_scalar(b, TL_DOUBLE, low));
    if (isfinite(high))
        y = ln_tflite_binary(b, "Min", y,
                             ln_tflite_scalar(b, TL_DOUBLE, high < INT16_MAX ? high : INT16_MAX));
    return ln_tflite_cast(b, y, TL_INT16);
}

// ---- Products of two tensors ----

bool ln_tflite_is_int16_matmul(ln_tflite_op *op)
{
    const ln_tflite_tensor *y = ln_tflite_input(op, 1);
    return ln_tflite_is_int16(op, 1, ACT_NONE) && y->scales.count == 1 && has_scales(op, y) &&
           !has_zero_point(op, y) && (y->dtype == TL_INT16 || y->dtype == TL_INT8);
}

void ln_tflite_read_int16_matmul(ln_tflite_op *op, const char *x, const char *y)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float unit =
        ln_tflite_scale(op, ln_tflite_input(op, 0)) * ln_tflite_scale(op, ln_tflite_input(op, 1));
    const double factor = (double)unit / (double)ln_tflite_scale(op, out);
    x = ln_tflite_cast(b, x, TL_INT64);
    y = ln_tflite_cast(b, y, TL_INT64);
    const char *sums = ln_tflite_binary(b, "MatMul", x, y);
    ln_tflite_give_raw(op, 0, rescale(op, sums, "q15", 1, &factor, 0, 0, out, ACT_NONE));
}
