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

// With all that it may have.
static ln_separable_nhwc whole(void)
{
    static tl_tensor d, e, p, twenty, five, sum;
    d = *TENSOR(1, d_dims, 180);
    e = *TENSOR(1, e_dims, 96);
    p = *TENSOR(1, p_dims, 320);
    twenty = *TENSOR(1, twenty_dims, 20);
    five = *TENSOR(1, five_dims, 5);
    sum = *TENSOR(4, sum_dims, 140);
    return (ln_separable_nhwc){
        .expand = {.packed = &e, .bias = &twenty},
        .depthwise = {.packed = &d,
                      .bias = &twenty,
                      .count = 20,
                      .size = {3, 3},
                      .stride = {2, 2},
                      .padding = {1, 1, 1, 1},
                      .dilation = {1, 1}},
        .project = {.packed = &p, .bias = &five, .addend = &sum, .count = 5, .addend_first = 2}};
}

static ln_status infer(ln_separable_nhwc *op)
{
    static tl_tensor x; // which the operator reads again
    x = *TENSOR(4, x_dims, 216);
    return ln_separable_nhwc_infer(op, &x);
}

static void check_refused(ln_separable_nhwc op, const char *why)
{
    if (infer(&op) == LN_OK)
        fail_msg("not refused: %s", why);
}

TEST(the_last_convolution_makes_the_shape)
{
    ln_separable_nhwc op = whole();
    CHECK_OK(infer(&op));
    CHECK_MEM_EQ(op.expand.out, ((int[]){1, 8, 9, 20}), sizeof op.expand.out);
    CHECK_MEM_EQ(op.depthwise.out, filtered_dims, sizeof filtered_dims);
    CHECK_MEM_EQ(op.project.out, ((int[]){1, 4, 5, 5}), sizeof op.project.out);
    CHECK(ln_separable_nhwc_macs(&op) == 20 * (8 * 9 * 3 + 4 * 5 * (9 + 5)));

    op = whole();
    op.project = (ln_conv_nhwc){0};
    CHECK_OK(infer(&op));
    CHECK_MEM_EQ(op.depthwise.out, filtered_dims, sizeof filtered_dims);
    CHECK(ln_separable_nhwc_macs(&op) == 20 * (8 * 9 * 3 + 4 * 5 * 9));
}

TEST(parts_that_do_not_belong_together_are_refused)
{
    ln_separable_nhwc op = whole();
    op.expand = (ln_conv_nhwc){0};
    check_refused(op, "three channels for a depthwise convolution of twenty");
    op = whole();
    op.expand.packed = NULL;
    check_refused(op, "a bias of nothing before");
    op = whole();
    op.project.count = 0;
    check_refused(op, "no channels after");
    op = whole();
    op.project.packed = NULL;
    check_refused(op, "channels after, but no weights");
    op.project.count = 0;
    check_refused(op, "a bias and an addend of nothing after");
    op = whole();
    op.expand = op.project = (ln_conv_nhwc){0};
    if (ln_separable_nhwc_infer(&op, TENSOR(4, filtered_dims, 400)) == LN_OK)
        fail_msg("not refused: a depthwise convolution alone");
    op = whole();
    op.project.addend_first = 3;
    check_refused(op, "an addend with too few channels");
    op = whole();
    op.project.addend = TENSOR(4, other_dims, 504);
    check_refused(op, "an addend of the size of the input");
    op = whole();
    op.project.bias = TENSOR(1, six_dims, 6);
    check_refused(op, "more biases than channels");
    op = whole();
    op.depthwise.packed = TENSOR(1, e_dims, 96);
    check_refused(op, "other weights");
    op = whole();
    op.depthwise.count = 2147483647;
    check_refused(op, "an image between that no tensor could hold");
}

TEST_LIST(the_last_convolution_makes_the_shape, parts_that_do_not_belong_together_are_refused)
