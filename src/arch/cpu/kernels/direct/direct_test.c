// SPDX-License-Identifier: Apache-2.0
// Direct convolution against the chain that its contract states, bit for bit on every instruction
// set.

#include "arch/cpu/kernels/direct/direct.h"

#include "arch/cpu/kernels/kernel_test.h"
#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/actf.h"
#include "tests/sanitizer.h"

#define LANES 16

typedef struct problem {
    const char *why;
    ln_conv_shape shape;
    size_t x_gap, y_gap; // pixels are further apart than their channels by this
    ln_act act;
    bool no_bias;
    int addend; // 0: none, 1: first, 2: last, 3: first and in the place of y
} problem;

static float activation(ln_act act, float x)
{
    const vf alpha = vf_set1(0.25f), beta = vf_set1(0.5f), v = vf_set1(x);
    switch (act) {
#define CASE(constant, name, doc)                                                                  \
    case LN_ACT_##constant: return vf_act(LN_ACT_##constant, alpha, beta, v)[0];
        LN_ACT_LIST(CASE)
#undef CASE
    default: return x;
    }
}

static float expected_at(const problem *p, const ln_conv_nhwc_f32_args *a, const float *weight,
                         const float *addend, size_t pixel, size_t o)
{
    const ln_conv_shape *s = &p->shape;
    size_t in = s->in_channels / s->group, first = o / (s->out_channels / s->group) * in;
    size_t n = pixel / s->out_w / s->out_h, y = pixel / s->out_w % s->out_h, x = pixel % s->out_w;
    float sum = 0;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            size_t row = y * s->stride_h + ky * s->dilation_h - s->pad_top;
            size_t column = x * s->stride_w + kx * s->dilation_w - s->pad_left;
            if (row >= s->in_h || column >= s->in_w)
                continue;
            const float *from = a->x + ((n * s->in_h + row) * s->in_w + column) * a->x_stride;
            for (size_t c = 0; c < in; c++)
                sum = fmaf(from[first + c],
                           weight[((o * in + c) * s->kernel_h + ky) * s->kernel_w + kx], sum);
        }
    }
    if (!p->no_bias)
        sum += a->epilogue.bias[o];
    float other = p->addend ? addend[pixel * a->epilogue.addend_stride + o] : 0;
    if (p->addend && p->addend != 2)
        sum += other;
    sum = activation(p->act, sum);
    return p->addend == 2 ? sum + other : sum;
}

// [pixels][out_channels], from malloc.
static float *expected(const problem *p, const ln_conv_nhwc_f32_args *a, const float *weight,
                       const float *addend)
{
    size_t channels = p->shape.out_channels;
    size_t count = p->shape.batch * p->shape.out_h * p->shape.out_w * channels;
    float *want = malloc(count * sizeof *want + 1);
    CHECK_NOT_NULL(want);
    for (size_t i = 0; i < count; i++)
        want[i] = expected_at(p, a, weight, addend, i / channels, i % channels);
    return want;
}

static size_t extent(size_t pixels, size_t channels, size_t stride)
{
    return pixels ? (pixels - 1) * stride + channels : 0;
}

