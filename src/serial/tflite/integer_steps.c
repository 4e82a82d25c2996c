// SPDX-License-Identifier: Apache-2.0
// Operators on integers that TensorFlow Lite's reference kernels compute in several steps, of which
// each rounds: DIV, REDUCE_PROD and RESIZE_BILINEAR.

#include "serial/tflite/builder.h"

#include <math.h>
#include <string.h>

#include <lightnet/allocator.h>

static const char *int64_of(ln_tflite_builder *b, const char *x)
{
    return ln_tflite_cast(b, x, TL_INT64);
}

static const char *int64_scalar(ln_tflite_builder *b, double value)
{
    return ln_tflite_scalar(b, TL_INT64, value);
}

// x / y of int64, y positive, to nearest, ties away from zero.
static const char *rounded_quotient(ln_tflite_builder *b, const char *x, const char *y)
{
    const char *half = ln_tflite_binary(b, "Div", y, int64_scalar(b, 2));
    half = ln_tflite_binary(b, "Mul", ln_tflite_unary(b, "Sign", x), half);
    return ln_tflite_binary(b, "Div", ln_tflite_binary(b, "Add", x, half), y);
}

// ---- DIV ----

// Sizes of differences of int16 and 0.
#define SIZES ((1 << 15) + 1)

// Of the factor: what is divided by is then of 63 bits.
#define MIN_SHIFT (-16)

typedef struct quotient_tables {
    const char *reciprocals, *powers; // by sizes
    int32_t multiplier, shift;        // of the factor
} quotient_tables;

// a * b / 2^31, ties upwards.
static int64_t high_product(int64_t a, int64_t b)
{
    return (a * b + ((int64_t)1 << 30)) >> 31;
}

static int bits_of(int32_t size)
{
    int bits = 0;
    while (size >> bits != 0)
        bits++;
    return bits;
}

