// SPDX-License-Identifier: Apache-2.0
// Copied rows, alone and by threads.

#include "arch/cpu/kernels/transpose/copy_rows.h"

#include "arch/cpu/kernels/kernel_test.h"

static void check(size_t rows, size_t count, size_t x_gap, size_t y_gap, ln_pool *pool)
{
    guarded x = guarded_make(rows * (count + x_gap) - x_gap, true);
    guarded y = guarded_make(rows * (count + y_gap) - y_gap, true);
    for (size_t i = 0; i < x.count; i++)
        x.p[i] = (float)i;
    fill_nan(y.p, y.count);
    const ln_copy_rows_args args = {.rows = rows,
                                    .row_bytes = count * sizeof(float),
                                    .x = x.p,
                                    .x_step = (count + x_gap) * sizeof(float),
                                    .y = y.p,
                                    .y_step = (count + y_gap) * sizeof(float)};
    ln_copy_rows(&args, pool);
    for (size_t i = 0; i < y.count; i++) {
        size_t row = i / (count + y_gap), column = i % (count + y_gap);
        if (column < count)
            CHECK_NEAR(y.p[i], (float)(row * (count + x_gap) + column), 0);
        else
            CHECK(isnan(y.p[i]));
    }
    guarded_free(&x);
    guarded_free(&y);
}

TEST(rows_are_copied_and_nothing_between_them)
{
    const size_t counts[] = {1, 2, 3, 4, 8, 16, 29, 100};
    for (size_t i = 0; i < 8; i++) {
        check(5, counts[i], 0, 0, NULL);
        check(5, counts[i], 3, 0, NULL);
        check(7, counts[i], 0, 2, NULL);
        check(1, counts[i], 0, 0, NULL);
    }
}

TEST(threads_copy_every_row)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    check(3, 200003, 0, 0, pool);
    check(3, 200003, 1, 0, pool);
    check(30011, 17, 0, 9, pool);
    ln_pool_release(pool);
}

TEST(nothing_is_copied_of_nothing)
{
    const ln_copy_rows_args none = {.rows = 0, .row_bytes = 4}, empty = {.rows = 4};
    ln_copy_rows(&none, NULL);
    ln_copy_rows(&empty, NULL);
}

TEST_LIST(rows_are_copied_and_nothing_between_them, threads_copy_every_row,
          nothing_is_copied_of_nothing)
