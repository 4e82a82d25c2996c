// SPDX-License-Identifier: Apache-2.0
// Which tensors and parameters a separable convolution may have together.

#include "arch/cpu/separable_nhwc.h"

#include "tests/test.h"

static int x_dims[] = {1, 8, 9, 3}, d_dims[] = {9 * 20}, e_dims[] = {3 * 32}, p_dims[] = {20 * 16};
static int twenty_dims[] = {20}, five_dims[] = {5}, six_dims[] = {6},
           filtered_dims[] = {1, 4, 5, 20};
static int sum_dims[] = {1, 4, 5, 7}, other_dims[] = {1, 8, 9, 7};
#define TENSOR(rank, dims_, count)                                                                 \
    &(tl_tensor)                                                                                   \
    {                                                                                              \
        .dtype = TL_FLOAT, .ndim = (rank), .dims = (dims_), .len = (count)                         \
    }

static const int size[] = {3, 3}, stride[] = {2, 2}, padding[] = {1, 1, 1, 1}, dilation[] = {1, 1};

// With all that it may have.
static ln_separable_nhwc whole(void)
{
    static tl_tensor x, d, e, p, twenty, five, sum;
    x = *TENSOR(4, x_dims, 216);
    d = *TENSOR(1, d_dims, 180);
    e = *TENSOR(1, e_dims, 96);
    p = *TENSOR(1, p_dims, 320);
    twenty = *TENSOR(1, twenty_dims, 20);
    five = *TENSOR(1, five_dims, 5);
    sum = *TENSOR(4, sum_dims, 140);
    return (ln_separable_nhwc){.src = &x,
                               .expand = &e,
                               .expand_bias = &twenty,
                               .depthwise = &d,
                               .depthwise_bias = &twenty,
                               .project = &p,
                               .project_bias = &five,
                               .addend = &sum,
                               .channels = 20,
                               .project_channels = 5,
                               .size = size,
                               .stride = stride,
                               .padding = padding,
                               .dilation = dilation,
                               .addend_first = 2};
}

static void check_refused(ln_separable_nhwc op, const char *why)
{
    int dims[4];
    if (ln_shape_separable_nhwc(dims, &op) != -1)
        fail_msg("not refused: %s", why);
}

TEST(the_last_convolution_makes_the_shape)
{
    ln_separable_nhwc op = whole();
    int dims[4], expanded[4], filtered[4];
    CHECK_EQ(ln_shape_separable_nhwc(dims, &op), 4);
    CHECK_MEM_EQ(dims, ((int[]){1, 4, 5, 5}), sizeof dims);
    ln_separable_images(expanded, filtered, &op);
    CHECK_MEM_EQ(expanded, ((int[]){1, 8, 9, 20}), sizeof expanded);
    CHECK_MEM_EQ(filtered, filtered_dims, sizeof filtered);
    CHECK(ln_separable_products(&op, TENSOR(4, dims, 100)) == 20 * (8 * 9 * 3 + 4 * 5 * (9 + 5)));

    op.project = op.project_bias = op.addend = NULL;
    op.project_channels = 0;
    CHECK_EQ(ln_shape_separable_nhwc(dims, &op), 4);
    CHECK_MEM_EQ(dims, filtered_dims, sizeof dims);
}

TEST(parts_that_do_not_belong_together_are_refused)
{
    ln_separable_nhwc op = whole();
    op.expand = op.expand_bias = NULL;
    check_refused(op, "three channels for a depthwise convolution of twenty");
    op = whole();
    op.expand = NULL;
    check_refused(op, "a bias of nothing in front");
    op = whole();
    op.project_channels = 0;
    check_refused(op, "no channels behind");
    op = whole();
    op.project = NULL;
    check_refused(op, "channels behind, but no weights");
    op.project_channels = 0;
    check_refused(op, "a bias and an addend of nothing behind");
    op = whole();
    op.expand = op.expand_bias = op.project = op.project_bias = op.addend = NULL;
    op.project_channels = 0;
    op.src = TENSOR(4, filtered_dims, 400);
    check_refused(op, "a depthwise convolution alone");
    op = whole();
    op.addend_first = 3;
    check_refused(op, "an addend with too few channels");
    op = whole();
    op.addend = TENSOR(4, other_dims, 504);
    check_refused(op, "an addend of the size of the input");
    op = whole();
    op.project_bias = TENSOR(1, six_dims, 6);
    check_refused(op, "more biases than channels");
    op = whole();
    op.depthwise = TENSOR(1, e_dims, 96);
    check_refused(op, "other weights");
    op = whole();
    op.channels = 2147483647;
    check_refused(op, "an image between that no tensor could hold");
}

TEST_LIST(the_last_convolution_makes_the_shape, parts_that_do_not_belong_together_are_refused)
