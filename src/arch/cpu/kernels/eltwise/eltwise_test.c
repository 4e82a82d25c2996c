// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels against the C library in double, and their instruction sets against each
// other.

#include "arch/cpu/kernels/eltwise/eltwise.h"

#include <float.h>

#include "arch/cpu/kernels/kernel_test.h"

static const ln_act_f32_args acts[] = {
    {LN_ACT_NONE, 0, 0},
    {LN_ACT_RELU, 0, 0},
    {LN_ACT_CLIP, -0.5f, 0.75f},
    {LN_ACT_LRELU, 0.1f, 0},
    {LN_ACT_SIGMOID, 0, 0},
    {LN_ACT_TANH, 0, 0},
    {LN_ACT_SILU, 0, 0},
    {LN_ACT_HARD_SIGMOID, 0.2f, 0.5f},
    {LN_ACT_HARD_SWISH, 1.0f / 6, 0.5f},
    {LN_ACT_GELU, 0, 0},
    {LN_ACT_GELU_TANH, 0, 0},
    {LN_ACT_ELU, 0.75f, 0},
    {LN_ACT_SOFTPLUS, 0, 0},
    {LN_ACT_MISH, 0, 0},
    {LN_ACT_EXP, 0, 0},
    {LN_ACT_ERF, 0, 0},
    {LN_ACT_SQRT, 0, 0},
    {LN_ACT_ABS, 0, 0},
    {LN_ACT_NEG, 0, 0},
    {LN_ACT_AFFINE, 0.75f, 0.5f},
    {LN_ACT_SCALED_TANH, 1.5f, 0.75f},
    {LN_ACT_SOFTSIGN, 0, 0},
    {LN_ACT_THRESHOLDED_RELU, 0.25f, 0},
    {LN_ACT_SWISH, 1.702f, 0},
    {LN_ACT_SELU, 1.6732632f, 1.050701f},
};
#define ACT_COUNT (sizeof acts / sizeof acts[0])
_Static_assert(ACT_COUNT == LN_ACT_COUNT, "each activation is tested");

static double exact_clip(double x, double least, double most)
{
    return isnan(x) ? x : fmin(fmax(x, least), most);
}

