// SPDX-License-Identifier: Apache-2.0
// How long packed weights are.

#include "arch/cpu/conv_nhwc.h"

#include "tests/test.h"

TEST(packed_weights_have_the_length_of_their_layout)
{
    const int weight_dims[4] = {20, 5, 3, 3}, depthwise[4] = {20, 1, 3, 3};
    CHECK_EQ(ln_conv_packed_len(LN_CONV_DIRECT, weight_dims, 1), 32 * 5 * 9);
    CHECK_EQ(ln_conv_packed_len(LN_CONV_WINOGRAD2, weight_dims, 1), 32 * 5 * 16);
    CHECK_EQ(ln_conv_packed_len(LN_CONV_WINOGRAD4, weight_dims, 1), 32 * 5 * 36);
    CHECK_EQ(ln_conv_packed_len(LN_CONV_WINOGRAD6, weight_dims, 1), 32 * 5 * 64);
    CHECK_EQ(ln_conv_packed_len(LN_CONV_DEPTHWISE, depthwise, 20), 20 * 9);
    const int many[4] = {65536, 65536, 3, 3};
    CHECK_EQ(ln_conv_packed_len(LN_CONV_WINOGRAD6, many, 1), -1);
}

TEST_LIST(packed_weights_have_the_length_of_their_layout)
