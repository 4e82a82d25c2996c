// SPDX-License-Identifier: Apache-2.0
// Which tensors and parameters a convolution with a pooling behind it may have together.

#include "arch/cpu/pooled_nhwc.h"

#include "tests/test.h"

static int x_dims[] = {2, 17, 9, 3}, packed_dims[] = {9 * 3 * 32}, bias_dims[] = {20};
static tl_tensor x = {.dtype = TL_FLOAT, .ndim = 4, .dims = x_dims, .len = 2 * 17 * 9 * 3};
static tl_tensor packed = {.dtype = TL_FLOAT, .ndim = 1, .dims = packed_dims, .len = 9 * 3 * 32};
static tl_tensor bias = {.dtype = TL_FLOAT, .ndim = 1, .dims = bias_dims, .len = 20};
static const int three[] = {3, 3}, two[] = {2, 2}, none[] = {0, 0, 0, 0};
static const int border[] = {1, 1, 1, 1};

static ln_pooled_nhwc whole(void)
{
    return (ln_pooled_nhwc){.src = &x,
                            .packed = &packed,
                            .bias = &bias,
                            .channels = 20,
                            .size = three,
                            .stride = two,
                            .padding = border,
                            .pool_size = three,
                            .pool_stride = two,
                            .pool_padding = none};
}

static void check_refused(ln_pooled_nhwc op, const char *why)
{
    int dims[4];
    if (ln_shape_pooled_nhwc(dims, &op) != -1)
        fail_msg("not refused: %s", why);
}

TEST(the_pooling_makes_the_shape)
{
    ln_pooled_nhwc op = whole();
    int dims[4], between[4];
    CHECK_EQ(ln_shape_pooled_nhwc(dims, &op), 4);
    CHECK_MEM_EQ(dims, ((int[]){2, 4, 2, 20}), sizeof dims);
    ln_pooled_image(between, &op);
    CHECK_MEM_EQ(between, ((int[]){2, 9, 5, 20}), sizeof between);
    CHECK(ln_pooled_products(&op) == 2 * 20 * 9 * 5 * 9 * 3);

    op.pool_padding = border;
    CHECK_EQ(ln_shape_pooled_nhwc(dims, &op), 4);
    CHECK_MEM_EQ(dims, ((int[]){2, 5, 3, 20}), sizeof dims);
}

TEST(each_of_the_two_is_checked)
{
    ln_pooled_nhwc op = whole();
    op.channels = 40;
    check_refused(op, "weights and a bias of fewer channels");
    op = whole();
    op.algorithm = LN_CONV_WINOGRAD4;
    check_refused(op, "an algorithm that has no steps");
    op = whole();
    op.algorithm = LN_CONV_NARROW;
    check_refused(op, "an algorithm that has no bands");
    op = whole();
    op.size = (const int[]){3, 2};
    check_refused(op, "other weights");
    op = whole();
    op.pool_size = (const int[]){10, 3};
    check_refused(op, "a window that is larger than the image");
    op = whole();
    op.channels = 2147483647;
    check_refused(op, "an image between that no tensor could hold");
}

TEST_LIST(the_pooling_makes_the_shape, each_of_the_two_is_checked)
