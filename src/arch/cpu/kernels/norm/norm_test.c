// SPDX-License-Identifier: Apache-2.0
// Normalised rows against sums in double, and their instruction sets against each other.

#include "arch/cpu/kernels/norm/norm.h"

#include "arch/cpu/kernels/kernel_test.h"

static void check_row(const ln_layernorm_f32_args *args, const float *x, const float *y)
{
    double n = (double)args->n, mean = 0, square = 0;
    for (size_t i = 0; i < args->n && args->is_centered; i++)
        mean += (double)x[i] / n;
    for (size_t i = 0; i < args->n; i++)
        square += ((double)x[i] - mean) * ((double)x[i] - mean) / n;
    for (size_t i = 0; i < args->n; i++) {
        double value = ((double)x[i] - mean) / sqrt(square + (double)args->epsilon);
        value = value * (double)args->scale[i] + (args->bias ? (double)args->bias[i] : 0);
        CHECK_NEAR((double)y[i], value, 2e-6 * (1 + fabs(value)));
    }
}

static void check(size_t rows, size_t n, float mean, bool has_bias, bool is_centered, ln_pool *pool)
{
    size_t count = rows * n;
    bool at_end = n & 1;
    guarded x = guarded_make(count, at_end), scale = guarded_make(n, at_end);
    guarded bias = guarded_make(n, at_end), first = guarded_make(count, at_end);
    fill_random(x.p, count);
    fill_random(scale.p, n);
    fill_random(bias.p, n);
    for (size_t i = 0; i < count; i++)
        x.p[i] += mean;
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(count, at_end);
        ln_layernorm_f32_args args = {.rows = rows,
                                      .n = n,
                                      .x = x.p,
                                      .scale = scale.p,
                                      .bias = has_bias ? bias.p : NULL,
                                      .y = y.p,
                                      .epsilon = 1e-5f,
                                      .is_centered = is_centered};
        ln_layernorm_f32(isa, &args, pool);
        for (size_t r = 0; r < rows; r++)
            check_row(&args, x.p + r * n, y.p + r * n);
        if (isa == LN_CPU_ISA_generic && count)
            memcpy(first.p, y.p, count * sizeof *y.p);
        check_same_bits("layernorm", isa, first.p, y.p, count);
        if (count)
            memcpy(y.p, x.p, count * sizeof *y.p);
        args.x = y.p;
        ln_layernorm_f32(isa, &args, pool);
        check_same_bits("in place", isa, first.p, y.p, count);
        guarded_free(&y);
    }
    guarded *all[] = {&x, &scale, &bias, &first};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        guarded_free(all[i]);
}

TEST(rows_around_every_vector_are_right_and_in_place)
{
    for (size_t n = 1; n <= 150; n++)
        check(2, n, 0, n % 3 != 0, n % 5 != 0, NULL);
    check(3, 768, 0, true, true, NULL);
}

TEST(a_mean_far_from_zero_costs_no_precision)
{
    check(2, 700, 512, true, true, NULL);
    check(2, 64, -4096, true, true, NULL);
}

// Numbers of one size are rounded alike in each addition: what a lane loses grows with its length.
TEST(a_long_row_costs_no_precision)
{
    enum { N = 128 * 1500 };
    static float x[N], scale[N], y[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = i / 64 % 2 ? 0.1f : -0.1f;
        scale[i] = 1;
    }
    for (int is_centered = 0; is_centered < 2; is_centered++) {
        ln_layernorm_f32_args args = {
            .rows = 1, .n = N, .x = x, .scale = scale, .y = y, .is_centered = is_centered};
        FOR_EACH_ISA(isa)
        {
            ln_layernorm_f32(isa, &args, NULL);
            CHECK_NEAR((double)y[0], -1, 16 * 0x1p-24);
            CHECK_NEAR((double)y[64], 1, 16 * 0x1p-24);
        }
    }
}

TEST(nothing_is_no_problem)
{
    check(0, 5, 0, true, true, NULL);
    check(5, 0, 0, true, true, NULL);
}

TEST(threads_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    check(301, 257, 0, true, true, pool);
    ln_pool_release(pool);
}

TEST(a_row_of_equal_numbers_becomes_the_bias)
{
    float x[70], scale[70], bias[70], y[70];
    for (int i = 0; i < 70; i++) {
        x[i] = 0.1f;
        scale[i] = 3;
        bias[i] = (float)i;
    }
    FOR_EACH_ISA(isa)
    {
        ln_layernorm_f32_args args = {.rows = 1,
                                      .n = 70,
                                      .x = x,
                                      .scale = scale,
                                      .bias = bias,
                                      .y = y,
                                      .epsilon = 1e-5f,
                                      .is_centered = true};
        ln_layernorm_f32(isa, &args, NULL);
        for (int i = 0; i < 70; i++)
            CHECK_NEAR((double)y[i], i, 1e-4);
    }
}

TEST(nan_and_infinity_stay_in_their_row)
{
    const float odd[] = {NAN, INFINITY, -INFINITY};
    float x[3 * 20], scale[20], y[3 * 20];
    for (size_t k = 0; k < 3; k++) {
        fill_random(x, 60);
        fill_random(scale, 20);
        x[20 + 7] = odd[k];
        FOR_EACH_ISA(isa)
        {
            ln_layernorm_f32_args args = {
                .rows = 3, .n = 20, .x = x, .scale = scale, .y = y, .is_centered = true};
            ln_layernorm_f32(isa, &args, NULL);
            for (size_t i = 0; i < 60; i++)
                CHECK_EQ(isnan(y[i]) != 0, i / 20 == 1);
        }
    }
}

TEST_LIST(rows_around_every_vector_are_right_and_in_place, a_long_row_costs_no_precision,
          a_mean_far_from_zero_costs_no_precision, nothing_is_no_problem, threads_change_no_bit,
          a_row_of_equal_numbers_becomes_the_bias, nan_and_infinity_stay_in_their_row)
