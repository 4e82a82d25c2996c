// SPDX-License-Identifier: Apache-2.0
// Rows taken by number, alone and by threads.

#include "arch/cpu/kernels/transpose/take_rows.h"

#include "arch/cpu/kernels/kernel_test.h"

#define ROWS  37
#define COUNT 5003

// Rows of `row_bytes` that say which they are; numbers from -ROWS on.
static void check(size_t row_bytes, size_t outer, bool is_wide, ln_pool *pool)
{
    static int64_t wide[COUNT];
    static int32_t narrow[COUNT];
    size_t x_bytes = outer * ROWS * row_bytes, y_bytes = outer * COUNT * row_bytes;
    unsigned char *x = malloc(x_bytes + 1), *y = malloc(y_bytes + 1);
    CHECK(x && y);
    for (size_t i = 0; i < x_bytes; i++)
        x[i] = (unsigned char)(i / row_bytes * 7 + i % row_bytes);
    y[y_bytes] = 99;
    for (int i = 0; i < COUNT; i++)
        wide[i] = narrow[i] = i * 5 % (2 * ROWS) - ROWS;
    const ln_take_rows_args args = {.outer = outer,
                                    .rows = ROWS,
                                    .row_bytes = row_bytes,
                                    .x = x,
                                    .numbers = is_wide ? (const void *)wide : narrow,
                                    .is_wide = is_wide,
                                    .is_from_end = true,
                                    .count = COUNT,
                                    .y = y};
    CHECK_EQ(ln_take_rows_find_bad(&args), COUNT);
    ln_take_rows(&args, pool);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < COUNT; i++) {
            size_t row = (size_t)(narrow[i] < 0 ? narrow[i] + ROWS : narrow[i]);
            CHECK_MEM_EQ(y + (o * COUNT + i) * row_bytes, x + (o * ROWS + row) * row_bytes,
                         row_bytes);
        }
    CHECK_EQ(y[y_bytes], 99);
    free(x);
    free(y);
}

TEST(rows_come_in_the_order_of_their_numbers)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    const size_t bytes[] = {1, 2, 4, 8, 12, 64, 100};
    for (size_t i = 0; i < 7; i++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            check(bytes[i], 1, is_wide, NULL);
            check(bytes[i], 3, is_wide, pool);
        }
    ln_pool_release(pool);
}

TEST(the_first_number_that_is_no_rows_is_found)
{
    const int64_t numbers[] = {0, 4, -5, 5, -6, INT64_MIN};
    ln_take_rows_args args = {.outer = 1,
                              .rows = 5,
                              .numbers = numbers,
                              .is_wide = true,
                              .is_from_end = true,
                              .count = 6};
    CHECK_EQ(ln_take_rows_find_bad(&args), 3);
    args.is_from_end = false;
    CHECK_EQ(ln_take_rows_find_bad(&args), 2);
    args.count = 2;
    CHECK_EQ(ln_take_rows_find_bad(&args), 2);
    args.rows = 0;
    CHECK_EQ(ln_take_rows_find_bad(&args), 0);
}

TEST(nothing_is_taken_of_nothing)
{
    const ln_take_rows_args none = {.outer = 1, .row_bytes = 4}, empty = {.outer = 1, .count = 4};
    ln_take_rows(&none, NULL);
    ln_take_rows(&empty, NULL);
}

TEST_LIST(rows_come_in_the_order_of_their_numbers, the_first_number_that_is_no_rows_is_found,
          nothing_is_taken_of_nothing)
