// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes against sums in 64 bits, for every set of instructions of this machine.

#include "arch/cpu/kernels/conv_i8/conv_i8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu/kernels/conv_i8/winograd_i8.h"
#include "arch/cpu/kernels/gemm_i8/packed_i8.h"
#include "arch/cpu/kernels/kernel_test.h"

static const struct {
    ln_cpu_isa isa;
    const char *name;
} sets[] = {
#define SET(set, word, features, ...) {features, word},
    LN_CPU_TILE_I8_LIST(SET, )
#undef SET
};

typedef struct problem {
    ln_conv_shape shape;
    ln_conv_i8_depth depth; // of volumes
    bool is_signed, w_is_signed, has_zeros, has_no_bias, has_float_bias;
    bool is_crossed;  // the lower bound is above the other one
    bool is_rescaled; // sums, to bytes
    bool has_narrow;  // weights of half of the channels are small
    int32_t zero;
    ln_i8_result result;
} problem;

// Bytes that end at a page without access.
typedef struct bytes {
    guarded all;
    uint8_t *p;
} bytes;

static bytes bytes_make(size_t count)
{
    bytes b = {.all = guarded_make((count + 3) / 4, true)};
    b.p = (uint8_t *)b.all.p + (count + 3) / 4 * 4 - count;
    for (size_t i = 0; i < count; i++)
        b.p[i] = test_random() % 4 ? (uint8_t)test_random() : test_random() % 2 ? 255 : 128;
    return b;
}

static int value_of(uint8_t byte, bool is_signed)
{
    return is_signed ? (int8_t)byte : byte;
}

typedef struct data {
    bytes x, w;
    int32_t zeros[256], bias[256];
    float factors[256], float_bias[256];
    int32_t multiplier[272], left[272], right[272], half[272];
    size_t repeats;
} data;

// Of one depth `v` of the kernel, on plane `in` of all volumes.
static int64_t expected_plane_sum(const problem *p, const data *d, size_t in, size_t v, size_t y,
                                  size_t x, size_t o)
{
    const ln_conv_shape *s = &p->shape;
    const size_t of_group = s->in_channels / s->group;
    const size_t first = o / (s->out_channels / s->group) * of_group;
    const int w_zero = (p->has_zeros ? d->zeros[o] : 0) + (p->w_is_signed ? 0 : 128);
    const size_t rows = s->kernel_h / (p->depth.out ? p->depth.window.kernel : 1);
    int64_t sum = 0;
    for (size_t t = 0; t < rows; t++) {
        for (size_t u = 0; u < s->kernel_w; u++) {
            size_t iy = y * s->stride_h + t * s->dilation_h - s->pad_top;
            size_t ix = x * s->stride_w + u * s->dilation_w - s->pad_left;
            if (iy >= s->in_h || ix >= s->in_w)
                continue;
            for (size_t c = 0; c < of_group; c++) {
                size_t at = ((in * s->in_h + iy) * s->in_w + ix) * s->in_channels + first + c;
                size_t w = ((o * of_group + c) * s->kernel_h + v * rows + t) * s->kernel_w + u;
                sum += (int64_t)(value_of(d->x.p[at], p->is_signed) - p->zero) *
                       (value_of(d->w.p[w], p->w_is_signed) - w_zero);
            }
        }
    }
    return sum;
}

static int32_t expected_sum(const problem *p, const data *d, size_t n, size_t y, size_t x, size_t o)
{
    const ln_window_1d *depth = &p->depth.window;
    int64_t sum = p->has_no_bias ? 0 : d->bias[o];
    if (p->depth.out == 0)
        return (int32_t)(uint32_t)(uint64_t)(sum + expected_plane_sum(p, d, n, 0, y, x, o));
    for (size_t v = 0; v < depth->kernel; v++) {
        size_t in = n % p->depth.out * depth->stride + v * depth->dilation - depth->pad;
        if (in < depth->in)
            sum += expected_plane_sum(p, d, n / p->depth.out * depth->in + in, v, y, x, o);
    }
    return (int32_t)(uint32_t)(uint64_t)sum;
}

