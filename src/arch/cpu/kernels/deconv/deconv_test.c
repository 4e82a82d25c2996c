// SPDX-License-Identifier: Apache-2.0
// Transposed convolution against sums in double, spread as the definition says, and its instruction
// sets against each other.

#include "arch/cpu/kernels/deconv/deconv.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/kernel_test.h"

static size_t count_of(const size_t *dims)
{
    return dims[0] * dims[1] * dims[2] * dims[3];
}

// Every input element spreads over a window; the sums of magnitudes measure the error.
static void spread(const ln_conv2d_f32_args *args, double *sums, double *scales)
{
    const ln_conv_shape *s = &args->shape;
    size_t channels = s->in_channels / s->group, outs = s->out_channels / s->group;
    for (size_t i = 0; i < s->batch * s->out_channels * s->out_h * s->out_w; i++) {
        size_t o = i / (s->out_h * s->out_w) % s->out_channels;
        sums[i] = args->bias ? (double)args->bias[o] : 0;
        scales[i] = 1;
    }
    for (size_t i = 0; i < s->batch * s->in_channels * s->in_h * s->in_w; i++) {
        size_t x = i % s->in_w, y = i / s->in_w % s->in_h;
        size_t c = i / (s->in_w * s->in_h) % s->in_channels;
        size_t n = i / (s->in_w * s->in_h) / s->in_channels;
        for (size_t k = 0; k < outs * s->kernel_h * s->kernel_w; k++) {
            size_t kx = k % s->kernel_w, ky = k / s->kernel_w % s->kernel_h;
            size_t o = c / channels * outs + k / (s->kernel_w * s->kernel_h);
            size_t out_y = y * s->stride_h + ky * s->dilation_h - s->pad_top;
            size_t out_x = x * s->stride_w + kx * s->dilation_w - s->pad_left;
            if (out_y >= s->out_h || out_x >= s->out_w)
                continue;
            size_t to = ((n * s->out_channels + o) * s->out_h + out_y) * s->out_w + out_x;
            double term =
                (double)args->x[i] * (double)args->weight[c * outs * s->kernel_h * s->kernel_w + k];
            sums[to] += term;
            scales[to] += fabs(term);
        }
    }
}

static void check_against_double(const ln_conv2d_f32_args *args)
{
    const ln_conv_shape *s = &args->shape;
    size_t count = s->batch * s->out_channels * s->out_h * s->out_w;
    double *sums = calloc(2 * count + 2, sizeof *sums), *scales = sums + count + 1;
    CHECK_NOT_NULL(sums);
    spread(args, sums, scales);
    for (size_t i = 0; i < count; i++) {
        double expected = args->act == LN_ACT_RELU && sums[i] < 0 ? 0 : sums[i];
        double got = (double)args->y[i];
        bool is_right = isnan(expected)   ? isnan(got)
                        : isinf(expected) ? got == expected
                                          : fabs(got - expected) <= 3e-7 * scales[i];
        if (!is_right)
            fail_msg("output %zu is %.9g instead of %.9g", i, got, expected);
    }
    free(sums);
}