static double exact_logistic(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double exact_mish(double x)
{
    double e = exp(-fabs(x));
    return x >= 0 ? x * (1 + 2 * e) / (1 + 2 * e + 2 * e * e)
                  : x * (e * e + 2 * e) / (e * e + 2 * e + 2);
}

static double exact_act(const ln_act_f32_args *act, double x)
{
    double alpha = (double)act->alpha, beta = (double)act->beta;
    switch (act->act) {
    case LN_ACT_NONE: return x;
    case LN_ACT_RELU: return 0 > x ? 0 : x;
    case LN_ACT_CLIP: return exact_clip(x, alpha, beta);
    case LN_ACT_LRELU: return x >= 0 ? x : x * alpha;
    case LN_ACT_SIGMOID: return exact_logistic(x);
    case LN_ACT_TANH: return tanh(x);
    case LN_ACT_SILU: return x * exact_logistic(x);
    case LN_ACT_HARD_SIGMOID: return exact_clip(alpha * x + beta, 0, 1);
    case LN_ACT_HARD_SWISH: return x * exact_clip(alpha * x + beta, 0, 1);
    case LN_ACT_GELU: return x * (erfc(-x / sqrt(2.0)) / 2);
    case LN_ACT_GELU_TANH:
        return x * exact_logistic(1.5957691216057307117 * x * (1 + 0.044715 * x * x));
    case LN_ACT_ELU: return x >= 0 ? x : alpha * expm1(x);
    case LN_ACT_SOFTPLUS: return isnan(x) ? x : fmax(x, 0) + log1p(exp(-fabs(x)));
    case LN_ACT_MISH: return exact_mish(x);
    case LN_ACT_EXP: return exp(x);
    case LN_ACT_ERF: return erf(x);
    case LN_ACT_SQRT: return sqrt(x);
    case LN_ACT_ABS: return fabs(x);
    case LN_ACT_NEG: return -x;
    case LN_ACT_AFFINE: return alpha * x + beta;
    case LN_ACT_SCALED_TANH: return alpha * tanh(beta * x);
    case LN_ACT_SOFTSIGN: return isinf(x) ? copysign(1, x) : x / (1 + fabs(x));
    case LN_ACT_THRESHOLDED_RELU: return alpha >= x ? 0 : x;
    case LN_ACT_SWISH: return x * exact_logistic(alpha * x);
    case LN_ACT_SELU: return beta * (x >= 0 ? x : alpha * expm1(x));
    case LN_ACT_COUNT: break;
    }
    return NAN;
}

// In units in the last place. Of a product one factor of which is no normal number any more, only
// the size is promised.
static double limit_of(const ln_act_f32_args *act, double exact)
{
    switch (act->act) {
    case LN_ACT_NONE:
    case LN_ACT_RELU:
    case LN_ACT_CLIP:
    case LN_ACT_LRELU:
    case LN_ACT_SQRT:
    case LN_ACT_ABS:
    case LN_ACT_NEG:
    case LN_ACT_AFFINE:
    case LN_ACT_THRESHOLDED_RELU: return 0.501;
    case LN_ACT_HARD_SIGMOID: return 0.501;
    case LN_ACT_HARD_SWISH: return 1.51;
    case LN_ACT_GELU: return 5;
    case LN_ACT_GELU_TANH:
    case LN_ACT_SILU:
    case LN_ACT_SWISH:
    case LN_ACT_MISH: return fabs(exact) < 1e-36 ? 1e7 : 4;
    case LN_ACT_TANH:
    case LN_ACT_ELU:
    case LN_ACT_SOFTPLUS: return 3;
    case LN_ACT_SCALED_TANH:
    case LN_ACT_SELU: return 4; // a product more
    default: return 2;
    }
}

static double exact_binary(ln_binary op, double a, double b)
{
    switch (op) {
    case LN_BINARY_SUM: return a + b;
    case LN_BINARY_SUB: return a - b;
    case LN_BINARY_MUL: return a * b;
    case LN_BINARY_DIV: return a / b;
    case LN_BINARY_MAX: return isnan(a) || isnan(b) ? NAN : fmax(a, b);
    case LN_BINARY_MIN: return isnan(a) || isnan(b) ? NAN : fmin(a, b);
    case LN_BINARY_PRELU: return a >= 0 ? a : a * b;
    case LN_BINARY_COUNT: break;
    }
    return NAN;
}

static void check_ulp(const char *what, float value, double exact, double limit)
{
    if (ulp_error(value, exact) > limit)
        fail_msg("%s: %.9g instead of %.17g, %.2f ulp", what, (double)value, exact,
                 ulp_error(value, exact));
}

// n elements, then the same in place.
static void check_act(const ln_act_f32_args *act, const float *values, size_t n, bool at_end)
{
    guarded x = guarded_make(n, at_end);
    float *first = calloc(n + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(n, at_end);
        if (n)
            memcpy(x.p, values, n * sizeof *values);
        ln_act_f32(isa, act, n, x.p, y.p, NULL);
        ln_act_f32(isa, act, n, x.p, x.p, NULL);
        check_same_bits("in place", isa, y.p, x.p, n);
        if (isa == LN_CPU_ISA_generic && n)
            memcpy(first, y.p, n * sizeof *first);
        check_same_bits(ln_act_name(act->act), isa, first, y.p, n);
        for (size_t i = 0; i < n; i++) {
            double exact = exact_act(act, (double)values[i]);
            check_ulp(ln_act_name(act->act), y.p[i], exact, limit_of(act, exact));
        }
        guarded_free(&y);
    }
    free(first);
    guarded_free(&x);
}

// One row for both operands.
static ln_binary_f32_args row_args(ln_binary op, int *n, const float *x1, const float *x2, float *y)
{
    return (ln_binary_f32_args){.op = op,
                                .x1_ndim = 1,
                                .x2_ndim = 1,
                                .ndim = 1,
                                .x1_dims = n,
                                .x2_dims = n,
                                .dims = n,
                                .x1 = x1,
                                .x2 = x2,
                                .y = y};
}

static void check_binary(ln_binary op, const float *v1, const float *v2, int n, bool at_end)
{
    size_t count = (size_t)n;
    guarded x1 = guarded_make(count, at_end), x2 = guarded_make(count, at_end);
    float *first = calloc(count + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(count, at_end);
        if (n) {
            memcpy(x1.p, v1, count * sizeof *v1);
            memcpy(x2.p, v2, count * sizeof *v2);
        }
        ln_binary_f32_args args = row_args(op, &n, x1.p, x2.p, y.p);
        ln_binary_f32(isa, &args, NULL);
        if (isa == LN_CPU_ISA_generic && n)
            memcpy(first, y.p, count * sizeof *first);
        check_same_bits("binary", isa, first, y.p, count);
        for (size_t i = 0; i < count; i++)
            check_ulp("binary", y.p[i], exact_binary(op, (double)v1[i], (double)v2[i]), 0.501);
        args.y = x1.p;
        ln_binary_f32(isa, &args, NULL);
        check_same_bits("in place", isa, first, x1.p, count);
        guarded_free(&y);
    }
    free(first);
    guarded_free(&x1);
    guarded_free(&x2);
}

// ---- Broadcasting ----

typedef struct shape {
    int ndim, dims[4];
} shape;

static size_t len_of(const shape *s)
{
    size_t len = 1;
    for (int i = 0; i < s->ndim; i++)
        len *= (size_t)s->dims[i];
    return len;
}

// Where the element of `whole` at a place is in an operand of shape `part`.
static size_t place_in(const shape *part, const shape *whole, size_t place)
{
    size_t at = 0, step = 1;
    for (int i = 0; i < part->ndim; i++) {
        int own = part->ndim - 1 - i, axis = whole->ndim - 1 - i;
        size_t coord = place % (size_t)whole->dims[axis];
        place /= (size_t)whole->dims[axis];
        if (part->dims[own] > 1)
            at += coord * step;
        step *= (size_t)part->dims[own];
    }
    return at;
}

// Element by element with rows of one gives what the whole must be.
static void expect_broadcast(const ln_binary_f32_args *args, const shape *a, const shape *b,
                             const shape *whole, float *expected)
{
    int one = 1;
    for (size_t i = 0; i < len_of(whole); i++) {
        ln_binary_f32_args single = row_args(args->op, &one, args->x1 + place_in(a, whole, i),
                                             args->x2 + place_in(b, whole, i), &expected[i]);
        single.act = args->act;
        ln_binary_f32(LN_CPU_ISA_generic, &single, NULL);
    }
}

static void check_broadcast(const shape *a, const shape *b, const shape *whole, ln_pool *pool)
{
    size_t count = len_of(whole);
    guarded x1 = guarded_make(len_of(a), true), x2 = guarded_make(len_of(b), false);
    float *expected = calloc(count + 1, sizeof *expected);
    CHECK_NOT_NULL(expected);
    fill_random(x1.p, x1.count);
    fill_random(x2.p, x2.count);
    for (int op = 0; op < LN_BINARY_COUNT; op++) {
        for (size_t act = 0; act < 5; act++) {
            ln_binary_f32_args args = {.op = (ln_binary)op,
                                       .x1_ndim = a->ndim,
                                       .x2_ndim = b->ndim,
                                       .ndim = whole->ndim,
                                       .x1_dims = a->dims,
                                       .x2_dims = b->dims,
                                       .dims = whole->dims,
                                       .x1 = x1.p,
                                       .x2 = x2.p,
                                       .act = acts[act]};
            expect_broadcast(&args, a, b, whole, expected);
            FOR_EACH_ISA(isa)
            {
                guarded y = guarded_make(count, op & 1);
                args.y = y.p;
                ln_binary_f32(isa, &args, pool);
                check_same_bits("broadcast", isa, expected, y.p, count);
                guarded_free(&y);
            }
        }
    }
    free(expected);
    guarded_free(&x1);
    guarded_free(&x2);
}

TEST(operands_are_repeated_over_missing_axes)
{
    static const struct {
        shape a, b, whole;
    } cases[] = {
        {{1, {37}}, {1, {1}}, {1, {37}}},
        {{1, {1}}, {1, {37}}, {1, {37}}},
        {{0, {0}}, {0, {0}}, {0, {0}}},
        {{4, {2, 3, 5, 19}}, {1, {19}}, {4, {2, 3, 5, 19}}},
        {{4, {2, 3, 5, 19}}, {4, {2, 1, 1, 19}}, {4, {2, 3, 5, 19}}},
        {{4, {2, 3, 5, 19}}, {4, {2, 3, 5, 1}}, {4, {2, 3, 5, 19}}},
        {{4, {2, 3, 5, 19}}, {4, {2, 1, 5, 1}}, {4, {2, 3, 5, 19}}},
        {{4, {2, 1, 5, 1}}, {3, {3, 1, 19}}, {4, {2, 3, 5, 19}}},
        {{3, {7, 1, 6}}, {3, {1, 4, 6}}, {3, {7, 4, 6}}},
        {{2, {3, 0}}, {2, {3, 1}}, {2, {3, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_broadcast(&cases[i].a, &cases[i].b, &cases[i].whole, NULL);
}

TEST(threads_and_blocks_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    const shape wide = {2, {5, 9001}}, row = {1, {9001}}, column = {2, {5, 1}};
    const shape narrow = {3, {2, 1500, 31}}, channels = {3, {2, 1, 31}};
    check_broadcast(&wide, &row, &wide, pool);
    check_broadcast(&column, &wide, &wide, pool);
    check_broadcast(&narrow, &channels, &narrow, pool);
    ln_pool_release(pool);
}

TEST(lengths_around_every_vector_are_right_and_in_place)
{
    float a[70], b[70];
    fill_random(a, 70);
    fill_random(b, 70);
    for (int n = 0; n <= 70; n++) {
        for (size_t act = 0; act < ACT_COUNT; act++)
            check_act(&acts[act], a, (size_t)n, n & 1);
        for (int op = 0; op < LN_BINARY_COUNT; op++)
            check_binary((ln_binary)op, a, b, n, n & 1);
    }
}

TEST(odd_values_are_defined)
{
    for (size_t act = 0; act < ACT_COUNT; act++)
        check_act(&acts[act], odd_values, ODD_COUNT, true);
    for (int op = 0; op < LN_BINARY_COUNT; op++) {
        for (size_t i = 0; i < ODD_COUNT; i++) {
            float other[ODD_COUNT];
            for (size_t j = 0; j < ODD_COUNT; j++)
                other[j] = odd_values[i];
            check_binary((ln_binary)op, odd_values, other, (int)ODD_COUNT, true);
        }
    }
}

TEST(nan_stays_nan)
{
    const float x[] = {NAN, 1, NAN}, x2[] = {1, NAN, NAN};
    float y[3];
    int n = 3;
    FOR_EACH_ISA(isa)
    {
        for (size_t act = 0; act < ACT_COUNT; act++) {
            ln_act_f32(isa, &acts[act], 1, x, y, NULL);
            CHECK(isnan(y[0]));
        }
        for (int op = 0; op < LN_BINARY_COUNT; op++) {
            ln_binary_f32_args args = row_args((ln_binary)op, &n, x, x2, y);
            ln_binary_f32(isa, &args, NULL);
            CHECK(isnan(y[0]) && isnan(y[2]));
            CHECK_EQ(isnan(y[1]) != 0,
                     op != LN_BINARY_PRELU); // 1 is not below 0: its slope is idle
        }
    }
}

TEST(signs_of_zero_stay)
{
    static const ln_act odd[] = {LN_ACT_NONE, LN_ACT_RELU, LN_ACT_TANH, LN_ACT_ELU, LN_ACT_SQRT};
    const float x[] = {-0.0f, 0.0f};
    float y[2];
    FOR_EACH_ISA(isa)
    {
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
            ln_act_f32(isa, &(ln_act_f32_args){.act = odd[i], .alpha = 1}, 2, x, y, NULL);
            CHECK(y[0] == 0 && signbit(y[0]) && y[1] == 0 && !signbit(y[1]));
        }
    }
}

// Every 4099th float; mathf.h states the error.
TEST(functions_stay_within_their_limits_over_all_floats)
{
    enum { BLOCK = 1 << 12 };
    static float x[BLOCK], y[BLOCK], first[BLOCK];
    ln_cpu_isa best = ln_cpu_isa_get();
    for (uint64_t from = 0; from <= UINT32_MAX; from += (uint64_t)BLOCK * 4099) {
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)(from + i * 4099);
            memcpy(&x[i], &bits, sizeof bits);
        }
        for (size_t act = 0; act < ACT_COUNT; act++) {
            ln_act_f32(LN_CPU_ISA_generic, &acts[act], BLOCK, x, first, NULL);
            ln_act_f32(best, &acts[act], BLOCK, x, y, NULL);
            check_same_bits(ln_act_name(acts[act].act), best, first, y, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                double exact = exact_act(&acts[act], (double)x[i]);
                check_ulp(ln_act_name(acts[act].act), y[i], exact, limit_of(&acts[act], exact));
            }
        }
    }
}

TEST(the_logarithm_stays_within_its_limit_over_all_floats)
{
    enum { BLOCK = 1 << 12 };
    static float x[BLOCK], y[BLOCK], first[BLOCK];
    ln_log_f32(LN_CPU_ISA_generic, ODD_COUNT, odd_values, first, NULL);
    for (size_t i = 0; i < ODD_COUNT; i++)
        check_ulp("log", first[i], log((double)odd_values[i]), 2);
    for (uint64_t from = 0; from <= UINT32_MAX; from += (uint64_t)BLOCK * 4099) {
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)(from + i * 4099);
            memcpy(&x[i], &bits, sizeof bits);
        }
        ln_log_f32(LN_CPU_ISA_generic, BLOCK, x, first, NULL);
        for (size_t i = 0; i < BLOCK; i++)
            check_ulp("log", first[i], log((double)x[i]), 2);
        FOR_EACH_ISA(isa)
        {
            ln_log_f32(isa, BLOCK, x, y, NULL);
            check_same_bits("log", isa, first, y, BLOCK);
            ln_log_f32(isa, 37, x, y, NULL);
            check_same_bits("log", isa, first, y, 37);
        }
    }
    for (size_t i = 0; i < BLOCK; i++)
        x[i] = 0.5f + (float)i * (1.0f / BLOCK);
    ln_log_f32(LN_CPU_ISA_generic, BLOCK, x, first, NULL);
    for (size_t i = 0; i < BLOCK; i++)
        check_ulp("log near 1", first[i], log((double)x[i]), 2);
}

