// SPDX-License-Identifier: Apache-2.0
// Channels-last resizing against a plain loop, and its instruction sets against each other.

#include "arch/cpu/kernels/resize/resize_nhwc.h"

#include "arch/cpu/kernels/kernel_test.h"

static float plain_mix(float a, float b, float weight)
{
    return weight == 0 ? a : fmaf(b, weight, a * (1 - weight));
}

static float plain(const ln_resize_nhwc_f32_args *args, size_t n, size_t oy, size_t ox, size_t c)
{
    const float *image = args->x + n * args->in_h * args->in_w * args->x_stride + c;
    float line[2];
    if (!args->row_weights)
        return image[((size_t)args->rows[oy] * args->in_w + (size_t)args->columns[ox]) *
                     args->x_stride];
    for (size_t i = 0; i < 2; i++) {
        const float *row = image + (size_t)args->rows[2 * oy + i] * args->in_w * args->x_stride;
        line[i] = plain_mix(row[(size_t)args->columns[2 * ox] * args->x_stride],
                            row[(size_t)args->columns[2 * ox + 1] * args->x_stride],
                            args->column_weights[ox]);
    }
    return plain_mix(line[0], line[1], args->row_weights[oy]);
}

static void fill_places(int32_t *places, float *weights, size_t in, size_t out)
{
    for (size_t i = 0; i < out; i++) {
        size_t at = test_random_in(0, in - 1), next = at + 1 < in ? at + 1 : at;
        bool is_between = next != at && test_random() % 3 != 0;
        weights[i] = is_between ? (float)(test_random() % 1000) / 1000 : 0;
        places[2 * i] = (int32_t)at;
        places[2 * i + 1] = (int32_t)next;
    }
}

static void check_on(size_t channels, size_t gap, bool is_linear, bool at_end)
{
    int32_t rows[24], columns[24];
    float row_weights[12], column_weights[12];
    ln_resize_nhwc_f32_args args = {.batch = 2,
                                    .channels = channels,
                                    .in_h = test_random_in(1, 6),
                                    .in_w = test_random_in(1, 6),
                                    .out_h = test_random_in(1, 12),
                                    .out_w = test_random_in(1, 12),
                                    .rows = rows,
                                    .columns = columns,
                                    .row_weights = is_linear ? row_weights : NULL,
                                    .column_weights = column_weights,
                                    .x_stride = channels + gap,
                                    .y_stride = channels + 2 * gap};
    fill_places(rows, row_weights, args.in_h, args.out_h);
    fill_places(columns, column_weights, args.in_w, args.out_w);
    if (!is_linear)
        for (size_t i = 0; i < 12; i++) {
            rows[i] = rows[2 * i % (2 * args.out_h)];
            columns[i] = columns[2 * i % (2 * args.out_w)];
        }
    size_t x_count = args.batch * args.in_h * args.in_w * args.x_stride - gap;
    size_t y_count = args.batch * args.out_h * args.out_w * args.y_stride - 2 * gap;
    guarded x = guarded_make(x_count, at_end);
    fill_random(x.p, x_count);
    x.p[test_random_in(0, x_count - 1)] = INFINITY;
    args.x = x.p;
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(y_count, at_end);
        fill_nan(y.p, y_count);
        args.y = y.p;
        ln_resize_nhwc_f32(isa, &args, NULL);
        for (size_t i = 0; i < y_count; i++) {
            size_t pixel = i / args.y_stride, c = i % args.y_stride;
            float want = NAN; // between the channels nothing is written
            if (c < channels)
                want = plain(&args, pixel / args.out_w / args.out_h,
                             pixel / args.out_w % args.out_h, pixel % args.out_w, c);
            if (!same_bits(want, y.p[i]))
                fail_msg("element %zu is %.9g for %s, not %.9g", i, (double)y.p[i],
                         ln_cpu_isa_name(isa), (double)want);
        }
        guarded_free(&y);
    }
    guarded_free(&x);
}

TEST(results_are_right_around_every_vector)
{
    const size_t channels[] = {1, 3, 4, 5, 8, 15, 16, 17, 33, 64};
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++)
        for (int k = 0; k < 8; k++)
            check_on(channels[i], k & 4 ? 3 : 0, k & 1, k & 2);
}

TEST(empty_images_touch_nothing)
{
    ln_resize_nhwc_f32_args args = {.batch = 2, .in_h = 3, .in_w = 3, .out_h = 2, .out_w = 2};
    ln_resize_nhwc_f32(ln_cpu_isa_get(), &args, NULL);
    args.channels = 4;
    args.batch = 0;
    ln_resize_nhwc_f32(ln_cpu_isa_get(), &args, NULL);
}

TEST_LIST(results_are_right_around_every_vector, empty_images_touch_nothing)