// Every `strange_step`-th weight is `strange`; 0: none.
static void check_weights(const ln_conv_shape *s, bool with_bias, ln_act act, bool at_end,
                          float strange, size_t strange_step)
{
    const size_t x_dims[] = {s->batch, s->in_channels, s->in_h, s->in_w};
    const size_t y_dims[] = {s->batch, s->out_channels, s->out_h, s->out_w};
    const size_t w_dims[] = {s->in_channels, s->out_channels / s->group, s->kernel_h, s->kernel_w};
    size_t x_count = count_of(x_dims), y_count = count_of(y_dims), w_count = count_of(w_dims);
    guarded x = guarded_make(x_count, at_end), weight = guarded_make(w_count, at_end);
    guarded bias = guarded_make(s->out_channels, at_end);
    float *first = calloc(y_count + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    fill_random(x.p, x_count);
    fill_random(weight.p, w_count);
    fill_random(bias.p, s->out_channels);
    for (size_t i = 0; strange_step && i < w_count; i += strange_step)
        weight.p[i] = strange;

    CHECK_OK(ln_deconv2d_check(s));
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        guarded workspace = guarded_make(ln_deconv2d_f32_workspace(s) / sizeof(float), at_end);
        fill_nan(workspace.p, workspace.count);
        fill_nan(y.p, y_count);
        ln_conv2d_f32_args args = {.shape = *s,
                                   .x = x.p,
                                   .weight = weight.p,
                                   .bias = with_bias ? bias.p : NULL,
                                   .y = y.p,
                                   .act = act};
        ln_deconv2d_f32(isa, &args, workspace.p);
        if (isa == LN_CPU_ISA_generic) {
            check_against_double(&args);
            memcpy(first, y.p, y_count * sizeof *first);
        }
        check_same_bits("deconv2d", isa, first, y.p, y_count);
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
    check_weights(&s, with_bias, act, true, 0, 0);
    check_weights(&s, with_bias, act, false, 0, 0);
}

static size_t out_size(size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t whole = in == 0 ? 0 : (in - 1) * stride + (kernel - 1) * dilation + 1;
    return whole > pad ? whole - pad : 0;
}

// A square case: batch, group, channels in and out, size, kernel, stride, dilation, padding.
static ln_conv_shape square(size_t batch, size_t group, size_t in_channels, size_t out_channels,
                            size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t out = out_size(in, kernel, stride, dilation, 2 * pad);
    return square_shape(batch, group, in_channels, out_channels, in, out, kernel, stride, dilation,
                        pad);
}

TEST(strides_dilations_padding_and_groups_work_together)
{
    for (size_t stride = 1; stride <= 4; stride++) {
        for (size_t dilation = 1; dilation <= 4; dilation++) {
            for (size_t pad = 0; pad <= 3; pad++) {
                check_shape(square(2, 1, 3, 4, 5, 3, stride, dilation, pad), true, LN_ACT_NONE);
                check_shape(square(1, 2, 4, 6, 4, 2, stride, dilation, pad), false, LN_ACT_RELU);
                check_shape(square(1, 3, 3, 3, 4, 4, stride, dilation, pad), true, LN_ACT_RELU);
            }
        }
    }
}

TEST(rows_around_the_panel_are_right)
{
    const size_t widths[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        ln_conv_shape s = square(1, 1, 2, 5, widths[i], 3, 2, 1, 1);
        s.in_h = 2;
        s.out_h = out_size(2, 3, 2, 1, 2);
        check_shape(s, true, LN_ACT_NONE);
    }
}

TEST(outputs_that_no_tap_reaches_are_the_bias)
{
    check_shape(square(1, 1, 2, 3, 3, 2, 5, 1, 0), true, LN_ACT_NONE);
    check_shape(square(1, 1, 2, 3, 3, 1, 7, 1, 0), true, LN_ACT_RELU);
    check_shape(square(1, 1, 2, 3, 3, 3, 6, 4, 1), true, LN_ACT_NONE); // a common divisor of 2
    ln_conv_shape s = square(1, 1, 2, 3, 3, 2, 2, 1, 0);
    s.out_h += 5; // beyond the last window
    s.out_w += 9;
    check_shape(s, true, LN_ACT_NONE);
    s.pad_top = 20; // before the first
    check_shape(s, true, LN_ACT_NONE);
}

TEST(weights_that_reach_from_outside_take_no_part_whatever_they_are)
{
    const float strange[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        for (size_t stride = 1; stride <= 3; stride++) {
            ln_conv_shape s = square(1, 1, 2, 3, 4, 3, stride, 1, 1);
            for (size_t step = 2; step <= 23; step += 7)
                check_weights(&s, true, i & 1 ? LN_ACT_RELU : LN_ACT_NONE, true, strange[i], step);
        }
    }
}

TEST(empty_shapes_touch_nothing_or_give_the_bias)
{
    check_shape(square(0, 1, 2, 3, 3, 3, 2, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 2, 0, 3, 3, 2, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 0, 3, 3, 3, 2, 1, 1), true, LN_ACT_NONE);
    check_shape(square(1, 1, 2, 3, 0, 3, 2, 1, 0), true, LN_ACT_NONE);
    ln_conv_shape s = square(1, 1, 2, 3, 0, 3, 2, 1, 0);
    s.out_h = s.out_w = 4;
    check_shape(s, true, LN_ACT_NONE);
}

TEST(random_shapes_are_right_and_equal_on_all_instruction_sets)
{
    for (int i = 0; i < 60; i++) {
        size_t group = test_random_in(1, 3);
        ln_conv_shape s = {.batch = test_random_in(1, 2),
                           .group = group,
                           .in_channels = group * test_random_in(1, 4),
                           .out_channels = group * test_random_in(1, 9),
                           .in_h = test_random_in(1, 7),
                           .in_w = test_random_in(1, 19),
                           .kernel_h = test_random_in(1, 5),
                           .kernel_w = test_random_in(1, 5),
                           .stride_h = test_random_in(1, 6),
                           .stride_w = test_random_in(1, 6),
                           .dilation_h = test_random_in(1, 6),
                           .dilation_w = test_random_in(1, 6),
                           .pad_top = test_random_in(0, 3),
                           .pad_left = test_random_in(0, 3)};
        s.out_h = out_size(s.in_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top) +
                  test_random_in(0, 2);
        s.out_w = out_size(s.in_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left) +
                  test_random_in(0, 2);
        check_shape(s, test_random() & 1, test_random() & 1 ? LN_ACT_RELU : LN_ACT_NONE);
    }
}

// A wide stride makes many phases of few taps; none of them may look at all weights.
TEST(wide_strides_with_large_kernels_take_no_longer_than_their_outputs)
{
    ln_conv_shape s = square(1, 1, 1, 1, 2, 700, 900, 1, 0);
    float *x = calloc(4, sizeof *x), *weight = calloc(700 * 700, sizeof *weight);
    float *y = calloc(s.out_h * s.out_w, sizeof *y),
          *workspace = malloc(ln_deconv2d_f32_workspace(&s));
    CHECK(x && weight && y && workspace);
    x[3] = 1;
    weight[700 * 700 - 1] = 3;
    ln_conv2d_f32_args args = {.shape = s, .x = x, .weight = weight, .y = y};
    ln_deconv2d_f32(LN_CPU_ISA_generic, &args, workspace);
    CHECK(y[s.out_h * s.out_w - 1] == 3);
    free(x);
    free(weight);
    free(y);
    free(workspace);
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
        {"huge stride", offsetof(ln_conv_shape, stride_w), (size_t)1 << 25},
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
    CHECK_OK(ln_deconv2d_check(&good));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_conv_shape bad = good;
        memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof(size_t));
        if (ln_deconv2d_check(&bad) != LN_INVALID || ln_deconv2d_f32_workspace(&bad) != SIZE_MAX)
            fail_msg("not refused: %s", cases[i].why);
    }
}

TEST_LIST(strides_dilations_padding_and_groups_work_together, rows_around_the_panel_are_right,
          outputs_that_no_tap_reaches_are_the_bias,
          weights_that_reach_from_outside_take_no_part_whatever_they_are,
          empty_shapes_touch_nothing_or_give_the_bias,
          random_shapes_are_right_and_equal_on_all_instruction_sets,
          wide_strides_with_large_kernels_take_no_longer_than_their_outputs,
          shapes_that_cannot_be_run_are_refused)
