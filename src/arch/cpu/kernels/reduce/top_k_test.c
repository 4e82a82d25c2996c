// SPDX-License-Identifier: Apache-2.0
// The first elements of rows, against picking the best that is left again and again: all numbers of
// them, rows around chunks, ties, NaN.

#include "arch/cpu/kernels/reduce/top_k.h"

#include "arch/cpu/kernels/kernel_test.h"

#define MAX_N 200

static bool comes_first(float a, float b, const ln_top_k_f32_args *args)
{
    bool is_nan_first = !args->is_smallest && !args->has_nan_last;
    if (isnan(a) || isnan(b))
        return is_nan_first ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
    return args->is_smallest ? a < b : a > b;
}

static void check_row(const ln_top_k_f32_args *a, size_t row)
{
    const float *x = a->x + row / a->inner * a->n * a->inner + row % a->inner;
    size_t to = row / a->inner * a->k * a->inner + row % a->inner;
    bool is_taken[MAX_N] = {false};
    for (size_t r = 0; r < a->k; r++, to += a->inner) {
        size_t best = a->n;
        for (size_t i = 0; i < a->n; i++)
            if (!is_taken[i] &&
                (best == a->n || comes_first(x[i * a->inner], x[best * a->inner], a)))
                best = i;
        is_taken[best] = true;
        CHECK_EQ(a->positions[to], best);
        CHECK_MEM_EQ(a->values + to, x + best * a->inner, sizeof *x);
    }
}

static void check_orders(ln_top_k_f32_args args, ln_pool *pool)
{
    size_t rows = args.outer * args.inner;
    guarded values = guarded_make(rows * args.k, true);
    args.values = values.p;
    args.positions = calloc(rows * args.k + 1, sizeof *args.positions);
    CHECK_NOT_NULL(args.positions);
    for (int order = 0; order < 4; order++) {
        args.is_smallest = order & 1;
        args.has_nan_last = order & 2;
        args.positions[rows * args.k] = -1;
        ln_top_k_f32(&args, pool);
        for (size_t row = 0; row < rows; row++)
            check_row(&args, row);
        CHECK_EQ(args.positions[rows * args.k], -1);
    }
    free(args.positions);
    guarded_free(&values);
}

enum { EQUAL, RISING, FALLING, FEW_DIFFERENT, WITH_NAN, WITH_ZEROS, MANY_NAN, FILLS };

static float element(int fill, size_t i, float random)
{
    switch (fill) {
    case EQUAL: return 2;
    case RISING: return (float)i;
    case FALLING: return -(float)i;
    case FEW_DIFFERENT: return roundf(random * 4);
    case WITH_NAN:
        return i % 7 == 3 ? NAN : i % 11 == 5 ? -INFINITY : i % 13 == 1 ? INFINITY : random;
    case WITH_ZEROS: return i % 3 ? i % 2 ? -0.0f : 0.0f : roundf(random * 4) * 0x1p-149f;
    default: return i % 5 ? (i % 2 ? -NAN : NAN) : random;
    }
}

static void check(size_t outer, size_t n, size_t inner, size_t k, ln_pool *pool)
{
    guarded x = guarded_make(outer * n * inner, true);
    for (int fill = 0; fill < FILLS; fill++) {
        fill_random(x.p, x.count);
        for (size_t i = 0; i < x.count; i++)
            x.p[i] = element(fill, i, x.p[i]);
        check_orders((ln_top_k_f32_args){.outer = outer, .n = n, .inner = inner, .k = k, .x = x.p},
                     pool);
    }
    guarded_free(&x);
}

TEST(rows_of_all_lengths_give_their_first_elements_in_order)
{
    for (size_t n = 1; n <= 20; n++)
        for (size_t k = 1; k <= n; k++) {
            check(3, n, 1, k, NULL);
            check(2, n, 5, k, NULL);
        }
    for (size_t k = 1; k <= LN_TOP_K_MAX; k += 9)
        check(2, MAX_N - 3, 1, k, NULL);
}

TEST(the_longest_list_is_found)
{
    check(2, LN_TOP_K_MAX, 1, LN_TOP_K_MAX, NULL);
    check(1, MAX_N, 3, LN_TOP_K_MAX, NULL);
}

TEST(threads_find_the_same)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    check(301, 64, 1, 3, pool);
    check(7, 70, 43, 2, pool);
    ln_pool_release(pool);
}

TEST(values_and_positions_are_written_where_wanted)
{
    const float x[] = {1, 3, 2};
    float values[2] = {0};
    int64_t positions[2] = {0};
    ln_top_k_f32_args args = {.outer = 1, .n = 3, .inner = 1, .k = 2, .x = x, .values = values};
    ln_top_k_f32(&args, NULL);
    CHECK_NEAR(values[0], 3, 0);
    CHECK_NEAR(values[1], 2, 0);
    args.values = NULL;
    args.positions = positions;
    ln_top_k_f32(&args, NULL);
    CHECK_EQ(positions[0], 1);
    CHECK_EQ(positions[1], 2);
    args.outer = 0;
    args.positions = NULL;
    ln_top_k_f32(&args, NULL);
}

TEST_LIST(rows_of_all_lengths_give_their_first_elements_in_order, the_longest_list_is_found,
          threads_find_the_same, values_and_positions_are_written_where_wanted)
