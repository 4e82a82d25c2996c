// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm against sums in double, on easy and on hard data, and the instruction sets,
// threads, batches and windows against each other, bit for bit.

#include "arch/cpu/kernels/winograd/winograd.h"

#include "arch/cpu/kernels/kernel_test.h"
#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/actf.h"

#define FOR_EACH_M(m) for (size_t m = 2; m <= 6; m += 2)

typedef struct test_shape {
    const char *why;
    size_t batch, in, out, h, w, pad_top, pad_left, pad_bottom, pad_right;
} test_shape;

static const test_shape shapes[] = {
    {"one pixel", 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"no padding", 1, 3, 5, 9, 8, 0, 0, 0, 0},
    {"whole vectors", 1, 16, 32, 12, 12, 1, 1, 1, 1},
    {"channels after them", 2, 19, 35, 7, 13, 1, 1, 1, 1},
    {"few channels", 1, 7, 20, 14, 14, 1, 1, 1, 1},
    {"several images", 3, 18, 17, 7, 7, 1, 1, 1, 1},
    {"several blocks", 1, 33, 16, 61, 62, 1, 1, 1, 1},
    {"uneven padding", 1, 8, 16, 6, 5, 0, 2, 1, 0},
    {"padding alone makes the outputs", 1, 4, 4, 2, 3, 5, 4, 3, 6},
    {"one row", 1, 5, 9, 1, 40, 1, 1, 1, 1},
    {"one column", 1, 5, 9, 40, 1, 1, 1, 1, 1},
    {"many channels", 1, 300, 70, 8, 9, 1, 1, 1, 1},
    {"more channels than a short block has", 1, 530, 40, 15, 30, 1, 1, 1, 1},
};
#define SHAPE_COUNT (sizeof shapes / sizeof shapes[0])

static ln_conv_shape shape_of(const test_shape *t)
{
    return (ln_conv_shape){.batch = t->batch,
                           .group = 1,
                           .in_channels = t->in,
                           .out_channels = t->out,
                           .in_h = t->h,
                           .in_w = t->w,
                           .out_h = t->h + t->pad_top + t->pad_bottom - 2,
                           .out_w = t->w + t->pad_left + t->pad_right - 2,
                           .kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = t->pad_top,
                           .pad_left = t->pad_left};
}

static size_t packed_count(size_t m, const ln_conv_shape *s)
{
    return (m + 2) * (m + 2) * s->in_channels * ((s->out_channels + 15) / 16 * 16);
}

static size_t in_count(const ln_conv_shape *s)
{
    return s->batch * s->in_h * s->in_w * s->in_channels;
}

static size_t out_count(const ln_conv_shape *s)
{
    return s->batch * s->out_h * s->out_w * s->out_channels;
}

// The addend's pixels may be further apart than those of y by this.
#define ADDEND_GAP 3

// A convolution with all that belongs to it; x and y are exactly as long as the shape says.
typedef struct problem {
    ln_conv_shape shape;
    size_t m;
    float *weight; // [O, C, 3, 3]
    guarded x, packed, bias, addend;
    ln_epilogue_f32 epilogue;
} problem;

static problem problem_make(size_t m, const ln_conv_shape *s, bool at_end)
{
    problem p = {.shape = *s, .m = m};
    size_t weights = s->out_channels * s->in_channels * 9;
    p.weight = malloc(weights * sizeof *p.weight);
    CHECK_NOT_NULL(p.weight);
    p.x = guarded_make(in_count(s), at_end);
    p.packed = guarded_make(packed_count(m, s), at_end);
    p.bias = guarded_make(s->out_channels, at_end);
    p.addend =
        guarded_make(s->batch * s->out_h * s->out_w * (s->out_channels + ADDEND_GAP), at_end);
    fill_random(p.weight, weights);
    fill_random(p.x.p, p.x.count);
    fill_random(p.bias.p, p.bias.count);
    fill_random(p.addend.p, out_count(s)); // the draws with which docs/accuracy.md was measured
    for (size_t i = out_count(s); i < p.addend.count; i++)
        p.addend.p[i] = p.addend.p[i - out_count(s)];
    fill_nan(p.packed.p, p.packed.count);
    ln_winograd_f32_pack(m, s, p.weight, p.packed.p, NULL);
    return p;
}

