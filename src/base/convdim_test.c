// SPDX-License-Identifier: Apache-2.0
// Output sizes and automatic padding.

#include <lightnet/convdim.h>

#include <limits.h>

#include "tests/test.h"

TEST(convolution_outputs)
{
    static const struct {
        int in, size, stride, pad_begin, pad_end, dilation;
        int out;
        const char *why;
    } cases[] = {
        {224, 7, 2, 3, 3, 1, 112, "the stem of a residual network"},
        {8, 3, 1, 1, 1, 1, 8, "same"},
        {8, 3, 1, 0, 0, 1, 6, "valid"},
        {8, 3, 2, 0, 1, 1, 4, "uneven padding"},
        {8, 3, 1, 2, 2, 2, 8, "dilated"},
        {5, 2, 2, 0, 0, 1, 2, "a rest is dropped"},
        {3, 3, 5, 0, 0, 1, 1, "exactly one window"},
        {1, 1, 1, 0, 0, 1, 1, "the smallest"},
        {0, 1, 1, 1, 0, 1, 1, "padding alone"},
        {2, 3, 2, 0, 0, 1, -1, "the window does not fit"},
        {3, 2, 1, 0, 0, 3, -1, "the dilated window does not fit"},
        {8, 0, 1, 0, 0, 1, -1, "no size"},
        {8, 3, 0, 0, 0, 1, -1, "no stride"},
        {8, 3, 1, 0, 0, 0, -1, "no dilation"},
        {8, 3, 1, -1, 0, 1, -1, "negative padding"},
        {-1, 1, 1, 5, 5, 1, -1, "negative input"},
        {INT_MAX, 1, 1, 1, 0, 1, -1, "over the largest int"},
        {INT_MAX, INT_MAX, 1, INT_MAX, INT_MAX, INT_MAX, -1, "largest arguments"},
        {INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, -1, "smallest arguments"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        ln_error_clear();
        CHECK_EQ(ln_output_dim_conv(cases[i].in, cases[i].size, cases[i].stride, cases[i].pad_begin,
                                    cases[i].pad_end, cases[i].dilation),
                 cases[i].out);
        CHECK_EQ(ln_error_status() == LN_OK, cases[i].out >= 0);
    }
}

TEST(deconvolution_outputs)
{
    static const struct {
        int in, size, stride, pad_begin, pad_end, output_padding, dilation;
        int out;
        const char *why;
    } cases[] = {
        {4, 2, 2, 0, 0, 0, 1, 8, "doubling"},
        {4, 3, 2, 1, 1, 1, 1, 8, "doubling with output padding"},
        {4, 4, 2, 1, 1, 0, 1, 8, "doubling with padding"},
        {3, 3, 1, 0, 0, 0, 2, 7, "dilated"},
        {1, 1, 1, 0, 0, 0, 1, 1, "the smallest"},
        {1, 1, 1, 1, 0, 0, 1, -1, "nothing left"},
        {0, 3, 1, 0, 0, 0, 1, -1, "no input"},
        {4, 3, 1, 0, 0, -1, 1, -1, "negative output padding"},
        {4, 3, 1, 0, -1, 0, 1, -1, "negative padding"},
        {4, 3, 0, 0, 0, 0, 1, -1, "no stride"},
        {INT_MAX, 2, 2, 0, 0, 0, 1, -1, "over the largest int"},
        {INT_MAX, INT_MAX, INT_MAX, 0, 0, INT_MAX, INT_MAX, -1, "largest arguments"},
        {INT_MIN, 1, 1, 0, 0, 0, 1, -1, "smallest input"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        ln_error_clear();
        CHECK_EQ(ln_output_dim_deconv(cases[i].in, cases[i].size, cases[i].stride,
                                      cases[i].pad_begin, cases[i].pad_end, cases[i].output_padding,
                                      cases[i].dilation),
                 cases[i].out);
        CHECK_EQ(ln_error_status() == LN_OK, cases[i].out >= 0);
    }
}

TEST(convolutions_pad_themselves)
{
    static const struct {
        const char *mode;
        int in[2], size[2], stride[2], dilation[2];
        int padding[4]; // top, left, bottom, right
    } cases[] = {
        {"VALID", {4, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {4, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_LOWER", {4, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        {"VALID", {4, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {4, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 0, 1, 1}},
        {"SAME_LOWER", {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1, 0, 0}},
        {"VALID", {8, 8}, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        {"SAME_LOWER", {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        {"VALID", {8, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {8, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}},
        {"SAME_LOWER", {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 0, 0}},
        {"VALID", {9, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {9, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        {"SAME_LOWER", {9, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        // Axes that differ keep their places.
        {"SAME_UPPER", {8, 9}, {3, 2}, {2, 1}, {1, 1}, {0, 0, 1, 1}},
        {"SAME_LOWER", {8, 9}, {4, 5}, {1, 1}, {1, 1}, {2, 2, 1, 2}},
        {"SAME_UPPER", {8, 8}, {3, 3}, {1, 1}, {2, 3}, {2, 3, 2, 3}},
        // A stride beyond the window would ask for less than nothing.
        {"SAME_UPPER", {8, 7}, {1, 1}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_LOWER", {8, 7}, {1, 2}, {4, 5}, {1, 1}, {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int padding[4] = {-1, -1, -1, -1};
        printf("row %zu, %s\n", i, cases[i].mode);
        CHECK_OK(ln_autopadding_conv(padding, cases[i].in, cases[i].size, cases[i].stride,
                                     cases[i].dilation, 2, cases[i].mode));
        CHECK_MEM_EQ(padding, cases[i].padding, sizeof padding);
    }
}

TEST(same_padding_gives_the_promised_outputs)
{
    for (int in = 1; in < 20; in++)
        for (int size = 1; size < 6; size++)
            for (int stride = 1; stride < 5; stride++)
                for (int dilation = 1; dilation < 4; dilation++) {
                    int padding[2];
                    CHECK_OK(ln_autopadding_conv(padding, &in, &size, &stride, &dilation, 1,
                                                 "SAME_UPPER"));
                    CHECK_EQ(ln_output_dim_conv(in, size, stride, padding[0], padding[1], dilation),
                             (in + stride - 1) / stride);
                    CHECK(padding[1] == padding[0] || padding[1] == padding[0] + 1);
                }
}

TEST(deconvolutions_pad_themselves)
{
    static const struct {
        const char *mode;
        int in[2], out[2], size[2], stride[2], output_padding[2], dilation[2];
        int padding[4];
    } cases[] = {
        {"VALID", {4, 4}, {9, 9}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0, 0, 0}},
        {"SAME_UPPER", {4, 4}, {8, 8}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0, 1, 1}},
        {"SAME_LOWER", {4, 4}, {8, 8}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1, 0, 0}},
        {"SAME_UPPER", {4, 4}, {8, 8}, {4, 4}, {2, 2}, {0, 0}, {1, 1}, {1, 1, 1, 1}},
        {"SAME_UPPER", {4, 4}, {8, 8}, {3, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1, 1, 2}},
        {"SAME_UPPER", {4, 4}, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {2, 2}, {2, 2, 2, 2}},
        {"SAME_UPPER", {4, 4}, {20, 9}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int padding[4] = {-1, -1, -1, -1};
        printf("row %zu, %s\n", i, cases[i].mode);
        CHECK_OK(ln_autopadding_deconv(padding, cases[i].in, cases[i].out, cases[i].size,
                                       cases[i].stride, cases[i].output_padding, cases[i].dilation,
                                       2, cases[i].mode));
        CHECK_MEM_EQ(padding, cases[i].padding, sizeof padding);
    }
}

TEST(deconvolutions_scale_by_the_stride_unless_told)
{
    const int in[] = {4}, size[] = {3}, stride[] = {2}, dilation[] = {1};
    const int expected[] = {0, 1};
    int padding[2];
    CHECK_OK(
        ln_autopadding_deconv(padding, in, NULL, size, stride, NULL, dilation, 1, "SAME_UPPER"));
    CHECK_MEM_EQ(padding, expected, sizeof padding);
}

TEST(bad_arguments_leave_the_padding_alone)
{
    static const struct {
        int in, size, stride, dilation, axis_count;
        const char *mode;
    } cases[] = {
        {4, 3, 1, 1, 1, "NOTSET"},      {4, 3, 1, 1, 1, "same_upper"},  {4, 3, 1, 1, 1, ""},
        {4, 3, 1, 1, 1, NULL},          {0, 3, 1, 1, 1, "SAME_UPPER"},  {4, 0, 1, 1, 1, "VALID"},
        {4, 3, 0, 1, 1, "SAME_UPPER"},  {4, 3, 1, 0, 1, "SAME_UPPER"},  {4, 3, 1, 1, 9, "VALID"},
        {4, 3, 1, 1, -1, "SAME_UPPER"}, {INT_MIN, 3, 1, 1, 1, "VALID"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int *in = &cases[i].in, *size = &cases[i].size, *stride = &cases[i].stride;
        const int *dilation = &cases[i].dilation;
        int padding[] = {7, 7};
        CHECK_FAILS(ln_autopadding_conv(padding, in, size, stride, dilation, cases[i].axis_count,
                                        cases[i].mode),
                    LN_INVALID);
        CHECK_FAILS(ln_autopadding_deconv(padding, in, NULL, size, stride, NULL, dilation,
                                          cases[i].axis_count, cases[i].mode),
                    LN_INVALID);
        CHECK_EQ(padding[0], 7);
        CHECK_EQ(padding[1], 7);
    }
    const int one = 1, large = INT_MAX;
    int padding[2];
    CHECK_FAILS(ln_autopadding_conv(padding, &one, &large, &one, &large, 1, "SAME_UPPER"),
                LN_LIMIT);
    CHECK_FAILS(
        ln_autopadding_deconv(padding, &large, &one, &large, &large, NULL, &large, 1, "SAME_UPPER"),
        LN_LIMIT);
    CHECK_FAILS(ln_autopadding_conv(NULL, &one, &one, &one, &one, 1, "VALID"), LN_INVALID);
    CHECK_FAILS(ln_autopadding_deconv(padding, NULL, NULL, &one, &one, NULL, &one, 1, "VALID"),
                LN_INVALID);
}

TEST_LIST(convolution_outputs, deconvolution_outputs, convolutions_pad_themselves,
          same_padding_gives_the_promised_outputs, deconvolutions_pad_themselves,
          deconvolutions_scale_by_the_stride_unless_told, bad_arguments_leave_the_padding_alone)
