// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes band by band against the same ones after each other, image by image.

#include "arch/cpu/kernels/band/band_i8.h"

#include <stdlib.h>
#include <string.h>

#include "arch/cpu/kernels/kernel_test.h"

static const struct {
    ln_cpu_isa isa;
    const char *name;
} sets[] = {
#define SET(set, word, features, ...) {features, word},
    LN_CPU_TILE_I8_LIST(SET, )
#undef SET
};

#define MOST_CHANNELS 512

// What the epilogue takes of each channel.
typedef struct channels {
    int32_t bias[MOST_CHANNELS], zeros[MOST_CHANNELS];
    float factors[MOST_CHANNELS];
} channels;

typedef struct chain {
    ln_conv_shape conv, depthwise; // no depthwise kernel: a pooling
    ln_maxpool_i8_args pool;
    bool is_signed, has_zeros;
} chain;

static bool is_pooled(const chain *c)
{
    return c->depthwise.kernel_h == 0;
}

static size_t out_of(size_t in, size_t kernel, size_t stride, size_t dilation, size_t pad)
{
    size_t all = in + 2 * pad, reach = (kernel - 1) * dilation + 1;
    return all < reach ? 0 : (all - reach) / stride + 1;
}

static guarded random_bytes(size_t count)
{
    guarded g = guarded_make((count + 3) / 4, false);
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)g.p)[i] = (uint8_t)test_random();
    return g;
}

static channels random_channels(void)
{
    channels c;
    for (size_t i = 0; i < MOST_CHANNELS; i++) {
        c.bias[i] = (int32_t)(test_random() % 2000) - 1000;
        c.zeros[i] = (int32_t)(test_random() % 9) - 4;
        c.factors[i] = (float)(test_random() % 1000 + 1) / 2e5f;
    }
    return c;
}

static guarded packed_weights(const ln_conv_shape *s)
{
    const size_t count = s->out_channels * (s->in_channels / s->group) * s->kernel_h * s->kernel_w;
    guarded weights = random_bytes(count), scratch = random_bytes(count);
    guarded packed = guarded_make((ln_conv_i8_packed_bytes(s) + 3) / 4, false);
    ln_conv_i8_pack(s, weights.p, true, (uint8_t *)scratch.p, (int8_t *)packed.p, NULL);
    guarded_free(&weights);
    guarded_free(&scratch);
    return packed;
}

static ln_conv_i8_args args_of(const chain *c, const ln_conv_shape *s, const channels *of,
                               const guarded *packed, const void *x, void *y)
{
    return (ln_conv_i8_args){.shape = *s,
                             .x = x,
                             .is_signed = c->is_signed,
                             .zero = c->is_signed ? -3 : 120,
                             .packed = (const int8_t *)packed->p,
                             .zeros = c->has_zeros ? of->zeros : NULL,
                             .bias = of->bias,
                             .y = y,
                             .epilogue = {.result = LN_I8_TO_BYTES,
                                          .factors = of->factors,
                                          .low = c->is_signed ? -125.0f : -120.0f,
                                          .high = c->is_signed ? 130.0f : 135.0f,
                                          .zero = c->is_signed ? -3 : 120}};
}

static void pool_image(const chain *c, const uint8_t *x, size_t x_bytes, uint8_t *y)
{
    const ln_maxpool_i8_args *p = &c->pool;
    const size_t image = p->rows.in * p->columns.in * p->x_step;
    for (size_t n = 0; n < c->conv.batch; n++) {
        const ln_lines_i8 lines = {.at = x + n * image, .end = x + x_bytes};
        for (size_t row = 0; row < p->out_h; row++, y += p->out_w * p->y_step)
            ln_maxpool_i8_row(0, p, &lines, row, y);
    }
}

static size_t bytes_of_result(const chain *c)
{
    const size_t pixels =
        is_pooled(c) ? c->pool.out_h * c->pool.out_w : c->depthwise.out_h * c->depthwise.out_w;
    return c->conv.batch * pixels * c->conv.out_channels;
}

typedef struct tensors {
    channels first, second;
    guarded x, weights, taps;
} tensors;

static tensors tensors_of(const chain *c)
{
    const ln_conv_shape *s = &c->conv;
    tensors t = {.first = random_channels(), .second = random_channels()};
    t.x = random_bytes(s->batch * s->in_h * s->in_w * s->in_channels);
    t.weights = packed_weights(s);
    if (!is_pooled(c))
        t.taps = packed_weights(&c->depthwise);
    return t;
}

