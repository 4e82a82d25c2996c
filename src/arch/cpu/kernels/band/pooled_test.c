// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling band by band against the two one after the other, image by image.

#include "arch/cpu/kernels/band/pooled.h"

#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/kernel_test.h"
#include "arch/cpu/kernels/winograd/winograd.h"
#include "tests/sanitizer.h"

typedef struct chain {
    size_t winograd;
    ln_conv_shape conv;
    ln_window_1d rows, columns; // of the pooling; `in` follows from the convolution
    size_t out_h, out_w;
    size_t gap; // after the channels of x and y
    bool has_bias, at_end, has_nan;
    ln_act act;
} chain;

typedef struct tensors {
    guarded x, packed, bias;
    size_t y_count;
} tensors;

static size_t up(size_t n)
{
    return (n + 15) / 16 * 16;
}

static guarded random_floats(size_t count, bool at_end)
{
    guarded g = guarded_make(count, at_end);
    fill_random(g.p, count);
    return g;
}

static tensors tensors_of(const chain *c)
{
    const ln_conv_shape *s = &c->conv;
    const size_t in = s->batch * s->in_h * s->in_w, out = s->batch * c->out_h * c->out_w;
    const size_t side = c->winograd + 2;
    const size_t taps = c->winograd ? side * side : s->kernel_h * s->kernel_w;
    tensors t = {.y_count = out ? out * (s->out_channels + c->gap) - c->gap : 0};
    t.x = random_floats(in ? in * (s->in_channels + c->gap) - c->gap : 0, c->at_end);
    t.packed = random_floats(
        s->group * taps * s->in_channels / s->group * up(s->out_channels / s->group), c->at_end);
    t.bias = random_floats(s->out_channels, c->at_end);
    for (size_t i = 0; c->has_nan && i < t.x.count; i += test_random_in(1, t.x.count / 2 + 1))
        t.x.p[i] = odd_values[test_random_in(0, ODD_COUNT - 1)];
    return t;
}

static void free_tensors(tensors *t)
{
    guarded_free(&t->x);
    guarded_free(&t->packed);
    guarded_free(&t->bias);
}

// With a dense image between the two at `between`.
static void describe(const chain *c, const tensors *t, float *between, float *y,
                     ln_conv_nhwc_f32_args *conv, ln_pool_nhwc_f32_args *pool)
{
    const ln_conv_shape *s = &c->conv;
    *conv = (ln_conv_nhwc_f32_args){
        .shape = *s,
        .x = t->x.p,
        .x_stride = s->in_channels + c->gap,
        .packed = t->packed.p,
        .y = between,
        .y_stride = s->out_channels,
        .epilogue = {
            .bias = c->has_bias ? t->bias.p : NULL, .act = c->act, .alpha = -0.25f, .beta = 0.5f}};
    *pool = (ln_pool_nhwc_f32_args){.kind = LN_POOL_MAX,
                                    .batch = s->batch,
                                    .channels = s->out_channels,
                                    .out_h = c->out_h,
                                    .out_w = c->out_w,
                                    .rows = c->rows,
                                    .columns = c->columns,
                                    .x = between,
                                    .x_stride = s->out_channels,
                                    .y = y,
                                    .y_stride = s->out_channels + c->gap};
}

static void run_apart(const chain *c, const tensors *t, ln_cpu_isa isa, float *y)
{
    const ln_conv_shape *s = &c->conv;
    float *between = malloc(s->batch * s->out_h * s->out_w * s->out_channels * sizeof(float) + 1);
    ln_conv_nhwc_f32_args conv;
    ln_pool_nhwc_f32_args pool;
    describe(c, t, between, y, &conv, &pool);
    if (c->winograd) {
        float *workspace = malloc(ln_winograd_f32_workspace(c->winograd, s) + 1);
        ln_winograd_f32(isa, c->winograd, &conv, NULL, workspace);
        free(workspace);
    } else {
        ln_direct_f32(isa, &conv, NULL);
    }
    ln_pool_nhwc_f32(isa, &pool, NULL);
    free(between);
}