// The steps of gemmlowp.
static uint8_t rescaled(const data *d, size_t o, int32_t sum)
{
    int64_t x = sum * ((int64_t)1 << d->left[o]);
    x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
    const int64_t product = x * d->multiplier[o];
    const int64_t high =
        (product + (product < 0 ? 1 - ((int64_t)1 << 30) : (int64_t)1 << 30)) / ((int64_t)1 << 31);
    const int64_t size = high < 0 ? -high : high;
    const int64_t half = d->right[o] > 0 ? (int64_t)1 << (d->right[o] - 1) : 0;
    const int64_t kept = (size + half) >> d->right[o], y = (high < 0 ? -kept : kept) - 5;
    return (uint8_t)(y < -100 ? -100 : y > 90 ? 90 : y);
}

static bool is_expected(const problem *p, const data *d, const ln_epilogue_i8 *e, const void *y,
                        size_t i, size_t o, int32_t sum)
{
    float number = (float)sum * d->factors[o];
    if (p->has_float_bias)
        number += d->float_bias[o];
    if (p->is_rescaled)
        return ((const uint8_t *)y)[i] == rescaled(d, o, sum);
    if (p->result == LN_I8_TO_SUMS)
        return ((const int32_t *)y)[i] == sum;
    if (p->result == LN_I8_TO_FLOATS)
        return memcmp((const float *)y + i, &number, sizeof number) == 0;
    float kept = !(number > e->low) ? e->low : number;
    kept = kept > e->high ? e->high : kept;
    return ((const uint8_t *)y)[i] == (uint8_t)((int)rintf(kept) + e->zero);
}

// What is between pixels stays as it was.
static void check_gap(const void *y, size_t end, size_t gap, size_t size)
{
    for (size_t i = end * size; i < (end + gap) * size; i++)
        CHECK_EQ(((const uint8_t *)y)[i], 0x33);
}

// `y_step` elements from pixel to pixel.
static void check_results(const problem *p, const data *d, const ln_conv_i8_args *args,
                          size_t y_step, const char *isa)
{
    const ln_conv_shape *s = &p->shape;
    const ln_epilogue_i8 *e = &args->epilogue;
    const void *y = args->y;
    const size_t gap = y_step - s->out_channels;
    size_t i = 0;
    for (size_t n = 0; n < s->batch * ln_max(1, p->depth.out); n++)
        for (size_t row = 0; row < s->out_h; row++)
            for (size_t x = 0; x < s->out_w; x++, i += gap) {
                if (i > 0)
                    check_gap(y, i - gap, gap, ln_conv_i8_element_bytes(args));
                for (size_t o = 0; o < s->out_channels; o++, i++)
                    if (!is_expected(p, d, e, y, i, o, expected_sum(p, d, n, row, x, o))) {
                        fprintf(stderr, "%s: image %zu, row %zu, column %zu, channel %zu\n", isa, n,
                                row, x, o);
                        CHECK(0);
                    }
            }
}

static ln_pool *pool; // NULL: one thread

