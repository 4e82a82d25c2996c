// SPDX-License-Identifier: Apache-2.0
// Operators on integers as TensorFlow Lite's reference kernels compute them: exact sums and
// products, rescaled by a 32-bit multiplier and a shift. Those on int16 always are computed so,
// those on integers of 8 bits where the caller chooses the rounding of these kernels. Multipliers
// are made in the precision in which each kernel makes them.

#include "serial/tflite/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

// Fused activations of the schema, and one that is an operator alone.
enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6, ACT_RELU_0_TO_1 = -1 };

// ---- Which operators ----

static int64_t zero_of(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return t->zeros.count > 0 ? ln_flat_number_at(op->b->file, t->zeros, 0, LN_FLAT_I64) : 0;
}

static const char *zero_point(ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const int64_t zero = zero_of(op, t);
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
    const double zero = (double)zero_of(op, t);
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

int ln_tflite_zero(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return (int)zero_of(op, t);
}

// TensorFlow Lite has no zero points in int16.
static bool is_int16(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return t->dtype == TL_INT16 && t->scales.count == 1 && has_scales(op, t) &&
           !has_zero_point(op, t);
}

static bool has_one_scale(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    return t->scales.count == 1 && has_scales(op, t) && fits_zero_point(op, t);
}

static bool is_fixed(const ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const bool is_byte = t->dtype == TL_INT8 || t->dtype == TL_UINT8;
    return is_int16(op, t) || (op->b->is_reference && is_byte && has_one_scale(op, t));
}

bool ln_tflite_is_fixed(ln_tflite_op *op, size_t count, int64_t activation)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    if (activation > ACT_RELU6 || !is_fixed(op, out))
        return false;
    for (size_t i = 0; i < count; i++) {
        const ln_tflite_tensor *in = ln_tflite_input(op, i);
        if (in->dtype != out->dtype || !is_fixed(op, in))
            return false;
    }
    return true;
}

bool ln_tflite_is_int16(ln_tflite_op *op, size_t count, int64_t activation)
{
    return ln_tflite_output(op, 0)->dtype == TL_INT16 && ln_tflite_is_fixed(op, count, activation);
}

// Weights of uint8 have one scale and any zero point, those of int8 any scales and none.
static bool has_fixed_weights(const ln_tflite_op *op, const ln_tflite_tensor *in,
                              const ln_tflite_tensor *weights)
{
    if (in->dtype == TL_UINT8)
        return weights->dtype == TL_UINT8 && has_one_scale(op, weights);
    return weights->dtype == TL_INT8 && has_scales(op, weights) && !has_zero_point(op, weights);
}

bool ln_tflite_is_fixed_product(ln_tflite_op *op, size_t x, size_t w, size_t bias,
                                int64_t activation)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, x), *out = ln_tflite_output(op, 0);
    if (activation > ACT_RELU6 || in->dtype != out->dtype || !is_fixed(op, out) ||
        !is_fixed(op, in) || !has_fixed_weights(op, in, ln_tflite_input(op, w)))
        return false;
    if (!ln_tflite_has(op, bias))
        return true;
    const tl_dtype dtype = ln_tflite_input(op, bias)->dtype;
    return dtype == TL_INT32 || (dtype == TL_INT64 && in->dtype == TL_INT16);
}

// ---- Rescaling ----

