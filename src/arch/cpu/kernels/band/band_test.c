// SPDX-License-Identifier: Apache-2.0
// Convolutions band by band against the same ones after each other, image by image.

#include "arch/cpu/kernels/band/band.h"

#include "arch/cpu/kernels/conv_cases.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/kernel_test.h"
#include "tests/sanitizer.h"

// The chain: its depthwise convolution, and channels before and after; 0: no 1x1 convolution.
typedef struct chain {
    ln_conv_shape depthwise;
    size_t in_channels, out_channels;
    size_t gap; // between the pixels of x and y
    bool has_bias, has_addend, is_addend_last, is_in_place, at_end;
    ln_act acts[3];
} chain;

// The addend's pixels are further apart than those of y, unless it is y.
#define ADDEND_GAP 3

typedef struct tensors {
    guarded x, addend, weights[3], bias;
    size_t y_count;
} tensors;

static ln_conv_shape pointwise_shape(size_t batch, size_t h, size_t w, size_t in, size_t out)
{
    ln_conv_shape s = square_shape(batch, 1, in, out, h, h, 1, 1, 1, 0);
    s.in_w = s.out_w = w;
    return s;
}

static ln_epilogue_f32 epilogue_of(const chain *c, const tensors *t, int stage)
{
    return (ln_epilogue_f32){.bias = c->has_bias ? t->bias.p : NULL,
                             .act = c->acts[stage],
                             .alpha = -0.25f,
                             .beta = 0.5f};
}

// The three convolutions with dense images between them, at `between`; y is that of the last.
static void describe(const chain *c, const tensors *t, float *const between[2], float *y,
                     ln_conv_nhwc_f32_args stages[3])
{
    const ln_conv_shape *s = &c->depthwise;
    const size_t channels = s->in_channels;
    stages[0] = (ln_conv_nhwc_f32_args){
        .shape = pointwise_shape(s->batch, s->in_h, s->in_w, c->in_channels, channels),
        .x = t->x.p,
        .x_stride = c->in_channels + c->gap,
        .packed = t->weights[0].p,
        .y = between[0],
        .y_stride = channels,
        .epilogue = epilogue_of(c, t, 0)};
    stages[1] = (ln_conv_nhwc_f32_args){.shape = *s,
                                        .x = c->in_channels ? between[0] : t->x.p,
                                        .x_stride = c->in_channels ? channels : channels + c->gap,
                                        .packed = t->weights[1].p,
                                        .y = c->out_channels ? between[1] : y,
                                        .y_stride = c->out_channels ? channels : channels + c->gap,
                                        .epilogue = epilogue_of(c, t, 1)};
    stages[2] = (ln_conv_nhwc_f32_args){
        .shape = pointwise_shape(s->batch, s->out_h, s->out_w, channels, c->out_channels),
        .x = between[1],
        .x_stride = channels,
        .packed = t->weights[2].p,
        .y = y,
        .y_stride = c->out_channels + c->gap,
        .epilogue = epilogue_of(c, t, 2)};
    if (!c->has_addend || !c->out_channels)
        return;
    stages[2].epilogue.addend = c->is_in_place ? y : t->addend.p;
    stages[2].epilogue.addend_stride = c->out_channels + c->gap + (c->is_in_place ? 0 : ADDEND_GAP);
    stages[2].epilogue.is_addend_last = c->is_addend_last;
}

static guarded random_floats(size_t count, bool at_end)
{
    guarded g = guarded_make(count, at_end);
    fill_random(g.p, count);
    return g;
}

static size_t up(size_t n)
{
    return (n + 15) / 16 * 16;
}

static tensors tensors_of(const chain *c)
{
    const ln_conv_shape *s = &c->depthwise;
    const size_t channels = s->in_channels, last = c->out_channels ? c->out_channels : channels;
    const size_t first = c->in_channels ? c->in_channels : channels;
    const size_t in = s->batch * s->in_h * s->in_w, out = s->batch * s->out_h * s->out_w;
    tensors t = {.y_count = out ? out * (last + c->gap) - c->gap : 0};
    t.x = random_floats(in ? in * (first + c->gap) - c->gap : 0, c->at_end);
    t.addend = random_floats(out ? t.y_count + (out - 1) * ADDEND_GAP : 0, c->at_end);
    t.weights[0] = random_floats(c->in_channels * up(channels), c->at_end);
    t.weights[1] = random_floats(s->kernel_h * s->kernel_w * channels, c->at_end);
    t.weights[2] = random_floats(channels * up(c->out_channels), c->at_end);
    t.bias = random_floats(channels > last ? channels : last, c->at_end);
    return t;
}