static void problem_free(problem *p)
{
    free(p->weight);
    guarded_free(&p->x);
    guarded_free(&p->packed);
    guarded_free(&p->bias);
    guarded_free(&p->addend);
}

static ln_conv_nhwc_f32_args args_of(const problem *p, float *y)
{
    return (ln_conv_nhwc_f32_args){.shape = p->shape,
                                   .x = p->x.p,
                                   .x_stride = p->shape.in_channels,
                                   .packed = p->packed.p,
                                   .y = y,
                                   .y_stride = p->shape.out_channels,
                                   .epilogue = p->epilogue};
}

// Runs into `y`, of which nothing is written that the shape does not have.
static void problem_run(const problem *p, ln_cpu_isa isa, ln_pool *pool, bool at_end, float *y)
{
    guarded out = guarded_make(out_count(&p->shape), at_end);
    size_t bytes = ln_winograd_f32_workspace(p->m, &p->shape);
    CHECK(bytes % sizeof(float) == 0 && bytes > 0);
    guarded workspace = guarded_make(bytes / sizeof(float), at_end);
    fill_nan(workspace.p, workspace.count);
    fill_nan(out.p, out.count);
    ln_conv_nhwc_f32_args args = args_of(p, out.p);
    ln_winograd_f32(isa, p->m, &args, pool, workspace.p);
    memcpy(y, out.p, out.count * sizeof *y);
    guarded_free(&out);
    guarded_free(&workspace);
}

static float *floats_make(size_t count)
{
    float *p = malloc((count + 1) * sizeof *p);
    CHECK_NOT_NULL(p);
    return p;
}

// ---- Bits ----

static void check_shape(size_t m, const ln_conv_shape *s, bool at_end)
{
    problem p = problem_make(m, s, at_end);
    p.epilogue = (ln_epilogue_f32){.bias = p.bias.p, .act = LN_ACT_RELU};
    float *first = floats_make(out_count(s)), *other = floats_make(out_count(s));
    problem_run(&p, LN_CPU_ISA_generic, NULL, at_end, first);
    FOR_EACH_ISA(isa)
    {
        problem_run(&p, isa, NULL, at_end, other);
        check_same_bits("winograd", isa, first, other, out_count(s));
    }
    free(first);
    free(other);
    problem_free(&p);
}

TEST(instruction_sets_agree_and_stay_inside_their_buffers)
{
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        ln_conv_shape s = shape_of(&shapes[i]);
        FOR_EACH_M(m)
        {
            check_shape(m, &s, true);
            check_shape(m, &s, false);
        }
    }
}

TEST(any_shape)
{
    for (size_t i = 0; i < 40; i++) {
        test_shape t = {.batch = test_random_in(1, 3),
                        .in = test_random_in(1, 40),
                        .out = test_random_in(1, 70),
                        .h = test_random_in(1, 20),
                        .w = test_random_in(1, 20),
                        .pad_top = test_random_in(1, 3),
                        .pad_left = test_random_in(1, 3),
                        .pad_bottom = test_random_in(1, 3),
                        .pad_right = test_random_in(1, 3)};
        ln_conv_shape s = shape_of(&t);
        check_shape(i % 3 * 2 + 2, &s, i % 2 == 0);
    }
}

TEST(threads_do_not_change_bits)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    static const test_shape large[] = {
        {"many blocks", 1, 64, 64, 56, 56, 1, 1, 1, 1},
        {"one block", 1, 256, 300, 13, 13, 1, 1, 1, 1},
        {"two blocks that are shared", 1, 320, 96, 30, 30, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        ln_conv_shape s = shape_of(&large[i]);
        FOR_EACH_M(m)
        {
            problem p = problem_make(m, &s, true);
            float *alone = floats_make(out_count(&s)), *shared = floats_make(out_count(&s));
            problem_run(&p, ln_cpu_isa_get(), NULL, true, alone);
            problem_run(&p, ln_cpu_isa_get(), pool, true, shared);
            check_same_bits(large[i].why, ln_cpu_isa_get(), alone, shared, out_count(&s));
            free(alone);
            free(shared);
            problem_free(&p);
        }
    }
    ln_pool_release(pool);
}

