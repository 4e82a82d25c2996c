// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolution against a plain loop in the contract's order, and its
// instruction sets, numbers of threads and images against each other.

#include "arch/cpu/kernels/deconv/deconv_nhwc.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/kernel_test.h"

typedef struct problem {
    ln_conv_shape s;
    size_t x_gap, y_gap; // floats between pixels
    bool has_bias;
    ln_act act;
} problem;

// The contract's order, one operation after the other.
static float plain(const problem *p, const float *x, const float *weight, const float *bias,
                   size_t n, size_t oy, size_t ox, size_t o)
{
    const ln_conv_shape *s = &p->s;
    size_t in = s->in_channels / s->group, of_group = s->out_channels / s->group;
    size_t group = o / of_group;
    float sum = 0;
    for (size_t v = s->kernel_h; v-- > 0;) {
        size_t y = oy + s->pad_top - v * s->dilation_h;
        if (oy + s->pad_top < v * s->dilation_h || y % s->stride_h || y / s->stride_h >= s->in_h)
            continue;
        for (size_t u = s->kernel_w; u-- > 0;) {
            size_t place = ox + s->pad_left - u * s->dilation_w;
            if (ox + s->pad_left < u * s->dilation_w || place % s->stride_w ||
                place / s->stride_w >= s->in_w)
                continue;
            size_t pixel = (n * s->in_h + y / s->stride_h) * s->in_w + place / s->stride_w;
            for (size_t c = 0; c < in; c++) {
                size_t w = (group * in + c) * of_group + o % of_group;
                sum = fmaf(x[pixel * (s->in_channels + p->x_gap) + group * in + c],
                           weight[(w * s->kernel_h + v) * s->kernel_w + u], sum);
            }
        }
    }
    if (p->has_bias)
        sum += bias[o];
    return p->act == LN_ACT_RELU && !(sum > 0) ? (isnan(sum) ? sum : 0) : sum;
}

static size_t packed_count(const ln_conv_shape *s)
{
    size_t taps = s->kernel_h * s->kernel_w, of_group = s->out_channels / s->group;
    if (s->group > 1 && s->in_channels == s->group && s->out_channels == s->group)
        return taps * s->group;
    return taps * s->in_channels * ((of_group + 15) / 16 * 16);
}

static void check_on(const problem *p, bool at_end)
{
    const ln_conv_shape *s = &p->s;
    size_t x_stride = s->in_channels + p->x_gap, y_stride = s->out_channels + p->y_gap;
    size_t in_pixels = s->batch * s->in_h * s->in_w, out_pixels = s->batch * s->out_h * s->out_w;
    size_t x_count = in_pixels ? in_pixels * x_stride - p->x_gap : 0;
    size_t y_count = out_pixels ? out_pixels * y_stride - p->y_gap : 0;
    size_t w_count = s->in_channels * (s->out_channels / s->group) * s->kernel_h * s->kernel_w;
    guarded x = guarded_make(x_count, at_end), bias = guarded_make(s->out_channels, at_end);
    guarded weight = guarded_make(w_count, at_end), packed = guarded_make(packed_count(s), at_end);
    fill_random(x.p, x_count);
    fill_random(bias.p, s->out_channels);
    fill_random(weight.p, w_count);
    fill_nan(packed.p, packed.count);
    ln_deconv_nhwc_f32_pack(s, weight.p, packed.p);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        guarded workspace = guarded_make(ln_deconv_nhwc_f32_workspace(s) / sizeof(float), at_end);
        fill_nan(y.p, y_count);
        fill_nan(workspace.p, workspace.count);
        ln_conv_nhwc_f32_args args = {
            .shape = *s,
            .x = x.p,
            .x_stride = x_stride,
            .packed = packed.p,
            .y = y.p,
            .y_stride = y_stride,
            .epilogue = {.bias = p->has_bias ? bias.p : NULL, .act = p->act}};
        ln_deconv_nhwc_f32(isa, &args, NULL, workspace.p);
        for (size_t i = 0; i < y_count; i++) {
            size_t pixel = i / y_stride, o = i % y_stride;
            float want = NAN; // between the channels nothing is written
            if (o < s->out_channels)
                want = plain(p, x.p, weight.p, bias.p, pixel / s->out_w / s->out_h,
                             pixel / s->out_w % s->out_h, pixel % s->out_w, o);
            if (!same_bits(want, y.p[i]))
                fail_msg("element %zu is %.9g for %s, not %.9g", i, (double)y.p[i],
                         ln_cpu_isa_name(isa), (double)want);
        }
        guarded_free(&y);
        guarded_free(&workspace);
    }
    guarded_free(&x);
    guarded_free(&bias);
    guarded_free(&weight);
    guarded_free(&packed);
}

