// SPDX-License-Identifier: Apache-2.0
// Convolution against sums in double, on every path, and its instruction sets against each other.

#include "arch/cpu/kernels/conv/conv.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/kernel_test.h"

static size_t out_size(size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t reach = (kernel - 1) * dilation + 1;
    return in + pad < reach ? 0 : (in + pad - reach) / stride + 1;
}

// The exact output, and in *out_scale the sum of the magnitudes, by which its error is measured.
static double exact(const ln_conv2d_f32_args *args, size_t n, size_t o, size_t oy, size_t ox,
                    double *out_scale)
{
    const ln_conv_shape *s = &args->shape;
    size_t channels = s->in_channels / s->group, g = o / (s->out_channels / s->group);
    double sum = 0, scale = 0;
    for (size_t c = 0; c < channels; c++) {
        for (size_t ky = 0; ky < s->kernel_h; ky++) {
            for (size_t kx = 0; kx < s->kernel_w; kx++) {
                size_t y = oy * s->stride_h + ky * s->dilation_h - s->pad_top;
                size_t x = ox * s->stride_w + kx * s->dilation_w - s->pad_left;
                if (y >= s->in_h || x >= s->in_w)
                    continue;
                size_t from = ((n * s->in_channels + g * channels + c) * s->in_h + y) * s->in_w + x;
                size_t w = ((o * channels + c) * s->kernel_h + ky) * s->kernel_w + kx;
                double term = (double)args->x[from] * (double)args->weight[w];
                sum += term;
                scale += fabs(term);
            }
        }
    }
    *out_scale = scale + 1;
    if (args->bias)
        sum += (double)args->bias[o];
    return args->act == LN_ACT_RELU && sum < 0 ? 0 : sum;
}

static void check_against_double(const ln_conv2d_f32_args *args)
{
    const ln_conv_shape *s = &args->shape;
    const float *y = args->y;
    for (size_t n = 0; n < s->batch; n++) {
        for (size_t o = 0; o < s->out_channels; o++) {
            for (size_t oy = 0; oy < s->out_h; oy++) {
                for (size_t ox = 0; ox < s->out_w; ox++) {
                    double scale, sum = exact(args, n, o, oy, ox, &scale);
                    CHECK_NEAR((double)*y++, sum, 3e-7 * scale);
                }
            }
        }
    }
}

static void check_shape_on(const ln_conv_shape *s, bool with_bias, ln_act act, bool at_end)
{
    size_t x_count = s->batch * s->in_channels * s->in_h * s->in_w;
    size_t y_count = s->batch * s->out_channels * s->out_h * s->out_w;
    size_t weights = s->out_channels * (s->in_channels / s->group) * s->kernel_h * s->kernel_w;
    guarded x = guarded_make(x_count, at_end), weight = guarded_make(weights, at_end);
    guarded bias = guarded_make(s->out_channels, at_end);
    float *first = calloc(y_count + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    fill_random(x.p, x_count);
    fill_random(weight.p, weights);
    fill_random(bias.p, s->out_channels);

    CHECK_OK(ln_conv2d_check(s));
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        guarded workspace = guarded_make(ln_conv2d_f32_workspace(s) / sizeof(float), at_end);
        fill_nan(workspace.p, workspace.count);
        fill_nan(y.p, y_count);
        ln_conv2d_f32_args args = {.shape = *s,
                                   .x = x.p,
                                   .weight = weight.p,
                                   .bias = with_bias ? bias.p : NULL,
                                   .y = y.p,
                                   .act = act};
        ln_conv2d_f32(isa, &args, workspace.p);
        if (isa == LN_CPU_ISA_generic) {
            check_against_double(&args);
            memcpy(first, y.p, y_count * sizeof *first);
        }
        check_same_bits("conv2d", isa, first, y.p, y_count);
        guarded_free(&y);
        guarded_free(&workspace);
    }
    free(first);
    guarded_free(&x);
    guarded_free(&weight);
    guarded_free(&bias);
}

static void check_shape(ln_conv_shape s, bool with_bias, ln_act act)
{
    check_shape_on(&s, with_bias, act, true);
    check_shape_on(&s, with_bias, act, false);
}