typedef void function_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

static void check_function(const char *name, function_f32 *function, double (*exact)(double),
                           const float *x, size_t n, double limit)
{
    enum { MOST = 1 << 12 };
    static float first[MOST], y[MOST];
    function(LN_CPU_ISA_generic, n, x, first, NULL);
    for (size_t i = 0; i < n; i++)
        check_ulp(name, first[i], exact((double)x[i]), limit);
    FOR_EACH_ISA(isa)
    {
        function(isa, n, x, y, NULL);
        check_same_bits(name, isa, first, y, n);
        memcpy(y, x, n * sizeof *y); // in place, and another length
        function(isa, n - n / 3, y, y, NULL);
        check_same_bits(name, isa, first, y, n - n / 3);
    }
}

// Every 4099th float, those about multiples of pi / 2, and odd ones.
TEST(sine_and_cosine_stay_within_their_limits_over_all_floats)
{
    enum { BLOCK = 1 << 12 };
    static float x[BLOCK];
    check_function("sin", ln_sin_f32, sin, odd_values, ODD_COUNT, 1.6);
    check_function("cos", ln_cos_f32, cos, odd_values, ODD_COUNT, 1.6);
    for (uint64_t from = 0; from <= UINT32_MAX; from += (uint64_t)BLOCK * 4099) {
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)(from + i * 4099);
            memcpy(&x[i], &bits, sizeof bits);
        }
        check_function("sin", ln_sin_f32, sin, x, BLOCK, 1.6);
        check_function("cos", ln_cos_f32, cos, x, BLOCK, 1.6);
    }
    for (int from = -131072; from < 131072; from += BLOCK) {
        for (size_t i = 0; i < BLOCK; i++)
            x[i] = (float)((from + (int)i) * 1.5707963267948966);
        check_function("sin", ln_sin_f32, sin, x, BLOCK, 1.6);
        check_function("cos", ln_cos_f32, cos, x, BLOCK, 1.6);
    }
}

