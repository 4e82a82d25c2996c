// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution against the contract's order of operations, and its instruction sets
// against each other.

#include "arch/cpu/kernels/depthwise/depthwise.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/kernel_test.h"
#include "tests/sanitizer.h"

// The sum before the epilogue, one operation after the other.
static float plain_sum(const ln_conv_nhwc_f32_args *args, size_t n, size_t oy, size_t ox, size_t c)
{
    const ln_conv_shape *s = &args->shape;
    float sum = 0;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            size_t y = oy * s->stride_h + ky * s->dilation_h - s->pad_top;
            size_t x = ox * s->stride_w + kx * s->dilation_w - s->pad_left;
            if (y < s->in_h && x < s->in_w)
                sum = fmaf(args->x[((n * s->in_h + y) * s->in_w + x) * args->x_stride + c],
                           args->packed[(ky * s->kernel_w + kx) * s->out_channels + c], sum);
        }
    }
    return sum;
}

// With activations that are exact.
static float plain(const ln_conv_nhwc_f32_args *args, size_t pixel, size_t c)
{
    const ln_conv_shape *s = &args->shape;
    const ln_epilogue_f32 *e = &args->epilogue;
    float v = plain_sum(args, pixel / s->out_w / s->out_h, pixel / s->out_w % s->out_h,
                        pixel % s->out_w, c);
    float addend = e->addend ? e->addend[pixel * e->addend_stride + c] : 0;
    if (e->bias)
        v += e->bias[c];
    if (e->addend && !e->is_addend_last)
        v += addend;
    if (e->act == LN_ACT_RELU)
        v = 0 > v ? 0 : v;
    if (e->act == LN_ACT_CLIP) {
        v = e->alpha > v ? e->alpha : v;
        v = e->beta < v ? e->beta : v;
    }
    return e->addend && e->is_addend_last ? v + addend : v;
}

// What surrounds the channels, and the epilogue; by the bits of a number.
typedef struct options {
    bool at_end, has_bias, has_addend, is_addend_last, is_in_place, is_part;
    ln_act act;
} options;

static options options_of(unsigned bits)
{
    static const ln_act acts[] = {LN_ACT_NONE, LN_ACT_RELU, LN_ACT_CLIP, LN_ACT_SILU};
    return (options){.at_end = bits & 1,
                     .has_bias = bits & 2,
                     .act = acts[bits >> 2 & 3],
                     .has_addend = bits & 16,
                     .is_addend_last = bits & 32,
                     .is_in_place = (bits & 64) && (bits & 16),
                     .is_part = bits & 128};
}

static void check_on(const ln_conv_shape *s, options o, ln_pool *pool)
{
    size_t channels = s->in_channels, gap = o.is_part ? 5 : 0;
    size_t addend_stride = channels + gap + (o.is_in_place ? 0 : 3),
           taps = s->kernel_h * s->kernel_w;
    size_t in_pixels = s->batch * s->in_h * s->in_w, pixels = s->batch * s->out_h * s->out_w;
    size_t x_count = in_pixels ? in_pixels * (channels + gap) - gap : 0;
    size_t y_count = pixels ? pixels * (channels + gap) - gap : 0;
    size_t addend_count = pixels ? (pixels - 1) * addend_stride + channels : 0;
    guarded x = guarded_make(x_count, o.at_end), w = guarded_make(taps * channels, o.at_end);
    guarded bias = guarded_make(channels, o.at_end), addend = guarded_make(addend_count, o.at_end);
    float *want = malloc((y_count + 1) * sizeof *want);
    CHECK_NOT_NULL(want);
    fill_random(x.p, x_count);
    fill_random(w.p, taps * channels);
    fill_random(bias.p, channels);
    fill_random(addend.p, addend_count);
    ln_conv_nhwc_f32_args args = {.shape = *s,
                                  .x = x.p,
                                  .x_stride = channels + gap,
                                  .packed = w.p,
                                  .y_stride = channels + gap,
                                  .epilogue = {.bias = o.has_bias ? bias.p : NULL,
                                               .addend = o.has_addend ? addend.p : NULL,
                                               .addend_stride = addend_stride,
                                               .is_addend_last = o.is_addend_last,
                                               .act = o.act,
                                               .alpha = -0.25f,
                                               .beta = 0.5f}};
    bool is_exact = o.act != LN_ACT_SILU;
    for (size_t i = 0; i < y_count; i++) {
        bool is_inside = i % args.y_stride < channels;
        want[i] = !is_inside ? addend.p[i]
                  : is_exact ? plain(&args, i / args.y_stride, i % args.y_stride)
                             : 0;
    }
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, o.at_end);
        if (y_count > 0)
            memcpy(y.p, addend.p, y_count * sizeof *y.p);
        args.y = y.p;
        if (o.is_in_place)
            args.epilogue.addend = y.p;
        ln_depthwise_nhwc_f32(isa, &args, pool);
        if (!is_exact && isa == LN_CPU_ISA_generic && y_count > 0)
            memcpy(want, y.p, y_count * sizeof *want);
        check_same_bits("depthwise", isa, want, y.p, y_count);
        guarded_free(&y);
    }
    free(want);
    guarded_free(&x);
    guarded_free(&w);
    guarded_free(&bias);
    guarded_free(&addend);
}

// An image that is not square, with all of an epilogue's forms in turn.
static void check(ln_conv_shape s)
{
    static unsigned turn;
    for (int i = 0; i < 4; i++)
        check_on(&s, options_of(turn += 37), NULL);
}

