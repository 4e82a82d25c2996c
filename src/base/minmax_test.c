// SPDX-License-Identifier: Apache-2.0
// Counts at their ends.

#include "base/minmax.h"

#include <stdint.h>

#include "tests/test.h"

TEST(the_smaller_and_the_larger)
{
    CHECK_EQ(ln_min(0, SIZE_MAX), 0);
    CHECK(ln_max(0, SIZE_MAX) == SIZE_MAX);
    CHECK_EQ(ln_min(7, 7), 7);
}

TEST(quotients_are_rounded_up_without_overflow)
{
    CHECK_EQ(ln_div_up(0, 4), 0);
    CHECK_EQ(ln_div_up(1, 4), 1);
    CHECK_EQ(ln_div_up(8, 4), 2);
    CHECK_EQ(ln_div_up(9, 4), 3);
    CHECK(ln_div_up(SIZE_MAX, 1) == SIZE_MAX);
    CHECK(ln_div_up(SIZE_MAX, 2) == SIZE_MAX / 2 + 1);
    CHECK_EQ(ln_round_up(33, 16), 48);
    CHECK_EQ(ln_round_up(32, 16), 32);
    CHECK(ln_round_up(SIZE_MAX - 20, 16) == SIZE_MAX - 15);
}

TEST(clamping_keeps_what_is_inside)
{
    CHECK_EQ(ln_clamp64(5, -3, 7), 5);
    CHECK_EQ(ln_clamp64(-9, -3, 7), -3);
    CHECK_EQ(ln_clamp64(INT64_MAX, -3, 7), 7);
}

TEST_LIST(clamping_keeps_what_is_inside, the_smaller_and_the_larger,
          quotients_are_rounded_up_without_overflow)