static double exact_sign(double x)
{
    return isnan(x) ? x : (double)(x > 0) - (double)(x < 0);
}

// Every bit: zeros have signs.
static void check_whole(const float *x, size_t n)
{
    static const struct {
        const char *name;
        function_f32 *function;
        double (*exact)(double);
    } rows[] = {
        {"floor", ln_floor_f32, floor},
        {"ceil", ln_ceil_f32, ceil},
        {"round", ln_round_f32, rint},
        {"sign", ln_sign_f32, exact_sign},
    };
    enum { MOST = 1 << 12 };
    static float exact[MOST], y[MOST];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t i = 0; i < n; i++)
            exact[i] = (float)rows[r].exact((double)x[i]);
        check_function(rows[r].name, rows[r].function, rows[r].exact, x, n, 0);
        FOR_EACH_ISA(isa)
        {
            rows[r].function(isa, n, x, y, NULL);
            check_same_bits(rows[r].name, isa, exact, y, n);
        }
    }
}

// Every 4099th float, halves around 0 and where halves end, and odd ones.
TEST(functions_with_whole_results_are_those_of_c_over_all_floats)
{
    enum { BLOCK = 1 << 12 };
    static float x[BLOCK];
    static const float starts[] = {-0x1p9f, 0x1p22f - 0x1p9f, 0x1p23f - 0x1p9f, 0x1p24f - 0x1p9f};
    check_whole(odd_values, ODD_COUNT);
    for (uint64_t from = 0; from <= UINT32_MAX; from += (uint64_t)BLOCK * 4099) {
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)(from + i * 4099);
            memcpy(&x[i], &bits, sizeof bits);
        }
        check_whole(x, BLOCK);
    }
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (size_t i = 0; i < BLOCK; i++)
                x[i] = (float)sign * (starts[s] + (float)i * 0.25f);
            check_whole(x, BLOCK);
        }
    }
}

