// SPDX-License-Identifier: Apache-2.0
// Channels-last pooling against a plain loop, and its instruction sets against each other.

#include "arch/cpu/kernels/pool/pool_nhwc.h"

#include "arch/cpu/kernels/kernel_test.h"

static float plain_join(ln_pool2d_kind kind, float a, float b)
{
    if (kind == LN_POOL_AVERAGE)
        return a + b;
    return b > a || isnan(b) ? b : a;
}

// The contract's order, one operation after the other.
static float plain(const ln_pool_nhwc_f32_args *args, size_t n, size_t oy, size_t ox, size_t c)
{
    const ln_window_1d *rows = &args->rows, *columns = &args->columns;
    float all = args->kind == LN_POOL_MAX ? -INFINITY : 0;
    size_t count = 0;
    for (size_t ky = 0; ky < rows->kernel; ky++) {
        float line = args->kind == LN_POOL_MAX ? -INFINITY : 0;
        size_t y = oy * rows->stride + ky * rows->dilation - rows->pad;
        for (size_t kx = 0; kx < columns->kernel; kx++) {
            size_t x = ox * columns->stride + kx * columns->dilation - columns->pad;
            bool is_inside = y < rows->in && x < columns->in;
            if (is_inside)
                line = plain_join(
                    args->kind, line,
                    args->x[((n * rows->in + y) * columns->in + x) * args->x_stride + c]);
            bool is_padding = (ptrdiff_t)y < (ptrdiff_t)(rows->in + args->pad_after[0]) &&
                              (ptrdiff_t)x < (ptrdiff_t)(columns->in + args->pad_after[1]);
            count += is_inside || (args->counts_padding && is_padding);
        }
        if (y < rows->in)
            all = plain_join(args->kind, all, line);
    }
    return args->kind == LN_POOL_MAX ? all : all / (float)count;
}

static void check_on(ln_pool_nhwc_f32_args args, bool at_end)
{
    size_t in_pixels = args.batch * args.rows.in * args.columns.in;
    size_t out_pixels = args.batch * args.out_h * args.out_w;
    size_t gap = args.x_stride - args.channels, y_gap = args.y_stride - args.channels;
    size_t x_count = in_pixels ? in_pixels * args.x_stride - gap : 0;
    size_t y_count = out_pixels ? out_pixels * args.y_stride - y_gap : 0;
    guarded x = guarded_make(x_count, at_end);
    for (size_t i = 0; i < x_count; i++)
        x.p[i] = test_random() % 4 == 0 ? (test_random() % 2 ? -0.0f : 0.0f)
                                        : (float)test_random() / (float)(1u << 30) - 1.0f;
    args.x = x.p;
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        fill_nan(y.p, y_count);
        args.y = y.p;
        ln_pool_nhwc_f32(isa, &args, NULL);
        for (size_t i = 0; i < y_count; i++) {
            size_t pixel = i / args.y_stride, c = i % args.y_stride;
            float want = NAN; // between the channels nothing is written
            if (c < args.channels)
                want = plain(&args, pixel / args.out_w / args.out_h,
                             pixel / args.out_w % args.out_h, pixel % args.out_w, c);
            if (!same_bits(want, y.p[i]))
                fail_msg("element %zu is %.9g for %s, not %.9g", i, (double)y.p[i],
                         ln_cpu_isa_name(isa), (double)want);
        }
        guarded_free(&y);
    }
    guarded_free(&x);
}

static void check(ln_pool_nhwc_f32_args args)
{
    for (int i = 0; i < 6; i++) {
        args.kind = i % 3 == 0 ? LN_POOL_MAX : LN_POOL_AVERAGE;
        args.counts_padding = i % 3 == 2;
        check_on(args, i & 1);
    }
}

// The windows that start inside the image or in front of it: also partial ones.
static ln_pool_nhwc_f32_args cover(size_t batch, size_t in_h, size_t in_w, size_t channels,
                                   size_t kernel, size_t stride, size_t pad)
{
    return (ln_pool_nhwc_f32_args){
        .batch = batch,
        .channels = channels,
        .out_h = (in_h + pad - 1) / stride + 1,
        .out_w = (in_w + pad - 1) / stride + 1,
        .rows = {.in = in_h, .kernel = kernel, .stride = stride, .dilation = 1, .pad = pad},
        .columns = {.in = in_w, .kernel = kernel, .stride = stride, .dilation = 1, .pad = pad},
        .pad_after = {pad, 0},
        .x_stride = channels,
        .y_stride = channels};
}

TEST(results_are_right_around_every_vector)
{
    const size_t channels[] = {1, 3, 4, 5, 8, 15, 16, 17, 32, 33, 64, 67};
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        for (size_t stride = 1; stride <= 3; stride++) {
            check(cover(2, 5, 6, channels[i], 2, stride, 0));
            check(cover(1, 7, 4, channels[i], 3, stride, 1));
        }
    }
}

