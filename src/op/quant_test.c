// SPDX-License-Identifier: Apache-2.0
// What becomes of a bias in floats: units of the sum where it is a whole number of them.

#include "op/quant.h"

#include <math.h>

#include "tests/test.h"

#define COLUMNS 64

static tl_tensor row_of(void *data, int *len, tl_dtype dtype)
{
    return (tl_tensor){.dtype = dtype, .len = *len, .ndim = 1, .dims = len, .data = data};
}

// The columns of a product to bytes with these biases; `unit` is the scale of the weights, and that
// of the source is 1.
static bool find(float *numbers, float unit, float dst_scale, int64_t terms, int32_t *units,
                 float *rest)
{
    static float factors[COLUMNS], one[] = {1};
    int count = COLUMNS, single = 1;
    tl_tensor bias = row_of(numbers, &count, TL_FLOAT), scale = row_of(&unit, &single, TL_FLOAT),
              src_scale = row_of(one, &single, TL_FLOAT),
              dst = row_of(&dst_scale, &single, TL_FLOAT);
    const ln_quant_product p = {.kind = LN_QUANT_TO_BYTE,
                                .src_scale = &src_scale,
                                .weight_scale = &scale,
                                .dst_scale = &dst,
                                .bias = &bias};
    return ln_quant_columns_find(&p, COLUMNS, terms, (ln_quant_columns){factors, rest, units});
}

// Below 2^23 units the nearest float to a number of them is nearer to it than to the next.
TEST(biases_that_were_integers_are_the_same_integers)
{
    static const float units[] = {0.0005F, 0.00110000001F, 1e-7F, 3, 0.0123F};
    static const int32_t firsts[] = {-2000, 1, 70000, 4194200, -4194304, 8388000, 5000001};
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
        for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++) {
            float numbers[COLUMNS], rest[COLUMNS];
            int32_t got[COLUMNS];
            for (int i = 0; i < COLUMNS; i++)
                numbers[i] = (float)((double)(firsts[f] + i) * (double)units[u]);
            CHECK(!find(numbers, units[u], 0.05F, 100, got, rest));
            for (int i = 0; i < COLUMNS; i++) {
                CHECK_EQ(got[i], firsts[f] + i);
                CHECK_NEAR(rest[i], 0, 0);
            }
        }
}

TEST(biases_between_units_stay_floats)
{
    float numbers[COLUMNS], rest[COLUMNS];
    int32_t got[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        numbers[i] = ((float)i + 0.5F) * 0.25F;
    CHECK(find(numbers, 0.25F, 0.5F, 100, got, rest));
    for (int i = 0; i < COLUMNS; i++) {
        CHECK_EQ(got[i], 0);
        CHECK_NEAR(rest[i], numbers[i] / 0.5F, 0);
    }
}

// With them, sums of so many products of bytes could be more than 32 bits hold.
TEST(biases_that_leave_no_room_for_sums_stay_floats)
{
    float numbers[COLUMNS], rest[COLUMNS];
    int32_t got[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        numbers[i] = i % 2 ? 2e9F : 1e9F;
    CHECK(find(numbers, 1, 1, 10000, got, rest));
    for (int i = 0; i < COLUMNS; i++) {
        CHECK_EQ(got[i], i % 2 ? 0 : 1000000000);
        CHECK_NEAR(rest[i], i % 2 ? 2e9F : 0, 0);
    }
}

TEST_LIST(biases_that_were_integers_are_the_same_integers, biases_between_units_stay_floats,
          biases_that_leave_no_room_for_sums_stay_floats)
