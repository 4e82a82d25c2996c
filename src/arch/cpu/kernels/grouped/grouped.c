// SPDX-License-Identifier: Apache-2.0
// Drives convolution in groups: sixteen lanes at a time, of which the weights are brought together,
// since direct's panels hold but one group each.

#include "arch/cpu/kernels/grouped/grouped.h"

#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm/partition.h"

// Bytes of input that all channels meet before the next ones, and outputs that make gathering the
// weights cheap.
#define BAND_BYTES  (size_t)(256 << 10)
#define BAND_PIXELS (size_t)128

static bool is_bounds(ln_act act)
{
    return act == LN_ACT_NONE || act == LN_ACT_RELU || act == LN_ACT_CLIP;
}

// Direct's tiles have columns of one group alone, and short runs where it has few channels.
bool ln_grouped_f32_fits(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *a)
{
    const ln_conv_shape *s = &a->shape;
    const size_t in = s->in_channels / s->group, out = s->out_channels / s->group;
    const size_t lanes = ln_grouped_f32_select(isa)->lanes;
    // Those that a vector meets.
    const size_t groups = out < lanes ? lanes / out : out % lanes ? 2 : 1;
    const bool is_faster = 2 * out <= lanes || in <= 2 || (in == 8 && out == 8);
    return is_faster && s->group > 1 && in > 0 && in <= LN_GROUPED_MAX_IN && groups * in <= lanes &&
           !a->epilogue.addend && s->kernel_h <= LN_GROUPED_MAX_TAPS &&
           s->kernel_w <= LN_GROUPED_MAX_TAPS &&
           s->kernel_h * s->kernel_w * in <= LN_GROUPED_MAX_TAPS;
}

typedef struct grouped_job {
    const ln_conv_nhwc_f32_args *args;
    ln_conv_nhwc_f32_args linear; // without activations that are not bounds
    const ln_grouped_f32_kernel *kernel;
    ln_act_f32_fn *act; // NULL: the kernel does it
    size_t channels;    // of sixteen lanes
    size_t sets;
    size_t band; // rows whose inputs stay in a cache until all channels have met them
    ln_partition tasks;
} grouped_job;

// The weights of an output, for lane `lane`.
static void gather_lane(const ln_conv_nhwc_f32_args *a, size_t channel, size_t lane, float *weights)
{
    const ln_conv_shape *s = &a->shape;
    const size_t of_group = s->out_channels / s->group, group = channel / of_group;
    const size_t rows = s->kernel_h * s->kernel_w * (s->in_channels / s->group); // of a panel
    const size_t panel =
        group * ln_div_up(of_group, LN_GROUPED_LANES) + channel % of_group / LN_GROUPED_LANES;
    const float *from =
        a->packed + panel * rows * LN_GROUPED_LANES + channel % of_group % LN_GROUPED_LANES;
    for (size_t row = 0; row < rows; row++)
        weights[row * LN_GROUPED_LANES + lane] = from[row * LN_GROUPED_LANES];
}

// The weights of sixteen lanes; those of lanes without an output may be anything.
static void gather(const grouped_job *job, size_t channel, float *weights)
{
    const ln_conv_shape *s = &job->args->shape;
    const size_t lanes = job->kernel->lanes;
    const size_t count = ln_grouped_channels(s->out_channels / s->group, lanes);
    for (size_t lane = 0; lane < LN_GROUPED_LANES; lane++) {
        const size_t at = ln_min(lane % lanes, count - 1);
        const size_t output = channel + lane / lanes * count + at;
        gather_lane(job->args, ln_min(output, s->out_channels - 1), lane, weights);
    }
}

// The activation of some channels of all outputs in the rows [first, end).
static void activate(const grouped_job *job, size_t first, size_t end, size_t channel, size_t count)
{
    const ln_conv_nhwc_f32_args *a = job->args;
    const ln_act_f32_args act = {a->epilogue.act, a->epilogue.alpha, a->epilogue.beta};
    const size_t width = a->shape.out_w;
    float *y = a->y + first * width * a->y_stride + channel;
    for (size_t i = first * width; i < end * width; i++, y += a->y_stride)
        job->act(&act, count, y, y);
}

// The rows [row, row_end) of the channels [channel, channel_end).
static void run_band(const grouped_job *job, size_t row, size_t row_end, size_t channel,
                     size_t channel_end)
{
    _Alignas(64) float weights[LN_GROUPED_MAX_TAPS * LN_GROUPED_LANES];
    for (size_t c = channel; c < channel_end; c += job->channels) {
        gather(job, c, weights);
        job->kernel->run(&job->linear, row, row_end, c, weights);
    }
    if (job->act)
        activate(job, row, row_end, channel, channel_end - channel);
}

static void run_task(void *user, size_t index)
{
    const grouped_job *job = user;
    const ln_conv_shape *s = &job->args->shape;
    const size_t rows = s->batch * s->out_h;
    const size_t row = index / job->tasks.columns, column = index % job->tasks.columns;
    const size_t first = ln_task_start(rows, job->tasks.rows, row);
    const size_t end = ln_task_start(rows, job->tasks.rows, row + 1);
    const size_t set = ln_task_start(job->sets, job->tasks.columns, column) * job->channels;
    const size_t set_end = ln_min(
        s->out_channels, ln_task_start(job->sets, job->tasks.columns, column + 1) * job->channels);
    for (size_t y = first; y < end; y += job->band)
        run_band(job, y, ln_min(end, y + job->band), set, set_end);
}

void ln_grouped_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    const size_t rows = s->batch * s->out_h;
    grouped_job job = {.args = args, .linear = *args, .kernel = ln_grouped_f32_select(isa)};
    if (!is_bounds(args->epilogue.act)) {
        job.act = ln_act_f32_select(isa);
        job.linear.epilogue.act = LN_ACT_NONE;
    }
    job.channels = ln_grouped_channels(s->out_channels / s->group, job.kernel->lanes) *
                   (LN_GROUPED_LANES / job.kernel->lanes);
    const size_t row_bytes = s->in_w * args->x_stride * s->stride_h * sizeof(float);
    job.band =
        ln_max(ln_max(BAND_BYTES / ln_max(row_bytes, 1), ln_div_up(BAND_PIXELS, s->out_w)), 1);
    job.sets = ln_div_up(s->out_channels, job.channels);
    double work = (double)(rows * s->out_w * s->out_channels) *
                  (double)(s->kernel_h * s->kernel_w * (s->in_channels / s->group));
    job.tasks = ln_partition_product(rows, job.sets, false, work, ln_pool_thread_count(pool));
    ln_pool_run(pool, job.tasks.rows * job.tasks.columns, run_task, &job);
}