static void run_in_bands(const chain *c, const tensors *t, ln_cpu_isa isa, ln_pool *threads,
                         float *y)
{
    ln_conv_nhwc_f32_args conv;
    ln_pool_nhwc_f32_args pool;
    describe(c, t, NULL, y, &conv, &pool);
    size_t bytes = ln_pooled_nhwc_f32_workspace(c->winograd, &c->conv, &c->rows);
    CHECK_EQ(bytes % 64, 0);
    guarded workspace = guarded_make(bytes / sizeof(float), c->at_end);
    fill_nan(workspace.p, workspace.count);
    ln_pooled_nhwc_f32_args args = {.winograd = c->winograd, .conv = &conv, .pool = &pool};
    ln_pooled_nhwc_f32(isa, &args, threads, workspace.p);
    guarded_free(&workspace);
}

// `pools` of 1, 2, 3, ... threads.
static void check(const chain *c, ln_pool *const *pools, size_t pool_count)
{
    tensors t = tensors_of(c);
    guarded want = guarded_make(t.y_count, c->at_end);
    fill_nan(want.p, want.count);
    run_apart(c, &t, LN_CPU_ISA_generic, want.p);
    FOR_EACH_ISA(isa)
    {
        for (size_t i = 0; i < pool_count; i++) {
            guarded y = guarded_make(t.y_count, c->at_end);
            fill_nan(y.p, y.count);
            run_in_bands(c, &t, isa, pools[i], y.p);
            check_same_bits("pooled", isa, want.p, y.p, t.y_count);
            guarded_free(&y);
        }
    }
    guarded_free(&want);
    free_tensors(&t);
}

static void check_alone(chain c)
{
    ln_pool *none = NULL;
    check(&c, &none, 1);
}

static size_t windows_in(size_t in, size_t reach, size_t stride, size_t padding)
{
    return in + padding < reach ? 0 : (in + padding - reach) / stride + 1;
}

// Windows of an axis; some last ones are outside in part or altogether, and some images end early.
static ln_window_1d random_windows(size_t in, size_t *out_count)
{
    ln_window_1d w = {.in = in,
                      .kernel = test_random_in(1, 4),
                      .stride = test_random_in(1, 4),
                      .dilation = test_random_in(0, 3) ? 1 : 2,
                      .pad = test_random_in(0, 2)};
    size_t most = in ? (in + w.pad - 1) / w.stride + 1 : 0;
    *out_count = windows_in(in, (w.kernel - 1) * w.dilation + 1, w.stride, 2 * w.pad);
    if (test_random_in(0, 2) == 0)
        *out_count = test_random_in(0, most + 2);
    return w;
}

// A convolution with a random pooling and random other things.
static chain chain_of(size_t winograd, ln_conv_shape conv)
{
    static const ln_act acts[] = {LN_ACT_NONE, LN_ACT_RELU, LN_ACT_LRELU, LN_ACT_SILU};
    chain c = {.winograd = winograd,
               .conv = conv,
               .gap = test_random_in(0, 1) * 3,
               .has_bias = test_random_in(0, 1),
               .at_end = test_random_in(0, 1),
               .has_nan = test_random_in(0, 3) == 0,
               .act = acts[test_random_in(0, 3)]};
    c.rows = random_windows(conv.out_h, &c.out_h);
    c.columns = random_windows(conv.out_w, &c.out_w);
    return c;
}

static void set_window(chain *c, size_t kernel, size_t stride, size_t pad)
{
    const ln_conv_shape *s = &c->conv;
    c->rows = (ln_window_1d){s->out_h, kernel, stride, 1, pad};
    c->columns = (ln_window_1d){s->out_w, kernel, stride, 1, pad};
    c->out_h = windows_in(s->out_h, kernel, stride, 2 * pad);
    c->out_w = windows_in(s->out_w, kernel, stride, 2 * pad);
}