TEST(one_window_may_cover_everything)
{
    ln_pool_nhwc_f32_args args = cover(3, 7, 7, 21, 7, 1, 0);
    args.out_h = args.out_w = 1;
    check(args);
    args.rows.kernel = args.columns.kernel = 100; // and much more
    args.rows.pad = args.columns.pad = 40;
    check(args);
}

TEST(large_windows_at_stride_1_are_right)
{
    const size_t kernels[] = {4, 5, 9, 13, 33, 34, 40};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        ln_pool_nhwc_f32_args args = cover(1, 20, 19, 18, kernels[i], 1, kernels[i] / 2);
        args.out_h = 20;
        args.out_w = 19;
        check(args);
    }
}

// By far: all that high windows share is outside.
TEST(windows_may_be_below_the_image)
{
    for (size_t kernel = 2; kernel <= 5; kernel++) {
        ln_pool_nhwc_f32_args args = cover(1, 70, 6, 18, kernel, 1, 1);
        args.out_h = 200;
        args.pad_after[0] = 200;
        check(args);
    }
}

TEST(some_channels_of_wider_images_are_pooled)
{
    ln_pool_nhwc_f32_args args = cover(2, 6, 5, 19, 3, 1, 1);
    args.x_stride = 24;
    args.y_stride = 31;
    check(args);
}

TEST(windows_may_have_holes_and_meet_no_pixel)
{
    ln_pool_nhwc_f32_args args = cover(1, 5, 9, 17, 3, 2, 1);
    args.rows.dilation = 2;
    args.columns.dilation = 7;
    check(args);
    args.rows.pad = args.columns.pad = 9;
    check(args);
}

TEST(empty_images_touch_nothing)
{
    check(cover(0, 5, 5, 7, 2, 1, 0));
    check(cover(2, 5, 5, 0, 2, 1, 0));
}

TEST(random_shapes_are_right)
{
    for (int i = 0; i < 60; i++) {
        size_t kernel = test_random_in(1, 5);
        ln_pool_nhwc_f32_args args = cover(test_random_in(1, 2), test_random_in(1, 12),
                                           test_random_in(1, 12), test_random_in(1, 70), kernel,
                                           test_random_in(1, 3), test_random_in(0, kernel - 1));
        args.columns.kernel = test_random_in(1, 5);
        args.columns.dilation = test_random_in(1, 2);
        args.pad_after[1] = test_random_in(0, 2);
        check(args);
    }
}

TEST(threads_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    const ln_pool_nhwc_f32_args shapes[] = {cover(1, 64, 64, 100, 5, 1, 2),
                                            cover(2, 1200, 1, 2000, 1200, 1, 0)};
    for (size_t i = 0; i < 2; i++) {
        ln_pool_nhwc_f32_args args = shapes[i];
        if (i == 1)
            args.out_h = args.out_w = 1;
        args.kind = i == 0 ? LN_POOL_MAX : LN_POOL_AVERAGE;
        size_t x_count = args.batch * args.rows.in * args.columns.in * args.channels;
        size_t y_count = args.batch * args.out_h * args.out_w * args.channels;
        guarded x = guarded_make(x_count, true), one = guarded_make(y_count, true),
                many = guarded_make(y_count, true);
        fill_random(x.p, x_count);
        args.x = x.p;
        args.y = one.p;
        ln_pool_nhwc_f32(ln_cpu_isa_get(), &args, NULL);
        args.y = many.p;
        ln_pool_nhwc_f32(ln_cpu_isa_get(), &args, pool);
        check_same_bits("threads", ln_cpu_isa_get(), one.p, many.p, y_count);
        guarded_free(&x);
        guarded_free(&one);
        guarded_free(&many);
    }
    ln_pool_release(pool);
}

TEST(nan_reaches_every_window_it_is_in_and_no_other)
{
    float x[20 * 3], y[19 * 3];
    for (int kind = LN_POOL_MAX; kind <= LN_POOL_AVERAGE; kind++) {
        FOR_EACH_ISA(isa)
        {
            for (size_t at = 0; at < 20; at++) {
                for (size_t i = 0; i < 60; i++)
                    x[i] = i == at * 3 + 1 ? NAN : -INFINITY;
                ln_pool_nhwc_f32_args args = cover(1, 1, 20, 3, 2, 1, 0);
                args.kind = (ln_pool2d_kind)kind;
                args.x = x;
                args.y = y;
                args.out_w = 19;
                ln_pool_nhwc_f32(isa, &args, NULL);
                for (size_t i = 0; i < 57; i++)
                    CHECK_EQ(isnan(y[i]) != 0, i % 3 == 1 && (i / 3 == at || i / 3 + 1 == at));
            }
        }
    }
}

TEST_LIST(results_are_right_around_every_vector, one_window_may_cover_everything,
          large_windows_at_stride_1_are_right, windows_may_be_below_the_image,
          some_channels_of_wider_images_are_pooled, windows_may_have_holes_and_meet_no_pixel,
          empty_images_touch_nothing, random_shapes_are_right, threads_change_no_bit,
          nan_reaches_every_window_it_is_in_and_no_other)