// The bounds that an activation sets. TensorFlow Lite rounds them in float, ties away from 0.
static void find_bounds(const ln_tflite_op *op, const ln_tflite_tensor *out, int64_t activation,
                        double *low, double *high)
{
    const float scale = scale_of(op, out, 0);
    const double zero = (double)zero_of(op, out);
    *low = -INFINITY;
    *high = INFINITY;
    if (activation == ACT_RELU || activation == ACT_RELU6 || activation == ACT_RELU_0_TO_1)
        *low = zero;
    if (activation == ACT_RELU_N1_TO_1)
        *low = zero + (double)roundf(-1 / scale);
    if (activation == ACT_RELU6)
        *high = zero + (double)roundf(6 / scale);
    if (activation == ACT_RELU_N1_TO_1 || activation == ACT_RELU_0_TO_1)
        *high = zero + (double)roundf(1 / scale);
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

static void add_bounds(ln_tflite_op *op, const ln_tflite_rescaling *r)
{
    ln_tflite_builder *b = op->b;
    double low, high;
    find_bounds(op, r->out, r->activation, &low, &high);
    ln_tflite_string(b, "output_dtype", tl_dtype_name(r->out->dtype));
    if (isfinite(low))
        ln_tflite_number(b, "low", low);
    if (isfinite(high))
        ln_tflite_number(b, "high", high);
}

// `multipliers` and `shifts` are the context's from here on.
static const char *add_rescale(ln_tflite_op *op, const char *x, size_t count, int32_t *multipliers,
                               int32_t *shifts, const ln_tflite_rescaling *r)
{
    ln_tflite_builder *b = op->b;
    const char *multiplier = ln_tflite_int32s(b, count, multipliers);
    const char *shift = ln_tflite_int32s(b, count, shifts);
    const char *dst_zero = r->out ? zero_point(op, r->out) : NULL;
    const char *y = ln_tflite_ternary(b, "rescale", x, multiplier, shift);
    if (r->src_zero || dst_zero)
        ln_tflite_in(b, r->src_zero);
    if (dst_zero)
        ln_tflite_in(b, dst_zero);
    ln_tflite_string(b, "rounding", r->rounding ? r->rounding : "q31");
    ln_tflite_number(b, "axis", r->axis);
    if (r->left != 0)
        ln_tflite_number(b, "left", r->left);
    if (r->out)
        add_bounds(op, r);
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

const char *ln_tflite_rescale(ln_tflite_op *op, const char *x, size_t count, const double *factors,
                              const ln_tflite_rescaling *r)
{
    const int max_shift = r->rounding && strcmp(r->rounding, "q15") == 0 ? 7 : 30;
    int32_t *multipliers, *shifts;
    if (!new_numbers(op->b, count, &multipliers, &shifts))
        return "";
    for (size_t i = 0; i < count; i++)
        if (!ln_tflite_find_multiplier(factors[i], max_shift, &multipliers[i], &shifts[i]))
            ln_tflite_problem(op, NULL, "its scales make a factor of %g", factors[i]);
    return add_rescale(op, x, count, multipliers, shifts, r);
}

// Integers without a zero point times a factor, as the output has them.
static const char *rescale_by(ln_tflite_op *op, const char *x, double factor, int64_t activation)
{
    return ln_tflite_rescale(
        op, x, 1, &factor,
        &(ln_tflite_rescaling){.out = ln_tflite_output(op, 0), .activation = activation});
}

// Input i times a factor, as the output has it.
static const char *rescale_input(ln_tflite_op *op, size_t i, double factor, int64_t activation)
{
    const char *x = ln_tflite_raw(op, i), *zero = zero_point(op, ln_tflite_input(op, i));
    return ln_tflite_rescale(op, x, 1, &factor,
                             &(ln_tflite_rescaling){.src_zero = zero,
                                                    .out = ln_tflite_output(op, 0),
                                                    .activation = activation});
}

// Input i times 2^left and a factor, as int32.
static const char *rescale_term(ln_tflite_op *op, size_t i, double factor, int left)
{
    const char *x = ln_tflite_raw(op, i), *zero = zero_point(op, ln_tflite_input(op, i));
    return ln_tflite_rescale(op, x, 1, &factor,
                             &(ln_tflite_rescaling){.src_zero = zero, .left = left});
}

const char *ln_tflite_integers(ln_tflite_op *op, size_t i, const char *x, tl_dtype dtype)
{
    ln_tflite_builder *b = op->b;
    const int64_t zero = zero_of(op, ln_tflite_input(op, i));
    x = ln_tflite_cast(b, x, dtype);
    if (zero == 0)
        return x;
    return ln_tflite_binary(b, "Sub", x, ln_tflite_scalar(b, dtype, (double)zero));
}

const char *ln_tflite_with_zero_point(ln_tflite_op *op, const char *x, tl_dtype dtype)
{
    const int64_t zero = zero_of(op, ln_tflite_output(op, 0));
    if (zero == 0)
        return x;
    return ln_tflite_binary(op->b, "Add", x, ln_tflite_scalar(op->b, dtype, (double)zero));
}

static const char *int32_of(ln_tflite_op *op, size_t i)
{
    return ln_tflite_integers(op, i, ln_tflite_raw(op, i), TL_INT32);
}

const char *ln_tflite_rescaled(ln_tflite_op *op, const char *x, double factor, double low)
{
    const char *y = ln_tflite_rescale(op, x, 1, &factor, &(ln_tflite_rescaling){.out = NULL});
    ln_tflite_number(op->b, "low", low);
    return y;
}

const char *ln_tflite_rescaled_wide(ln_tflite_op *op, const char *x, double factor, bool is_result)
{
    const ln_tflite_tensor *out = is_result ? ln_tflite_output(op, 0) : NULL;
    return ln_tflite_rescale(op, x, 1, &factor,
                             &(ln_tflite_rescaling){.rounding = "q15", .out = out});
}

const char *ln_tflite_bounded(ln_tflite_op *op, const char *x, tl_dtype dtype, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    double low, high;
    find_bounds(op, out, activation, &low, &high);
    low = fmax(low, tl_dtype_min_double(out->dtype));
    high = fmin(high, tl_dtype_max_double(out->dtype));
    x = ln_tflite_binary(b, "Max", x, ln_tflite_scalar(b, dtype, low));
    x = ln_tflite_binary(b, "Min", x, ln_tflite_scalar(b, dtype, high));
    return dtype == out->dtype ? x : ln_tflite_cast(b, x, out->dtype);
}

const char *ln_tflite_shifted(ln_tflite_builder *b, const char *x, int bits)
{
    const char *y = ln_tflite_binary(b, "rescale", x, NULL);
    ln_tflite_in(b, ln_tflite_scalar(b, TL_INT32, bits));
    ln_tflite_string(b, "rounding", "shift");
    return y;
}

// ---- Products ----

const char *ln_tflite_sum_bias(ln_tflite_op *op, size_t i)
{
    if (!ln_tflite_has(op, i))
        return NULL;
    const char *bias = ln_tflite_raw(op, i);
    const bool is_wide = ln_tflite_output(op, 0)->dtype == TL_INT16;
    if (!is_wide || ln_tflite_input(op, i)->dtype == TL_INT64)
        return bias;
    return ln_tflite_cast(op->b, bias, TL_INT64);
}

const char *ln_tflite_sums(ln_tflite_op *op, const char *optype, const char *x, const char *w,
                           const char *bias)
{
    ln_tflite_builder *b = op->b;
    const char *x_zero = zero_point(op, ln_tflite_input(op, 0)),
               *w_zero = zero_point(op, ln_tflite_input(op, 1));
    const char *const more[] = {NULL, x_zero, NULL, w_zero, bias}; // NULL: no scales
    const char *y = ln_tflite_binary(b, optype, x, w);
    size_t count = sizeof more / sizeof *more;
    while (count > 0 && !more[count - 1])
        count--;
    for (size_t i = 0; i < count; i++)
        ln_tflite_in(b, more[i]);
    return y;
}

// Whether the scales of a product are multiplied in float.
static bool has_float_product(ln_tflite_op *op, const ln_tflite_tensor *in, size_t scale_count)
{
    return in->dtype == TL_UINT8 || (strcmp(op->type, "FULLY_CONNECTED") == 0 && scale_count == 1);
}

// Sums of integers of 8 bits, and those with a bias of int32, are of 32 bits, all others of 64.
static const char *rounding_of_sums(ln_tflite_op *op, const ln_tflite_tensor *in, size_t bias)
{
    const bool is_short = ln_tflite_has(op, bias) && ln_tflite_input(op, bias)->dtype == TL_INT32;
    return is_short || in->dtype != TL_INT16 ? "q31" : "q15";
}

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
    const bool is_float = has_float_product(op, in, count);
    for (size_t i = 0; i < count; i++) {
        const float w_scale = scale_of(op, weights, i);
        const double unit =
            is_float ? (double)(x_scale * w_scale) : (double)x_scale * (double)w_scale;
        factors[i] = unit / (double)y_scale;
    }
    const char *y =
        ln_tflite_rescale(op, sums, count, factors,
                          &(ln_tflite_rescaling){.rounding = rounding_of_sums(op, in, bias),
                                                 .axis = axis,
                                                 .out = out,
                                                 .activation = activation});
    ln_free(factors);
    return y;
}

// ---- Element by element ----

void ln_tflite_read_fixed_sum(ln_tflite_op *op, int64_t activation)
{
    const float first = scale_of(op, ln_tflite_input(op, 0), 0),
                second = scale_of(op, ln_tflite_input(op, 1), 0);
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const int left = out->dtype == TL_INT16 ? 15 : 20; // of numbers before they are added
    const double most = 2 * (double)(first > second ? first : second);
    const char *x = rescale_term(op, 0, (double)first / most, left);
    const char *y = rescale_term(op, 1, (double)second / most, left);
    const char *sum = ln_tflite_binary(op->b, op->builtin->optype, x, y);
    const double unit = ldexp((double)scale_of(op, out, 0), left);
    ln_tflite_give_raw(op, 0, rescale_by(op, sum, most / unit, activation));
}

void ln_tflite_read_fixed_product(ln_tflite_op *op, int64_t activation)
{
    const float unit =
        scale_of(op, ln_tflite_input(op, 0), 0) * scale_of(op, ln_tflite_input(op, 1), 0);
    const char *x = int32_of(op, 0), *y = int32_of(op, 1);
    const char *product = ln_tflite_binary(op->b, "Mul", x, y);
    const double factor = (double)(unit / scale_of(op, ln_tflite_output(op, 0), 0));
    ln_tflite_give_raw(op, 0, rescale_by(op, product, factor, activation));
}

void ln_tflite_read_fixed_leaky_relu(ln_tflite_op *op, float alpha)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    const float from = scale_of(op, in, 0), to = scale_of(op, ln_tflite_output(op, 0), 0);
    const char *up = rescale_input(op, 0, (double)(from / to), ACT_NONE);
    const char *down = rescale_input(op, 0, (double)(from * alpha / to), ACT_NONE);
    const char *zero = ln_tflite_scalar(b, in->dtype, (double)zero_of(op, in));
    const char *is_up = ln_tflite_binary(b, "GreaterOrEqual", ln_tflite_raw(op, 0), zero);
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_up, up, down));
}