// 2^bits / size in units of 2^-31, by three steps of Newton's method with numbers in units of
// 2^-29, from 48/17 - 32/17 of half of the divisor.
static int32_t reciprocal_of(int32_t size)
{
    const int64_t divisor = (int64_t)size << (32 - bits_of(size)); // from 2^31 to 2^32
    const int64_t half = divisor / 2;
    int64_t x = 1515870810 + high_product(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += 4 * high_product(x, ((int64_t)1 << 29) - high_product(half, x));
    return 2 * x < INT32_MAX ? (int32_t)(2 * x) : INT32_MAX;
}

static void fill_reciprocals(const void *unused, void *results)
{
    (void)unused;
    int32_t *reciprocals = results;
    reciprocals[0] = 0;
    for (int32_t size = 1; size < SIZES; size++)
        reciprocals[size] = reciprocal_of(size);
}

// 2^bits, which is above each size.
static void fill_powers(const void *unused, void *results)
{
    (void)unused;
    int32_t *powers = results;
    for (int32_t size = 0; size < SIZES; size++)
        powers[size] = (int32_t)1 << bits_of(size);
}

const char *ln_tflite_high_half(ln_tflite_builder *b, const char *x)
{
    const char *unit = int64_scalar(b, 0x1p31);
    x = ln_tflite_binary(b, "Add", x, int64_scalar(b, 0x1p30));
    const char *rest = ln_tflite_binary(b, "Mod", x, unit); // is not negative
    return ln_tflite_binary(b, "Div", ln_tflite_binary(b, "Sub", x, rest), unit);
}

// x * 2^31 / 2^bits of its size, times the reciprocal; `above` is 2^bits of int64.
static const char *unscaled_quotient(ln_tflite_builder *b, const char *x, const char *above,
                                     const char *reciprocal)
{
    const char *left = ln_tflite_binary(b, "Div", int64_scalar(b, 0x1p31), above);
    const char *shifted = ln_tflite_binary(b, "Mul", int64_of(b, x), left);
    return ln_tflite_high_half(b, ln_tflite_binary(b, "Mul", shifted, reciprocal));
}

// The size of a negative number of `bits` bits is one less for their number of bits.
static const char *size_for_bits(ln_tflite_builder *b, const char *x)
{
    const char *below = ln_tflite_binary(b, "Sub", ln_tflite_scalar(b, TL_INT32, -1), x);
    return ln_tflite_binary(b, "Max", x, below);
}

// x / y of int32 times a factor. A divisor of 0, which the kernel refuses, gives 0.
static const char *quotient_of(ln_tflite_builder *b, const char *x, const char *y,
                               const quotient_tables *t)
{
    const char *size = ln_tflite_unary(b, "Abs", y);
    x = ln_tflite_binary(b, "Mul", x, ln_tflite_unary(b, "Sign", y));
    const char *reciprocal = int64_of(b, ln_tflite_along(b, "Gather", t->reciprocals, size, 0));
    const char *divisor = int64_of(b, ln_tflite_along(b, "Gather", t->powers, size, 0));
    const char *above = ln_tflite_along(b, "Gather", t->powers, size_for_bits(b, x), 0);
    above = int64_of(b, above);
    const char *quotient = unscaled_quotient(b, x, above, reciprocal);
    quotient = ln_tflite_binary(b, "Mul", quotient, int64_scalar(b, t->multiplier));
    quotient = ln_tflite_high_half(b, quotient);
    // Back by the bits of both.
    quotient = ln_tflite_binary(b, "Mul", quotient, above);
    divisor = ln_tflite_binary(b, "Mul", divisor, int64_scalar(b, ldexp(1, 30 - t->shift)));
    return rounded_quotient(b, quotient, divisor);
}

bool ln_tflite_read_fixed_quotient(ln_tflite_op *op, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    quotient_tables t;
    if (!ln_tflite_is_fixed(op, 2, activation))
        return false;
    const float unit =
        ln_tflite_scale(op, ln_tflite_input(op, 1)) * ln_tflite_scale(op, ln_tflite_output(op, 0));
    const double factor = (double)(ln_tflite_scale(op, ln_tflite_input(op, 0)) / unit);
    if (!ln_tflite_find_multiplier(factor, 30, &t.multiplier, &t.shift) || t.shift < MIN_SHIFT)
        return false;
    t.reciprocals =
        ln_tflite_table(b, "reciprocals", "reciprocals", TL_INT32, SIZES, fill_reciprocals, NULL);
    t.powers = ln_tflite_table(b, "powers", "powers", TL_INT32, SIZES, fill_powers, NULL);
    if (!t.reciprocals || !t.powers)
        return false;
    const char *x = ln_tflite_integers(op, 0, ln_tflite_raw(op, 0), TL_INT32);
    const char *y = ln_tflite_integers(op, 1, ln_tflite_raw(op, 1), TL_INT32);
    y = ln_tflite_with_zero_point(op, quotient_of(b, x, y, &t), TL_INT64);
    ln_tflite_give_raw(op, 0, ln_tflite_bounded(op, y, TL_INT64, activation));
    return true;
}

// ---- REDUCE_PROD ----

// Products of more numbers go through real numbers.
#define MAX_FACTORS 64

// Axes in the order of kept ones, then of those that are multiplied, of which one is made; false
// where sizes are not known.
static bool find_order(const ln_tflite_tensor *in, const bool *is_reduced, int64_t taps, int *perm,
                       int64_t *dims, int *out_kept)
{
    int kept = 0, open = 0, next;
    for (int i = 0; i < in->ndim; i++) {
        if (is_reduced[i])
            continue;
        if (in->dims[i] == 0)
            return false;
        open += in->dims[i] < 0;
        perm[kept] = i;
        dims[kept++] = in->dims[i];
    }
    next = kept;
    for (int i = 0; i < in->ndim; i++)
        if (is_reduced[i])
            perm[next++] = i;
    dims[kept] = taps;
    *out_kept = kept;
    return open <= 1;
}

static const char *factor_at(ln_tflite_builder *b, const char *x, int64_t i, int axis)
{
    return ln_tflite_along(b, "Gather", x, int64_scalar(b, (double)i), axis);
}

// The product along axis `axis`, rescaled after each factor but the first, and at the end.
static const char *rescaled_product(ln_tflite_op *op, const char *x, int axis, int64_t taps,
                                    double factor)
{
    ln_tflite_builder *b = op->b;
    const char *product = factor_at(b, x, 0, axis);
    for (int64_t i = 1; i < taps; i++) {
        product = ln_tflite_binary(b, "Mul", product, factor_at(b, x, i, axis));
        product = int64_of(b, ln_tflite_rescaled_wide(op, product, factor, false));
    }
    return ln_tflite_rescaled_wide(op, product, factor, true);
}

bool ln_tflite_read_fixed_factors(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_reduced[TL_MAXDIM];
    int perm[TL_MAXDIM], kept;
    int64_t dims[TL_MAXDIM + 1], axes[TL_MAXDIM];
    int32_t multiplier, shift;
    if (strcmp(op->type, "REDUCE_PROD") != 0 || !ln_tflite_is_fixed(op, 1, 0))
        return false;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    if (in->dtype == TL_UINT8) // which no kernel takes
        return false;
    const int64_t taps = ln_tflite_find_taps(op, is_reduced);
    if (taps == 0 || taps > MAX_FACTORS || !find_order(in, is_reduced, taps, perm, dims, &kept))
        return false;
    const double from = (double)ln_tflite_scale(op, in),
                 to = (double)ln_tflite_scale(op, ln_tflite_output(op, 0));
    const double factor = from / pow(to, 1.0 / (double)taps);
    if (!ln_tflite_find_multiplier(factor, 7, &multiplier, &shift))
        return false;
    const char *x = ln_tflite_integers(op, 0, ln_tflite_raw(op, 0), TL_INT64);
    x = ln_tflite_reshape(b, ln_tflite_transpose(b, x, in->ndim, perm), kept + 1, dims);
    const char *y = rescaled_product(op, x, kept, taps, factor);
    if (ln_tflite_small_option(op, 0) != 0) {
        for (int i = kept; i < in->ndim; i++)
            axes[i - kept] = perm[i];
        y = ln_tflite_binary(b, "Unsqueeze", y, ln_tflite_ints(b, (size_t)(in->ndim - kept), axes));
    }
    ln_tflite_give_raw(op, 0, y);
    return true;
}

// ---- RESIZE_BILINEAR ----

// Sizes whose positions in units of 2^-10 are of 32 bits.
#define MAX_SIZE  (1 << 15)
#define UNIT_BITS 10
#define UNIT      (1 << UNIT_BITS)

typedef struct resizing {
    bool is_aligned, is_half; // positions of corners, and of pixels' middles
    int from, to;
} resizing;

// How far positions of the input are apart, rounded, in units of 2^-10.
static int step_of(const resizing *r)
{
    if (r->is_aligned && r->to > 1)
        return (UNIT * (r->from - 1) + (r->to - 1) / 2) / (r->to - 1);
    return (UNIT * r->from + r->to / 2) / r->to;
}

// The element before position `i`, the one after it, and the weights of both.
static void find_neighbours(const resizing *r, int i, int64_t *lower, int64_t *upper,
                            int64_t *lower_weight, int64_t *upper_weight)
{
    const int step = step_of(r);
    const int at = r->is_half ? i * step + step / 2 - UNIT / 2 : i * step;
    const int last = r->from - 1, after = (at + UNIT - 1) / UNIT;
    *lower = at / UNIT > 0 ? at / UNIT : 0;
    *upper = after < last ? after : last;
    *upper_weight = at - UNIT * *lower;
    *lower_weight = UNIT - *upper_weight;
}

static const char *weighted(ln_tflite_builder *b, const char *x, int axis, int64_t count,
                            const int64_t *indices, const int64_t *weights)
{
    const char *y =
        ln_tflite_along(b, "Gather", x, ln_tflite_ints(b, (size_t)count, indices), axis);
    const char *factor = ln_tflite_ints(b, (size_t)count, weights);
    // Axes after it, of an image with channels last.
    factor = ln_tflite_reshape(b, factor, 4 - axis, (const int64_t[]){count, 1, 1});
    return ln_tflite_binary(b, "Mul", y, factor);
}

// `x` resized along an axis, in units of 2^-10 of its own.
static const char *resized(ln_tflite_builder *b, const char *x, int axis, const resizing *r)
{
    const size_t count = (size_t)r->to;
    int64_t *numbers = ln_tflite_is_going(b) ? ln_alloc(4 * count * sizeof *numbers) : NULL;
    if (!numbers) {
        ln_tflite_stop(b, LN_NO_MEMORY, "positions of an image");
        return "";
    }
    int64_t *lower = numbers, *upper = lower + count;
    int64_t *lower_weights = upper + count, *upper_weights = lower_weights + count;
    for (int i = 0; i < r->to; i++)
        find_neighbours(r, i, &lower[i], &upper[i], &lower_weights[i], &upper_weights[i]);
    const char *before = weighted(b, x, axis, r->to, lower, lower_weights);
    const char *after = weighted(b, x, axis, r->to, upper, upper_weights);
    ln_free(numbers);
    return ln_tflite_binary(b, "Add", before, after);
}

// Whether positions are known, and none is outside.
static bool is_inside(const resizing *r)
{
    int64_t lower, upper, lower_weight, upper_weight;
    if (r->from < 1 || r->from > MAX_SIZE || r->to < 1 || r->to > MAX_SIZE ||
        (r->is_aligned && r->is_half))
        return false;
    find_neighbours(r, r->to - 1, &lower, &upper, &lower_weight, &upper_weight);
    return lower < r->from;
}

bool ln_tflite_read_fixed_resize(ln_tflite_op *op, bool is_aligned, bool is_half)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int64_t size[2];
    size_t count;
    // The kernel of uint8 goes through floats.
    if (!ln_tflite_is_fixed(op, 1, 0) || in->dtype == TL_UINT8 || !ln_tflite_is_moved(op, 0, 1) ||
        in->ndim != 4 || !ln_tflite_is_known(op, 1) ||
        !ln_tflite_known(op, 1, "size", 2, size, &count) || count != 2 || size[0] > MAX_SIZE ||
        size[1] > MAX_SIZE)
        return false;
    const resizing rows = {is_aligned, is_half, in->dims[1], size[0] < 0 ? 0 : (int)size[0]};
    const resizing columns = {is_aligned, is_half, in->dims[2], size[1] < 0 ? 0 : (int)size[1]};
    if (!is_inside(&rows) || !is_inside(&columns))
        return false;
    const char *x = resized(b, int64_of(b, ln_tflite_raw(op, 0)), 1, &rows);
    x = resized(b, x, 2, &columns);
    x = rounded_quotient(b, x, int64_scalar(b, UNIT * UNIT));
    ln_tflite_give_raw(op, 0, ln_tflite_cast(b, x, in->dtype));
    return true;
}