static void run_sets(const problem *p, const data *d, const int8_t *packed)
{
    const ln_conv_shape *s = &p->shape;
    const size_t pixels = s->batch * ln_max(1, p->depth.out) * s->out_h * s->out_w;
    const size_t gap = test_random() % 2 && pixels > 0 ? test_random() % 20 : 0;
    const size_t count = pixels * (s->out_channels + gap) - gap;
    const size_t y_bytes = count * (p->is_rescaled || p->result == LN_I8_TO_BYTES ? 1 : 4);
    guarded y = guarded_make((y_bytes + 3) / 4, true);
    guarded workspace =
        guarded_make((ln_conv_i8_workspace(s, &p->depth) + 63) / 64 * 16 + 16, false);
    void *to = (char *)y.p + (y_bytes + 3) / 4 * 4 - y_bytes;
    ln_rescale_columns rescale = {.of = {.src = LN_RESCALE_INT32,
                                         .dst = LN_RESCALE_INT8,
                                         .dst_zero = -5,
                                         .low = -100,
                                         .high = 90,
                                         .has_left = d->left[0] > 0,
                                         .is_small = d->half[0] > 0},
                                  .factors = {d->multiplier, d->left, d->right, d->half},
                                  .count = s->out_channels,
                                  .repeats = d->repeats};
    const ln_conv_i8_args args = {
        .rescale = p->is_rescaled ? &rescale : NULL,
        .shape = *s,
        .depth = p->depth,
        .x = d->x.p,
        .is_signed = p->is_signed,
        .zero = p->zero,
        .packed = packed,
        .zeros = p->has_zeros ? d->zeros : NULL,
        .bias = p->has_no_bias ? NULL : d->bias,
        .y = to,
        .y_step = gap ? s->out_channels + gap : 0,
        .epilogue = {.result = p->result,
                     .factors = d->factors,
                     .bias = p->has_float_bias ? d->float_bias : NULL,
                     .low = p->is_crossed ? 50 : -100,
                     .high = p->is_crossed ? -50 : 100,
                     .zero = 3},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (!ln_cpu_isa_runs(ln_cpu_isa_get(), sets[i].isa))
            continue;
        memset(to, 0x33, y_bytes);
        rescale.kernel = ln_rescale_select(sets[i].isa);
        ln_conv_i8(sets[i].isa, &args, workspace.p, pool);
        check_results(p, d, &args, s->out_channels + gap, sets[i].name);
    }
    guarded_free(&y);
    guarded_free(&workspace);
}

// Among others those whose products are bounded from one side, or no numbers.
static float random_factor(const problem *p)
{
    static const float rare[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f};
    if (p->result == LN_I8_TO_BYTES && test_random() % 16 == 0)
        return rare[test_random() % (sizeof rare / sizeof rare[0])];
    return (float)(test_random() % 1000 + 1) / 1e6f;
}

// Those of few channels again, for as many pixels as fit, or fewer.
static void repeat_factors(data *d, size_t channels)
{
    if (channels > LN_RESCALE_NARROW / 2 || test_random() % 4 == 0)
        return;
    d->repeats = 1 + test_random() % (LN_RESCALE_NARROW / channels);
    if (test_random() % 2)
        d->repeats = LN_RESCALE_NARROW / channels;
    for (size_t o = channels; o < d->repeats * channels; o++) {
        d->multiplier[o] = d->multiplier[o - channels];
        d->left[o] = d->left[o - channels];
        d->right[o] = d->right[o - channels];
        d->half[o] = d->half[o - channels];
    }
}

// All go left as well, or some stay, or all go right: the first one tells which.
static void fill_rescaling(data *d)
{
    const uint64_t kind = test_random() % 3;
    for (size_t o = 0; o < 272; o++) {
        d->multiplier[o] = test_random() % 4 ? (int32_t)(test_random() >> 2 | 1 << 30) : 1 << 30;
        d->left[o] = kind == 0 ? 1 + (int32_t)(test_random() % 4) : 0;
        d->right[o] = 1 + (int32_t)(test_random() % 14);
        if (kind == 1 && test_random() % 2)
            d->right[o] = 0;
        d->half[o] = kind == 2 ? 1 << (d->right[o] - 1) : 0;
    }
}