// A square case: batch, group, channels in and out, size, kernel, stride, dilation, padding.
static ln_conv_shape square(size_t batch, size_t group, size_t in_channels, size_t out_channels,
                            size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t out = out_size(in, kernel, stride, dilation, 2 * pad);
    return square_shape(batch, group, in_channels, out_channels, in, out, kernel, stride, dilation,
                        pad);
}

TEST(results_are_right_around_the_panel)
{
    // 1 x n images of 8, 16, 32 pixels, give or take one, and multiples.
    const size_t widths[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        ln_conv_shape s = square(1, 1, 2, 5, widths[i], 3, 1, 1, 1);
        s.in_h = s.out_h = 1;
        check_shape(s, true, LN_ACT_NONE);
        s.kernel_h = s.kernel_w = 1;
        s.pad_top = s.pad_left = 0;
        check_shape(s, true, LN_ACT_NONE);
        s = square(1, 3, 3, 3, widths[i], 3, 1, 1, 1);
        check_shape(s, false, LN_ACT_RELU);
    }
}

TEST(strides_dilations_padding_and_groups_work_together)
{
    for (size_t stride = 1; stride <= 3; stride++) {
        for (size_t dilation = 1; dilation <= 3; dilation++) {
            for (size_t pad = 0; pad <= 3; pad++) {
                check_shape(square(2, 1, 3, 4, 11, 3, stride, dilation, pad), true, LN_ACT_NONE);
                check_shape(square(1, 2, 4, 6, 9, 2, stride, dilation, pad), false, LN_ACT_RELU);
                check_shape(square(1, 3, 3, 6, 10, 3, stride, dilation, pad), true, LN_ACT_RELU);
            }
        }
    }
}

TEST(pixels_far_outside_the_input_are_zero)
{
    ln_conv_shape s = square(1, 1, 2, 3, 3, 2, 1, 1, 5);
    s.out_h += 4;
    s.out_w += 9;
    check_shape(s, true, LN_ACT_NONE);
    s = square(1, 2, 2, 2, 3, 2, 2, 3, 5);
    s.out_h += 4;
    s.out_w += 9;
    check_shape(s, true, LN_ACT_NONE);
}

// Equal within `scale`, the same infinity, or both NaN.
static bool is_close(double got, double expected, double scale)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : got == expected;
    return fabs(got - expected) <= 3e-7 * scale;
}

// Weights that are not finite, one after the other at each place of the kernel.
static void check_strange_weights(ln_conv_shape s, float strange, ln_act act)
{
    enum { MAX = 1024 };
    float x[MAX], weight[MAX], bias[MAX], y[MAX];
    size_t taps = s.kernel_h * s.kernel_w, weights = s.out_channels * s.in_channels / s.group;
    size_t workspace_bytes = ln_conv2d_f32_workspace(&s);
    CHECK(weights * taps <= MAX && s.out_channels * s.out_h * s.out_w <= MAX);
    float *workspace = malloc(workspace_bytes);
    CHECK_NOT_NULL(workspace);
    fill_random(x, s.in_channels * s.in_h * s.in_w);
    fill_random(bias, s.out_channels);
    for (size_t tap = 0; tap < taps; tap++) {
        fill_random(weight, weights * taps);
        for (size_t w = tap; w < weights * taps; w += 2 * taps) // of every other channel
            weight[w] = strange;
        ln_conv2d_f32_args args = {
            .shape = s, .x = x, .weight = weight, .bias = bias, .y = y, .act = act};
        FOR_EACH_ISA(isa)
        {
            fill_nan(y, MAX);
            ln_conv2d_f32(isa, &args, workspace);
            for (size_t i = 0; i < s.out_channels * s.out_h * s.out_w; i++) {
                double scale;
                double sum = exact(&args, 0, i / (s.out_h * s.out_w), i / s.out_w % s.out_h,
                                   i % s.out_w, &scale);
                if (!is_close((double)y[i], sum, scale))
                    fail_msg("%s, strange tap %zu: output %zu is %g instead of %g",
                             ln_cpu_isa_name(isa), tap, i, (double)y[i], sum);
            }
        }
    }
    free(workspace);
}

