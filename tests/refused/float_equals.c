// SPDX-License-Identifier: Apache-2.0
// Does not compile: CHECK_EQ compares integers, and would call 5.9f and 5 equal.

#include "tests/test.h"

TEST(fractions_are_lost)
{
    CHECK_EQ(5.9f, 5);
}

TEST_LIST(fractions_are_lost)