static void check_filled(const problem *p, bool is_largest)
{
    const ln_conv_shape *s = &p->shape;
    const size_t x_count =
        s->batch * (p->depth.out ? p->depth.window.in : 1) * s->in_h * s->in_w * s->in_channels;
    data d = {.x = bytes_make(x_count)};
    const size_t w_count =
        s->out_channels * (s->in_channels / s->group) * s->kernel_h * s->kernel_w;
    d.w = bytes_make(w_count);
    if (is_largest) {
        memset(d.x.p, p->is_signed ? 127 : 255, x_count);
        memset(d.w.p, !p->w_is_signed ? 255 : p->has_zeros ? 127 : 128, w_count);
    }
    for (size_t i = 0; i < w_count / 2 && p->has_narrow; i++)
        d.w.p[i] = (uint8_t)((p->w_is_signed ? 0 : 128) + d.w.p[i] % 8);
    for (size_t o = 0; o < 256; o++) {
        d.zeros[o] = is_largest ? -128 : (int32_t)(test_random() % 256) - 128;
        d.bias[o] = (int32_t)(test_random() % 2000) - 1000;
        d.factors[o] = random_factor(p);
        d.float_bias[o] = (float)(test_random() % 20000) / 100 - 100;
    }
    fill_rescaling(&d);
    repeat_factors(&d, s->out_channels);
    bytes scratch = bytes_make(w_count);
    guarded packed = guarded_make((ln_conv_i8_packed_bytes(s) + 3) / 4, true);
    ln_conv_i8_pack(s, d.w.p, p->w_is_signed, scratch.p, (int8_t *)packed.p, NULL);
    run_sets(p, &d, (const int8_t *)packed.p);
    guarded_free(&packed);
    guarded_free(&scratch.all);
    guarded_free(&d.w.all);
    guarded_free(&d.x.all);
}

static void check_problem(const problem *p)
{
    check_filled(p, false);
}

static size_t out_of(size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t all = in + 2 * pad, reach = (kernel - 1) * dilation + 1;
    return all < reach ? 0 : (all - reach) / stride + 1;
}

static problem random_problem(bool is_depthwise)
{
    ln_conv_shape s = {.batch = 1 + test_random() % 2,
                       .group = 1 + test_random() % 2,
                       .in_h = 1 + test_random() % 9,
                       .in_w = 1 + test_random() % 9,
                       .kernel_h = 1 + test_random() % 4,
                       .kernel_w = 1 + test_random() % 5,
                       .stride_h = 1 + test_random() % 2,
                       .stride_w = 1 + test_random() % 2,
                       .dilation_h = 1 + test_random() % 2,
                       .dilation_w = 1 + test_random() % 2,
                       .pad_top = test_random() % 3,
                       .pad_left = test_random() % 3};
    s.in_channels = s.group * (1 + test_random() % 9);
    s.out_channels = s.group * (1 + test_random() % 40);
    if (is_depthwise)
        s.group = s.in_channels = s.out_channels = 2 + test_random() % 150;
    s.out_h = out_of(s.in_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top);
    s.out_w = out_of(s.in_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left);
    problem p = {.shape = s,
                 .is_signed = test_random() % 2,
                 .w_is_signed = test_random() % 4 != 0,
                 .has_zeros = test_random() % 4 == 0,
                 .has_no_bias = test_random() % 4 == 0,
                 .has_float_bias = test_random() % 2,
                 .is_crossed = test_random() % 16 == 0,
                 .result = (ln_i8_result)(test_random() % 3)};
    p.is_rescaled = p.result == LN_I8_TO_SUMS && test_random() % 2;
    p.zero = (int32_t)(test_random() % 256) - (p.is_signed ? 128 : 0);
    return p;
}

TEST(convolutions_are_exact)
{
    for (int i = 0; i < 150; i++) {
        problem p = random_problem(false);
        if (p.shape.out_h > 0 && p.shape.out_w > 0)
            check_problem(&p);
    }
}

TEST(depthwise_convolutions_are_exact)
{
    for (int i = 0; i < 150; i++) {
        problem p = random_problem(true);
        if (p.shape.out_h > 0 && p.shape.out_w > 0)
            check_problem(&p);
    }
}

// Neighbouring windows share columns, but with steps or gaps between these. Of some, all columns
// are outside.
TEST(windows_of_depthwise_convolutions_are_exact)
{
    for (int i = 0; i < 60; i++) {
        problem p = random_problem(true);
        ln_conv_shape *s = &p.shape;
        s->kernel_h = s->kernel_w = 3;
        s->stride_w = 1 + (i % 10 == 0);
        s->dilation_w = 1 + (i % 10 == 1);
        s->in_w = 1 + test_random() % 20;
        s->pad_top = test_random() % 5;
        s->pad_left = test_random() % 6;
        s->group = s->in_channels = s->out_channels = 30 + test_random() % 70;
        s->out_h = out_of(s->in_h, 3, s->stride_h, s->dilation_h, s->pad_top);
        s->out_w = out_of(s->in_w, 3, s->stride_w, s->dilation_w, s->pad_left);
        p.result = i % 10 == 2 || i % 10 > 6 ? LN_I8_TO_SUMS : LN_I8_TO_BYTES;
        p.is_rescaled = i % 10 > 6;
        p.has_zeros = i % 10 == 3;
        if (s->out_h > 0 && s->out_w > 0)
            check_problem(&p);
    }
}