// Scales of 1 and more have no meaning in these kernels.
static bool is_compared(ln_tflite_op *op, size_t i)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, i);
    const bool is_taken = in->dtype == TL_INT8 || in->dtype == TL_UINT8 || in->dtype == TL_INT16;
    return is_taken && has_one_scale(op, in) && scale_of(op, in, 0) < 1;
}

// The order of int16 is that of the integers, whatever their scales.
static bool is_order_of_int16(ln_tflite_op *op)
{
    const bool is_equality = strcmp(op->type, "EQUAL") == 0 || strcmp(op->type, "NOT_EQUAL") == 0;
    return !is_equality && ln_tflite_input(op, 0)->dtype == TL_INT16 &&
           ln_tflite_input(op, 1)->dtype == TL_INT16;
}

const char *ln_tflite_fixed_comparison(ln_tflite_op *op)
{
    enum { LEFT = 8 };
    if (is_order_of_int16(op))
        return ln_tflite_binary(op->b, op->builtin->optype, ln_tflite_raw(op, 0),
                                ln_tflite_raw(op, 1));
    if (!is_compared(op, 0) || !is_compared(op, 1))
        return NULL;
    const char *x = rescale_term(op, 0, (double)scale_of(op, ln_tflite_input(op, 0), 0), LEFT);
    const char *y = rescale_term(op, 1, (double)scale_of(op, ln_tflite_input(op, 1), 0), LEFT);
    return ln_tflite_binary(op->b, op->builtin->optype, x, y);
}