TEST(an_image_is_the_same_alone_and_in_a_batch)
{
    const test_shape t = {"", 3, 20, 24, 11, 19, 1, 1, 1, 1};
    FOR_EACH_M(m)
    {
        ln_conv_shape s = shape_of(&t);
        problem p = problem_make(m, &s, true);
        float *all = floats_make(out_count(&s)), *one = floats_make(out_count(&s));
        problem_run(&p, ln_cpu_isa_get(), NULL, true, all);
        p.shape.batch = 1;
        size_t in = in_count(&p.shape), out = out_count(&p.shape);
        guarded x = p.x;
        for (size_t n = 0; n < s.batch; n++) {
            p.x.p = x.p + n * in;
            problem_run(&p, ln_cpu_isa_get(), NULL, true, one);
            check_same_bits("image", ln_cpu_isa_get(), all + n * out, one, out);
        }
        p.x = x;
        free(all);
        free(one);
        problem_free(&p);
    }
}

TEST(windows_of_wider_images_are_read_and_written)
{
    const test_shape t = {"", 2, 21, 37, 9, 10, 1, 1, 1, 1};
    const size_t in = 30, in_first = 5, out = 50, out_first = 9;
    ln_conv_shape s = shape_of(&t);
    size_t pixels = s.batch * s.out_h * s.out_w;
    FOR_EACH_M(m)
    {
        problem p = problem_make(m, &s, true);
        float *narrow = floats_make(out_count(&s)), *wide = floats_make(pixels * out);
        float *wide_x = floats_make(pixels * in), *workspace;
        fill_nan(wide_x, pixels * in);
        for (size_t i = 0; i < pixels; i++) {
            memcpy(wide_x + i * in + in_first, p.x.p + i * t.in, t.in * sizeof(float));
            for (size_t c = 0; c < out; c++)
                wide[i * out + c] = 7;
        }
        p.epilogue = (ln_epilogue_f32){.addend = p.addend.p, .addend_stride = t.out + ADDEND_GAP};
        problem_run(&p, ln_cpu_isa_get(), NULL, true, narrow);
        workspace = malloc(ln_winograd_f32_workspace(m, &s));
        CHECK_NOT_NULL(workspace);
        ln_conv_nhwc_f32_args args = args_of(&p, wide + out_first);
        args.x = wide_x + in_first;
        args.x_stride = in;
        args.y_stride = out;
        ln_winograd_f32(ln_cpu_isa_get(), m, &args, NULL, workspace);
        for (size_t i = 0; i < pixels; i++) {
            for (size_t c = 0; c < out; c++) {
                bool is_inside = c >= out_first && c < out_first + t.out;
                float expected = is_inside ? narrow[i * t.out + c - out_first] : 7;
                CHECK(same_bits(wide[i * out + c], expected));
            }
        }
        free(narrow);
        free(wide);
        free(wide_x);
        free(workspace);
        problem_free(&p);
    }
}

// ---- Epilogue ----

static float act_of(const ln_epilogue_f32 *e, float x)
{
    vf y = vf_set1(x), alpha = vf_set1(e->alpha), beta = vf_set1(e->beta);
    switch (e->act) {
#define ACT_CASE(constant, name, doc)                                                              \
    case LN_ACT_##constant: y = vf_act(LN_ACT_##constant, alpha, beta, y); break;
        LN_ACT_LIST(ACT_CASE)
#undef ACT_CASE
    default: break;
    }
    return y[0];
}

static void check_epilogue(problem *p, const float *sums, float *y, ln_cpu_isa isa)
{
    const ln_epilogue_f32 *e = &p->epilogue;
    problem_run(p, isa, NULL, true, y);
    for (size_t i = 0; i < out_count(&p->shape); i++) {
        size_t pixel = i / p->shape.out_channels, channel = i % p->shape.out_channels;
        float addend = e->addend ? e->addend[pixel * e->addend_stride + channel] : 0;
        float expected = sums[i];
        if (e->bias)
            expected += e->bias[channel];
        if (e->addend && !e->is_addend_last)
            expected += addend;
        expected = act_of(e, expected);
        if (e->addend && e->is_addend_last)
            expected += addend;
        if (!same_bits(y[i], expected))
            fail_msg("%s %s: element %zu is %.9g instead of %.9g", ln_cpu_isa_name(isa),
                     ln_act_name(e->act), i, (double)y[i], (double)expected);
    }
}

