// SPDX-License-Identifier: Apache-2.0
// Sizes at the end of what there can be.

#include "base/checked.h"

#include "tests/test.h"

TEST(sums_and_products_that_are_too_large_stay_so)
{
    CHECK(ln_size_times(3, 5) == 15 && ln_size_plus(3, 5) == 8);
    CHECK(ln_size_times(SIZE_MAX / 2, 3) == SIZE_MAX);
    CHECK(ln_size_plus(ln_size_times(SIZE_MAX, 2), 1) == SIZE_MAX);
}

TEST_LIST(sums_and_products_that_are_too_large_stay_so)