enum { POWERS = 1 << 12 };

static void check_powers(const float *x, const float *y, size_t n)
{
    static float first[POWERS], z[POWERS];
    ln_power_f32(LN_CPU_ISA_generic, n, x, 1, y, 1, first);
    for (size_t i = 0; i < n; i++) {
        double exact = pow((double)x[i], (double)y[i]);
        check_ulp("power", first[i], exact, 3);
        if (!isnan(exact) && !signbit(first[i]) != !signbit(exact))
            fail_msg("%a to the power of %a is %a", (double)x[i], (double)y[i], (double)first[i]);
    }
    FOR_EACH_ISA(isa)
    {
        ln_power_f32(isa, n, x, 1, y, 1, z);
        check_same_bits("power", isa, first, z, n);
        ln_power_f32(isa, n - n / 3, x, 1, y, 1, z);
        check_same_bits("shorter power", isa, first, z, n - n / 3);
    }
}

TEST(powers_stay_within_their_limit)
{
    static const float odd[] = {
        0.0f,      -0.0f,   1,        -1,      INFINITY, -INFINITY,      NAN,        0.5f,
        -0.5f,     2,       -2,       3,       -3,       1.5f,           -1.5f,      0x1p-149f,
        0x1p-126f, 0x1p23f, -0x1p23f, 0x1p24f, -0x1p24f, 8388607,        16777215,   FLT_MAX,
        0x1p-100f, 1e20f,   -1e-20f,  127,     -149,     0x1.fffffep-1f, 4194304.5f, 0x1.000002p0f};
    static float x[POWERS], y[POWERS];
    size_t odd_count = sizeof odd / sizeof odd[0];
    for (size_t i = 0; i < odd_count * odd_count; i++) {
        x[i] = odd[i % odd_count];
        y[i] = odd[i / odd_count];
    }
    check_powers(x, y, odd_count * odd_count);
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < POWERS; i++) {
            uint32_t bits[] = {(uint32_t)test_random_in(0, UINT32_MAX),
                               (uint32_t)test_random_in(0, UINT32_MAX)};
            float base = (float)(bits[0] >> 8) * 0x1p-20f;
            float exponent = ((float)(bits[1] >> 8) - 0x1p23f) * 0x1p-19f;
            memcpy(&x[i], &bits[0], sizeof x[i]);
            memcpy(&y[i], &bits[1], sizeof y[i]);
            if (round % 3 == 1) { // many results in the range
                x[i] = base;
                y[i] = exponent;
            } else if (round % 3 == 2) { // near 1
                x[i] = 1 + base * 0x1p-12f;
                y[i] = exponent * 0x1p10f;
            }
        }
        check_powers(x, y, POWERS);
    }
}