TEST(epilogues_are_those_of_act_h)
{
    const test_shape t = {"", 1, 6, 21, 7, 8, 1, 1, 1, 1};
    ln_conv_shape s = shape_of(&t);
    FOR_EACH_M(m)
    {
        problem p = problem_make(m, &s, true);
        float *sums = floats_make(out_count(&s)), *y = floats_make(out_count(&s));
        problem_run(&p, LN_CPU_ISA_generic, NULL, true, sums);
        for (int act = 0; act < LN_ACT_COUNT; act++) {
            for (size_t i = 0; i < 6; i++) {
                p.epilogue = (ln_epilogue_f32){.bias = i % 2 ? p.bias.p : NULL,
                                               .addend = i / 2 ? p.addend.p : NULL,
                                               .addend_stride = t.out + ADDEND_GAP,
                                               .is_addend_last = i / 2 == 2,
                                               .act = (ln_act)act,
                                               .alpha = 0.25f,
                                               .beta = 0.75f};
                FOR_EACH_ISA(isa)
                {
                    check_epilogue(&p, sums, y, isa);
                }
            }
        }
        free(sums);
        free(y);
        problem_free(&p);
    }
}

TEST(the_result_may_be_its_own_addend)
{
    const test_shape t = {"", 1, 20, 40, 13, 17, 1, 1, 1, 1};
    ln_conv_shape s = shape_of(&t);
    FOR_EACH_M(m)
    {
        problem p = problem_make(m, &s, true);
        p.epilogue = (ln_epilogue_f32){.addend = p.addend.p, .addend_stride = t.out};
        float *apart = floats_make(out_count(&s));
        problem_run(&p, ln_cpu_isa_get(), NULL, true, apart);
        float *workspace = malloc(ln_winograd_f32_workspace(m, &s));
        CHECK_NOT_NULL(workspace);
        ln_conv_nhwc_f32_args args = args_of(&p, p.addend.p);
        ln_winograd_f32(ln_cpu_isa_get(), m, &args, NULL, workspace);
        check_same_bits("own addend", ln_cpu_isa_get(), apart, p.addend.p, out_count(&s));
        free(workspace);
        free(apart);
        problem_free(&p);
    }
}

// ---- Errors ----

typedef enum test_data { DATA_RANDOM, DATA_MEAN, DATA_SIGNS, DATA_RANGE, DATA_COUNT } test_data;

static const char *const data_names[] = {"random", "large mean", "alternating signs",
                                         "range of 1000"};

static float test_float(test_data data, size_t pixel, size_t w)
{
    float r = (float)test_random() / (float)(1u << 30) - 1.0f;
    switch (data) {
    case DATA_MEAN: return 100.0f + r;
    case DATA_SIGNS: return (pixel / w + pixel % w) % 2 ? -1.0f - 0.01f * r : 1.0f + 0.01f * r;
    case DATA_RANGE: return r * powf(10.0f, 3.0f * (float)(test_random() % 1000) / 1000.0f);
    default: return r;
    }
}

typedef struct test_error {
    double largest, mean_square; // relative to the output's sum of |w x|
    double of_scale;             // the largest, relative to the largest |output|
    double of_bound;             // the largest, relative to the bound of winograd.h
} test_error;

static double exact(const problem *p, size_t o, size_t oy, size_t ox, double *out_scale)
{
    const ln_conv_shape *s = &p->shape;
    double sum = 0, scale = 0;
    for (size_t k = 0; k < 9; k++) {
        size_t y = oy + k / 3 - s->pad_top, x = ox + k % 3 - s->pad_left;
        if (y >= s->in_h || x >= s->in_w)
            continue;
        const float *pixel = p->x.p + (y * s->in_w + x) * s->in_channels;
        for (size_t c = 0; c < s->in_channels; c++) {
            double term = (double)pixel[c] * (double)p->weight[(o * s->in_channels + c) * 9 + k];
            sum += term;
            scale += fabs(term);
        }
    }
    *out_scale = scale;
    return sum;
}