static void run_apart(const chain *c, const tensors *t, uint8_t *y)
{
    const ln_conv_shape *s = &c->conv;
    const size_t bytes = s->batch * s->out_h * s->out_w * s->out_channels;
    uint8_t *between = malloc(bytes + 1);
    const ln_conv_i8_depth none = {.out = 0};
    const size_t of_next = is_pooled(c) ? 0 : ln_conv_i8_workspace(&c->depthwise, &none);
    guarded workspace =
        guarded_make(ln_max(ln_conv_i8_workspace(s, &none), of_next) / 4 + 16, false);
    const ln_conv_i8_args conv = args_of(c, s, &t->first, &t->weights, t->x.p, between);
    ln_conv_i8(0, &conv, workspace.p, NULL);
    if (is_pooled(c)) {
        pool_image(c, between, bytes, y);
    } else {
        const ln_conv_i8_args taps = args_of(c, &c->depthwise, &t->second, &t->taps, between, y);
        ln_conv_i8(0, &taps, workspace.p, NULL);
    }
    guarded_free(&workspace);
    free(between);
}

static void run_in_bands(const chain *c, const tensors *t, ln_cpu_isa isa, ln_pool *pool,
                         uint8_t *y)
{
    const ln_conv_i8_args conv = args_of(c, &c->conv, &t->first, &t->weights, t->x.p, NULL);
    const ln_conv_i8_args taps = args_of(c, &c->depthwise, &t->second, &t->taps, NULL, NULL);
    const ln_window_1d rows = is_pooled(c) ? c->pool.rows : ln_conv_rows(&c->depthwise);
    const size_t bytes = ln_band_i8_workspace(&c->conv, is_pooled(c) ? NULL : &c->depthwise, &rows,
                                              is_pooled(c) ? c->pool.out_h : c->depthwise.out_h);
    guarded workspace = guarded_make((bytes + 3) / 4, true);
    const ln_band_i8_args args = {.conv = &conv,
                                  .depthwise = is_pooled(c) ? NULL : &taps,
                                  .pool = is_pooled(c) ? &c->pool : NULL,
                                  .y = y};
    memset(workspace.p, 0x5a, bytes);
    ln_band_i8(isa, &args, workspace.p, pool);
    guarded_free(&workspace);
}

static void fail_chain(const chain *c, const char *set, size_t threads)
{
    const ln_conv_shape *s = &c->conv, *d = &c->depthwise;
    const ln_window_1d rows = is_pooled(c) ? c->pool.rows : ln_conv_rows(d);
    const ln_window_1d columns = is_pooled(c) ? c->pool.columns : ln_conv_columns(d);
    const ln_window_1d *w[] = {&rows, &columns};
    printf("%zu images %zux%zux%zu, kernel %zu, stride %zu, pad %zu to %zux%zux%zu, %s\n", s->batch,
           s->in_h, s->in_w, s->in_channels, s->kernel_h, s->stride_h, s->pad_top, s->out_h,
           s->out_w, s->out_channels, is_pooled(c) ? "pooled" : "depthwise");
    for (int i = 0; i < 2; i++)
        printf("kernel %zu, stride %zu, dilation %zu, pad %zu\n", w[i]->kernel, w[i]->stride,
               w[i]->dilation, w[i]->pad);
    fail_msg("%s, %zu threads", set, threads);
}

static ln_pool *pools[3]; // of 1, 2 and 7 threads

static void check_chain(const chain *c)
{
    const size_t bytes = bytes_of_result(c);
    tensors t = tensors_of(c);
    guarded expected = guarded_make((bytes + 3) / 4, false);
    guarded y = guarded_make((bytes + 3) / 4, true);
    uint8_t *to = (uint8_t *)y.p + (bytes + 3) / 4 * 4 - bytes;
    run_apart(c, &t, (uint8_t *)expected.p);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (!ln_cpu_isa_runs(ln_cpu_isa_get(), sets[i].isa))
            continue;
        for (size_t k = 0; k < 3; k++) {
            memset(to, 0x33, bytes);
            run_in_bands(c, &t, sets[i].isa, pools[k], to);
            if (memcmp(to, expected.p, bytes) != 0)
                fail_chain(c, sets[i].name, ln_pool_thread_count(pools[k]));
        }
    }
    guarded_free(&t.x);
    guarded_free(&t.weights);
    if (!is_pooled(c))
        guarded_free(&t.taps);
    guarded_free(&expected);
    guarded_free(&y);
}

static ln_conv_shape conv_shape(size_t batch, size_t in_h, size_t in_w, size_t in, size_t out,
                                size_t kernel, size_t stride, size_t pad)
{
    return (ln_conv_shape){.batch = batch,
                           .group = 1,
                           .in_channels = in,
                           .out_channels = out,
                           .in_h = in_h,
                           .in_w = in_w,
                           .out_h = out_of(in_h, kernel, stride, 1, pad),
                           .out_w = out_of(in_w, kernel, stride, 1, pad),
                           .kernel_h = kernel,
                           .kernel_w = kernel,
                           .stride_h = stride,
                           .stride_w = stride,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = pad,
                           .pad_left = pad};
}

// What comes after: a window of these rows and columns.
typedef struct window {
    size_t kernel[2], stride[2], dilation[2], pad[2];
} window;