static void check_side(const problem *p, bool at_end)
{
    const ln_conv_shape *s = &p->shape;
    size_t in = s->in_channels / s->group, per_group = s->out_channels / s->group;
    size_t taps = s->kernel_h * s->kernel_w, blocks = (per_group + LANES - 1) / LANES * s->group;
    size_t pixels = s->batch * s->out_h * s->out_w;
    size_t x_stride = s->in_channels + p->x_gap, y_stride = s->out_channels + p->y_gap;
    size_t addend_stride = p->addend == 3 ? y_stride : y_stride + 3;
    guarded x =
        guarded_make(extent(s->batch * s->in_h * s->in_w, s->in_channels, x_stride), at_end);
    guarded weight = guarded_make(s->out_channels * in * taps, at_end);
    guarded packed = guarded_make(blocks * taps * in * LANES, at_end);
    guarded bias = guarded_make(s->out_channels, at_end);
    guarded addend = guarded_make(extent(pixels, s->out_channels, addend_stride), at_end);
    fill_random(x.p, x.count);
    fill_random(weight.p, weight.count);
    fill_random(bias.p, bias.count);
    fill_random(addend.p, addend.count);
    fill_nan(packed.p, packed.count);
    ln_direct_f32_pack(s, weight.p, packed.p);

    float *want = NULL;
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(extent(pixels, s->out_channels, y_stride), at_end);
        for (size_t i = 0; i < y.count; i++)
            y.p[i] = p->addend == 3 ? addend.p[i] : 77;
        const float *added = p->addend == 3 ? y.p : p->addend ? addend.p : NULL;
        ln_conv_nhwc_f32_args args = {.shape = *s,
                                      .x = x.p,
                                      .x_stride = x_stride,
                                      .packed = packed.p,
                                      .y = y.p,
                                      .y_stride = y_stride,
                                      .epilogue = {.bias = p->no_bias ? NULL : bias.p,
                                                   .addend = added,
                                                   .addend_stride = addend_stride,
                                                   .is_addend_last = p->addend == 2,
                                                   .act = p->act,
                                                   .alpha = 0.25f,
                                                   .beta = 0.5f}};
        if (!want)
            want = expected(p, &args, weight.p, addend.p);
        ln_direct_f32(isa, &args, NULL);
        for (size_t i = 0; i < pixels; i++) {
            for (size_t o = 0; o < s->out_channels; o++) {
                float right = want[i * s->out_channels + o], got = y.p[i * y_stride + o];
                if (!same_bits(right, got))
                    fail_msg("%s: output %zu, channel %zu is %.9g for %s, not %.9g", p->why, i, o,
                             (double)got, ln_cpu_isa_name(isa), (double)right);
            }
            for (size_t o = s->out_channels; o < y_stride && i + 1 < pixels; o++)
                CHECK(p->addend == 3 || y.p[i * y_stride + o] == 77); // other channels
        }
        guarded_free(&y);
    }
    free(want);
    guarded_free(&x);
    guarded_free(&weight);
    guarded_free(&packed);
    guarded_free(&bias);
    guarded_free(&addend);
}

static void check_problem(problem p)
{
    check_side(&p, true);
    check_side(&p, false);
}

// Height and width of the output from those of the input, with the same padding at both ends.
static problem make(const char *why, size_t group, size_t in_channels, size_t out_channels,
                    size_t in_h, size_t in_w, size_t kernel, size_t stride, size_t dilation,
                    size_t pad)
{
    size_t reach = (kernel - 1) * dilation + 1;
    return (problem){.why = why,
                     .shape = {.batch = 2,
                               .group = group,
                               .in_channels = in_channels,
                               .out_channels = out_channels,
                               .in_h = in_h,
                               .in_w = in_w,
                               .out_h = (in_h + 2 * pad - reach) / stride + 1,
                               .out_w = (in_w + 2 * pad - reach) / stride + 1,
                               .kernel_h = kernel,
                               .kernel_w = kernel,
                               .stride_h = stride,
                               .stride_w = stride,
                               .dilation_h = dilation,
                               .dilation_w = dilation,
                               .pad_top = pad,
                               .pad_left = pad}};
}

TEST(windows_of_all_kinds_are_right)
{
    check_problem(make("1x1", 1, 19, 35, 5, 7, 1, 1, 1, 0));
    check_problem(make("1x1, stride 2", 1, 8, 16, 9, 6, 1, 2, 1, 0));
    check_problem(make("1x1, padded", 1, 8, 16, 3, 4, 1, 1, 1, 2));
    check_problem(make("3x3", 1, 5, 40, 6, 28, 3, 1, 1, 1));
    check_problem(make("3x3 on a small map", 1, 6, 33, 7, 7, 3, 1, 1, 1));
    check_problem(make("3x3 on a map smaller than it", 1, 3, 16, 1, 2, 3, 1, 1, 1));
    check_problem(make("3x3, stride 2", 1, 7, 24, 15, 12, 3, 2, 1, 1));
    check_problem(make("3x3, dilation 2", 1, 4, 20, 9, 17, 3, 1, 2, 2));
    check_problem(make("3x3, dilation beyond the map", 1, 4, 20, 5, 6, 3, 1, 6, 6));
    check_problem(make("first layer", 1, 3, 64, 21, 30, 7, 2, 1, 3));
    check_problem(make("padding beyond the kernel", 1, 3, 17, 4, 3, 3, 1, 1, 4));
    check_problem(make("the whole map", 1, 5, 20, 4, 4, 4, 1, 1, 0));
    check_problem(make("more runs than a tile takes", 2, 4, 6, 9, 11, 7, 1, 1, 1));
}

