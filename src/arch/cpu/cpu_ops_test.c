// SPDX-License-Identifier: Apache-2.0
// The glue: parameters reach the kernels in the right places.

#include "arch/cpu/cpu_ops.h"

#include <limits.h>

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

static float workspace_data[4096];

static void check_floats(const float *got, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR((double)got[i], (double)expected[i], 1e-6);
}

// Height and width, top and left are told apart: a 1 x 2 kernel over 2 x 3 pixels.
TEST(conv2d_takes_height_before_width)
{
    float x[] = {1, 2, 3, 4, 5, 6}, w[] = {10, 1}, b[] = {0.5f}, y[8];
    tl_tensor src = VIEW(x, 1, 1, 2, 3), weight = VIEW(w, 1, 1, 1, 2), bias = VIEW(b, 1);
    tl_tensor workspace = VIEW(workspace_data, 4096);
    const int size[] = {1, 2}, stride[] = {1, 2}, padding[] = {0, 1, 1, 0}, dilation[] = {1, 1};
    int dims[TL_MAXDIM];

    CHECK_EQ(
        ln_cpu_conv2d_workspace(dims, &src, &weight, 1, size, stride, padding, dilation, "NOTSET"),
        1);
    CHECK(dims[0] > 0 && dims[0] <= 4096);
    tl_tensor dst = VIEW(y, 1, 1, 3, 2);
    CHECK_OK(ln_cpu_conv2d(&src, &weight, &bias, &dst, &workspace, 1, stride, padding, dilation,
                           "NOTSET", "none"));
    const float expected[] = {1.5f, 23.5f, 4.5f, 56.5f, 0.5f, 0.5f};
    check_floats(y, expected, 6);
}

TEST(conv2d_pads_by_itself_and_applies_relu)
{
    float x[] = {1, -2, 3, -4}, w[] = {1, 0, 0, 0, 2, 0, 0, 0, 0}, b[] = {0}, y[4];
    tl_tensor src = VIEW(x, 1, 1, 2, 2), weight = VIEW(w, 1, 1, 3, 3), bias = VIEW(b, 1);
    tl_tensor dst = VIEW(y, 1, 1, 2, 2), workspace = VIEW(workspace_data, 4096);
    const int stride[] = {1, 1}, padding[] = {0, 0, 0, 0}, dilation[] = {1, 1};
    CHECK_OK(ln_cpu_conv2d(&src, &weight, &bias, &dst, &workspace, 1, stride, padding, dilation,
                           "SAME_UPPER", "relu"));
    const float expected[] = {2, 0, 6, 0};
    check_floats(y, expected, 4);
}

TEST(a_workspace_beyond_a_tensor_is_refused)
{
    tl_tensor src = VIEW(NULL, 1, 1, 1, 1), weight = VIEW(NULL, 1, 1, 1, 1);
    const int size[] = {1, 1}, stride[] = {1, 1}, dilation[] = {1, 1};
    const int padding[] = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
    int dims[TL_MAXDIM];
    CHECK_EQ(
        ln_cpu_conv2d_workspace(dims, &src, &weight, 1, size, stride, padding, dilation, "NOTSET"),
        -1);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
}

TEST_LIST(conv2d_takes_height_before_width, conv2d_pads_by_itself_and_applies_relu,
          a_workspace_beyond_a_tensor_is_refused)
