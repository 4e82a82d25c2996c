// SPDX-License-Identifier: Apache-2.0
// Packed weights of transposed convolutions: each has a place of its own; what does not fit is
// refused.

#include "op/nhwc_deconv.h"

#include <limits.h>
#include <stdlib.h>

#include "tests/test.h"

TEST(every_weight_has_a_place_of_its_own)
{
    static const struct {
        int dims[4], group, stride[2], dilation[2];
    } rows[] = {
        {{3, 5, 4, 4}, 1, {2, 2}, {1, 1}},  {{4, 17, 3, 2}, 1, {2, 3}, {1, 1}},
        {{6, 4, 5, 3}, 3, {4, 2}, {2, 1}},  {{7, 1, 3, 4}, 7, {2, 2}, {1, 3}},
        {{2, 3, 1, 1}, 1, {5, 1}, {1, 1}},  {{2, 2, 6, 2}, 2, {6, 1}, {4, 2}},
        {{1, 33, 2, 2}, 1, {2, 2}, {2, 2}}, {{5, 2, 7, 1}, 1, {3, 3}, {6, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int *d = rows[i].dims;
        int len = ln_deconv_packed_len(d, rows[i].group), tap[2];
        CHECK(len > 0);
        char *taken = calloc((size_t)len, 1);
        CHECK_NOT_NULL(taken);
        for (int c = 0; c < d[0]; c++)
            for (int k = 0; k < d[1]; k++)
                for (tap[0] = 0; tap[0] < d[2]; tap[0]++)
                    for (tap[1] = 0; tap[1] < d[3]; tap[1]++) {
                        int o = c / (d[0] / rows[i].group) * d[1] + k;
                        size_t at = ln_deconv_packed_at(d, rows[i].group, rows[i].stride,
                                                        rows[i].dilation, c, o, tap);
                        CHECK(at < (size_t)len);
                        CHECK_EQ(taken[at], 0);
                        taken[at] = 1;
                    }
        free(taken);
    }
}

TEST(what_does_not_fit_is_refused)
{
    CHECK_EQ(ln_deconv_packed_len((const int[]){6, 4, 2, 2}, 4), -1);
    CHECK_EQ(ln_deconv_packed_len((const int[]){1 << 20, 1 << 10, 3, 3}, 1), -1);
    int dims[TL_MAXDIM], src_dims[] = {1, 4, 4, 2}, packed_dims[] = {64};
    const int ones[2] = {1, 1}, out[2] = {9, 9};
    tl_tensor src = {.dtype = TL_FLOAT, .len = 32, .ndim = 4, .dims = src_dims};
    tl_tensor packed = {.dtype = TL_FLOAT, .len = 128, .ndim = 1, .dims = packed_dims};
    const int size[2] = {2, 2}, far[2] = {INT_MAX, 1}, stride[2] = {2, 2};
    CHECK_EQ(ln_shape_deconv2d_nhwc(dims, &src, &packed, NULL, NULL, 1, 3, size, stride, ones, out,
                                    0, 0, 0, 0),
             4);
    CHECK_EQ(ln_shape_deconv2d_nhwc(dims, &src, &packed, NULL, NULL, 1, 3, size, stride, far, out,
                                    0, 0, 0, 0),
             -1);
    CHECK_EQ(ln_shape_deconv2d_nhwc(dims, &src, &packed, NULL, NULL, 1, 3, size, far, ones, out, 0,
                                    0, 0, 0),
             -1);
    packed.len = 127;
    CHECK_EQ(ln_shape_deconv2d_nhwc(dims, &src, &packed, NULL, NULL, 1, 3, size, stride, ones, out,
                                    0, 0, 0, 0),
             -1);
}

TEST_LIST(every_weight_has_a_place_of_its_own, what_does_not_fit_is_refused)