TEST(kernels_of_many_taps_are_exact)
{
    for (size_t side = 9; side <= 13; side += 2) {
        problem p = {.shape = {.batch = 1,
                               .group = 20,
                               .in_channels = 20,
                               .out_channels = 20,
                               .in_h = 6,
                               .in_w = 7,
                               .out_h = 6,
                               .out_w = 7,
                               .kernel_h = side,
                               .kernel_w = side,
                               .stride_h = 1,
                               .stride_w = 1,
                               .dilation_h = 1,
                               .dilation_w = 1,
                               .pad_top = side / 2,
                               .pad_left = side / 2},
                     .w_is_signed = true,
                     .zero = 17,
                     .result = LN_I8_TO_BYTES};
        check_problem(&p);
    }
}

// Images that are done in several tiles, in two threads.
static void check_large_images(bool is_depthwise)
{
    CHECK_OK(ln_pool_create(2, &pool));
    for (int i = 0; i < 24; i++) {
        problem p = random_problem(is_depthwise);
        ln_conv_shape *s = &p.shape;
        s->in_h = 5 + test_random() % 40;
        s->in_w = 26 + test_random() % 100;
        if (!is_depthwise) {
            s->group = 1;
            s->in_channels = 1 + test_random() % 4;
            s->out_channels = 1 + test_random() % 90;
        } else {
            s->group = s->in_channels = s->out_channels = 2 + test_random() % 70;
        }
        s->out_h = out_of(s->in_h, s->kernel_h, s->stride_h, s->dilation_h, s->pad_top);
        s->out_w = out_of(s->in_w, s->kernel_w, s->stride_w, s->dilation_w, s->pad_left);
        if (s->out_h > 0 && s->out_w > 0)
            check_problem(&p);
    }
    ln_pool_release(pool);
    pool = NULL;
}

TEST(large_depthwise_images_are_exact)
{
    check_large_images(true);
}

// Pixels that are rescaled several at once.
TEST(pixels_of_few_channels_that_are_rescaled_are_exact)
{
    for (int i = 0; i < 60; i++) {
        problem p = random_problem(i % 2);
        ln_conv_shape *s = &p.shape;
        const size_t channels = 1 + test_random() % (i % 3 ? 12 : 70);
        s->in_w = 9 + test_random() % 30;
        s->out_channels = channels;
        s->group = i % 2 ? channels : 1;
        s->in_channels = i % 2 ? channels : s->in_channels;
        s->out_w = out_of(s->in_w, s->kernel_w, s->stride_w, s->dilation_w, s->pad_left);
        p.result = LN_I8_TO_SUMS;
        p.is_rescaled = p.has_narrow = true;
        if (s->out_h > 0 && s->out_w > 0)
            check_problem(&p);
    }
}

TEST(large_images_of_few_channels_are_exact)
{
    check_large_images(false);
}

// Sums in parts: more columns than are rescaled at once, more pixels of more channels.
TEST(large_results_that_are_rescaled_are_exact)
{
    for (int i = 0; i < 16; i++) {
        problem p = random_problem(i % 2);
        ln_conv_shape *s = &p.shape;
        s->in_h = 2 + test_random() % 3;
        s->in_w = 42 + test_random() % 30;
        s->group = i % 2 ? 200 + test_random() % 50 : 1;
        s->in_channels = i % 2 ? s->group : 1 + test_random() % 70;
        s->out_channels = i % 2 ? s->group : 129 + test_random() % 127;
        s->kernel_h = s->kernel_w = i % 2 ? 3 : 1;
        s->pad_top = s->pad_left = i % 2;
        s->out_h = out_of(s->in_h, s->kernel_h, s->stride_h, s->dilation_h, s->pad_top);
        s->out_w = out_of(s->in_w, s->kernel_w, s->stride_w, s->dilation_w, s->pad_left);
        p.result = LN_I8_TO_SUMS;
        p.is_rescaled = p.has_narrow = true;
        if (s->out_h > 0 && s->out_w > 0)
            check_problem(&p);
    }
}