static ln_conv_shape shape_of(size_t in_channels, size_t out_channels, size_t in_h, size_t in_w,
                              size_t kernel, size_t stride, size_t pad)
{
    return (ln_conv_shape){.batch = 1,
                           .group = 1,
                           .in_channels = in_channels,
                           .out_channels = out_channels,
                           .in_h = in_h,
                           .in_w = in_w,
                           .out_h = windows_in(in_h, kernel, stride, 2 * pad),
                           .out_w = windows_in(in_w, kernel, stride, 2 * pad),
                           .kernel_h = kernel,
                           .kernel_w = kernel,
                           .stride_h = stride,
                           .stride_w = stride,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = pad,
                           .pad_left = pad};
}

// Some lines of so many channels are a band.
#define WIDE 1200

static ln_conv_shape random_shape(size_t winograd, size_t out_channels)
{
    const size_t kernel = winograd ? 3 : test_random_in(1, 5);
    ln_conv_shape s =
        shape_of(test_random_in(1, 5), out_channels, test_random_in(kernel, 40),
                 test_random_in(kernel, 14), kernel, winograd ? 1 : test_random_in(1, 2),
                 winograd ? test_random_in(0, 1) : test_random_in(0, kernel));
    s.batch = test_random_in(1, 2);
    return s;
}

TEST(bands_have_the_bits_of_images)
{
    for (int i = 0; i < test_share(30); i++)
        for (size_t m = 0; m <= 6; m += 2)
            check_alone(chain_of(m, random_shape(m, test_random_in(1, 40))));
}

TEST(an_image_takes_several_bands)
{
    for (int i = 0; i < 3; i++)
        for (size_t m = 0; m <= 6; m += 2)
            check_alone(chain_of(m, random_shape(m, test_random_in(WIDE, WIDE + 20))));
}

TEST(first_layers_have_bands)
{
    static const size_t layers[][3] = {{3, 1, 1}, {3, 2, 0}, {7, 2, 3}}; // kernel, stride, padding
    for (size_t i = 0; i < 3; i++) {
        chain c = chain_of(0, shape_of(3, 40, 90, 110, layers[i][0], layers[i][1], layers[i][2]));
        set_window(&c, i ? 3 : 2, 2, i == 2);
        check_alone(c);
    }
}

TEST(any_kernel_has_bands)
{
    for (int i = 0; i < test_share(60); i++) {
        static const size_t groups[] = {1, 2, 3, 4, 8};
        const size_t of_group = test_random_in(1, 8);
        ln_conv_shape s = shape_of(0, 0, test_random_in(6, 30), test_random_in(6, 16), 1, 1,
                                   test_random_in(0, 3));
        s.group = groups[test_random_in(0, 4)];
        s.in_channels = s.group * of_group;
        s.out_channels = s.group * (test_random_in(0, 1) ? of_group : test_random_in(1, 8));
        s.kernel_h = test_random_in(1, 6);
        s.kernel_w = test_random_in(1, 6);
        s.stride_h = test_random_in(1, 7);
        s.stride_w = test_random_in(1, 3);
        s.dilation_h = test_random_in(1, 3);
        s.dilation_w = test_random_in(1, 2);
        s.out_h = test_random_in(0, (s.in_h - 1) / s.stride_h + 1);
        s.out_w = test_random_in(0, (s.in_w - 1) / s.stride_w + 1);
        check_alone(chain_of(0, s));
    }
}

TEST(bands_may_see_nothing)
{
    for (size_t pad = 0; pad <= 14; pad += 2) {
        for (size_t m = 0; m <= 6; m += 2) {
            ln_conv_shape s = shape_of(2, WIDE, 5, 6, 3, 1, 1);
            s.pad_top = pad;
            s.out_h = 24;
            chain c = chain_of(m, s);
            c.rows.pad = pad;
            c.out_h = (s.out_h + pad - 1) / c.rows.stride + 1;
            check_alone(c);
        }
    }
}

