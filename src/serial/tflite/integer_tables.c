// SPDX-License-Identifier: Apache-2.0
// Operators on integers that TensorFlow Lite's reference kernels compute with tables: LOGISTIC and
// TANH, EXP, LOG, SQRT, RSQRT, GELU and ELU, and SOFTMAX of int16. A function becomes a table of
// all its results, from which elements are gathered.

#include "serial/tflite/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#define VALUES (UINT16_MAX + 1)

// Tables of one model, of 128 KiB each; other functions go through real numbers.
#define MAX_TABLES 256

// A function of integers, with numbers that it depends on.
typedef struct function {
    const char *name;
    tl_dtype dtype;                                           // of x and y
    void (*fill)(const struct function *f, int16_t *results); // for -32768, -32767, ...
    int32_t multiplier, shift;
    float from, to; // scales of x and y
    int from_zero, to_zero;
    float (*y_of)(const struct function *f, float x); // NULL: the root
} function;

// ---- Tables ----

const char *ln_tflite_table(ln_tflite_builder *b, const char *wanted, const char *key,
                            tl_dtype dtype, int count, ln_tflite_fill fill, const void *f)
{
    const char *name = ln_hash_find(b->numbers, key);
    if (name)
        return name;
    if (b->table_count == MAX_TABLES)
        return NULL;
    if (!ln_tflite_is_going(b))
        return "";
    b->table_count++;
    name = ln_tflite_claim(b, b->tensor_names, wanted);
    void *results = ln_alloc((size_t)count * tl_size_of(dtype));
    char *text = ln_strdup(key);
    if (!results || !text || ln_hash_insert(b->numbers, text, (void *)(uintptr_t)name) < 0) {
        ln_free(results);
        ln_free(text);
        ln_tflite_stop(b, LN_NO_MEMORY, "a table of a function");
        return "";
    }
    fill(f, results);
    ln_tflite_constant(b, name, dtype, 1, &count, results, results);
    return name;
}

static void fill_results(const void *f, void *results)
{
    const function *of = f;
    of->fill(of, results);
}

// As the kernels fill a table of 256 bytes, in float.
static void fill_bytes(const void *of, void *results)
{
    const function *f = of;
    const int low = (int)tl_dtype_min_double(f->dtype), high = (int)tl_dtype_max_double(f->dtype);
    const float inverse = 1 / f->to;
    uint8_t *bytes = results;
    for (int value = low; value <= high; value++) {
        const float x = f->from * (float)(value - f->from_zero);
        float y = f->y_of ? roundf(f->y_of(f, x) * inverse) : 0;
        if (!f->y_of && x > 0) // without lines, and rounded toward zero
            y = truncf(sqrtf(x) / f->to);
        y = fminf(fmaxf(y + (float)f->to_zero, (float)low), (float)high);
        bytes[value - low] = (uint8_t)(int)y;
    }
}

static const char *table_of(ln_tflite_builder *b, const function *f)
{
    char key[128];
    const bool is_int16 = f->dtype == TL_INT16;
    snprintf(key, sizeof key, "%s:%d:%d:%d:%a:%d:%a:%d", f->name, (int)f->dtype, (int)f->multiplier,
             (int)f->shift, (double)f->from, f->from_zero, (double)f->to, f->to_zero);
    return ln_tflite_table(b, f->name, key, f->dtype, is_int16 ? VALUES : UINT8_MAX + 1,
                           is_int16 ? fill_results : fill_bytes, f);
}

// Elements of the table, whose first one is for `low`, at `x`, which is int32.
static const char *look_up(ln_tflite_builder *b, const char *table, const char *x, double low)
{
    const char *first = ln_tflite_scalar(b, TL_INT32, -low);
    return ln_tflite_along(b, "Gather", table, ln_tflite_binary(b, "Add", x, first), 0);
}

void ln_tflite_give_gathered(ln_tflite_op *op, const char *table)
{
    const double low = tl_dtype_min_double(ln_tflite_input(op, 0)->dtype);
    const char *x = ln_tflite_cast(op->b, ln_tflite_raw(op, 0), TL_INT32);
    ln_tflite_give_raw(op, 0, look_up(op->b, table, x, low));
}

// ---- LOGISTIC and TANH ----

