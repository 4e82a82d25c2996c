// SPDX-License-Identifier: Apache-2.0
// Softmax against the C library in double, and its instruction sets against each other.

#include "arch/cpu/kernels/softmax/softmax.h"

#include "arch/cpu/kernels/kernel_test.h"

static void check_row(const float *x, const float *y, size_t n, size_t inner, bool is_log)
{
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, (double)x[i * inner]);
    for (size_t i = 0; i < n; i++)
        sum += exp((double)x[i * inner] - max);
    for (size_t i = 0; i < n; i++) {
        double value = exp((double)x[i * inner] - max) / sum, far = value * 1e-6 + 1e-9;
        if (is_log) {
            value = (double)x[i * inner] - max - log(sum);
            far = -value * 1e-6 + 1e-6;
        }
        CHECK_NEAR((double)y[i * inner], value, far);
    }
}

static void check_shape_on(size_t outer, size_t n, size_t inner, bool is_log, bool at_end)
{
    size_t count = outer * n * inner;
    guarded x = guarded_make(count, at_end);
    float *first = calloc(count + 1, sizeof *first), *values = calloc(count + 1, sizeof *values);
    CHECK_NOT_NULL(first);
    CHECK_NOT_NULL(values);
    fill_random(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] *= 10;

    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(count, at_end);
        fill_nan(y.p, count);
        if (count)
            memcpy(x.p, values, count * sizeof *values);
        ln_softmax_f32_args args = {
            .outer = outer, .n = n, .inner = inner, .is_log = is_log, .x = x.p, .y = y.p};
        ln_softmax_f32(isa, &args, NULL);
        for (size_t i = 0; i < outer * inner && n; i++) {
            size_t at = i / inner * n * inner + i % inner;
            check_row(values + at, y.p + at, n, inner, is_log);
        }
        args.y = x.p;
        ln_softmax_f32(isa, &args, NULL);
        check_same_bits("in place", isa, y.p, x.p, count);
        if (isa == LN_CPU_ISA_generic && count)
            memcpy(first, y.p, count * sizeof *first);
        check_same_bits("softmax", isa, first, y.p, count);
        guarded_free(&y);
    }
    free(first);
    free(values);
    guarded_free(&x);
}

static void check_shape(size_t outer, size_t n, size_t inner)
{
    for (int i = 0; i < 4; i++)
        check_shape_on(outer, n, inner, i < 2, i % 2);
}

TEST(rows_around_every_vector_are_right_and_in_place)
{
    for (size_t n = 1; n <= 50; n++)
        check_shape(2, n, 1);
    check_shape(1, 1000, 1);
}

TEST(columns_around_every_vector_are_right_and_in_place)
{
    for (size_t inner = 2; inner <= 35; inner++) {
        check_shape(2, 3, inner);
        check_shape(1, 37, inner);
    }
}

// Equal numbers are rounded alike in each addition: what a lane loses grows with its length.
TEST(a_long_axis_costs_no_precision)
{
    enum { N = 20000, COLUMNS = 2 };
    static float x[N * COLUMNS], y[N * COLUMNS];
    for (size_t i = 0; i < N * COLUMNS; i++)
        x[i] = i < COLUMNS ? 1.0f : 0.1f;
    double sum = 1 + (N - 1) * exp((double)0.1f - 1);
    FOR_EACH_ISA(isa)
    {
        ln_softmax_f32_args columns = {.outer = 1, .n = N, .inner = COLUMNS, .x = x, .y = y};
        ln_softmax_f32(isa, &columns, NULL);
        CHECK_NEAR((double)y[0] * sum, 1, 16 * 0x1p-24);
        ln_softmax_f32_args row = {.outer = 1, .n = N, .inner = 1, .x = x + 1, .y = y};
        ln_softmax_f32(isa, &row, NULL);
        CHECK_NEAR((double)y[0] * sum, 1, 16 * 0x1p-24);
    }
}

TEST(logarithms_of_small_powers_are_finite)
{
    const float x[] = {0, -200, -INFINITY, -3e38f};
    float y[4];
    FOR_EACH_ISA(isa)
    {
        ln_softmax_f32(
            isa,
            &(ln_softmax_f32_args){.outer = 1, .n = 4, .inner = 1, .is_log = true, .x = x, .y = y},
            NULL);
        CHECK(y[0] == 0 && y[1] == -200 && y[2] == -INFINITY && y[3] == -3e38f);
        const float large[] = {1e7f, 1e7f};
        ln_softmax_f32(isa,
                       &(ln_softmax_f32_args){
                           .outer = 1, .n = 2, .inner = 1, .is_log = true, .x = large, .y = y},
                       NULL);
        CHECK_NEAR((double)y[0], -log(2), 1e-7);
    }
}

TEST(empty_shapes_touch_nothing)
{
    check_shape(0, 3, 4);
    check_shape(3, 0, 4);
    check_shape(3, 4, 0);
}