TEST(one_base_or_one_exponent_is_repeated)
{
    const float x[] = {1, 2, 3, 4, 5}, two = 2;
    float z[5];
    FOR_EACH_ISA(isa)
    {
        ln_power_f32(isa, 5, x, 1, &two, 0, z);
        CHECK(z[0] == 1 && z[1] == 4 && z[2] == 9 && z[3] == 16 && z[4] == 25);
        ln_power_f32(isa, 5, &two, 0, x, 1, z);
        CHECK(z[0] == 2 && z[1] == 4 && z[2] == 8 && z[3] == 16 && z[4] == 32);
    }
}

TEST(scale_and_offset_follow_their_formula_on_all_instruction_sets)
{
    for (int round = 0; round < 40; round++) {
        size_t rows = test_random_in(0, 300), channels = test_random_in(0, 60), n = rows * channels;
        guarded x = guarded_make(n, round & 1), scale = guarded_make(channels, round & 1);
        guarded offset = guarded_make(channels, round & 1);
        fill_random(x.p, n);
        fill_random(scale.p, channels);
        fill_random(offset.p, channels);
        const ln_act_f32_args *act = &acts[(size_t)round % 4];
        FOR_EACH_ISA(isa)
        {
            guarded y = guarded_make(n, round & 1);
            ln_scale_shift_f32_args args = {.rows = rows,
                                            .channels = channels,
                                            .x = x.p,
                                            .x_row = channels,
                                            .scale = scale.p,
                                            .offset = offset.p,
                                            .y = y.p,
                                            .act = *act};
            ln_scale_shift_f32(isa, &args, NULL);
            for (size_t i = 0; i < n; i++) {
                float sum = fmaf(x.p[i], scale.p[i % channels], offset.p[i % channels]);
                CHECK(y.p[i] == (float)exact_act(act, (double)sum));
            }
            guarded_free(&y);
        }
        guarded_free(&x);
        guarded_free(&scale);
        guarded_free(&offset);
    }
}