#define SIGMOIDS  256
#define SATURATED (SIGMOIDS - 1)

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// sigmoid(i / 24) in units of 2^-16, moved by half of what a line between two of them is off in
// their middle.
static void fill_sigmoids(int32_t sigmoids[SIGMOIDS])
{
    for (int i = 0; i < SIGMOIDS; i++) {
        const double here = sigmoid(i / 24.0), next = sigmoid((i + 1) / 24.0);
        const double off = sigmoid((i + 0.5) / 24.0) - (here + next) / 2;
        sigmoids[i] = (int32_t)round((here + off / 2) * 0x1p16);
    }
    sigmoids[SATURATED] = UINT16_MAX;
}

// x in units of 1 / (3 * 2^12).
static int64_t scaled(const function *f, int x)
{
    const int64_t half = f->shift > 0 ? (int64_t)1 << (f->shift - 1) : 0;
    return ((int64_t)x * f->multiplier + half) >> f->shift;
}

// Between two sigmoids, in units of 2^-16-bits, where one step is 2^bits.
static int64_t interpolated(const int32_t sigmoids[SIGMOIDS], int64_t x, int bits, int64_t most)
{
    const int64_t step = x >> bits, rest = x & (((int64_t)1 << bits) - 1);
    if (step >= SATURATED)
        return most;
    return ((int64_t)sigmoids[step] << bits) + rest * (sigmoids[step + 1] - sigmoids[step]);
}

static void fill_logistic(const function *f, int16_t *results)
{
    int32_t sigmoids[SIGMOIDS];
    fill_sigmoids(sigmoids);
    for (int x = INT16_MIN; x <= INT16_MAX; x++) {
        const int64_t at = scaled(f, x);
        int64_t y = interpolated(sigmoids, llabs(at), 9, (int64_t)INT16_MAX << 10);
        y = at >= 0 ? y : (1 << 25) - 1 - y;
        results[x - INT16_MIN] = (int16_t)((y + (1 << 9)) >> 10);
    }
}

// tanh(x) = 2 sigmoid(2 x) - 1.
static void fill_tanh(const function *f, int16_t *results)
{
    int32_t sigmoids[SIGMOIDS];
    fill_sigmoids(sigmoids);
    for (int x = INT16_MIN; x <= INT16_MAX; x++) {
        const int64_t at = scaled(f, x);
        int64_t y = interpolated(sigmoids, llabs(at), 8, (int64_t)UINT16_MAX << 8);
        y = at >= 0 ? y - (1 << 23) : (1 << 23) - 1 - y;
        results[x - INT16_MIN] = (int16_t)((y + (1 << 7)) >> 8);
    }
}

// Scales near a power of two count as one.
static bool is_power_of_two(float scale, int *exponent)
{
    const float log2_scale = logf(scale) * (1.0f / logf(2.0f)), whole = roundf(log2_scale);
    *exponent = (int)whole;
    return fabsf(log2_scale - whole) < 1e-3f;
}

// What brings the input to units of 1 / (3 * 2^12): exact for scales of 2^-12 and, up to
// `max_left`, more; else 15 bits of the factor. False where there is none.
static bool find_scaling(float scale, int max_left, function *f)
{
    int exponent;
    f->shift = 0;
    if (is_power_of_two(scale, &exponent) && exponent >= -12 && exponent <= max_left - 12) {
        f->multiplier = 3 << (exponent + 12);
        return true;
    }
    double factor = (double)scale * 4096 * 3;
    for (; factor <= INT16_MAX / 2.0 && f->shift <= 30; factor *= 2)
        f->shift++;
    if (!(factor >= 1 && factor < UINT16_MAX))
        return false;
    f->multiplier = (int32_t)factor;
    return true;
}

bool ln_tflite_read_int16_sigmoid(ln_tflite_op *op)
{
    const bool is_tanh = strcmp(op->type, "TANH") == 0;
    if (!ln_tflite_is_int16(op, 1, 0) || ln_tflite_scale(op, ln_tflite_output(op, 0)) != 0x1p-15f)
        return false;
    function f = {.name = is_tanh ? "tanh" : "sigmoid",
                  .dtype = TL_INT16,
                  .fill = is_tanh ? fill_tanh : fill_logistic};
    if (!find_scaling(ln_tflite_scale(op, ln_tflite_input(op, 0)), is_tanh, &f))
        return false;
    const char *table = table_of(op->b, &f);
    if (!table)
        return false;
    ln_tflite_give_gathered(op, table);
    return true;
}