TEST(the_place_of_the_axis_does_not_change_a_bit)
{
    enum { N = 53, ROWS = 19 };
    float x[ROWS * N], across[ROWS * N], y[ROWS * N], y_across[ROWS * N];
    fill_random(x, ROWS * N);
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t i = 0; i < N; i++)
            across[i * ROWS + row] = x[row * N + i];
    }
    FOR_EACH_ISA(isa)
    {
        ln_softmax_f32_args along = {.outer = ROWS, .n = N, .inner = 1, .x = x, .y = y};
        ln_softmax_f32_args columns = {
            .outer = 1, .n = N, .inner = ROWS, .x = across, .y = y_across};
        ln_softmax_f32(isa, &along, NULL);
        ln_softmax_f32(isa, &columns, NULL);
        for (size_t i = 0; i < ROWS * N; i++)
            CHECK(same_bits(y[i], y_across[i % N * ROWS + i / N]));
    }
}

// Many short rows are turned into columns and back; a row alone is not.
static void check_number_of_rows(bool is_log)
{
    enum { MAX_N = 17, ROWS = 700 };
    static float x[ROWS * MAX_N], alone[ROWS * MAX_N], y[ROWS * MAX_N];
    for (size_t n = 1; n <= MAX_N; n++) {
        fill_random(x, ROWS * n);
        x[3 * n] = NAN;
        x[20 * n] = -INFINITY;
        FOR_EACH_ISA(isa)
        {
            for (size_t row = 0; row < ROWS; row++)
                ln_softmax_f32(isa,
                               &(ln_softmax_f32_args){.outer = 1,
                                                      .n = n,
                                                      .inner = 1,
                                                      .is_log = is_log,
                                                      .x = x + row * n,
                                                      .y = alone + row * n},
                               NULL);
            for (size_t rows = 15; rows <= ROWS; rows = rows < 18 ? rows + 1 : rows + 681) {
                memcpy(y, x, rows * n * sizeof *y);
                ln_softmax_f32(
                    isa,
                    &(ln_softmax_f32_args){
                        .outer = rows, .n = n, .inner = 1, .is_log = is_log, .x = y, .y = y},
                    NULL);
                for (size_t i = 0; i < rows * n; i++)
                    CHECK(same_bits(y[i], alone[i]) || (isnan(y[i]) && isnan(alone[i])));
            }
        }
    }
}

TEST(the_number_of_rows_does_not_change_a_bit)
{
    check_number_of_rows(false);
    check_number_of_rows(true);
}

TEST(one_element_gets_everything)
{
    const float x[] = {-1e30f};
    float y[1];
    FOR_EACH_ISA(isa)
    {
        ln_softmax_f32(isa, &(ln_softmax_f32_args){.outer = 1, .n = 1, .inner = 1, .x = x, .y = y},
                       NULL);
        CHECK(y[0] == 1.0f);
    }
}

TEST(large_values_do_not_overflow)
{
    const float x[] = {3e38f, -3e38f, 3e38f, -INFINITY};
    float y[4];
    FOR_EACH_ISA(isa)
    {
        ln_softmax_f32(isa, &(ln_softmax_f32_args){.outer = 1, .n = 4, .inner = 1, .x = x, .y = y},
                       NULL);
        CHECK(y[0] == 0.5f && y[1] == 0 && y[2] == 0.5f && y[3] == 0);
    }
}

TEST(a_row_without_a_defined_result_becomes_nan_and_its_neighbours_do_not)
{
    enum { N = 20 };
    const float bad[] = {NAN, INFINITY};
    float x[3 * N], y[3 * N];
    for (size_t b = 0; b < 2; b++) {
        for (size_t at = 0; at < N; at++) {
            fill_random(x, 3 * N);
            x[N + at] = bad[b];
            FOR_EACH_ISA(isa)
            {
                ln_softmax_f32_args args = {.outer = 3, .n = N, .inner = 1, .x = x, .y = y};
                ln_softmax_f32(isa, &args, NULL);
                CHECK(!isnan(y[0]) && !isnan(y[2 * N]));
                CHECK(isnan(y[N + at]));
                args.is_log = true;
                ln_softmax_f32(isa, &args, NULL);
                CHECK(!isnan(y[0]) && isnan(y[N + at]) && isnan(y[N + (at + 1) % N]));
                args.is_log = false;
                ln_softmax_f32(isa, &args, NULL);
                if (b == 0) {
                    for (size_t i = 0; i < N; i++)
                        CHECK(isnan(y[N + i]));
                }
            }
        }
    }
}

TEST_LIST(rows_around_every_vector_are_right_and_in_place, a_long_axis_costs_no_precision,
          logarithms_of_small_powers_are_finite, columns_around_every_vector_are_right_and_in_place,
          empty_shapes_touch_nothing, the_place_of_the_axis_does_not_change_a_bit,
          the_number_of_rows_does_not_change_a_bit, one_element_gets_everything,
          large_values_do_not_overflow,
          a_row_without_a_defined_result_becomes_nan_and_its_neighbours_do_not)