// No kernel takes int16 for those that are bounded by 1.
static bool find_relu(const ln_tflite_op *op, tl_dtype dtype, int64_t *out_activation)
{
    static const struct row {
        const char *type;
        int64_t activation;
        bool takes_int16;
    } rows[] = {{"RELU", ACT_RELU, true},
                {"RELU6", ACT_RELU6, true},
                {"RELU_N1_TO_1", ACT_RELU_N1_TO_1, false},
                {"RELU_0_TO_1", ACT_RELU_0_TO_1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *out_activation = rows[i].activation;
        if (strcmp(op->type, rows[i].type) == 0)
            return dtype != TL_INT16 || rows[i].takes_int16;
    }
    return false;
}

bool ln_tflite_read_fixed_relu(ln_tflite_op *op)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    int64_t activation;
    if (!ln_tflite_is_fixed(op, 1, ACT_NONE) || !find_relu(op, out->dtype, &activation))
        return false;
    const float from = scale_of(op, ln_tflite_input(op, 0), 0), to = scale_of(op, out, 0);
    ln_tflite_give_raw(op, 0, rescale_input(op, 0, (double)(from / to), activation));
    return true;
}

void ln_tflite_read_fixed_abs(ln_tflite_op *op)
{
    const float from = scale_of(op, ln_tflite_input(op, 0), 0),
                to = scale_of(op, ln_tflite_output(op, 0), 0);
    const char *size = ln_tflite_unary(op->b, "Abs", int32_of(op, 0));
    ln_tflite_give_raw(op, 0, rescale_by(op, size, (double)(from / to), ACT_NONE));
}