const char *ln_tflite_sigmoids(ln_tflite_op *op, const char *x, bool is_tanh, float scale)
{
    ln_tflite_builder *b = op->b;
    int exponent;
    function f = {.name = is_tanh ? "tanh" : "sigmoid",
                  .dtype = TL_INT16,
                  .fill = is_tanh ? fill_tanh : fill_logistic};
    if (!is_power_of_two(scale, &exponent) || !find_scaling(ldexpf(1, exponent), 0, &f))
        return NULL;
    const char *table = table_of(b, &f);
    return table ? ln_tflite_cast(b, ln_tflite_along(b, "Gather", table, x, 0), TL_INT32) : NULL;
}

// ---- Lines between 513 numbers ----

#define STEPS     512
#define STEP_BITS 7

static int16_t wrapped(int32_t x)
{
    return (int16_t)(uint16_t)x;
}

// Differences of neighbours are of 16 bits.
static void fill_between(const int32_t at[STEPS + 1], int16_t *results)
{
    for (int x = 0; x < VALUES; x++) {
        const int32_t i = x >> STEP_BITS, rest = x & ((1 << STEP_BITS) - 1);
        const int32_t rise = wrapped(at[i + 1] - at[i]) * rest + (1 << (STEP_BITS - 1));
        results[x] = wrapped(at[i] + (rise >> STEP_BITS));
    }
}

// ---- SOFTMAX ----

// A function from `low` to `high` at 513 places, in units of 2^-15, moved by half of what a line
// between two of them is off in their middle, and lines between them. Each rounding is that of the
// reference kernels.
static void fill_lines(double (*f)(double), double low, double high, int16_t *results)
{
    const double step = (high - low) / STEPS;
    int32_t at[STEPS + 1];
    for (int i = 0; i < STEPS; i++) {
        const double here = round(f(low + i * step) * 0x1p15);
        const double next = f(low + (i + 1) * step) * 0x1p15;
        const double middle = round(f(low + i * step + step / 2) * 0x1p15);
        const double off = round((next + here) / 2) - middle;
        at[i] = (int32_t)fmin(here - round(off / 2), INT16_MAX);
    }
    at[STEPS] = (int32_t)fmin(round(f(high) * 0x1p15), INT16_MAX);
    fill_between(at, results);
}

static void fill_exp(const function *f, int16_t *results)
{
    (void)f;
    fill_lines(exp, -10, 0, results);
}

static double over_one_more(double x)
{
    return 1 / (1 + x);
}

static void fill_reciprocal(const function *f, int16_t *results)
{
    (void)f;
    fill_lines(over_one_more, 0, 1, results);
}

const char *ln_tflite_leading_power(ln_tflite_builder *b, const char *sum)
{
    enum { FIRST = 15, COUNT = 16 };
    int32_t *limits = ln_alloc(COUNT * sizeof *limits);
    int32_t *powers = ln_alloc((COUNT + 1) * sizeof *powers);
    if (!limits || !powers) {
        ln_free(limits);
        ln_free(powers);
        ln_tflite_stop(b, LN_NO_MEMORY, "powers of two");
        return "";
    }
    for (int i = 0; i <= COUNT; i++)
        powers[i] = (int32_t)1 << (FIRST - 1 + i);
    for (int i = 0; i < COUNT; i++)
        limits[i] = powers[i + 1];
    const char *of_limits = ln_tflite_int32s(b, COUNT, limits);
    const char *of_powers = ln_tflite_int32s(b, COUNT + 1, powers);
    const char *is_above = ln_tflite_binary(b, "GreaterOrEqual", sum, of_limits);
    const char *last = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    const char *above =
        ln_tflite_binary(b, "ReduceSum", ln_tflite_cast(b, is_above, TL_INT32), last);
    return ln_tflite_along(b, "Gather", of_powers, above, 0);
}