TEST(batchnorm_follows_its_formula_on_all_instruction_sets)
{
    for (int round = 0; round < 30; round++) {
        size_t batch = test_random_in(0, 3), channels = test_random_in(0, 4);
        size_t inner = test_random_in(0, 40), n = batch * channels * inner;
        bool at_end = round & 1;
        guarded x = guarded_make(n, at_end), first = guarded_make(n, at_end);
        guarded p[4];
        for (int i = 0; i < 4; i++) {
            p[i] = guarded_make(channels, at_end);
            fill_random(p[i].p, channels);
        }
        for (size_t c = 0; c < channels; c++)
            p[3].p[c] = fabsf(p[3].p[c]);
        fill_random(x.p, n);
        FOR_EACH_ISA(isa)
        {
            guarded y = guarded_make(n, at_end);
            ln_batchnorm_f32_args args = {.batch = batch,
                                          .channels = channels,
                                          .inner = inner,
                                          .x = x.p,
                                          .scale = p[0].p,
                                          .offset = p[1].p,
                                          .mean = p[2].p,
                                          .var = p[3].p,
                                          .epsilon = 1e-3f,
                                          .y = y.p};
            ln_batchnorm_f32(isa, &args, NULL);
            for (size_t i = 0; i < n; i++) {
                size_t c = i / inner % channels;
                double factor = (double)p[0].p[c] / sqrt((double)p[3].p[c] + 1e-3);
                double value = ((double)x.p[i] - (double)p[2].p[c]) * factor + (double)p[1].p[c];
                CHECK_NEAR((double)y.p[i], value, 1e-6 * (1 + fabs(factor)) * 3);
            }
            if (isa == LN_CPU_ISA_generic && n)
                memcpy(first.p, y.p, n * sizeof *y.p);
            check_same_bits("batchnorm", isa, first.p, y.p, n);
            guarded_free(&y);
        }
        for (int i = 0; i < 4; i++)
            guarded_free(&p[i]);
        guarded_free(&x);
        guarded_free(&first);
    }
}

TEST_LIST(operands_are_repeated_over_missing_axes, threads_and_blocks_change_no_bit,
          lengths_around_every_vector_are_right_and_in_place, odd_values_are_defined, nan_stays_nan,
          signs_of_zero_stay, functions_stay_within_their_limits_over_all_floats,
          the_logarithm_stays_within_its_limit_over_all_floats,
          sine_and_cosine_stay_within_their_limits_over_all_floats,
          functions_with_whole_results_are_those_of_c_over_all_floats,
          powers_stay_within_their_limit, one_base_or_one_exponent_is_repeated,
          scale_and_offset_follow_their_formula_on_all_instruction_sets,
          batchnorm_follows_its_formula_on_all_instruction_sets)