TEST(kernels_wider_than_a_mask_are_right)
{
    problem p = make("1 x 40", 1, 2, 5, 2, 60, 1, 1, 1, 0);
    p.shape.kernel_w = 40;
    p.shape.pad_left = 11;
    p.shape.out_w = 60;
    check_problem(p);
    p.x_gap = 1;
    check_problem(p);
}

TEST(groups_are_right)
{
    check_problem(make("groups of 4", 8, 32, 32, 5, 6, 3, 1, 1, 1));
    check_problem(make("groups of 4, wide", 4, 16, 16, 4, 37, 3, 1, 1, 1));
    check_problem(make("groups of 4, stride 2", 12, 48, 48, 9, 26, 3, 2, 1, 1));
    check_problem(make("groups of 4, dilation 2", 4, 16, 16, 9, 21, 3, 1, 2, 2));
    check_problem(make("groups of 4, 5x5", 4, 16, 16, 7, 19, 5, 1, 1, 2));
    check_problem(make("groups of 4, padded more", 4, 16, 16, 3, 5, 3, 1, 1, 4));
    check_problem(make("groups of 8, wide", 4, 32, 32, 4, 30, 3, 1, 1, 1));
    check_problem(make("groups of 8, stride 2", 2, 16, 16, 9, 26, 3, 2, 1, 1));
    check_problem(make("groups of 8, 1x1", 2, 16, 16, 5, 11, 1, 1, 1, 0));
    problem p = make("groups of 4, a part of wider images", 4, 16, 16, 5, 20, 3, 1, 1, 1);
    p.x_gap = 3;
    p.y_gap = 5;
    check_problem(p);
    for (p.addend = 1; p.addend <= 3; p.addend++)
        check_problem(p);
    check_problem(make("groups of 20 from 3", 2, 6, 40, 5, 6, 3, 2, 1, 1));
    check_problem(make("groups of 17, 1x1", 3, 51, 51, 3, 4, 1, 1, 1, 0));
}

// Each number of outputs and inputs of a group: lanes are those of several, or some of one.
TEST(groups_of_few_channels_are_right)
{
    for (size_t out = 1; out <= 17; out += 1 + out / 9) {
        for (size_t in = 1; in <= 9; in++) {
            const size_t group = 2 + (out + in) % 6, kernel = in % 4 == 3 ? 2 : 3;
            problem p = make("few", group, group * in, group * out, 5, 8 + (3 * out + in) % 14,
                             kernel, 1 + (out % 5 == 4), 1 + (in % 5 == 4), out % 3);
            p.act = (ln_act)((out + 7 * in) % LN_ACT_COUNT);
            p.no_bias = in % 3 == 0;
            p.x_gap = out % 2;
            p.y_gap = in % 2;
            check_problem(p);
        }
    }
}

TEST(random_groups_are_right)
{
    for (int i = 0; i < test_share(60); i++) {
        const size_t group = test_random_in(2, 40), kernel = i % 2 ? 3 : test_random_in(1, 5);
        const size_t dilation = 1 + (test_random() % 4 == 0), reach = (kernel - 1) * dilation + 1;
        problem p =
            make("random groups", group, group * test_random_in(1, 4), group * test_random_in(1, 8),
                 reach + test_random_in(0, 3), reach + test_random_in(0, 40), kernel,
                 1 + (test_random() % 4 == 0), dilation, test_random_in(0, 2));
        p.act = (ln_act)(test_random() % LN_ACT_COUNT);
        p.x_gap = test_random_in(0, 2);
        p.y_gap = test_random_in(0, 2);
        check_problem(p);
    }
}

TEST(windows_of_channels_are_right)
{
    problem p = make("window", 1, 6, 18, 5, 6, 3, 1, 1, 1);
    p.x_gap = 3;
    p.y_gap = 5;
    check_problem(p);
    for (p.addend = 1; p.addend <= 3; p.addend++)
        check_problem(p);
    p.shape.kernel_h = p.shape.kernel_w = 1;
    check_problem(p);
    p = make("rows in the same cache sets", 1, 24, 64, 1, 40, 1, 1, 1, 0);
    p.x_gap = 1000;
    check_problem(p);
}