// The sum, from 1 to 2 of its leading power, in units of 2^-16, rounded; less 1, from -32768 on.
static const char *fraction(ln_tflite_builder *b, const char *sum, const char *power)
{
    const char *top = ln_tflite_scalar(b, TL_INT32, 0x1p30);
    const char *left = ln_tflite_binary(b, "Div", top, power);
    const char *shifted = ln_tflite_binary(b, "Mul", sum, left);
    const char *y = ln_tflite_shifted(b, shifted, 14);
    y = ln_tflite_binary(b, "Sub", y, ln_tflite_scalar(b, TL_INT32, 0x1p16 + 0x1p15));
    return ln_tflite_binary(b, "Min", y, ln_tflite_scalar(b, TL_INT32, INT16_MAX));
}

bool ln_tflite_read_int16_softmax(ln_tflite_op *op, float beta)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    if (!ln_tflite_is_int16(op, 1, 0) || in->ndim < 1 || in->dims[in->ndim - 1] == 0 ||
        !(fabsf(ln_tflite_scale(op, ln_tflite_output(op, 0)) - 0x1p-15f) <= 0.001f * 0x1p-15f))
        return false;
    const double factor = (double)(ln_tflite_scale(op, in) * beta) / (10.0 / 65535.0);
    if (!(factor > 0 && factor < 0x1p16))
        return false;
    const char *exps = table_of(b, &(function){.name = "exp", .dtype = TL_INT16, .fill = fill_exp});
    const char *reciprocals =
        table_of(b, &(function){.name = "reciprocal", .dtype = TL_INT16, .fill = fill_reciprocal});
    if (!exps || !reciprocals)
        return false;
    const char *last = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_INT32);
    const char *below = ln_tflite_binary(b, "Sub", x, ln_tflite_binary(b, "ReduceMax", x, last));
    below = ln_tflite_rescaled(op, below, factor, -UINT16_MAX);
    below = ln_tflite_binary(b, "Add", below, ln_tflite_scalar(b, TL_INT32, INT16_MAX));
    x = ln_tflite_cast(b, look_up(b, exps, below, INT16_MIN), TL_INT32);

    const char *sum = ln_tflite_binary(b, "ReduceSum", x, last),
               *power = ln_tflite_leading_power(b, sum);
    const char *scale =
        ln_tflite_cast(b, look_up(b, reciprocals, fraction(b, sum, power), INT16_MIN), TL_INT32);
    const char *half = ln_tflite_binary(b, "Div", power, ln_tflite_scalar(b, TL_INT32, 2));
    const char *y = ln_tflite_binary(b, "Add", ln_tflite_binary(b, "Mul", x, scale), half);
    y = ln_tflite_binary(b, "Div", y, power);
    y = ln_tflite_binary(b, "Min", y, ln_tflite_scalar(b, TL_INT32, INT16_MAX));
    ln_tflite_give_raw(op, 0, ln_tflite_cast(b, y, TL_INT16));
    return true;
}

// ---- EXP, LOG, RSQRT, GELU, SQRT; of bytes LOGISTIC, TANH, ELU ----

static float y_of_exp(const function *f, float x)
{
    (void)f;
    return (float)exp((double)x);
}

static float y_of_log(const function *f, float x)
{
    if (x > 0)
        return (float)log((double)x);
    return (float)((int)tl_dtype_min_double(f->dtype) - f->to_zero) * f->to;
}

static float y_of_rsqrt(const function *f, float x)
{
    return x <= 0 ? INT16_MAX * f->to : 1 / sqrtf(x);
}

static float y_of_gelu(const function *f, float x)
{
    (void)f;
    return 0.5f * x * (float)erfc((double)(x * -0.70710678118654752f));
}

static float y_of_gelu_tanh(const function *f, float x)
{
    (void)f;
    const float cubic = 0.79788456080286536f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1 + (float)tanh((double)cubic));
}

static float y_of_logistic(const function *f, float x)
{
    (void)f;
    return 1 / (1 + (float)exp((double)-x));
}

static float y_of_tanh(const function *f, float x)
{
    (void)f;
    return (float)tanh((double)x);
}

static float y_of_elu(const function *f, float x)
{
    (void)f;
    return x < 0 ? (float)expm1((double)x) : x;
}

// The x of step `i`, and y in units of the results.
static float x_at(const function *f, int i)
{
    const float low = f->from * INT16_MIN, high = f->from * INT16_MAX;
    return low + (float)i * ((high - low) / STEPS);
}

