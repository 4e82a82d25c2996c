// SPDX-License-Identifier: Apache-2.0
// Drives depthwise convolution: packs weights, and cuts the output for the threads, into rows, or
// into channels where these are more than the pixels of an image. So do the pointwise convolutions
// around it (gemm/partition.h), and a core finds in its cache what it needs.

#include "arch/cpu/kernels/depthwise/depthwise.h"

#include <stdbool.h>

#include "arch/cpu/kernels/tasks.h"

void ln_depthwise_nhwc_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t o = 0; o < s->out_channels; o++)
        for (size_t tap = 0; tap < taps; tap++)
            packed[tap * s->out_channels + o] = *weight++;
}

// Multiplications of a microsecond; what is done once for each input or output takes as long as
// some.
#define PRODUCTS_PER_MICROSECOND 128000.0
#define PRODUCTS_OF_AN_OUTPUT    8.0
#define PRODUCTS_OF_AN_INPUT     4.0
// Channels of a task are a multiple of this, whole cache lines; the last one has the rest.
#define CHANNEL_STEP             ((size_t)32)

typedef struct job {
    const ln_conv_nhwc_f32_args *args;
    ln_depthwise_nhwc_f32_fn *kernel;
    size_t tasks;
} job;

static size_t row_count(const job *j)
{
    return j->args->shape.batch * j->args->shape.out_h;
}

static void run_rows(void *user, size_t index)
{
    const job *j = user;
    size_t rows = row_count(j);
    j->kernel(j->args, index * rows / j->tasks, (index + 1) * rows / j->tasks);
}

static void run_channels(void *user, size_t index)
{
    const job *j = user;
    ln_conv_nhwc_f32_args part = *j->args;
    size_t channels = part.shape.out_channels, steps = channels / CHANNEL_STEP;
    size_t first = index * steps / j->tasks * CHANNEL_STEP;
    size_t end = (index + 1) * steps / j->tasks * CHANNEL_STEP;
    if (index + 1 == j->tasks)
        end = channels;
    part.shape.in_channels = part.shape.out_channels = part.shape.group = end - first;
    part.tap_stride = part.tap_stride ? part.tap_stride : channels;
    part.x += first;
    part.packed += first;
    part.y += first;
    if (part.epilogue.bias)
        part.epilogue.bias += first;
    if (part.epilogue.addend)
        part.epilogue.addend += first;
    j->kernel(&part, 0, row_count(j));
}

void ln_depthwise_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    job j = {.args = args, .kernel = ln_depthwise_nhwc_f32_select(isa)};
    size_t rows = row_count(&j), steps = s->out_channels / CHANNEL_STEP;
    if (rows == 0 || s->out_w == 0 || s->out_channels == 0)
        return;
    double outputs = (double)(rows * s->out_w * s->out_channels);
    double inputs = (double)(s->batch * s->in_h * s->in_w * s->in_channels);
    double products = outputs * ((double)(s->kernel_h * s->kernel_w) + PRODUCTS_OF_AN_OUTPUT) +
                      inputs * PRODUCTS_OF_AN_INPUT;
    bool is_by_channels = s->out_channels > s->out_h * s->out_w && steps > 1;
    j.tasks =
        ln_task_count(products / PRODUCTS_PER_MICROSECOND, is_by_channels ? steps : rows, pool);
    ln_pool_run(pool, j.tasks, is_by_channels ? run_channels : run_rows, &j);
}
