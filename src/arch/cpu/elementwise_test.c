// SPDX-License-Identifier: Apache-2.0
// The element-wise operators of arch cpu: arguments reach the kernels.

#include "arch/cpu/elementwise.h"

#include "tests/test.h"

// A tensor around data of the test; the dimensions stay in the block that says VIEW.
#define VIEW(data, ...)                                                                            \
    view(data, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

static tl_tensor view(float *data, int ndim, int *dims)
{
    tl_tensor t = {.dtype = TL_FLOAT, .len = 1, .ndim = ndim, .dims = dims, .data = data};
    for (int d = 0; d < ndim; d++)
        t.len *= dims[d];
    return t;
}

static void check_floats(const float *got, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR((double)got[i], (double)expected[i], 1e-6);
}

TEST(each_element_wise_operation_has_its_kernel)
{
    float a[] = {6, 2}, b[] = {3, 4}, y[2];
    tl_tensor src1 = VIEW(a, 2), src2 = VIEW(b, 2), dst = VIEW(y, 2);
    const struct {
        tl_elew_op op;
        float expected[2];
    } cases[] = {
        {TL_MUL, {18, 8}}, {TL_DIV, {2, 0.5f}}, {TL_SUM, {9, 6}},
        {TL_SUB, {3, -2}}, {TL_MAX, {6, 4}},    {TL_MIN, {3, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(ln_cpu_elew(NULL, &src1, &src2, &dst, cases[i].op, LN_ACT_NONE, 0, 0));
        check_floats(y, cases[i].expected, 2);
    }
    CHECK_FAILS(ln_cpu_elew(NULL, &src1, &src2, &dst, TL_POW, LN_ACT_NONE, 0, 0), LN_UNSUPPORTED);
    CHECK_FAILS(ln_cpu_elew(NULL, &src1, &src2, &dst, TL_ELEW_OP_INVALID, LN_ACT_NONE, 0, 0),
                LN_UNSUPPORTED);
}

TEST(unary_operators_have_their_kernels)
{
    float x[] = {-2, 0, 3}, y[3];
    tl_tensor src = VIEW(x, 3), dst = VIEW(y, 3);
    CHECK_OK(ln_cpu_act(NULL, &src, &dst, LN_ACT_RELU, 0, 0));
    check_floats(y, (const float[]){0, 0, 3}, 3);
    CHECK_OK(ln_cpu_act(NULL, &src, &dst, LN_ACT_LRELU, 0.5f, 0));
    check_floats(y, (const float[]){-1, 0, 3}, 3);
    CHECK_OK(ln_cpu_act(NULL, &src, &dst, LN_ACT_SIGMOID, 0, 0));
    check_floats(y, (const float[]){0.11920292f, 0.5f, 0.95257413f}, 3);
}

TEST_LIST(each_element_wise_operation_has_its_kernel, unary_operators_have_their_kernels)
