// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels against the C library in double, and their instruction sets against each
// other.

#include "arch/cpu/kernels/eltwise/eltwise.h"

#include "arch/cpu/kernels/kernel_test.h"

#define SLOPE 0.1f

static double exact_unary(ln_unary op, float x)
{
    switch (op) {
    case LN_UNARY_RELU: return 0 > x ? 0 : (double)x;
    case LN_UNARY_LRELU: return x >= 0 ? (double)x : (double)x * (double)SLOPE;
    case LN_UNARY_SIGMOID:
        return x >= 0 ? 1 / (1 + exp(-(double)x)) : exp((double)x) / (1 + exp((double)x));
    case LN_UNARY_EXP: return exp((double)x);
    case LN_UNARY_ERF: return erf((double)x);
    case LN_UNARY_GELU: return (double)x * (erfc(-(double)x / sqrt(2.0)) / 2);
    case LN_UNARY_COUNT: break;
    }
    return NAN;
}

// Of a product one factor of which is no normal number any more, only the size is promised.
static double limit_of(ln_unary op, double exact)
{
    return op != LN_UNARY_GELU ? 2 : fabs(exact) < 1e-36 ? 1e7 : 8;
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
static void check_unary(ln_unary op, const float *values, size_t n, bool at_end)
{
    guarded x = guarded_make(n, at_end);
    float *first = calloc(n + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(n, at_end);
        if (n)
            memcpy(x.p, values, n * sizeof *values);
        ln_unary_f32(isa, op, n, x.p, SLOPE, y.p);
        ln_unary_f32(isa, op, n, x.p, SLOPE, x.p);
        check_same_bits("in place", isa, y.p, x.p, n);
        if (isa == LN_CPU_ISA_generic && n)
            memcpy(first, y.p, n * sizeof *first);
        check_same_bits("unary", isa, first, y.p, n);
        for (size_t i = 0; i < n; i++) {
            double exact = exact_unary(op, values[i]);
            check_ulp("unary", y.p[i], exact, limit_of(op, exact));
        }
        guarded_free(&y);
    }
    free(first);
    guarded_free(&x);
}

static void check_binary(ln_binary op, const float *v1, const float *v2, size_t n, bool at_end)
{
    guarded x1 = guarded_make(n, at_end), x2 = guarded_make(n, at_end);
    float *first = calloc(n + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(n, at_end);
        if (n) {
            memcpy(x1.p, v1, n * sizeof *v1);
            memcpy(x2.p, v2, n * sizeof *v2);
        }
        ln_binary_f32(isa, op, n, x1.p, 1, x2.p, 1, y.p);
        if (isa == LN_CPU_ISA_generic && n)
            memcpy(first, y.p, n * sizeof *first);
        check_same_bits("binary", isa, first, y.p, n);
        for (size_t i = 0; i < n; i++)
            check_ulp("binary", y.p[i], exact_binary(op, (double)v1[i], (double)v2[i]), 0.501);
        ln_binary_f32(isa, op, n, x1.p, 1, x2.p, 1, x1.p);
        check_same_bits("in place", isa, first, x1.p, n);
        guarded_free(&y);
    }
    free(first);
    guarded_free(&x1);
    guarded_free(&x2);
}

// One element for all gives what n copies of it give, on either side and in place.
static void check_repeated(ln_binary op, const float *values, float one, size_t n)
{
    guarded x = guarded_make(n, true), single = guarded_make(1, true),
            copies = guarded_make(n, true);
    guarded expected = guarded_make(n, true), y = guarded_make(n, true);
    *single.p = one;
    for (size_t i = 0; i < n; i++)
        copies.p[i] = one;
    FOR_EACH_ISA(isa)
    {
        for (int side = 0; side < 2; side++) {
            memcpy(x.p, values, n * sizeof *values);
            ln_binary_f32(isa, op, n, side ? copies.p : x.p, 1, side ? x.p : copies.p, 1,
                          expected.p);
            ln_binary_f32(isa, op, n, side ? single.p : x.p, !side, side ? x.p : single.p,
                          (size_t)side, y.p);
            check_same_bits("repeated", isa, expected.p, y.p, n);
            ln_binary_f32(isa, op, n, side ? single.p : x.p, !side, side ? x.p : single.p,
                          (size_t)side, x.p);
            check_same_bits("repeated in place", isa, expected.p, x.p, n);
        }
    }
    guarded *all[] = {&x, &single, &copies, &expected, &y};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        guarded_free(all[i]);
}

TEST(one_element_may_stand_for_all)
{
    float values[40];
    fill_random(values, 40);
    values[3] = NAN;
    for (int op = 0; op < LN_BINARY_COUNT; op++)
        for (size_t n = 1; n <= 40; n += 3)
            check_repeated((ln_binary)op, values, n == 7 ? NAN : 0.75f, n);
}

TEST(lengths_around_every_vector_are_right_and_in_place)
{
    float a[70], b[70];
    fill_random(a, 70);
    fill_random(b, 70);
    for (size_t n = 0; n <= 70; n++) {
        for (int op = 0; op < LN_UNARY_COUNT; op++)
            check_unary((ln_unary)op, a, n, n & 1);
        for (int op = 0; op < LN_BINARY_COUNT; op++)
            check_binary((ln_binary)op, a, b, n, n & 1);
    }
    for (int op = 0; op < LN_UNARY_COUNT; op++)
        check_unary((ln_unary)op, a, 33, true);
}

TEST(odd_values_are_defined)
{
    for (int op = 0; op < LN_UNARY_COUNT; op++)
        check_unary((ln_unary)op, odd_values, ODD_COUNT, true);
    for (int op = 0; op < LN_BINARY_COUNT; op++) {
        for (size_t i = 0; i < ODD_COUNT; i++) {
            float other[ODD_COUNT];
            for (size_t j = 0; j < ODD_COUNT; j++)
                other[j] = odd_values[i];
            check_binary((ln_binary)op, odd_values, other, ODD_COUNT, true);
        }
    }
}

TEST(nan_stays_nan)
{
    const float x[] = {NAN, 1, NAN}, x2[] = {1, NAN, NAN};
    float y[3];
    FOR_EACH_ISA(isa)
    {
        for (int op = 0; op < LN_UNARY_COUNT; op++) {
            ln_unary_f32(isa, (ln_unary)op, 1, x, SLOPE, y);
            CHECK(isnan(y[0]));
        }
        for (int op = 0; op < LN_BINARY_COUNT; op++) {
            ln_binary_f32(isa, (ln_binary)op, 3, x, 1, x2, 1, y);
            CHECK(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
        }
    }
}

TEST(relu_keeps_the_sign_of_zero)
{
    const float x[] = {-0.0f, 0.0f, -1e-45f};
    float y[3];
    FOR_EACH_ISA(isa)
    {
        ln_unary_f32(isa, LN_UNARY_RELU, 3, x, 0, y);
        CHECK(signbit(y[0]) && !signbit(y[1]) && !signbit(y[2]) && y[2] == 0);
    }
}

// Every 4099th float; mathf.h states the error over all.
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
        for (int op = LN_UNARY_SIGMOID; op <= LN_UNARY_GELU; op++) {
            ln_unary_f32(LN_CPU_ISA_generic, (ln_unary)op, BLOCK, x, 0, first);
            ln_unary_f32(best, (ln_unary)op, BLOCK, x, 0, y);
            check_same_bits("mathf", best, first, y, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                double exact = exact_unary((ln_unary)op, x[i]);
                check_ulp("mathf", y[i], exact, limit_of((ln_unary)op, exact));
            }
        }
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
            ln_batchnorm_f32(isa, &args);
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

TEST_LIST(one_element_may_stand_for_all, lengths_around_every_vector_are_right_and_in_place,
          odd_values_are_defined, nan_stays_nan, relu_keeps_the_sign_of_zero,
          functions_stay_within_their_limits_over_all_floats,
          batchnorm_follows_its_formula_on_all_instruction_sets)
