// SPDX-License-Identifier: Apache-2.0
// Which tensors and parameters a convolution with a pooling after it may have together.

#include "arch/cpu/pooled_nhwc.h"

#include "tests/test.h"

static int x_dims[] = {2, 17, 9, 3}, packed_dims[] = {9 * 3 * 32}, bias_dims[] = {20};
static tl_tensor x = {.dtype = TL_FLOAT, .ndim = 4, .dims = x_dims, .len = 2 * 17 * 9 * 3};
static tl_tensor packed = {.dtype = TL_FLOAT, .ndim = 1, .dims = packed_dims, .len = 9 * 3 * 32};
static tl_tensor bias = {.dtype = TL_FLOAT, .ndim = 1, .dims = bias_dims, .len = 20};

static ln_pooled_nhwc whole(void)
{
    return (ln_pooled_nhwc){.conv = {.src = &x,
                                     .packed = &packed,
                                     .bias = &bias,
                                     .count = 20,
                                     .size = {3, 3},
                                     .stride = {2, 2},
                                     .padding = {1, 1, 1, 1}},
                            .pooling = {.kind = LN_POOL_MAX, .size = {3, 3}, .stride = {2, 2}}};
}

static void check_refused(ln_pooled_nhwc op, const char *why)
{
    if (ln_pooled_nhwc_infer(&op) == LN_OK)
        fail_msg("not refused: %s", why);
}

TEST(the_pooling_makes_the_shape)
{
    ln_pooled_nhwc op = whole();
    CHECK_OK(ln_pooled_nhwc_infer(&op));
    CHECK_MEM_EQ(op.pooling.out, ((int[]){2, 4, 2, 20}), sizeof op.pooling.out);
    CHECK_MEM_EQ(op.conv.out, ((int[]){2, 9, 5, 20}), sizeof op.conv.out);
    CHECK(ln_conv_nhwc_macs(&op.conv) == 2 * 20 * 9 * 5 * 9 * 3);
    op = whole();
    for (int i = 0; i < 4; i++)
        op.pooling.padding[i] = 1;
    CHECK_OK(ln_pooled_nhwc_infer(&op));
    CHECK_MEM_EQ(op.pooling.out, ((int[]){2, 5, 3, 20}), sizeof op.pooling.out);
}

TEST(each_of_the_two_is_checked)
{
    ln_pooled_nhwc op = whole();
    op.conv.count = 40;
    check_refused(op, "weights and a bias of fewer channels");
    op = whole();
    op.conv.algorithm = LN_CONV_WINOGRAD4;
    check_refused(op, "an algorithm that has no steps");
    op = whole();
    op.conv.algorithm = LN_CONV_NARROW;
    check_refused(op, "an algorithm that has no bands");
    op = whole();
    op.conv.size[1] = 2;
    check_refused(op, "other weights");
    op = whole();
    op.pooling.size[0] = 10;
    check_refused(op, "a window that is larger than the image");
    op = whole();
    op.conv.count = 2147483647;
    check_refused(op, "an image between that no tensor could hold");
}

TEST_LIST(the_pooling_makes_the_shape, each_of_the_two_is_checked)