static double sum_of_magnitudes(const float *p, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs((double)p[i]);
    return sum;
}

static test_error measure(const problem *p, const float *y)
{
    const ln_conv_shape *s = &p->shape;
    test_error e = {0};
    double largest_x = 0, largest_y = 0, largest_error = 0;
    for (size_t i = 0; i < p->x.count; i++)
        largest_x = fmax(largest_x, fabs((double)p->x.p[i]));
    for (size_t o = 0; o < s->out_channels; o++) {
        double weights = sum_of_magnitudes(p->weight + o * s->in_channels * 9, s->in_channels * 9);
        double bound = ln_winograd_f32_error(p->m, s->in_channels) * largest_x * weights;
        for (size_t i = 0; i < s->out_h * s->out_w; i++) {
            double scale, sum = exact(p, o, i / s->out_w, i % s->out_w, &scale);
            double error = fabs((double)y[i * s->out_channels + o] - sum);
            e.largest = fmax(e.largest, error / scale);
            e.mean_square += error / scale * (error / scale) / (double)out_count(s);
            e.of_bound = fmax(e.of_bound, error / bound);
            largest_y = fmax(largest_y, fabs(sum));
            largest_error = fmax(largest_error, error);
        }
    }
    e.of_scale = largest_error / largest_y;
    return e;
}

// Twice what winograd.h states as the largest of 24 draws, for m = 2, 4, 6, since the largest
// errors of two draws differ by up to a factor of 3.
static const double stated[3] = {3.2e-6, 1.12e-5, 6.2e-5};

static void check_errors(const test_shape *t, test_data data)
{
    ln_conv_shape s = shape_of(t);
    FOR_EACH_M(m)
    {
        problem p = problem_make(m, &s, true);
        for (size_t i = 0; i < p.x.count; i++)
            p.x.p[i] = test_float(data, i / s.in_channels, s.in_w);
        if (data == DATA_RANGE) {
            for (size_t i = 0; i < s.out_channels * s.in_channels * 9; i++)
                p.weight[i] = test_float(data, 0, 1);
            ln_winograd_f32_pack(m, &s, p.weight, p.packed.p, NULL);
        }
        float *y = floats_make(out_count(&s));
        problem_run(&p, ln_cpu_isa_get(), NULL, true, y);
        test_error e = measure(&p, y);
        printf("| F(%zu,3) | %zu | %s | %.1e | %.1e | %.1g %% |\n", m, s.in_channels,
               data_names[data], e.of_scale, sqrt(e.mean_square), 100 * e.of_bound);
        if (e.of_bound > 1 || e.of_scale > stated[m / 2 - 1])
            fail_msg(
                "F%zu, %zu channels, %s: largest %.2g, rms %.2g of sum |wx|, %.2g of the largest "
                "output, %.2g of the bound",
                m, s.in_channels, data_names[data], e.largest, sqrt(e.mean_square), e.of_scale,
                e.of_bound);
        free(y);
        problem_free(&p);
    }
}

TEST(errors_are_within_what_is_stated)
{
    static const test_shape cases[] = {
        {"", 1, 4, 32, 26, 26, 1, 1, 1, 1},
        {"", 1, 64, 32, 26, 26, 1, 1, 1, 1},
        {"", 1, 512, 16, 14, 14, 1, 1, 1, 1},
    };
    // Its own numbers, whatever tests before it have drawn. LN_TEST_SEED: others.
    const char *seed = getenv("LN_TEST_SEED");
    test_random_state = seed ? strtoull(seed, NULL, 10) * TEST_RANDOM_FIRST : TEST_RANDOM_FIRST;
    // tools/accuracy.sh makes a page of it.
    puts(
        "| algorithm | channels | data | largest error | rms | of its bound |\n|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int data = 0; data < DATA_COUNT; data++)
            check_errors(&cases[i], (test_data)data);
    }
}

