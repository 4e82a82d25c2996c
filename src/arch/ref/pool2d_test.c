// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

static const ln_ref_window plain2x2 = {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}};

TEST(max_and_mean_of_each_window)
{
    float src_data[] = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8}, dst_data[4];
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 2, 2, 4),
              dst = VIEW(dst_data, TL_FLOAT, 1, 2, 1, 2);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &plain2x2));
    CHECK_FLOATS(dst_data, 4, 0, 6, 8, -1, -3);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &plain2x2));
    CHECK_FLOATS(dst_data, 4, 0, 3.5, 5.5, -3.5, -5.5);
}

TEST(padding_neither_wins_nor_counts)
{
    float src_data[] = {-4, -8}, dst_data[2];
    ln_ref_window window = {{2, 2}, {1, 2}, {1, 1, 0, 1}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 2),
              dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 2);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 2, 0, -4, -8);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 2, 0, -4, -8);
}

TEST(a_window_over_padding_alone_has_a_result)
{
    float src_data[] = {5}, dst_data[9];
    int16_t int_src_data[] = {5}, int_dst_data[9];
    ln_ref_window window = {{1, 1}, {1, 1}, {1, 1, 1, 1}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 1),
              dst = VIEW(dst_data, TL_FLOAT, 1, 1, 3, 3);
    tl_tensor int_src = VIEW(int_src_data, TL_INT16, 1, 1, 1, 1);
    tl_tensor int_dst = VIEW(int_dst_data, TL_INT16, 1, 1, 3, 3);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 5, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 5);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 5, 0, 0, 0, 0, 0, 5);
    CHECK_OK(ln_ref_maxpool2d(&int_src, &int_dst, &window));
    CHECK_FLOATS(int_dst_data, 5, 0, INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN, 5);
}

TEST(nan_and_infinities_pass)
{
    float src_data[] = {1, NAN, 2, INFINITY, -INFINITY, -INFINITY}, dst_data[3];
    ln_ref_window window = {{1, 2}, {1, 2}, {0, 0, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_FLOAT, 1, 1, 1, 6),
              dst = VIEW(dst_data, TL_FLOAT, 1, 1, 1, 3);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 3, 0, NAN, INFINITY, -INFINITY);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 3, 0, NAN, INFINITY, -INFINITY);
}

TEST(means_of_integers_are_rounded_toward_zero)
{
    int8_t src_data[] = {-3, -4, 3, 4, 127, 126}, dst_data[3];
    ln_ref_window window = {{1, 2}, {1, 2}, {0, 0, 0, 0}, {1, 1}};
    tl_tensor src = VIEW(src_data, TL_INT8, 1, 1, 1, 6), dst = VIEW(dst_data, TL_INT8, 1, 1, 1, 3);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &window));
    CHECK_FLOATS(dst_data, 3, 0, -3, 3, 126);
}

TEST(large_unsigned_numbers_compare_as_such)
{
    uint64_t src_data[] = {1, UINT64_MAX, UINT64_MAX - 1, 0}, dst_data[1];
    tl_tensor src = VIEW(src_data, TL_UINT64, 1, 1, 2, 2);
    tl_tensor dst = VIEW(dst_data, TL_UINT64, 1, 1, 1, 1);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &plain2x2));
    CHECK(dst_data[0] == UINT64_MAX);
}