// 128 taps are the most of a depthwise convolution.
TEST(the_largest_sums_are_exact)
{
    static const struct {
        size_t channels, groups, height, width;
    } kernels[] = {{18, 18, 4, 32}, {18, 18, 3, 43}, {4, 1, 5, 5}, {1, 1, 1, 101}, {4, 1, 8, 8}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            problem p = {.shape = {.batch = 1,
                                   .group = kernels[i].groups,
                                   .in_channels = kernels[i].channels,
                                   .out_channels = 18,
                                   .in_h = 12,
                                   .in_w = 120,
                                   .out_h = 13 - kernels[i].height,
                                   .out_w = 121 - kernels[i].width,
                                   .kernel_h = kernels[i].height,
                                   .kernel_w = kernels[i].width,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .dilation_h = 1,
                                   .dilation_w = 1},
                         .is_signed = is_signed,
                         .w_is_signed = true,
                         .has_zeros = true,
                         .zero = is_signed ? -128 : 0,
                         .result = LN_I8_TO_SUMS};
            check_filled(&p, true);
        }
    }
}

// Channels in several parts, tiles in several blocks, odd sizes, windows that reach outside.
static problem random_small_kernel(void)
{
    static const size_t inputs[] = {16, 18, 24, 33, 44, 64, 68, 124};
    problem p = random_problem(false);
    ln_conv_shape *s = &p.shape;
    size_t *steps[] = {&s->stride_h, &s->stride_w, &s->dilation_h, &s->dilation_w};
    for (int i = 0; i < 4; i++)
        *steps[i] = 1 + (test_random() % 12 == 0);
    s->group = 1;
    s->kernel_h = s->kernel_w = 3;
    s->in_channels = inputs[test_random() % (sizeof inputs / sizeof inputs[0])];
    s->out_channels = 16 + test_random() % 80;
    s->in_h = 4 + test_random() % 9;
    s->in_w = 4 + test_random() % 20;
    s->out_h = out_of(s->in_h, 3, s->stride_h, s->dilation_h, s->pad_top);
    s->out_w = out_of(s->in_w, 3, s->stride_w, s->dilation_w, s->pad_left);
    p.w_is_signed = test_random() % 8 != 0;
    p.has_zeros = test_random() % 4 == 0;
    p.is_rescaled = p.result == LN_I8_TO_SUMS && test_random() % 4;
    return p;
}

TEST(small_kernels_are_exact)
{
    CHECK_OK(ln_pool_create(2, &pool));
    for (int i = 0; i < 50; i++) {
        problem p = random_small_kernel();
        if (p.shape.out_h > 0 && p.shape.out_w > 0)
            check_problem(&p);
    }
    ln_pool_release(pool);
    pool = NULL;
    for (int i = 0; i < 10; i++) {
        problem p = random_small_kernel();
        if (p.shape.out_h > 0 && p.shape.out_w > 0)
            check_problem(&p);
    }
}

// 3x3 to 16 channels, within a border.
static ln_conv_shape small_shape(size_t channels)
{
    return (ln_conv_shape){.batch = 1,
                           .group = 1,
                           .in_channels = channels,
                           .out_channels = 16,
                           .in_h = 6,
                           .in_w = 8,
                           .out_h = 6,
                           .out_w = 8,
                           .kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = 1,
                           .pad_left = 1};
}

