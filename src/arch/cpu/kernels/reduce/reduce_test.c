// SPDX-License-Identifier: Apache-2.0
// Reductions against sums in double, and their instruction sets against each other.

#include "arch/cpu/kernels/reduce/reduce.h"

#include "arch/cpu/kernels/kernel_test.h"

static double exact(ln_reduce op, size_t n, size_t inner, const float *x)
{
    double sum = 0, squares = 0, magnitudes = 0, max = -INFINITY, min = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i * inner];
        sum += v;
        squares += v * v;
        magnitudes += fabs(v);
        max = isnan(v) || isnan(max) ? NAN : fmax(max, v);
        min = isnan(v) || isnan(min) ? NAN : fmin(min, v);
    }
    switch (op) {
    case LN_REDUCE_SUM: return sum;
    case LN_REDUCE_MEAN: return sum / (double)n;
    case LN_REDUCE_MAX: return max;
    case LN_REDUCE_MIN: return min;
    case LN_REDUCE_SQUARES: return squares;
    case LN_REDUCE_ABS: return magnitudes;
    case LN_REDUCE_COUNT: break;
    }
    return NAN;
}

static void check(size_t outer, size_t n, size_t inner, float odd, ln_pool *pool)
{
    bool at_end = n & 1;
    guarded x = guarded_make(outer * n * inner, at_end);
    float *first = calloc(outer * inner + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    fill_random(x.p, x.count);
    if (odd != 0 && x.count)
        x.p[x.count / 2] = odd;
    for (int op = 0; op < LN_REDUCE_COUNT; op++) {
        FOR_EACH_ISA(isa)
        {
            guarded y = guarded_make(outer * inner, at_end);
            ln_reduce_f32_args args = {
                .op = (ln_reduce)op, .outer = outer, .n = n, .inner = inner, .x = x.p, .y = y.p};
            ln_reduce_f32(isa, &args, pool);
            for (size_t i = 0; i < y.count && odd == 0; i++) {
                const float *from = x.p + i / inner * n * inner + i % inner;
                double value = exact((ln_reduce)op, n, inner, from);
                CHECK_NEAR((double)y.p[i], value, 1e-6 * (double)n);
            }
            if (isa == LN_CPU_ISA_generic && y.count)
                memcpy(first, y.p, y.count * sizeof *first);
            check_same_bits("reduce", isa, first, y.p, y.count);
            guarded_free(&y);
        }
    }
    free(first);
    guarded_free(&x);
}

TEST(rows_around_every_vector_are_right)
{
    for (size_t n = 1; n <= 140; n++)
        check(3, n, 1, 0, NULL);
}

TEST(columns_around_every_vector_are_right)
{
    for (size_t inner = 2; inner <= 70; inner++)
        check(2, 1 + inner % 19, inner, 0, NULL);
}

// Equal numbers are rounded alike in each addition: what a lane loses grows with its length.
TEST(a_long_axis_costs_no_precision)
{
    enum { N = 200000 };
    static float x[2 * N];
    for (size_t i = 0; i < 2 * (size_t)N; i++)
        x[i] = 0.1f;
    for (int op = 0; op < LN_REDUCE_COUNT; op++) {
        double value = exact((ln_reduce)op, N, 1, x);
        FOR_EACH_ISA(isa)
        {
            float y[2];
            ln_reduce_f32_args args = {
                .op = (ln_reduce)op, .outer = 1, .n = N, .inner = 2, .x = x, .y = y};
            ln_reduce_f32(isa, &args, NULL);
            CHECK_NEAR((double)y[0] / value, 1, 64 * 0x1p-24);
            args.inner = 1;
            ln_reduce_f32(isa, &args, NULL);
            CHECK_NEAR((double)y[0] / value, 1, 64 * 0x1p-24);
        }
    }
}

TEST(nothing_is_no_problem)
{
    check(0, 3, 1, 0, NULL);
    check(3, 3, 0, 0, NULL);
}

TEST(threads_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    check(500, 300, 1, 0, pool);
    check(3, 400, 130, 0, pool);
    ln_pool_release(pool);
}

TEST(nan_and_infinity_come_through)
{
    const float odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        check(1, 77, 1, odd[i], NULL);
        check(1, 13, 21, odd[i], NULL);
    }
    float x[70], y;
    fill_random(x, 70);
    FOR_EACH_ISA(isa)
    {
        for (size_t at = 0; at < 70; at++) {
            float kept = x[at];
            x[at] = NAN;
            for (int op = 0; op < LN_REDUCE_COUNT; op++) {
                ln_reduce_f32(
                    isa,
                    &(ln_reduce_f32_args){
                        .op = (ln_reduce)op, .outer = 1, .n = 70, .inner = 1, .x = x, .y = &y},
                    NULL);
                CHECK(isnan(y));
            }
            x[at] = kept;
        }
    }
}

TEST_LIST(rows_around_every_vector_are_right, a_long_axis_costs_no_precision,
          columns_around_every_vector_are_right, nothing_is_no_problem, threads_change_no_bit,
          nan_and_infinity_come_through)