TEST(uneven_padding_is_right)
{
    problem p = make("uneven", 1, 5, 16, 8, 9, 3, 1, 1, 1);
    p.shape.pad_top = 2;
    p.shape.pad_left = 0;
    p.shape.kernel_h = 5;
    p.shape.kernel_w = 2;
    p.shape.stride_h = 3;
    p.shape.dilation_h = 2;
    p.shape.out_w = 11;
    p.shape.out_h = 4;
    check_problem(p);
}

TEST(epilogues_are_right)
{
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        for (int addend = 0; addend < 4; addend++) {
            problem p = make("epilogue", 1, 3, 32 + 5 * (size_t)(act % 2), 3, 9, 3, 1, 1, 1);
            p.act = (ln_act)act;
            p.addend = addend;
            p.no_bias = addend == act % 3;
            p.y_gap = (size_t)(addend % 2);
            check_problem(p);
        }
    }
}

TEST(tiles_of_all_heights_are_right)
{
    for (size_t w = 1; w <= 30; w++) {
        problem p = make("heights", 1, 3, 16 * (w % 5) + 1 + w % 16, 1, w, 1, 1, 1, 0);
        p.shape.batch = 1;
        check_problem(p);
    }
}

// Several tiles of as many rows, some with one row less, and of the last panel any part.
TEST(tiles_that_follow_each_other_are_right)
{
    const ln_act acts[] = {LN_ACT_NONE, LN_ACT_SILU, LN_ACT_HARD_SWISH, LN_ACT_RELU};
    const size_t columns[] = {7, 16, 24, 39, 40, 58, 72, 116};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t width = 24; width <= 29; width += 5) {
            problem p = make("pointwise", 1, 5, columns[i], 3, width, 1, 1, 1, 0);
            p.act = acts[i % 4];
            p.addend = (int)(i / 2 % 3);
            p.y_gap = i % 3;
            check_problem(p);
        }
    }
}

TEST(tiles_of_windows_that_follow_each_other_are_right)
{
    const size_t columns[] = {7, 16, 24, 40, 58};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t width = 38; width <= 64; width += 13) {
            problem p = make("windows", 1, 5, columns[i], 3, width, 3, 1 + i % 2, 1 + width % 2, 1);
            p.addend = (int)(i % 4);
            p.x_gap = width % 3;
            p.y_gap = i % 3;
            check_problem(p);
            p.shape.kernel_h = p.shape.in_h = p.shape.out_h = p.shape.batch = 1; // a lone row
            p.shape.pad_top = 0;
            check_problem(p);
        }
    }
}

// Windows that are all inside have tiles across the ends of rows, some at the bottom reach outside.
TEST(patches_are_right)
{
    for (size_t width = 7; width <= 22; width += 3) {
        for (size_t stride = 2; stride <= 4; stride++) {
            problem p = make("patches", 1, 5, 18, 3 * stride, width * stride, stride, stride, 1, 0);
            p.addend = (int)(width % 4);
            p.x_gap = width % 2;
            p.y_gap = stride % 2;
            check_problem(p);
            p.shape.out_h++;
            check_problem(p);
        }
    }
}

// Half a panel, and one and a half, have tiles of other heights.
TEST(halves_of_panels_are_right)
{
    const size_t columns[] = {1, 7, 8, 9, 17, 24, 25, 56};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t width = 1 + i % 2; width <= 17; width += 2) {
            problem p = make("halves", 1, 5, columns[i], 2, width, 3, 1, 1, 1);
            p.act = (ln_act)(width % LN_ACT_COUNT);
            p.addend = (int)(width % 4);
            p.no_bias = width % 5 == 0;
            p.y_gap = width % 3;
            check_problem(p);
        }
    }
}

TEST(a_pixel_with_weights_in_memory_is_right)
{
    problem p = make("pixel", 1, 331, 309, 1, 1, 1, 1, 1, 0);
    p.shape.batch = 1;
    p.act = LN_ACT_SILU;
    check_problem(p);
}

