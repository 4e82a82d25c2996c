// SPDX-License-Identifier: Apache-2.0
// Pooling against a plain loop, and its instruction sets against each other.

#include "arch/cpu/kernels/pool/pool.h"

#include "arch/cpu/kernels/kernel_test.h"

static double exact(const ln_pool2d_f32_args *args, size_t plane, size_t oy, size_t ox)
{
    const ln_pool2d_shape *s = &args->shape;
    double max = -INFINITY, sum = 0, count = 0;
    for (size_t ky = 0; ky < s->kernel_h; ky++) {
        for (size_t kx = 0; kx < s->kernel_w; kx++) {
            size_t y = oy * s->stride_h + ky - s->pad_top, x = ox * s->stride_w + kx - s->pad_left;
            if (y >= s->in_h || x >= s->in_w)
                continue;
            double value = (double)args->x[(plane * s->in_h + y) * s->in_w + x];
            max = value > max || isnan(value) ? value : max;
            sum += value;
            count++;
        }
    }
    return args->kind == LN_POOL_MAX ? max : sum / count;
}

static void check_shape_on(const ln_pool2d_shape *s, ln_pool2d_kind kind, bool at_end)
{
    size_t x_count = s->planes * s->in_h * s->in_w, y_count = s->planes * s->out_h * s->out_w;
    guarded x = guarded_make(x_count, at_end);
    float *first = calloc(y_count + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    fill_random(x.p, x_count);
    CHECK_OK(ln_pool2d_check(s));

    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        guarded workspace = guarded_make(ln_pool2d_f32_workspace(s) / sizeof(float), at_end);
        fill_nan(workspace.p, workspace.count);
        fill_nan(y.p, y_count);
        ln_pool2d_f32_args args = {.kind = kind, .shape = *s, .x = x.p, .y = y.p};
        ln_pool2d_f32(isa, &args, workspace.p);
        for (size_t i = 0; i < y_count; i++) {
            size_t plane = i / (s->out_h * s->out_w), row = i / s->out_w % s->out_h;
            CHECK_NEAR((double)y.p[i], exact(&args, plane, row, i % s->out_w), 1e-6);
        }
        if (isa == LN_CPU_ISA_generic)
            memcpy(first, y.p, y_count * sizeof *first);
        check_same_bits("pool2d", isa, first, y.p, y_count);
        guarded_free(&y);
        guarded_free(&workspace);
    }
    free(first);
    guarded_free(&x);
}

static void check_shape(ln_pool2d_shape s)
{
    for (int i = 0; i < 4; i++)
        check_shape_on(&s, i & 1 ? LN_POOL_MAX : LN_POOL_AVERAGE, i & 2);
}

// The windows that start inside the input or its upper and left padding: also partial ones.
static ln_pool2d_shape cover(size_t planes, size_t in_h, size_t in_w, size_t kernel, size_t stride,
                             size_t pad)
{
    return (ln_pool2d_shape){.planes = planes,
                             .in_h = in_h,
                             .in_w = in_w,
                             .out_h = (in_h + pad - 1) / stride + 1,
                             .out_w = (in_w + pad - 1) / stride + 1,
                             .kernel_h = kernel,
                             .kernel_w = kernel,
                             .stride_h = stride,
                             .stride_w = stride,
                             .pad_top = pad,
                             .pad_left = pad};
}

TEST(results_are_right_around_every_vector)
{
    const size_t widths[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 33};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        for (size_t stride = 1; stride <= 3; stride++) {
            check_shape(cover(2, 5, widths[i], 2, stride, 0));
            check_shape(cover(1, 3, widths[i], 3, stride, 1));
        }
    }
}

TEST(one_window_may_cover_everything)
{
    ln_pool2d_shape s = cover(3, 7, 7, 7, 1, 0);
    s.out_h = s.out_w = 1;
    check_shape(s);
    s.kernel_h = s.kernel_w = 100; // and much more
    s.pad_top = s.pad_left = 40;
    check_shape(s);
}