static float half_step(const function *f)
{
    return (f->from * INT16_MAX - f->from * INT16_MIN) / STEPS / 2;
}

static float units_at(const function *f, float x)
{
    return f->y_of(f, x) * (VALUES / (f->to * INT16_MAX - f->to * INT16_MIN));
}

static bool is_finite(const function *f)
{
    bool is_finite = isfinite(units_at(f, f->from * INT16_MAX));
    for (int i = 0; i <= STEPS; i++)
        is_finite = is_finite && isfinite(units_at(f, x_at(f, i))) &&
                    isfinite(units_at(f, x_at(f, i) + half_step(f)));
    return is_finite;
}

static int32_t saturated(float x)
{
    return (int32_t)fminf(fmaxf(x, INT16_MIN), INT16_MAX);
}

// As fill_lines, each step of it in float.
static void fill_float_lines(const function *f, int16_t *results)
{
    int32_t at[STEPS + 1];
    for (int i = 0; i < STEPS; i++) {
        const float here = roundf(units_at(f, x_at(f, i))), next = units_at(f, x_at(f, i + 1));
        const float middle = roundf(units_at(f, x_at(f, i) + half_step(f)));
        const float off = roundf((next + here) / 2) - middle;
        at[i] = saturated(here - roundf(off / 2));
    }
    at[STEPS] = saturated(roundf(units_at(f, f->from * INT16_MAX)));
    fill_between(at, results);
}

// Without lines, and rounded toward zero. Negative numbers, which the kernel refuses, give 0.
static void fill_sqrt(const function *f, int16_t *results)
{
    for (int x = INT16_MIN; x <= INT16_MAX; x++) {
        const float y = x > 0 ? sqrtf(f->from * (float)x) / f->to : 0;
        results[x - INT16_MIN] = (int16_t)saturated(y);
    }
}

enum { OF_INT16 = 1, OF_INT8 = 2, OF_UINT8 = 4, OF_BYTES = OF_INT8 | OF_UINT8 };

// That of the function's type.
static int kind_of(tl_dtype dtype)
{
    return dtype == TL_INT16 ? OF_INT16 : dtype == TL_INT8 ? OF_INT8 : OF_UINT8;
}

static bool find_function(ln_tflite_op *op, tl_dtype dtype, function *f)
{
    static const struct row {
        const char *type, *name;
        float (*y_of)(const function *f, float x);
        int kinds; // that a kernel takes
    } rows[] = {{"EXP", "exp", y_of_exp, OF_INT16 | OF_INT8},
                {"LOG", "log", y_of_log, OF_INT16 | OF_INT8},
                {"RSQRT", "rsqrt", y_of_rsqrt, OF_INT16},
                {"GELU", "gelu", y_of_gelu, OF_INT16 | OF_BYTES},
                {"SQRT", "sqrt", NULL, OF_INT16 | OF_INT8},
                {"LOGISTIC", "logistic", y_of_logistic, OF_BYTES},
                {"TANH", "tanh", y_of_tanh, OF_BYTES},
                {"ELU", "elu", y_of_elu, OF_INT8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(op->type, rows[i].type) != 0 || !(rows[i].kinds & kind_of(dtype)))
            continue;
        *f = (function){.name = rows[i].name,
                        .dtype = dtype,
                        .fill = rows[i].y_of ? fill_float_lines : fill_sqrt,
                        .y_of = rows[i].y_of};
        if (f->y_of == y_of_gelu && ln_tflite_small_option(op, 0)) {
            f->name = "gelu_tanh";
            f->y_of = y_of_gelu_tanh;
        }
        return true;
    }
    return false;
}

bool ln_tflite_read_fixed_function(ln_tflite_op *op)
{
    function f;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    if (!ln_tflite_is_fixed(op, 1, 0) || !find_function(op, in->dtype, &f))
        return false;
    f.from = ln_tflite_scale(op, in);
    f.to = ln_tflite_scale(op, out);
    f.from_zero = ln_tflite_zero(op, in);
    f.to_zero = ln_tflite_zero(op, out);
    if (in->dtype == TL_INT16 && f.y_of && !is_finite(&f))
        return false;
    const char *table = table_of(op->b, &f);
    if (!table)
        return false;
    ln_tflite_give_gathered(op, table);
    return true;
}