// Four times the sums of 1827 channels are below 2^31, of 917 if weights have zero points.
TEST(the_largest_sums_of_small_kernels_are_exact)
{
    static const size_t counts[] = {1824, 1828, 916, 920};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const size_t channels = counts[i];
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            problem p = {.shape = small_shape(channels),
                         .is_signed = is_signed,
                         .w_is_signed = true,
                         .has_zeros = channels < 1000,
                         .zero = is_signed ? -128 : 0,
                         .result = LN_I8_TO_SUMS};
            check_filled(&p, true);
        }
    }
}

// Some of 1x1x1, and some whose kernel is as that of windows or of Winograd.
static problem random_volume(bool is_depthwise)
{
    problem p = random_problem(is_depthwise);
    ln_conv_shape *s = &p.shape;
    ln_window_1d depth = {.in = 1 + test_random() % 6,
                          .kernel = 1 + test_random() % 4,
                          .stride = 1 + test_random() % 2,
                          .dilation = 1 + test_random() % 2,
                          .pad = test_random() % 3};
    const bool is_point = test_random() % 8 == 0, is_square = test_random() % 8 == 0;
    if (is_point)
        depth.kernel = s->kernel_h = s->kernel_w = 1;
    if (is_point || is_square) {
        depth.stride = s->stride_h = s->stride_w = s->dilation_h = s->dilation_w = 1;
        depth.pad = s->pad_top = s->pad_left = test_random() % 2;
    }
    if (is_square) {
        depth.kernel = s->kernel_w = 3;
        s->kernel_h = 1;
        s->in_h = 8 + test_random() % 8;
        s->in_w = 12;
        s->in_channels = s->out_channels = is_depthwise ? 70 : 32;
        s->group = is_depthwise ? 70 : 1;
    }
    s->out_h = out_of(s->in_h, s->kernel_h, s->stride_h, s->dilation_h, s->pad_top);
    s->out_w = out_of(s->in_w, s->kernel_w, s->stride_w, s->dilation_w, s->pad_left);
    s->kernel_h *= depth.kernel;
    p.depth.window = depth;
    p.depth.out = out_of(depth.in, depth.kernel, depth.stride, depth.dilation, depth.pad);
    p.depth.out += is_point; // padding after the last plane
    return p;
}

// Rows become words where the sums may be more than Winograd holds, and in volumes.
TEST(there_is_memory_for_words_where_they_are_used)
{
    static const struct {
        size_t channels, depth;
        bool has_words;
    } cases[] = {{916, 0, false}, {920, 0, true}, {64, 0, false}, {64, 2, true}, {12, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ln_conv_shape s = small_shape(cases[i].channels);
        const ln_conv_i8_depth depth = {.window = {.kernel = 1}, .out = cases[i].depth};
        const size_t k = 9 * cases[i].channels, got = ln_conv_i8_workspace(&s, &depth);
        CHECK_EQ(got, cases[i].has_words ? ln_gemm_i8_workspace(k, 16)
                                         : ln_gemm_i8_bytes_workspace(k, 16));
    }
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        CHECK(!ln_tile_i8_select(sets[s].isa)->ready ||
              ln_winograd_i8_select(sets[s].isa)->multiply);
}

TEST(convolutions_of_volumes_are_exact)
{
    CHECK_OK(ln_pool_create(2, &pool));
    for (int i = 0; i < 200; i++) {
        problem p = random_volume(i % 2);
        if (p.depth.out > 0 && p.shape.out_h > 0 && p.shape.out_w > 0)
            check_problem(&p);
    }
    ln_pool_release(pool);
    pool = NULL;
}

TEST_LIST(convolutions_are_exact, depthwise_convolutions_are_exact,
          windows_of_depthwise_convolutions_are_exact, kernels_of_many_taps_are_exact,
          large_depthwise_images_are_exact, large_images_of_few_channels_are_exact,
          pixels_of_few_channels_that_are_rescaled_are_exact,
          large_results_that_are_rescaled_are_exact, the_largest_sums_are_exact,
          small_kernels_are_exact, the_largest_sums_of_small_kernels_are_exact,
          there_is_memory_for_words_where_they_are_used, convolutions_of_volumes_are_exact)