TEST(weights_over_padding_take_no_part_whatever_they_are)
{
    const float strange[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        for (size_t stride = 1; stride <= 2; stride++) {
            for (size_t dilation = 1; dilation <= 2; dilation++) {
                check_strange_weights(square(1, 1, 3, 4, 7, 3, stride, dilation, 2), strange[i],
                                      i & 1 ? LN_ACT_RELU : LN_ACT_NONE);
                check_strange_weights(square(1, 4, 4, 4, 7, 3, stride, dilation, 2), strange[i],
                                      i & 1 ? LN_ACT_NONE : LN_ACT_RELU);
            }
        }
        check_strange_weights(square(1, 1, 2, 2, 1, 2, 1, 1, 3), strange[i], LN_ACT_NONE);
        check_strange_weights(square(1, 2, 2, 2, 1, 2, 1, 1, 3), strange[i], LN_ACT_NONE);
    }
}

TEST(one_by_one_with_stride_or_padding_is_not_taken_for_a_product)
{
    check_shape(square(1, 1, 5, 7, 9, 1, 2, 1, 0), true, LN_ACT_NONE);
    check_shape(square(1, 1, 5, 7, 4, 1, 1, 1, 1), true, LN_ACT_NONE);
    check_shape(square(2, 5, 5, 5, 6, 1, 2, 1, 1), true, LN_ACT_NONE);
}

TEST(empty_shapes_touch_nothing_or_give_the_bias)
{
    check_shape(square(0, 1, 2, 3, 5, 3, 1, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 2, 0, 5, 3, 1, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 0, 3, 5, 3, 1, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 2, 3, 2, 3, 1, 1, 0), true, LN_ACT_NONE); // no output
    check_shape(square(1, 1, 2, 3, 0, 3, 1, 1, 2), true, LN_ACT_NONE); // padding alone
    check_shape(square(1, 2, 2, 2, 0, 3, 1, 1, 2), true, LN_ACT_NONE);
}

TEST(random_shapes_are_right_and_equal_on_all_instruction_sets)
{
    for (int i = 0; i < 60; i++) {
        size_t group = test_random_in(1, 3);
        ln_conv_shape s = {.batch = test_random_in(1, 2),
                           .group = group,
                           .in_channels = group * test_random_in(1, 4),
                           .out_channels = group * test_random_in(1, 9),
                           .in_h = test_random_in(1, 12),
                           .in_w = test_random_in(1, 25),
                           .kernel_h = test_random_in(1, 4),
                           .kernel_w = test_random_in(1, 4),
                           .stride_h = test_random_in(1, 3),
                           .stride_w = test_random_in(1, 3),
                           .dilation_h = test_random_in(1, 2),
                           .dilation_w = test_random_in(1, 2),
                           .pad_top = test_random_in(0, 3),
                           .pad_left = test_random_in(0, 3)};
        s.out_h = out_size(s.in_h, s.kernel_h, s.stride_h, s.dilation_h,
                           s.pad_top + test_random_in(0, 3));
        s.out_w = out_size(s.in_w, s.kernel_w, s.stride_w, s.dilation_w,
                           s.pad_left + test_random_in(0, 3));
        check_shape(s, test_random() & 1, test_random() & 1 ? LN_ACT_RELU : LN_ACT_NONE);
    }
}

// The same channel through the depthwise path, and through the general one beside a channel of
// zeros whose weights are zero, gives the same bits.
TEST(the_paths_agree_bit_for_bit)
{
    enum { IN = 9, KERNEL = 3, OUT = 5 };
    float x[2 * IN * IN] = {0}, weight[2 * KERNEL * KERNEL] = {0};
    float direct[OUT * OUT], general[OUT * OUT];
    fill_random(x, IN * IN);
    fill_random(weight, KERNEL * KERNEL);
    ln_conv2d_f32_args args = {
        .shape = square(1, 1, 1, 1, IN, KERNEL, 2, 1, 1), .x = x, .weight = weight, .y = direct};
    FOR_EACH_ISA(isa)
    {
        float workspace[4096];
        args.shape.in_channels = 1;
        args.y = direct;
        CHECK(ln_conv2d_f32_workspace(&args.shape) <= sizeof workspace);
        ln_conv2d_f32(isa, &args, workspace);
        args.shape.in_channels = 2;
        args.y = general;
        CHECK(ln_conv2d_f32_workspace(&args.shape) <= sizeof workspace);
        ln_conv2d_f32(isa, &args, workspace);
        check_same_bits("paths", isa, direct, general, OUT * OUT);
    }
}