TEST(images_of_few_channels_are_right)
{
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        problem p = make("few channels", 1, 3, 21, 4, 30, 3, 1, 1, 1);
        p.act = (ln_act)act;
        p.no_bias = act % 2;
        p.y_gap = (size_t)(act % 3);
        check_problem(p);
    }
    for (int i = 0; i < test_share(40); i++) {
        size_t kernel = test_random_in(1, 7), stride = test_random_in(1, 3);
        problem p = make("few channels", 1, test_random_in(1, 4), test_random_in(1, 70),
                         kernel + test_random_in(0, 5), kernel + stride * test_random_in(20, 60),
                         kernel, stride, 1, test_random_in(0, 4));
        p.shape.dilation_h = kernel == 3 && p.shape.in_h > 5 ? 2 : 1;
        p.shape.pad_left = test_random_in(0, 2) * p.shape.pad_left;
        p.y_gap = test_random_in(0, 1);
        check_problem(p);
    }
}

TEST(random_shapes_are_right)
{
    for (int i = 0; i < test_share(40); i++) {
        size_t kernel = test_random_in(1, 4), dilation = test_random_in(1, 2);
        size_t group = test_random_in(1, 3), reach = (kernel - 1) * dilation + 1;
        problem p =
            make("random", group, group * test_random_in(1, 9), group * test_random_in(1, 40),
                 reach + test_random_in(0, 9), reach + test_random_in(0, 20), kernel,
                 test_random_in(1, 3), dilation, test_random_in(0, 3));
        p.act = (ln_act)(test_random() % 3);
        p.x_gap = test_random_in(0, 2);
        check_problem(p);
    }
}

static void check_threads_and_batch(size_t in)
{
    enum { MOST = 40, OUT = 70, SIDE = 29, PIXELS = SIDE * SIDE };
    float *x = malloc(3 * PIXELS * MOST * sizeof *x),
          *weight = malloc(OUT * MOST * 9 * sizeof *weight);
    float *packed = malloc(80 * MOST * 9 * sizeof *packed), *y[2];
    y[0] = malloc(3 * PIXELS * OUT * sizeof(float));
    y[1] = malloc(3 * PIXELS * OUT * sizeof(float));
    CHECK(x && weight && packed && y[0] && y[1]);
    fill_random(x, 3 * PIXELS * in);
    fill_random(weight, OUT * in * 9);
    ln_conv_nhwc_f32_args args = {
        .shape = make("", 1, in, OUT, SIDE, SIDE, 3, 1, 1, 1).shape,
        .x = x,
        .x_stride = in,
        .packed = packed,
        .y_stride = OUT,
    };
    ln_direct_f32_pack(&args.shape, weight, packed);
    for (size_t threads = 1; threads <= 4; threads++) {
        ln_pool *pool;
        CHECK_OK(ln_pool_create(threads, &pool));
        FOR_EACH_ISA(isa)
        {
            if (isa == LN_CPU_ISA_generic && threads > 2)
                continue; // slow
            fill_nan(y[1], 3 * PIXELS * OUT);
            args.shape.batch = 1;
            for (size_t n = 0; n < 3; n++) {
                args.x = x + n * PIXELS * in;
                args.y = y[0] + n * PIXELS * OUT;
                ln_direct_f32(isa, &args, NULL);
            }
            args.shape.batch = 3;
            args.x = x;
            args.y = y[1];
            ln_direct_f32(isa, &args, pool);
            check_same_bits("threads", isa, y[0], y[1], 3 * PIXELS * OUT);
        }
        ln_pool_release(pool);
    }
    free(x);
    free(weight);
    free(packed);
    free(y[0]);
    free(y[1]);
}

TEST(threads_and_batch_do_not_change_a_bit)
{
    check_threads_and_batch(40);
    check_threads_and_batch(3);
}

TEST(nothing_is_touched_for_an_empty_result)
{
    problem p = make("no images", 1, 3, 16, 5, 5, 3, 1, 1, 1);
    p.shape.batch = 0;
    check_problem(p);
    p = make("no channels to add up", 1, 0, 16, 5, 5, 1, 1, 1, 0);
    check_problem(p);
}

TEST_LIST(windows_of_all_kinds_are_right, kernels_wider_than_a_mask_are_right, groups_are_right,
          groups_of_few_channels_are_right, random_groups_are_right, windows_of_channels_are_right,
          uneven_padding_is_right, epilogues_are_right, tiles_of_all_heights_are_right,
          tiles_that_follow_each_other_are_right, halves_of_panels_are_right,
          tiles_of_windows_that_follow_each_other_are_right, patches_are_right,
          a_pixel_with_weights_in_memory_is_right, images_of_few_channels_are_right,
          random_shapes_are_right, threads_and_batch_do_not_change_a_bit,
          nothing_is_touched_for_an_empty_result)