bool ln_tflite_is_fixed_prelu(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *slope = ln_tflite_input(op, 1);
    const tl_dtype wanted = in->dtype == TL_INT16 ? TL_INT8 : in->dtype;
    return ln_tflite_is_fixed(op, 1, ACT_NONE) && slope->dtype == wanted &&
           has_one_scale(op, slope);
}

void ln_tflite_read_fixed_prelu(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const float from = scale_of(op, ln_tflite_input(op, 0), 0),
                to = scale_of(op, ln_tflite_output(op, 0), 0);
    const float unit = from * scale_of(op, ln_tflite_input(op, 1), 0);
    const char *x = int32_of(op, 0), *slopes = int32_of(op, 1);
    const char *product = ln_tflite_binary(b, "Mul", x, slopes);
    const char *down = rescale_by(op, product, (double)(unit / to), ACT_NONE);
    const char *up = rescale_by(op, x, (double)(from / to), ACT_NONE);
    const char *is_up = ln_tflite_binary(b, "GreaterOrEqual", x, ln_tflite_scalar(b, TL_INT32, 0));
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_up, up, down));
}

bool ln_tflite_read_fixed_squared_difference(ln_tflite_op *op)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    if (!ln_tflite_is_fixed(op, 2, ACT_NONE) || out->dtype == TL_UINT8) // which no kernel takes
        return false;
    const double first = (double)scale_of(op, ln_tflite_input(op, 0), 0),
                 second = (double)scale_of(op, ln_tflite_input(op, 1), 0);
    const int left = out->dtype == TL_INT16 ? 0 : 7;
    const double unit = 2 * (first > second ? first : second);
    const char *x = rescale_term(op, 0, first / unit, left);
    const char *y = rescale_term(op, 1, second / unit, left);
    const char *d = ln_tflite_binary(op->b, "Sub", x, y);
    const char *square = ln_tflite_binary(op->b, "Mul", d, d);
    const double factor = unit * unit / ldexp((double)scale_of(op, out, 0), 2 * left);
    ln_tflite_give_raw(op, 0, rescale_by(op, square, factor, ACT_NONE));
    return true;
}