// Independent way: over the elements, each handed to the windows that cover it.
static void check_scattered(const int *in, const ln_ref_window *w, tl_dtype dtype,
                            test_random *random)
{
    int64_t src_data[256], dst_data[256];
    int oh = (in[2] + w->padding[0] + w->padding[2] - w->size[0]) / w->stride[0] + 1;
    int ow = (in[3] + w->padding[1] + w->padding[3] - w->size[1]) / w->stride[1] + 1;
    tl_tensor src = VIEW(src_data, dtype, in[0], in[1], in[2], in[3]);
    tl_tensor dst = VIEW(dst_data, dtype, in[0], in[1], oh, ow);
    CHECK(src.len <= 256 && dst.len <= 256);
    test_fill(&src, random, 20);
    double max[256], sum[256], count[256] = {0};
    for (int i = 0; i < src.len; i++) {
        int plane = i / (in[2] * in[3]), y = i / in[3] % in[2], x = i % in[3];
        double element = test_get(&src, i);
        for (int o = 0; o < oh * ow; o++) {
            int v = y + w->padding[0] - o / ow * w->stride[0];
            int u = x + w->padding[1] - o % ow * w->stride[1];
            if (v < 0 || v >= w->size[0] || u < 0 || u >= w->size[1])
                continue;
            int d = plane * oh * ow + o;
            max[d] = count[d] == 0 || element > max[d] ? element : max[d];
            sum[d] = count[d] == 0 ? element : sum[d] + element;
            count[d]++;
        }
    }
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, w));
    for (int d = 0; d < dst.len; d++)
        CHECK_NEAR(test_get(&dst, d), max[d], 0);
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, w));
    for (int d = 0; d < dst.len; d++) {
        double mean = sum[d] / count[d];
        int is_floating = dtype == TL_DOUBLE || dtype == TL_FLOAT;
        CHECK_NEAR(test_get(&dst, d), is_floating ? mean : trunc(mean), is_floating ? 1e-5 : 0);
    }
}

TEST(agrees_with_handing_out_elements_for_every_dtype)
{
    static const struct {
        int in[4];
        ln_ref_window window;
    } rows[] = {
        {{1, 1, 4, 4}, {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}}},
        {{2, 3, 5, 4}, {{3, 2}, {1, 1}, {1, 1, 2, 0}, {1, 1}}},
        {{1, 2, 7, 7}, {{3, 3}, {2, 3}, {1, 0, 1, 2}, {1, 1}}},
        {{1, 4, 3, 5}, {{3, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}}},
    };
    test_random random = test_random_start();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++)
            if (dtype != TL_BOOL) // a mean of bools is 1 only when all are
                check_scattered(rows[i].in, &rows[i].window, (tl_dtype)dtype, &random);
}

TEST(empty_tensors_are_fine)
{
    tl_tensor src = VIEW(NULL, TL_FLOAT, 0, 3, 4, 4), dst = VIEW(NULL, TL_FLOAT, 0, 3, 2, 2);
    CHECK_OK(ln_ref_maxpool2d(&src, &dst, &plain2x2));
    CHECK_OK(ln_ref_avgpool2d(&src, &dst, &plain2x2));
}

TEST(tensors_that_do_not_fit_are_refused)
{
    float data[16] = {0};
    tl_tensor src = VIEW(data, TL_FLOAT, 1, 1, 4, 4), dst = VIEW(data, TL_FLOAT, 1, 1, 2, 2);
    tl_tensor wrong = VIEW(data, TL_FLOAT, 1, 1, 2, 3), ints = VIEW(data, TL_INT32, 1, 1, 2, 2);
    tl_tensor rank2 = VIEW(data, TL_FLOAT, 4, 4);
    ln_ref_window huge = {{5, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    CHECK_FAILS(ln_ref_maxpool2d(NULL, &dst, &plain2x2), LN_INVALID);
    CHECK_FAILS(ln_ref_maxpool2d(&src, NULL, &plain2x2), LN_INVALID);
    CHECK_FAILS(ln_ref_maxpool2d(&src, &wrong, &plain2x2), LN_INVALID);
    CHECK_FAILS(ln_ref_avgpool2d(&src, &ints, &plain2x2), LN_INVALID);
    CHECK_FAILS(ln_ref_avgpool2d(&rank2, &dst, &plain2x2), LN_INVALID);
    CHECK_FAILS(ln_ref_avgpool2d(&src, &dst, &huge), LN_INVALID);
}

TEST_LIST(max_and_mean_of_each_window, padding_neither_wins_nor_counts,
          a_window_over_padding_alone_has_a_result, nan_and_infinities_pass,
          means_of_integers_are_rounded_toward_zero, large_unsigned_numbers_compare_as_such,
          agrees_with_handing_out_elements_for_every_dtype, empty_tensors_are_fine,
          tensors_that_do_not_fit_are_refused)
