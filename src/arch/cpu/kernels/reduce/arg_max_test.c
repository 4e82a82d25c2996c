// SPDX-License-Identifier: Apache-2.0
// Positions of extremes, against a scan: all lengths around vectors and chunks, ties, NaN.

#include "arch/cpu/kernels/reduce/arg_max.h"

#include "arch/cpu/kernels/kernel_test.h"

static int64_t scan(const float *x, size_t n, size_t step, bool is_smallest)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++) {
        float v = x[k * step], b = x[best * step];
        bool is_larger = isnan(v) ? !isnan(b) : v > b, is_lower = isnan(b) ? !isnan(v) : v < b;
        if (is_smallest ? is_lower : is_larger)
            best = k;
    }
    return (int64_t)best;
}

// Of few different values, so that many are equal.
static void check(size_t outer, size_t n, size_t inner, bool has_nan)
{
    guarded x = guarded_make(outer * n * inner, true);
    int64_t *positions = calloc(outer * inner + 1, sizeof *positions);
    CHECK_NOT_NULL(positions);
    fill_random(x.p, x.count);
    for (size_t i = 0; i < x.count; i++)
        x.p[i] = has_nan && i % 7 == 3 ? NAN : roundf(x.p[i] * 4);
    FOR_EACH_ISA(isa)
    {
        for (int is_smallest = 0; is_smallest < 2; is_smallest++) {
            const ln_arg_max_f32_args args = {.outer = outer,
                                              .n = n,
                                              .inner = inner,
                                              .is_smallest = is_smallest,
                                              .x = x.p,
                                              .positions = positions};
            positions[outer * inner] = -1;
            ln_arg_max_f32(isa, &args, NULL);
            for (size_t i = 0; i < outer * inner; i++)
                CHECK_EQ(positions[i],
                         scan(x.p + i / inner * n * inner + i % inner, n, inner, is_smallest));
            CHECK_EQ(positions[outer * inner], -1);
        }
    }
    free(positions);
    guarded_free(&x);
}

TEST(the_first_of_equal_elements_is_found)
{
    for (size_t n = 1; n <= 40; n++) {
        check(37, n, 1, false);
        check(2, n, 21, false);
        check(1, n, 1, false);
    }
    for (size_t n = 255; n <= 290; n++)
        check(3, n, 1, false);
    check(70, 3, 70, false);
}

TEST(nan_is_larger_than_numbers)
{
    for (size_t n = 1; n <= 20; n++) {
        check(37, n, 1, true);
        check(2, n, 21, true);
    }
    check(3, 300, 1, true);
    const float all[] = {NAN, NAN, NAN}, infinite[] = {-INFINITY, INFINITY, NAN};
    int64_t at[3];
    FOR_EACH_ISA(isa)
    {
        ln_arg_max_f32_args args = {.outer = 1, .n = 3, .inner = 1, .x = all, .positions = at};
        ln_arg_max_f32(isa, &args, NULL);
        CHECK_EQ(at[0], 0);
        args.x = infinite;
        ln_arg_max_f32(isa, &args, NULL);
        CHECK_EQ(at[0], 2);
        args.is_smallest = true;
        ln_arg_max_f32(isa, &args, NULL);
        CHECK_EQ(at[0], 0);
    }
}

TEST(threads_find_the_same)
{
    enum { ROWS = 5000, N = 9 };
    static float x[ROWS * N];
    static int64_t alone[ROWS], shared[ROWS];
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    fill_random(x, ROWS * N);
    ln_arg_max_f32_args args = {.outer = ROWS, .n = N, .inner = 1, .x = x, .positions = alone};
    ln_arg_max_f32(ln_cpu_isa_get(), &args, NULL);
    args.positions = shared;
    ln_arg_max_f32(ln_cpu_isa_get(), &args, pool);
    CHECK_MEM_EQ(shared, alone, sizeof alone);
    ln_pool_release(pool);
}

TEST(nothing_is_found_in_nothing)
{
    const ln_arg_max_f32_args none = {.outer = 0, .n = 3, .inner = 1},
                              empty = {.outer = 2, .n = 3, .inner = 0};
    ln_arg_max_f32(ln_cpu_isa_get(), &none, NULL);
    ln_arg_max_f32(ln_cpu_isa_get(), &empty, NULL);
}

TEST_LIST(the_first_of_equal_elements_is_found, nan_is_larger_than_numbers, threads_find_the_same,
          nothing_is_found_in_nothing)
