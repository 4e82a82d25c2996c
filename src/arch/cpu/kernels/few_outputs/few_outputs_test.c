// SPDX-License-Identifier: Apache-2.0
// Convolution with few output channels against a plain loop in the contract's order, on every
// instruction set.

#include "arch/cpu/kernels/few_outputs/few_outputs.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/kernel_test.h"
#include "tests/sanitizer.h"

typedef struct problem {
    ln_conv_shape s;
    size_t x_gap, y_gap; // floats between pixels
    bool has_bias, has_addend, is_addend_last;
    ln_act act;
} problem;

// The order in which lanes.h adds sixteen.
static float sum_lanes(float lanes[LN_FEW_OUTPUTS_LANES])
{
    for (size_t half = LN_FEW_OUTPUTS_LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

static float sum_at(const problem *p, const float *x, const float *weight, size_t pixel, size_t o)
{
    const ln_conv_shape *s = &p->s;
    size_t ox = pixel % s->out_w, oy = pixel / s->out_w % s->out_h, n = pixel / s->out_w / s->out_h;
    float lanes[LN_FEW_OUTPUTS_LANES] = {0};
    for (size_t ky = 0; ky < s->kernel_h; ky++)
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            size_t row = oy * s->stride_h + ky * s->dilation_h - s->pad_top;
            size_t column = ox * s->stride_w + kx * s->dilation_w - s->pad_left;
            if (row >= s->in_h || column >= s->in_w)
                continue;
            const float *from =
                x + ((n * s->in_h + row) * s->in_w + column) * (s->in_channels + p->x_gap);
            for (size_t c = 0; c < s->in_channels; c++) {
                size_t at = ((o * s->in_channels + c) * s->kernel_h + ky) * s->kernel_w + kx;
                lanes[c % LN_FEW_OUTPUTS_LANES] =
                    fmaf(from[c], weight[at], lanes[c % LN_FEW_OUTPUTS_LANES]);
            }
        }
    return sum_lanes(lanes);
}

static float finish(const problem *p, float sum, const float *bias, const float *addend, size_t o)
{
    if (p->has_bias)
        sum += bias[o];
    if (p->has_addend && !p->is_addend_last)
        sum += addend[o];
    if (p->act == LN_ACT_RELU && !isnan(sum))
        sum = sum > 0 ? sum : 0;
    return p->has_addend && p->is_addend_last ? sum + addend[o] : sum;
}

static void check_on(const problem *p, bool at_end)
{
    const ln_conv_shape *s = &p->s;
    size_t x_stride = s->in_channels + p->x_gap, y_stride = s->out_channels + p->y_gap;
    size_t addend_stride = s->out_channels + 5;
    size_t out_pixels = s->batch * s->out_h * s->out_w;
    size_t x_count = s->batch * s->in_h * s->in_w * x_stride - p->x_gap;
    size_t y_count = out_pixels * y_stride - p->y_gap;
    size_t w_count = s->out_channels * s->in_channels * s->kernel_h * s->kernel_w;
    guarded x = guarded_make(x_count, at_end), bias = guarded_make(s->out_channels, at_end);
    guarded weight = guarded_make(w_count, at_end), packed = guarded_make(w_count, at_end);
    guarded addend = guarded_make(out_pixels * addend_stride - 5, at_end);
    fill_random(x.p, x_count);
    fill_random(bias.p, s->out_channels);
    fill_random(weight.p, w_count);
    fill_random(addend.p, addend.count);
    ln_few_outputs_f32_pack(s, weight.p, packed.p);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        fill_nan(y.p, y_count);
        ln_conv_nhwc_f32_args args = {.shape = *s,
                                      .x = x.p,
                                      .x_stride = x_stride,
                                      .packed = packed.p,
                                      .y = y.p,
                                      .y_stride = y_stride,
                                      .epilogue = {.bias = p->has_bias ? bias.p : NULL,
                                                   .addend = p->has_addend ? addend.p : NULL,
                                                   .addend_stride = addend_stride,
                                                   .is_addend_last = p->is_addend_last,
                                                   .act = p->act}};
        ln_few_outputs_f32(isa, &args, NULL);
        for (size_t i = 0; i < y_count; i++) {
            size_t pixel = i / y_stride, o = i % y_stride;
            float want = NAN; // between the channels nothing is written
            if (o < s->out_channels)
                want = finish(p, sum_at(p, x.p, weight.p, pixel, o), bias.p,
                              addend.p + pixel * addend_stride, o);
            if (!same_bits(want, y.p[i]))
                fail_msg("element %zu is %.9g for %s, not %.9g", i, (double)y.p[i],
                         ln_cpu_isa_name(isa), (double)want);
        }
        guarded_free(&y);
    }
    guarded_free(&x);
    guarded_free(&bias);
    guarded_free(&weight);
    guarded_free(&packed);
    guarded_free(&addend);
}

static void check(ln_conv_shape s)
{
    check_on(&(problem){.s = s}, false);
    check_on(&(problem){.s = s, .x_gap = 2, .y_gap = 3, .has_bias = true, .act = LN_ACT_RELU},
             true);
    check_on(&(problem){.s = s, .y_gap = 1, .has_addend = true, .act = LN_ACT_RELU}, true);
    check_on(&(problem){.s = s, .has_bias = true, .has_addend = true, .is_addend_last = true},
             false);
}

TEST(usual_shapes_are_right)
{
    for (size_t outs = 1; outs <= LN_FEW_OUTPUTS_MAX; outs += test_share(3) == 1 ? 3 : 1) {
        check(square_shape(1, 1, 16, outs, 20, 20, 1, 1, 1, 0));
        check(square_shape(2, 1, 32, outs, 13, 13, 3, 1, 1, 1));
        check(square_shape(1, 1, 48, outs, 21, 21, 9, 1, 1, 4));
        check(square_shape(1, 1, 16, outs, 3, 5, 5, 1, 1, 3));
        check(square_shape(1, 1, 16, outs, 140, 140, 1, 1, 1, 0));
    }
}

TEST(random_shapes_are_right)
{
    for (int i = 0; i < test_share(60); i++) {
        ln_conv_shape s = {
            .batch = test_random_in(1, 2),
            .group = 1,
            .in_channels = 16 * test_random_in(1, 3),
            .out_channels = test_random_in(1, LN_FEW_OUTPUTS_MAX),
            .in_h = test_random_in(1, 9),
            .in_w = test_random_in(1, 30),
            .out_h = test_random_in(1, 9),
            .out_w = test_random_in(1, 30),
            .kernel_h = test_random_in(1, 4),
            .kernel_w = test_random_in(1, 4),
            .stride_h = test_random_in(1, 3),
            .stride_w = test_random_in(1, 3),
            .dilation_h = test_random_in(1, 3),
            .dilation_w = test_random_in(1, 3),
            .pad_top = test_random_in(0, 4),
            .pad_left = test_random_in(0, 4),
        };
        check(s);
    }
}

TEST_LIST(usual_shapes_are_right, random_shapes_are_right)