TEST(small_whole_numbers_are_exact_with_tiles_of_two)
{
    const test_shape t = {"", 1, 24, 20, 9, 9, 1, 1, 1, 1};
    ln_conv_shape s = shape_of(&t);
    problem p = problem_make(2, &s, true);
    for (size_t i = 0; i < p.x.count; i++)
        p.x.p[i] = (float)(test_random() % 17) - 8.0f;
    for (size_t i = 0; i < t.in * t.out * 9; i++)
        p.weight[i] = (float)(test_random() % 17) - 8.0f;
    ln_winograd_f32_pack(2, &s, p.weight, p.packed.p, NULL);
    float *y = floats_make(out_count(&s));
    problem_run(&p, ln_cpu_isa_get(), NULL, true, y);
    for (size_t i = 0; i < out_count(&s); i++) {
        double scale;
        size_t pixel = i / t.out;
        CHECK_NEAR((double)y[i], exact(&p, i % t.out, pixel / s.out_w, pixel % s.out_w, &scale), 0);
    }
    free(y);
    problem_free(&p);
}

// ---- Workspace and threads ----

static void check_threads(size_t m, const test_shape *t, ln_pool *pool)
{
    ln_conv_shape s = shape_of(t);
    problem p = problem_make(m, &s, true);
    float *alone = floats_make(out_count(&s)), *shared = floats_make(out_count(&s));
    problem_run(&p, ln_cpu_isa_get(), NULL, true, alone);
    problem_run(&p, ln_cpu_isa_get(), pool, true, shared);
    check_same_bits(t->why, ln_cpu_isa_get(), alone, shared, out_count(&s));
    free(alone);
    free(shared);
    problem_free(&p);
}

TEST(every_number_of_threads_has_its_way_to_cut)
{
    static const test_shape cases[] = {
        {"blocks for each of some threads", 1, 128, 128, 28, 28, 1, 1, 1, 1},
        {"one block", 1, 96, 300, 13, 13, 1, 1, 1, 1},
        {"channels that are dealt one vector at a time", 1, 64, 88, 14, 14, 1, 1, 1, 1},
        {"tiles, for want of channels", 1, 128, 20, 14, 14, 1, 1, 1, 1},
    };
    static const size_t threads[] = {2, 4, 7, 10};
    for (size_t n = 0; n < sizeof threads / sizeof threads[0]; n++) {
        ln_pool *pool;
        CHECK_OK(ln_pool_create(threads[n], &pool));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            FOR_EACH_M(m)
        check_threads(m, &cases[i], pool);
        ln_pool_release(pool);
    }
}

TEST(a_workspace_is_small_and_says_when_it_does_not_fit)
{
    const test_shape large = {"", 1, 512, 512, 512, 512, 1, 1, 1, 1};
    ln_conv_shape s = shape_of(&large);
    FOR_EACH_M(m)
    {
        CHECK(ln_winograd_f32_workspace(m, &s) <= (size_t)5 << 20);
    }
    s.in_channels = SIZE_MAX / 4;
    CHECK_EQ(ln_winograd_f32_workspace(4, &s), SIZE_MAX);
    s.in_channels = 8;
    s.batch = s.out_h = s.out_w = (size_t)1 << 31;
    CHECK(ln_winograd_f32_workspace(4, &s) <= (size_t)5 << 20);
    s.in_channels = s.out_channels = 64; // weights that stay near
    CHECK(ln_winograd_f32_workspace(4, &s) <= (size_t)7 << 18);
    s.batch = 0;
    CHECK_EQ(ln_winograd_f32_workspace(4, &s), 0);
}

TEST_LIST(instruction_sets_agree_and_stay_inside_their_buffers, any_shape,
          threads_do_not_change_bits, an_image_is_the_same_alone_and_in_a_batch,
          windows_of_wider_images_are_read_and_written, epilogues_are_those_of_act_h,
          the_result_may_be_its_own_addend, errors_are_within_what_is_stated,
          small_whole_numbers_are_exact_with_tiles_of_two,
          a_workspace_is_small_and_says_when_it_does_not_fit,
          every_number_of_threads_has_its_way_to_cut)