static void check(ln_conv_shape s)
{
    check_on(&(problem){.s = s, .has_bias = true, .act = LN_ACT_RELU}, true);
    check_on(&(problem){.s = s, .x_gap = 3, .y_gap = 5}, false);
}

TEST(usual_shapes_are_right)
{
    check(square_shape(1, 1, 5, 16, 4, 8, 2, 2, 1, 0));
    check(square_shape(2, 1, 17, 20, 7, 14, 4, 2, 1, 1));
    check(square_shape(1, 1, 9, 33, 6, 12, 3, 2, 1, 1));
    check(square_shape(1, 1, 12, 7, 1, 4, 4, 1, 1, 0));
    check(square_shape(1, 1, 4, 3, 5, 40, 16, 8, 1, 4));
    check(square_shape(2, 6, 6, 6, 5, 10, 4, 2, 1, 1));
    check(square_shape(1, 3, 6, 9, 5, 9, 3, 2, 1, 1));
}

TEST(a_stride_longer_than_the_kernel_leaves_the_bias)
{
    check(square_shape(1, 1, 3, 4, 3, 10, 1, 3, 1, 0));
    check(square_shape(1, 4, 4, 4, 3, 10, 2, 4, 1, 0));
}

TEST(padding_may_cut_whole_inputs_off)
{
    check(square_shape(1, 1, 3, 4, 6, 5, 2, 2, 1, 4));
    check(square_shape(1, 1, 3, 4, 3, 4, 1, 1, 1, 9));
    check(square_shape(1, 5, 5, 5, 6, 5, 2, 2, 1, 3));
}

TEST(empty_images_are_sums_of_nothing)
{
    check(square_shape(1, 1, 3, 4, 0, 5, 2, 2, 1, 0));
    check(square_shape(0, 1, 3, 4, 2, 4, 2, 2, 1, 0));
    check(square_shape(1, 1, 0, 4, 2, 4, 2, 2, 1, 0));
}

TEST(random_shapes_are_right)
{
    for (int i = 0; i < 150; i++) {
        size_t group = test_random() % 3 ? 1 : test_random_in(1, 5);
        bool is_depthwise = group > 1 && test_random() % 2;
        check((ln_conv_shape){
            .batch = test_random_in(1, 2),
            .group = group,
            .in_channels = group * (is_depthwise ? 1 : test_random_in(1, 9)),
            .out_channels = group * (is_depthwise ? 1 : test_random_in(1, 20)),
            .in_h = test_random_in(1, 9),
            .in_w = test_random_in(1, 20),
            .out_h = test_random_in(1, 20),
            .out_w = test_random_in(1, 30),
            .kernel_h = test_random_in(1, 5),
            .kernel_w = test_random_in(1, 5),
            .stride_h = test_random_in(1, 4),
            .stride_w = test_random_in(1, 4),
            .dilation_h = test_random_in(1, 3),
            .dilation_w = test_random_in(1, 3),
            .pad_top = test_random_in(0, 4),
            .pad_left = test_random_in(0, 4),
        });
    }
}

// Large enough for several tasks and bands.
TEST(threads_change_no_bit)
{
    const ln_conv_shape s = square_shape(2, 1, 40, 48, 40, 80, 4, 2, 1, 1);
    size_t x_count = 2 * 40 * 40 * 40, w_count = 40 * 48 * 16, y_count = 2 * 80 * 80 * 48;
    float *x = calloc(x_count, sizeof *x), *weight = calloc(w_count, sizeof *weight);
    float *packed = calloc(packed_count(&s), sizeof *packed), *y[2];
    fill_random(x, x_count);
    fill_random(weight, w_count);
    ln_deconv_nhwc_f32_pack(&s, weight, packed);
    float *workspace = malloc(ln_deconv_nhwc_f32_workspace(&s));
    for (size_t t = 0; t < 2; t++) {
        ln_pool *pool = NULL;
        CHECK_OK(ln_pool_create(1 + 2 * t, &pool));
        y[t] = calloc(y_count, sizeof *y[t]);
        ln_conv_nhwc_f32_args args = {
            .shape = s, .x = x, .x_stride = 40, .packed = packed, .y = y[t], .y_stride = 48};
        ln_deconv_nhwc_f32(ln_cpu_isa_get(), &args, pool, workspace);
        ln_pool_release(pool);
    }
    CHECK_EQ(memcmp(y[0], y[1], y_count * sizeof *y[0]), 0);
    free(x);
    free(weight);
    free(packed);
    free(workspace);
    free(y[0]);
    free(y[1]);
}

TEST_LIST(usual_shapes_are_right, a_stride_longer_than_the_kernel_leaves_the_bias,
          padding_may_cut_whole_inputs_off, empty_images_are_sums_of_nothing,
          random_shapes_are_right, threads_change_no_bit)