// Many outputs of a channel go the general way, each alone the depthwise one.
TEST(a_channel_with_many_outputs_gives_the_bits_of_each_output_alone)
{
    enum { IN = 9, KERNEL = 3, OUT = 5, COUNT = 20 };
    float x[IN * IN], weight[COUNT * KERNEL * KERNEL], workspace[4096];
    float together[COUNT * OUT * OUT], alone[COUNT * OUT * OUT];
    fill_random(x, IN * IN);
    fill_random(weight, COUNT * KERNEL * KERNEL);
    FOR_EACH_ISA(isa)
    {
        ln_conv2d_f32_args args = {.shape = square(1, 1, 1, COUNT, IN, KERNEL, 2, 1, 1),
                                   .x = x,
                                   .weight = weight,
                                   .y = together};
        CHECK(ln_conv2d_f32_workspace(&args.shape) <= sizeof workspace);
        ln_conv2d_f32(isa, &args, workspace);
        args.shape.out_channels = 1;
        for (int i = 0; i < COUNT; i++) {
            args.weight = weight + i * KERNEL * KERNEL;
            args.y = alone + i * OUT * OUT;
            ln_conv2d_f32(isa, &args, workspace);
        }
        check_same_bits("outputs", isa, together, alone, COUNT * OUT * OUT);
    }
}

TEST(shapes_that_cannot_be_run_are_refused)
{
    static const size_t huge = (size_t)1 << 62;
    const ln_conv_shape good = square(1, 2, 4, 6, 8, 3, 1, 1, 1);
    const struct {
        const char *why;
        size_t offset, value;
    } cases[] = {
        {"no group", offsetof(ln_conv_shape, group), 0},
        {"channels in that groups do not divide", offsetof(ln_conv_shape, in_channels), 5},
        {"channels out that groups do not divide", offsetof(ln_conv_shape, out_channels), 5},
        {"kernel of no rows", offsetof(ln_conv_shape, kernel_h), 0},
        {"kernel of no columns", offsetof(ln_conv_shape, kernel_w), 0},
        {"vertical stride 0", offsetof(ln_conv_shape, stride_h), 0},
        {"horizontal stride 0", offsetof(ln_conv_shape, stride_w), 0},
        {"stride past a gather's offsets", offsetof(ln_conv_shape, stride_w), 1u << 25},
        {"vertical dilation 0", offsetof(ln_conv_shape, dilation_h), 0},
        {"horizontal dilation 0", offsetof(ln_conv_shape, dilation_w), 0},
        {"huge batch", offsetof(ln_conv_shape, batch), huge},
        {"huge channels", offsetof(ln_conv_shape, in_channels), huge},
        {"huge input", offsetof(ln_conv_shape, in_w), huge},
        {"huge output", offsetof(ln_conv_shape, out_h), huge},
        {"huge kernel", offsetof(ln_conv_shape, kernel_h), SIZE_MAX},
        {"huge dilation", offsetof(ln_conv_shape, dilation_w), SIZE_MAX / 2},
        {"huge padding", offsetof(ln_conv_shape, pad_left), SIZE_MAX},
        {"huge padding above", offsetof(ln_conv_shape, pad_top), SIZE_MAX - 1},
    };
    CHECK_OK(ln_conv2d_check(&good));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_conv_shape bad = good;
        memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof(size_t));
        if (ln_conv2d_check(&bad) != LN_INVALID || ln_conv2d_f32_workspace(&bad) != SIZE_MAX)
            fail_msg("not refused: %s", cases[i].why);
    }
}

TEST_LIST(results_are_right_around_the_panel, strides_dilations_padding_and_groups_work_together,
          pixels_far_outside_the_input_are_zero,
          weights_over_padding_take_no_part_whatever_they_are,
          one_by_one_with_stride_or_padding_is_not_taken_for_a_product,
          empty_shapes_touch_nothing_or_give_the_bias,
          random_shapes_are_right_and_equal_on_all_instruction_sets, the_paths_agree_bit_for_bit,
          a_channel_with_many_outputs_gives_the_bits_of_each_output_alone,
          shapes_that_cannot_be_run_are_refused)
