// SPDX-License-Identifier: Apache-2.0
#include "op/first_values.h"

#include "arch/ref/test_view.h"

static const double no_ran[] = {0, 0};

TEST(given_numbers_saturate_and_zeros_follow)
{
    double given[] = {1.9, -1.9, 1000, -1000, NAN};
    int8_t data[7];
    tl_tensor t = VIEW(data, TL_INT8, 7);
    CHECK_OK(ln_first_values(&t, "x", no_ran, given, 5));
    CHECK_FLOATS(data, 7, 0, 1, -1, 127, -128, 0, 0, 0);
    CHECK_OK(ln_first_values(&t, "x", no_ran, (double[]){0}, 1));
    CHECK_FLOATS(data, 7, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_OK(ln_first_values(&t, "x", no_ran, given, 0));
}

TEST(more_numbers_than_elements_stay_out)
{
    double given[] = {1, 2, 3, 4};
    float data[3] = {0, 0, 99};
    tl_tensor t = VIEW(data, TL_FLOAT, 2), empty = VIEW(NULL, TL_FLOAT, 0);
    CHECK_OK(ln_first_values(&t, "x", no_ran, given, 4));
    CHECK_FLOATS(data, 3, 0, 1, 2, 99);
    CHECK_OK(ln_first_values(&empty, "x", no_ran, given, 4));
}

TEST(random_numbers_are_the_same_everywhere)
{
    // Computed by another program from the definition in the header.
    double data[3];
    tl_tensor t = VIEW(data, TL_DOUBLE, 3);
    CHECK_OK(ln_first_values(&t, "x", (double[]){0, 1}, NULL, 0));
    CHECK_FLOATS(data, 3, 0, 0.20120828434354443, 0.8085267624840695, 0.6433236341750462);
}

TEST(other_names_give_other_random_numbers)
{
    float a[8], again[8], b[8];
    tl_tensor ta = VIEW(a, TL_FLOAT, 8), tagain = VIEW(again, TL_FLOAT, 2, 4);
    tl_tensor tb = VIEW(b, TL_FLOAT, 8);
    const double ran[] = {-1, 1};
    CHECK_OK(ln_first_values(&ta, "conv1_w", ran, NULL, 0));
    CHECK_OK(ln_first_values(&tagain, "conv1_w", ran, NULL, 0));
    CHECK_OK(ln_first_values(&tb, "conv2_w", ran, NULL, 0));
    CHECK_MEM_EQ(a, again, sizeof a);
    for (int i = 0; i < 8; i++)
        CHECK(fabsf(a[i] - b[i]) > 0);
}

TEST(random_numbers_fill_their_range_evenly)
{
    enum { COUNT = 10000 };
    static double data[COUNT];
    tl_tensor t = VIEW(data, TL_DOUBLE, COUNT);
    CHECK_OK(ln_first_values(&t, "weights", (double[]){-3, 5}, NULL, 0));
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        CHECK(data[i] >= -3 && data[i] <= 5);
        sum += data[i];
        squares += (data[i] - 1) * (data[i] - 1);
    }
    CHECK_NEAR(sum / COUNT, 1, 0.1);              // deviation of the mean: 0.023
    CHECK_NEAR(squares / COUNT, 64.0 / 12, 0.25); // of the variance: 0.048
}

TEST(random_integers_reach_both_ends_and_no_further)
{
    static const struct {
        tl_dtype dtype;
        double ran[2];
        int least, most;
    } rows[] = {
        {TL_UINT8, {0, 255}, 0, 255},     {TL_INT8, {-128, 127}, -128, 127},
        {TL_INT32, {-1, 1}, -1, 1},       {TL_INT16, {-1.5, 2.5}, -1, 2},
        {TL_BOOL, {0, 1}, 0, 1},          {TL_INT64, {0.2, 0.8}, 0, 0},
        {TL_UINT8, {300, 400}, 255, 255}, {TL_UINT16, {7, 7}, 7, 7},
    };
    enum { COUNT = 8192 };
    static int64_t data[COUNT];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        tl_tensor t = VIEW(data, rows[r].dtype, COUNT);
        CHECK_OK(ln_first_values(&t, "n", rows[r].ran, NULL, 0));
        double least = test_get(&t, 0), most = least;
        for (int i = 1; i < COUNT; i++) {
            least = fmin(least, test_get(&t, i));
            most = fmax(most, test_get(&t, i));
        }
        CHECK_NEAR(least, rows[r].least, 0);
        CHECK_NEAR(most, rows[r].most, 0);
    }
}

TEST(the_widest_range_stays_finite)
{
    double data[64];
    tl_tensor t = VIEW(data, TL_DOUBLE, 64);
    CHECK_OK(ln_first_values(&t, "wide", (double[]){-1.7e308, 1.7e308}, NULL, 0));
    for (int i = 0; i < 64; i++)
        CHECK(isfinite(data[i]));
}

TEST_LIST(given_numbers_saturate_and_zeros_follow, more_numbers_than_elements_stay_out,
          random_numbers_are_the_same_everywhere, other_names_give_other_random_numbers,
          random_numbers_fill_their_range_evenly, random_integers_reach_both_ends_and_no_further,
          the_widest_range_stays_finite)