static void set_window(chain *c, const window *w, bool is_depthwise)
{
    const ln_conv_shape *s = &c->conv;
    const size_t out_h = out_of(s->out_h, w->kernel[0], w->stride[0], w->dilation[0], w->pad[0]);
    const size_t out_w = out_of(s->out_w, w->kernel[1], w->stride[1], w->dilation[1], w->pad[1]);
    const size_t n = s->out_channels;
    if (!is_depthwise) {
        c->pool = (ln_maxpool_i8_args){
            .rows = {s->out_h, w->kernel[0], w->stride[0], w->dilation[0], w->pad[0]},
            .columns = {s->out_w, w->kernel[1], w->stride[1], w->dilation[1], w->pad[1]},
            .out_h = out_h,
            .out_w = out_w,
            .channels = n,
            .x_step = n,
            .y_step = n,
            .is_signed = c->is_signed};
        return;
    }
    c->depthwise = (ln_conv_shape){.batch = s->batch,
                                   .group = n,
                                   .in_channels = n,
                                   .out_channels = n,
                                   .in_h = s->out_h,
                                   .in_w = s->out_w,
                                   .out_h = out_h,
                                   .out_w = out_w,
                                   .kernel_h = w->kernel[0],
                                   .kernel_w = w->kernel[1],
                                   .stride_h = w->stride[0],
                                   .stride_w = w->stride[1],
                                   .dilation_h = w->dilation[0],
                                   .dilation_w = w->dilation[1],
                                   .pad_top = w->pad[0],
                                   .pad_left = w->pad[1]};
}

static void make_pools(void)
{
    CHECK_OK(ln_pool_create(2, &pools[1]));
    CHECK_OK(ln_pool_create(7, &pools[2]));
}

static void release_pools(void)
{
    ln_pool_release(pools[1]);
    ln_pool_release(pools[2]);
}

TEST(images_are_those_of_whole_ones)
{
    make_pools();
    static const window windows[] = {{{3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                     {{3, 3}, {2, 2}, {1, 1}, {1, 1}},
                                     {{2, 2}, {2, 2}, {1, 1}, {0, 0}}};
    for (size_t i = 0; i < 12; i++) {
        chain c = {.is_signed = i % 2};
        c.conv =
            i < 6 ? conv_shape(1, 56, 40, 16, 96, 1, 1, 0) : conv_shape(2, 61, 64, 3, 40, 3, 2, 1);
        set_window(&c, &windows[i / 2 % 3], i % 4 < 2);
        check_chain(&c);
    }
    release_pools();
}

// Padding without limits: rows of results that look at nothing, at gaps, at both ends.
static chain random_chain(void)
{
    const size_t kernel = 1 + test_random() % 3;
    chain c = {.is_signed = test_random() % 2, .has_zeros = test_random() % 4 == 0};
    c.conv = conv_shape(1 + test_random() % 3, 1 + test_random() % 40, 1 + test_random() % 20,
                        1 + test_random() % 20, 2 + test_random() % 70, kernel,
                        1 + test_random() % 2, test_random() % kernel);
    if (c.conv.in_channels > 2 && c.conv.in_channels % 2 == 0 && c.conv.out_channels % 2 == 0)
        c.conv.group = 2;
    window w;
    for (size_t i = 0; i < 2; i++) {
        w.kernel[i] = 1 + test_random() % 4;
        w.stride[i] = 1 + test_random() % 4;
        w.dilation[i] = 1 + test_random() % 3;
        w.pad[i] = test_random() % 7;
    }
    set_window(&c, &w, test_random() % 2);
    return c;
}

TEST(random_chains_are_those_of_whole_images)
{
    make_pools();
    for (int i = 0; i < 400; i++) {
        chain c = random_chain();
        if (bytes_of_result(&c) > 0)
            check_chain(&c);
    }
    release_pools();
}

// Buffers are less than what is not stored.
TEST(workspaces_are_small)
{
    chain c = {0};
    const window w = {{3, 3}, {2, 2}, {1, 1}, {1, 1}};
    c.conv = conv_shape(1, 112, 112, 16, 96, 1, 1, 0);
    set_window(&c, &w, true);
    const ln_window_1d rows = ln_conv_rows(&c.depthwise);
    const size_t bytes = ln_band_i8_workspace(&c.conv, &c.depthwise, &rows, c.depthwise.out_h);
    CHECK(bytes > 0 && bytes < 112 * 112 * 96 / 3);
    c.conv.in_w = c.conv.out_w = SIZE_MAX / 64;
    CHECK_EQ(ln_band_i8_workspace(&c.conv, &c.depthwise, &rows, c.depthwise.out_h), SIZE_MAX);
}

TEST_LIST(images_are_those_of_whole_ones, random_chains_are_those_of_whole_images,
          workspaces_are_small)
