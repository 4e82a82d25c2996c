// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/run.h"

#include "arch/ref/test_view.h"

TEST(create_leaves_what_the_data_file_gave)
{
    float data[] = {4, 5};
    const double ran[] = {0, 0}, given[] = {7};
    tl_tensor dst = VIEW(data, TL_FLOAT, 2);
    CHECK_OK(ln_ref_run_create(&dst, "x", ran, given, 1, true));
    CHECK_FLOATS(data, 2, 0, 4, 5);
    CHECK_OK(ln_ref_run_create(&dst, "x", ran, given, 1, false));
    CHECK_FLOATS(data, 2, 0, 7, 0);
}

TEST_LIST(create_leaves_what_the_data_file_gave)