static void free_tensors(tensors *t)
{
    guarded_free(&t->x);
    guarded_free(&t->addend);
    for (int i = 0; i < 3; i++)
        guarded_free(&t->weights[i]);
    guarded_free(&t->bias);
}

static guarded copy_of(const guarded *from, size_t count)
{
    guarded g = guarded_make(count, from->at_end);
    if (count > 0)
        memcpy(g.p, from->p, count * sizeof *g.p);
    return g;
}

// What the convolutions make one after the other.
static void run_apart(const chain *c, const tensors *t, ln_cpu_isa isa, float *y)
{
    const ln_conv_shape *s = &c->depthwise;
    size_t counts[2] = {s->batch * s->in_h * s->in_w * s->in_channels,
                        s->batch * s->out_h * s->out_w * s->in_channels};
    float *between[2] = {malloc(counts[0] * sizeof(float) + 1),
                         malloc(counts[1] * sizeof(float) + 1)};
    ln_conv_nhwc_f32_args stages[3];
    describe(c, t, between, y, stages);
    if (c->in_channels)
        ln_direct_f32(isa, &stages[0], NULL);
    ln_depthwise_nhwc_f32(isa, &stages[1], NULL);
    if (c->out_channels)
        ln_direct_f32(isa, &stages[2], NULL);
    free(between[0]);
    free(between[1]);
}

static void run_in_bands(const chain *c, const tensors *t, ln_cpu_isa isa, ln_pool *pool, float *y)
{
    float *const between[2] = {NULL, NULL};
    ln_conv_nhwc_f32_args stages[3];
    describe(c, t, between, y, stages);
    size_t bytes =
        ln_band_nhwc_f32_workspace(&c->depthwise, c->in_channels > 0, c->out_channels > 0);
    CHECK_EQ(bytes % 64, 0);
    guarded workspace = guarded_make(bytes / sizeof(float), c->at_end);
    fill_nan(workspace.p, workspace.count);
    ln_band_nhwc_f32_args args = {.expand = c->in_channels ? &stages[0] : NULL,
                                  .depthwise = &stages[1],
                                  .project = c->out_channels ? &stages[2] : NULL};
    ln_band_nhwc_f32(isa, &args, pool, workspace.p);
    guarded_free(&workspace);
}

// `pools` of 1, 2, 3, ... threads.
static void check(const chain *c, ln_pool *const *pools, size_t pool_count)
{
    tensors t = tensors_of(c);
    guarded want = copy_of(&t.addend, t.y_count);
    run_apart(c, &t, LN_CPU_ISA_generic, want.p);
    FOR_EACH_ISA(isa)
    {
        for (size_t i = 0; i < pool_count; i++) {
            guarded y = copy_of(&t.addend, t.y_count);
            run_in_bands(c, &t, isa, pools[i], y.p);
            check_same_bits("band", isa, want.p, y.p, t.y_count);
            guarded_free(&y);
        }
    }
    guarded_free(&want);
    free_tensors(&t);
}

static ln_act random_act(void)
{
    static const ln_act acts[] = {LN_ACT_NONE, LN_ACT_RELU, LN_ACT_CLIP, LN_ACT_SILU,
                                  LN_ACT_HARD_SWISH};
    return acts[test_random_in(0, sizeof acts / sizeof acts[0] - 1)];
}

// One with random channels around a depthwise convolution.
static chain chain_of(ln_conv_shape depthwise)
{
    static const bool sides[][2] = {{true, false}, {false, true}, {true, true}};
    const bool *has = sides[test_random_in(0, 2)];
    return (chain){.depthwise = depthwise,
                   .in_channels = has[0] ? test_random_in(1, 20) : 0,
                   .out_channels = has[1] ? test_random_in(1, 40) : 0,
                   .gap = test_random_in(0, 1) * 5,
                   .has_bias = test_random_in(0, 1),
                   .has_addend = test_random_in(0, 1),
                   .is_addend_last = test_random_in(0, 1),
                   .is_in_place = test_random_in(0, 1),
                   .at_end = test_random_in(0, 1),
                   .acts = {random_act(), random_act(), random_act()}};
}

static ln_conv_shape depthwise_shape(size_t batch, size_t channels, size_t in_h, size_t in_w,
                                     size_t kernel, size_t stride, size_t pad)
{
    ln_conv_shape s =
        square_shape(batch, channels, channels, channels, in_h, 0, kernel, stride, 1, pad);
    s.in_w = in_w;
    s.out_h = in_h + 2 * pad < kernel ? 0 : (in_h + 2 * pad - kernel) / stride + 1;
    s.out_w = in_w + 2 * pad < kernel ? 0 : (in_w + 2 * pad - kernel) / stride + 1;
    return s;
}