// Winograd's tiles reach over the end of an image whose last rows nobody asked for.
TEST(images_may_end_early)
{
    for (size_t m = 0; m <= 6; m += 2) {
        for (size_t rows = 1; rows <= 13; rows += 3) {
            ln_conv_shape s = shape_of(4, WIDE, 20, 9, 3, 1, 1);
            s.out_h = rows;
            check_alone(chain_of(m, s));
        }
    }
}

TEST(empty_shapes_touch_nothing)
{
    for (size_t m = 0; m <= 6; m += 2) {
        chain c = chain_of(m, shape_of(3, 5, 6, 6, 3, 1, 1));
        c.conv.batch = 0;
        check_alone(c);
        c = chain_of(m, shape_of(3, 5, 2, 2, 3, 1, 0));
        c.rows.pad = c.columns.pad = c.out_h = c.out_w = 1; // a window of padding alone
        c.rows.kernel = c.columns.kernel = 2;
        check_alone(c);
    }
}

TEST(threads_change_no_bit)
{
    ln_pool *pools[4] = {NULL};
    for (size_t i = 1; i < 4; i++)
        CHECK_OK(ln_pool_create(i < 3 ? i + 1 : 9, &pools[i]));
    for (int i = 0; i < 2; i++) {
        for (size_t m = 0; m <= 6; m += 2) {
            chain c = chain_of(m, shape_of(6, 50, 70, test_random_in(20, 40), 3, 1, 1));
            c.conv.batch = test_random_in(1, 2);
            if (i == 0)
                set_window(&c, 3, 2, 1);
            check(&c, pools, 4);
        }
    }
    for (int i = 0; i < 4; i++) { // windows look at rows of two tasks, or of none
        for (size_t m = 0; m <= 6; m += 2) {
            chain c = chain_of(m, shape_of(16, 100, test_random_in(20, 60), 12, 3, 1, 1));
            c.conv.batch = test_random_in(1, 3);
            c.rows = (ln_window_1d){c.conv.out_h, test_random_in(1, 9), test_random_in(1, 9),
                                    test_random_in(1, 2), test_random_in(0, 4)};
            c.out_h = test_random_in(1, (c.conv.out_h + c.rows.pad - 1) / c.rows.stride + 1);
            check(&c, pools, 4);
        }
    }
    for (size_t i = 1; i < 4; i++)
        ln_pool_release(pools[i]);
}

TEST(no_more_memory_than_the_two_apart)
{
    ln_conv_shape s = shape_of(3, 16, 416, 416, 3, 1, 1);
    ln_window_1d w = {416, 2, 2, 1, 0};
    CHECK(ln_pooled_nhwc_f32_workspace(0, &s, &w) < (size_t)416 * 416 * 16 * 4 / 4);
    s = shape_of(64, 192, 56, 56, 3, 1, 1);
    w = (ln_window_1d){56, 3, 2, 1, 0};
    CHECK(ln_pooled_nhwc_f32_workspace(4, &s, &w) <=
          (size_t)56 * 56 * 192 * 4 + ln_winograd_f32_workspace(4, &s));
}

TEST(a_workspace_that_is_too_large_is_reported)
{
    ln_conv_shape s = shape_of(1, (size_t)1 << 31, 8, (size_t)1 << 31, 3, 1, 1);
    ln_window_1d w = {8, 3, 2, 1, 0};
    CHECK_EQ(ln_pooled_nhwc_f32_workspace(0, &s, &w), SIZE_MAX);
    CHECK_EQ(ln_pooled_nhwc_f32_workspace(4, &s, &w), SIZE_MAX);
}

TEST_LIST(bands_have_the_bits_of_images, an_image_takes_several_bands, first_layers_have_bands,
          any_kernel_has_bands, bands_may_see_nothing, images_may_end_early,
          empty_shapes_touch_nothing, threads_change_no_bit, no_more_memory_than_the_two_apart,
          a_workspace_that_is_too_large_is_reported)
