// SPDX-License-Identifier: Apache-2.0
// Images become tensors; clocks run.

#include <lightnet/util.h>

#include "tests/test.h"

TEST(channels_are_separated_and_means_subtracted)
{
    // Two rows of three pixels: red, green, blue.
    const unsigned char image[] = {1, 10, 100, 2, 20, 110, 3, 30, 120,
                                   4, 40, 130, 5, 50, 140, 6, 60, 255};
    const float mean[] = {0.5f, 10.0f, 100.0f};
    const float expected[] = {0.5f,  1.5f,  2.5f,  3.5f, 4.5f,  5.5f,  0.0f,  10.0f, 20.0f,
                              30.0f, 40.0f, 50.0f, 0.0f, 10.0f, 20.0f, 30.0f, 40.0f, 155.0f};
    float out[18];
    CHECK_OK(ln_img_submean(image, mean, out, 2, 3, 3));
    for (size_t i = 0; i < 18; i++)
        CHECK_NEAR(out[i], expected[i], 0);
}

TEST(images_without_size_are_refused)
{
    const unsigned char image[] = {1};
    const float mean[] = {0};
    float out[1];
    CHECK_FAILS(ln_img_submean(image, mean, out, 0, 1, 1), LN_INVALID);
    CHECK_FAILS(ln_img_submean(image, mean, out, 1, -1, 1), LN_INVALID);
    CHECK_FAILS(ln_img_submean(image, mean, out, 1, 1, 0), LN_INVALID);
    CHECK_FAILS(ln_img_submean(NULL, mean, out, 1, 1, 1), LN_INVALID);
    CHECK_FAILS(ln_img_submean(image, NULL, out, 1, 1, 1), LN_INVALID);
    CHECK_FAILS(ln_img_submean(image, mean, NULL, 1, 1, 1), LN_INVALID);
}

TEST(the_clock_tells_this_century)
{
    CHECK(ln_clock() > 1.7e9);
}

TEST_LIST(channels_are_separated_and_means_subtracted, images_without_size_are_refused,
          the_clock_tells_this_century)