static void check_alone(ln_conv_shape depthwise)
{
    ln_pool *none = NULL;
    chain c = chain_of(depthwise);
    check(&c, &none, 1);
}

TEST(bands_have_the_bits_of_images)
{
    for (int i = 0; i < test_share(60); i++) {
        size_t kernel = test_random_in(0, 1) ? 3 : 5;
        check_alone(depthwise_shape(test_random_in(1, 2), test_random_in(1, 40),
                                    test_random_in(1, 24), test_random_in(1, 20), kernel,
                                    test_random_in(1, 2), kernel / 2));
    }
}

TEST(an_image_takes_several_bands)
{
    check_alone(depthwise_shape(1, 300, 40, 41, 3, 1, 1));
    check_alone(depthwise_shape(2, 290, 41, 40, 5, 2, 2));
    check_alone(depthwise_shape(1, 3000, 9, 30, 3, 1, 1)); // a band has one row
}

TEST(any_kernel_has_bands)
{
    for (int i = 0; i < test_share(60); i++) {
        ln_conv_shape s =
            depthwise_shape(test_random_in(1, 2), test_random_in(1, 30), test_random_in(6, 16),
                            test_random_in(6, 16), 1, 1, test_random_in(0, 3));
        s.kernel_h = test_random_in(1, 6);
        s.kernel_w = test_random_in(1, 6);
        s.stride_h = test_random_in(1, 7);
        s.stride_w = test_random_in(1, 3);
        s.dilation_h = test_random_in(1, 3);
        s.dilation_w = test_random_in(1, 2);
        s.out_h = test_random_in(0, (s.in_h - 1) / s.stride_h + 1);
        s.out_w = test_random_in(0, (s.in_w - 1) / s.stride_w + 1);
        check_alone(s);
    }
}

TEST(bands_may_see_nothing)
{
    for (size_t pad = 0; pad <= 12; pad++) {
        ln_conv_shape s = depthwise_shape(1, 1000, 5, 12, 3, 1, 1); // some rows in a band
        s.pad_top = pad;
        s.out_h = 19;
        check_alone(s);
    }
}

TEST(empty_shapes_touch_nothing)
{
    check_alone(depthwise_shape(0, 5, 5, 5, 3, 1, 1));
    check_alone(depthwise_shape(1, 5, 2, 2, 3, 1, 0));
}

TEST(threads_change_no_bit)
{
    ln_pool *pools[4] = {NULL};
    for (size_t i = 1; i < 4; i++)
        CHECK_OK(ln_pool_create(i + 1, &pools[i]));
    for (int i = 0; i < 6; i++) {
        size_t kernel = test_random_in(0, 1) ? 3 : 5;
        chain c = chain_of(depthwise_shape(test_random_in(1, 3), test_random_in(60, 200),
                                           test_random_in(20, 60), test_random_in(20, 40), kernel,
                                           test_random_in(1, 2), kernel / 2));
        check(&c, pools, 4);
    }
    for (int i = 0; i < 10; i++) { // tasks share rows, or leave some out
        ln_conv_shape s = depthwise_shape(test_random_in(1, 3), 700, test_random_in(8, 30),
                                          test_random_in(6, 12), 1, 1, test_random_in(0, 5));
        s.kernel_h = test_random_in(1, 6);
        s.kernel_w = test_random_in(1, 3);
        s.stride_h = test_random_in(1, 4);
        s.dilation_h = test_random_in(1, 3);
        s.out_h = (s.in_h + test_random_in(0, 8)) / s.stride_h;
        s.out_w = s.in_w;
        chain c = chain_of(s);
        c.in_channels = test_random_in(1, 6);
        check(&c, pools, 4);
    }
    for (size_t i = 1; i < 4; i++)
        ln_pool_release(pools[i]);
}

TEST(a_workspace_that_is_too_large_is_reported)
{
    ln_conv_shape s = depthwise_shape(1, (size_t)1 << 31, 8, (size_t)1 << 31, 3, 1, 1);
    CHECK_EQ(ln_band_nhwc_f32_workspace(&s, true, true), SIZE_MAX);
}

TEST_LIST(bands_have_the_bits_of_images, an_image_takes_several_bands, any_kernel_has_bands,
          bands_may_see_nothing, empty_shapes_touch_nothing, threads_change_no_bit,
          a_workspace_that_is_too_large_is_reported)