static ln_conv_shape shape_of(size_t batch, size_t channels, size_t in_h, size_t in_w,
                              size_t kernel, size_t stride, size_t pad)
{
    ln_conv_shape s =
        square_shape(batch, channels, channels, channels, in_h, 0, kernel, stride, 1, pad);
    s.in_w = in_w;
    s.out_h = in_h + 2 * pad < kernel ? 0 : (in_h + 2 * pad - kernel) / stride + 1;
    s.out_w = in_w + 2 * pad < kernel ? 0 : (in_w + 2 * pad - kernel) / stride + 1;
    return s;
}

TEST(every_form_of_the_epilogue_is_right)
{
    ln_conv_shape s = shape_of(1, 21, 5, 9, 3, 1, 1);
    for (unsigned bits = 0; bits < 256; bits++)
        check_on(&s, options_of(bits), NULL);
    s = shape_of(1, 37, 4, 5, 2, 1, 1);
    for (unsigned bits = 0; bits < 256; bits += 3)
        check_on(&s, options_of(bits), NULL);
}

TEST(every_activation_has_the_same_bits_everywhere)
{
    ln_conv_shape s = shape_of(1, 35, 4, 9, 3, 1, 1);
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        options o = {.has_bias = true, .act = (ln_act)act};
        if (act != LN_ACT_RELU && act != LN_ACT_CLIP && act != LN_ACT_NONE) {
            float first[4 * 9 * 35], x[4 * 9 * 35], w[9 * 35];
            fill_random(x, sizeof x / sizeof *x);
            fill_random(w, sizeof w / sizeof *w);
            ln_conv_nhwc_f32_args args = {.shape = s,
                                          .x = x,
                                          .x_stride = 35,
                                          .packed = w,
                                          .y_stride = 35,
                                          .epilogue = {.act = o.act, .alpha = 0.3f, .beta = 0.4f}};
            FOR_EACH_ISA(isa)
            {
                float y[4 * 9 * 35];
                args.y = isa == LN_CPU_ISA_generic ? first : y;
                ln_depthwise_nhwc_f32(isa, &args, NULL);
                check_same_bits(ln_act_name(o.act), isa, first, args.y, sizeof y / sizeof *y);
            }
        } else {
            check_on(&s, o, NULL);
        }
    }
}

TEST(results_are_right_around_every_tile)
{
    const size_t channels[] = {1, 4, 7, 8, 15, 16, 17, 40};
    const size_t widths[] = {1, 2, 3, 6, 7, 8, 13, 14, 15, 16, 29};
    for (size_t k = 3; k <= 7; k += 2)
        for (size_t stride = 1; stride <= 2; stride++)
            for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
                size_t c = channels[i % (sizeof channels / sizeof channels[0])];
                check(shape_of(1, c, widths[i], 5, k, stride, k / 2));
                check(shape_of(2, c, 4, widths[i], k, stride, k / 2));
                check(shape_of(1, c, 7, widths[i], k, stride, 0));
            }
}

TEST(channels_come_in_blocks)
{
    check(shape_of(1, 1030, 7, 7, 3, 1, 1));
    check(shape_of(1, 520, 9, 9, 5, 2, 2));
}

TEST(other_kernels_are_right)
{
    for (int i = 0; i < test_share(80); i++) {
        ln_conv_shape s =
            shape_of(test_random_in(1, 2), test_random_in(1, 70), test_random_in(6, 16),
                     test_random_in(6, 16), 1, 1, test_random_in(0, 3));
        s.kernel_h = test_random_in(1, 6);
        s.kernel_w = test_random_in(1, 6);
        s.stride_h = test_random_in(1, 3);
        s.stride_w = test_random_in(1, 3);
        s.dilation_h = test_random_in(1, 2);
        s.dilation_w = test_random_in(1, 2);
        s.out_h = test_random_in(0, (s.in_h - 1) / s.stride_h + 1);
        s.out_w = test_random_in(0, (s.in_w - 1) / s.stride_w + 1);
        check(s);
    }
}

TEST(windows_may_meet_nothing)
{
    ln_conv_shape s = shape_of(1, 20, 2, 2, 3, 1, 9);
    check(s);
    s = shape_of(1, 20, 2, 2, 4, 3, 9);
    check(s);
    for (size_t pad = 0; pad <= 4; pad++) { // more rows below than above
        s = shape_of(1, 20, 3, 7, 3, 1, 1);
        s.pad_top = pad;
        s.out_h = 8;
        check(s);
    }
}

TEST(empty_shapes_touch_nothing)
{
    check(shape_of(0, 5, 5, 5, 3, 1, 1));
    check(shape_of(1, 5, 2, 2, 3, 1, 0));
}

TEST(threads_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    ln_conv_shape s = shape_of(3, 200, 33, 31, 3, 1, 1);
    for (unsigned bits = 2; bits < 256; bits += 50)
        check_on(&s, options_of(bits), pool);
    s = shape_of(2, 425, 14, 13, 5, 1, 2); // shared out by channels
    for (unsigned bits = 2; bits < 256; bits += 50)
        check_on(&s, options_of(bits), pool);
    ln_pool_release(pool);
}

TEST_LIST(every_form_of_the_epilogue_is_right, every_activation_has_the_same_bits_everywhere,
          results_are_right_around_every_tile, channels_come_in_blocks, other_kernels_are_right,
          windows_may_meet_nothing, empty_shapes_touch_nothing, threads_change_no_bit)