// ---- Another scale ----

// What a tensor of one scale may be requantized to: int16 to itself, int8 and int32, int8 to int16;
// integers of 8 bits to each other where they are of fixed point.
bool ln_tflite_is_fixed_quantize(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    const bool is_to_int16 = is_int16(op, out);
    if (!has_one_scale(op, out) || !has_one_scale(op, in))
        return false;
    if (is_int16(op, in))
        return is_to_int16 || out->dtype == TL_INT8 ||
               (out->dtype == TL_INT32 && !has_zero_point(op, out));
    return (in->dtype == TL_INT8 && is_to_int16) ||
           (is_fixed(op, in) && is_fixed(op, out) && !is_to_int16);
}

void ln_tflite_read_fixed_quantize(ln_tflite_op *op)
{
    const double factor = (double)scale_of(op, ln_tflite_input(op, 0), 0) /
                          (double)scale_of(op, ln_tflite_output(op, 0), 0);
    ln_tflite_give_raw(op, 0, rescale_input(op, 0, factor, ACT_NONE));
}

bool ln_tflite_read_rounded_away(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    if (!b->is_reference || in->dtype != TL_FLOAT || !is_fixed(op, out))
        return false;
    const char *scale = ln_tflite_scalar(b, TL_FLOAT, (double)scale_of(op, out, 0));
    const char *x = ln_tflite_binary(b, "Div", ln_tflite_raw(op, 0), scale);
    x = ln_tflite_cast(b, x, TL_DOUBLE);
    const char *size = ln_tflite_unary(b, "Abs", x);
    size = ln_tflite_binary(b, "Add", size, ln_tflite_scalar(b, TL_DOUBLE, 0.5));
    size = ln_tflite_unary(b, "Floor", size);
    const char *y = ln_tflite_binary(b, "Mul", size, ln_tflite_unary(b, "Sign", x));
    y = ln_tflite_with_zero_point(op, y, TL_DOUBLE);
    ln_tflite_give_raw(op, 0, ln_tflite_bounded(op, y, TL_DOUBLE, ACT_NONE));
    return true;
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

// The sum, which has the zero points of all its terms, rescaled.
static const char *rescale_sum(ln_tflite_op *op, const char *sum, int64_t taps, int32_t multiplier,
                               int32_t shift)
{
    ln_tflite_builder *b = op->b;
    int32_t *multipliers, *shifts;
    const int64_t zero = zero_of(op, ln_tflite_input(op, 0)) * taps;
    const char *src_zero = zero == 0 ? NULL : ln_tflite_scalar(b, TL_INT32, (double)zero);
    if (!new_numbers(b, 1, &multipliers, &shifts))
        return "";
    *multipliers = multiplier;
    *shifts = shift;
    return add_rescale(
        op, sum, 1, multipliers, shifts,
        &(ln_tflite_rescaling){.src_zero = src_zero, .out = ln_tflite_output(op, 0)});
}

bool ln_tflite_read_fixed_reduction(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const bool is_mean = strcmp(op->type, "MEAN") == 0;
    int32_t multiplier, shift;
    if ((!is_mean && strcmp(op->type, "SUM") != 0) || !ln_tflite_is_fixed(op, 1, ACT_NONE))
        return false;
    const double factor = (double)ln_tflite_scale(op, ln_tflite_input(op, 0)) /
                          (double)ln_tflite_scale(op, ln_tflite_output(op, 0));
    bool is_reduced[TL_MAXDIM];
    const int64_t taps = ln_tflite_find_taps(op, is_reduced);
    const int64_t zero = zero_of(op, ln_tflite_input(op, 0));
    if (taps == 0 || llabs(zero) * taps > INT32_MAX ||
        !ln_tflite_find_multiplier(factor, 30, &multiplier, &shift))
        return false;
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *sum = ln_tflite_reduced(op, is_mean ? "ReduceSum" : op->builtin->optype, x);
    if (is_mean)
        divide_factor(taps, &multiplier, &shift);
    bool is_scalar = ln_tflite_small_option(op, 0) == 0;
    for (int i = 0; i < ln_tflite_input(op, 0)->ndim; i++)
        is_scalar = is_scalar && is_reduced[i];
    if (is_scalar) // which has no axis to rescale along
        sum = ln_tflite_reshape(b, sum, 1, (const int64_t[]){1});
    const char *y = rescale_sum(op, sum, taps, multiplier, shift);
    ln_tflite_give_raw(op, 0, is_scalar ? ln_tflite_reshape(b, y, 0, (const int64_t[]){0}) : y);
    return true;
}

// Rounded to nearest, ties away from zero. A mean that is not halfway is at least half of its
// number of taps' reciprocal from there; what doubles lose, and what is added so that halfway is
// never missed, is far less.
#define ALMOST_HALF (0.5 + 0x1p-26)
#define MAX_TAPS    (1 << 24)

bool ln_tflite_has_fixed_means(ln_tflite_op *op, int64_t width, int64_t height, int64_t activation)
{
    return ln_tflite_is_fixed(op, 1, activation) && ln_tflite_is_moved(op, 0, 1) && width > 0 &&
           height > 0 && width <= MAX_TAPS && height <= MAX_TAPS / width;
}

const char *ln_tflite_fixed_means(ln_tflite_op *op, const char *means, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const char *size = ln_tflite_unary(b, "Abs", means);
    size = ln_tflite_binary(b, "Add", size, ln_tflite_scalar(b, TL_DOUBLE, ALMOST_HALF));
    size = ln_tflite_unary(b, "Floor", size);
    const char *y = ln_tflite_binary(b, "Mul", size, ln_tflite_unary(b, "Sign", means));
    return activation == ACT_NONE ? ln_tflite_cast(b, y, out->dtype)
                                  : ln_tflite_bounded(op, y, TL_DOUBLE, activation);
}

// ---- Products of two tensors ----

bool ln_tflite_is_fixed_matmul(ln_tflite_op *op)
{
    const ln_tflite_tensor *x = ln_tflite_input(op, 0), *y = ln_tflite_input(op, 1);
    if (!ln_tflite_is_fixed(op, 1, ACT_NONE) || x->dtype == TL_UINT8 || !has_one_scale(op, y))
        return false;
    if (x->dtype == TL_INT8)
        return y->dtype == TL_INT8;
    return !has_zero_point(op, y) && (y->dtype == TL_INT16 || y->dtype == TL_INT8);
}

void ln_tflite_read_fixed_matmul(ln_tflite_op *op, const char *x, const char *y)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    const float unit =
        ln_tflite_scale(op, ln_tflite_input(op, 0)) * ln_tflite_scale(op, ln_tflite_input(op, 1));
    const double factor = (double)unit / (double)ln_tflite_scale(op, out);
    const bool is_int16 = out->dtype == TL_INT16;
    const tl_dtype dtype = is_int16 ? TL_INT64 : TL_INT32;
    x = ln_tflite_integers(op, 0, x, dtype);
    y = ln_tflite_integers(op, 1, y, dtype);
    const char *sums = ln_tflite_binary(op->b, "MatMul", x, y);
    const ln_tflite_rescaling r = {.rounding = is_int16 ? "q15" : "q31", .out = out};
    ln_tflite_give_raw(op, 0, ln_tflite_rescale(op, sums, 1, &factor, &r));
}