TEST(rows_past_the_last_window_are_left_out)
{
    ln_pool2d_shape s = cover(2, 9, 20, 2, 2, 0);
    s.out_h = 2;
    s.out_w = 3;
    check_shape(s);
}

TEST(empty_shapes_touch_nothing)
{
    check_shape(cover(0, 5, 5, 2, 1, 0));
    ln_pool2d_shape s = cover(1, 5, 5, 2, 1, 0);
    s.out_w = 0;
    check_shape(s);
    s.in_w = 0;
    check_shape(s);
}

TEST(random_shapes_are_right_and_equal_on_all_instruction_sets)
{
    for (int i = 0; i < 60; i++) {
        size_t kernel = test_random_in(1, 5);
        check_shape(cover(test_random_in(1, 3), test_random_in(1, 12), test_random_in(1, 40),
                          kernel, test_random_in(1, 4), test_random_in(0, kernel - 1)));
    }
}

TEST(nan_reaches_every_window_it_is_in_and_no_other)
{
    float x[1 * 20], y[19], workspace[128];
    for (int kind = LN_POOL_MAX; kind <= LN_POOL_AVERAGE; kind++) {
        FOR_EACH_ISA(isa)
        {
            for (size_t at = 0; at < 20; at++) {
                for (size_t i = 0; i < 20; i++)
                    x[i] = i == at ? NAN : -INFINITY;
                ln_pool2d_f32_args args = {.kind = (ln_pool2d_kind)kind,
                                           .shape = cover(1, 1, 20, 2, 1, 0),
                                           .x = x,
                                           .y = y};
                args.shape.out_w = 19;
                ln_pool2d_f32(isa, &args, workspace);
                for (size_t i = 0; i < 19; i++)
                    CHECK_EQ(isnan(y[i]) != 0, i == at || i + 1 == at);
            }
        }
    }
}

TEST(shapes_that_cannot_be_run_are_refused)
{
    static const size_t huge = (size_t)1 << 62;
    const ln_pool2d_shape good = cover(2, 8, 8, 3, 2, 1);
    const struct {
        const char *why;
        size_t offset, value;
    } cases[] = {
        {"window of no rows", offsetof(ln_pool2d_shape, kernel_h), 0},
        {"window of no columns", offsetof(ln_pool2d_shape, kernel_w), 0},
        {"vertical stride 0", offsetof(ln_pool2d_shape, stride_h), 0},
        {"horizontal stride 0", offsetof(ln_pool2d_shape, stride_w), 0},
        {"stride past a gather's offsets", offsetof(ln_pool2d_shape, stride_w), 1u << 25},
        {"padding as wide as the window", offsetof(ln_pool2d_shape, pad_left), 3},
        {"padding as high as the window", offsetof(ln_pool2d_shape, pad_top), 3},
        {"a window below the input", offsetof(ln_pool2d_shape, out_h), 6},
        {"a window right of the input", offsetof(ln_pool2d_shape, out_w), 6},
        {"no input", offsetof(ln_pool2d_shape, in_h), 0},
        {"huge planes", offsetof(ln_pool2d_shape, planes), huge},
        {"huge input", offsetof(ln_pool2d_shape, in_w), huge},
        {"huge output", offsetof(ln_pool2d_shape, out_h), huge},
        {"huge window", offsetof(ln_pool2d_shape, kernel_w), SIZE_MAX},
        {"huge padding", offsetof(ln_pool2d_shape, pad_left), SIZE_MAX},
    };
    CHECK_OK(ln_pool2d_check(&good));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_pool2d_shape bad = good;
        memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof(size_t));
        if (ln_pool2d_check(&bad) != LN_INVALID || ln_pool2d_f32_workspace(&bad) != SIZE_MAX)
            fail_msg("not refused: %s", cases[i].why);
    }
}

TEST_LIST(results_are_right_around_every_vector, one_window_may_cover_everything,
          rows_past_the_last_window_are_left_out, empty_shapes_touch_nothing,
          random_shapes_are_right_and_equal_on_all_instruction_sets,
          nan_reaches_every_window_it_is_in_and_no_other, shapes_that_cannot_be_run_are_refused)
