// SPDX-License-Identifier: Apache-2.0
// Group normalization on channels-last images.
//
// Moments are summed over slices of the pixels, which are the tasks; from them come the mean and
// the factor of each channel.
//
//     workspace:   for each image   | means of slice 0 | lost | squares | means of slice 1 | ... |
//                  then for each    | means | lost | factors |              (rows of all channels)

#include "arch/cpu/kernels/groupnorm/groupnorm.h"

#include <math.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm/partition.h"
#include "base/checked.h"

// ---- Slices ----

// Floats that take a thread some 10 microseconds.
#define SLICE_FLOATS ((size_t)128 << 10)
#define MAX_SLICES   ((size_t)8)

typedef struct slices {
    size_t rows; // of each but the last
    size_t count;
} slices;

// Of an image; they depend on its shape alone.
static slices cut(size_t pixels, size_t channels)
{
    double floats = (double)pixels * (double)channels / (double)SLICE_FLOATS;
    size_t wanted = floats < (double)MAX_SLICES ? (size_t)floats + 1 : MAX_SLICES;
    size_t blocks = ln_div_up(pixels, LN_MOMENTS_ROWS);
    size_t rows = ln_div_up(blocks ? blocks : 1, wanted) * LN_MOMENTS_ROWS;
    return (slices){.rows = rows, .count = pixels ? ln_div_up(pixels, rows) : 1};
}

// Rows of the moments of a slice: mean, lost, squares.
#define MOMENT_ROWS ((size_t)3)

size_t ln_groupnorm_f32_workspace(size_t batch, size_t pixels, size_t channels)
{
    size_t rows = MOMENT_ROWS * cut(pixels, channels).count + 3, floats, bytes;
    if (!ln_size_mul(rows, channels, &floats) || !ln_size_mul(floats, batch, &floats) ||
        !ln_size_mul(floats, sizeof(float), &bytes))
        return SIZE_MAX;
    return bytes;
}

// ---- Moments ----

typedef struct moments_job {
    const ln_groupnorm_f32_args *args;
    ln_moments_f32_fn *moments;
    slices slices;
    float *workspace;
} moments_job;

static void measure_slice(void *user, size_t index)
{
    const moments_job *job = user;
    const ln_groupnorm_f32_args *a = job->args;
    size_t image = index / job->slices.count, row = index % job->slices.count * job->slices.rows;
    float *out = job->workspace + MOMENT_ROWS * index * a->channels;
    job->moments(ln_min(job->slices.rows, a->pixels - row), a->channels,
                 a->x + (image * a->pixels + row) * a->channels, out, out + a->channels,
                 out + 2 * a->channels);
}

// ---- Factors ----

typedef struct group_moments {
    double mean, variance;
} group_moments;

// Channels [first, end) of the slices from `found` on.
static group_moments merge(const moments_job *job, const float *found, size_t first, size_t end)
{
    const ln_groupnorm_f32_args *a = job->args;
    double all = (double)a->pixels * (double)(end - first), sum = 0, squares = 0;
    for (size_t s = 0; s < job->slices.count; s++) {
        const float *means = found + MOMENT_ROWS * s * a->channels, *lost = means + a->channels;
        double pixels = (double)ln_min(job->slices.rows, a->pixels - s * job->slices.rows);
        for (size_t c = first; c < end; c++)
            sum += pixels * ((double)means[c] + (double)lost[c]);
    }
    double mean = sum / all;
    for (size_t s = 0; s < job->slices.count; s++) {
        const float *means = found + MOMENT_ROWS * s * a->channels, *lost = means + a->channels;
        double pixels = (double)ln_min(job->slices.rows, a->pixels - s * job->slices.rows);
        for (size_t c = first; c < end; c++) {
            double d = ((double)means[c] + (double)lost[c]) - mean;
            squares += (double)lost[a->channels + c] + pixels * (d * d);
        }
    }
    return (group_moments){mean, squares / all};
}

// Rows `out` of an image: means, lost, factors.
static void find_factors(const moments_job *job, const float *found, float *out)
{
    const ln_groupnorm_f32_args *a = job->args;
    size_t of_group = a->channels / a->groups;
    for (size_t first = 0; first < a->channels; first += of_group) {
        group_moments m = merge(job, found, first, first + of_group);
        double deviation = sqrt(m.variance + (double)a->epsilon);
        for (size_t c = first; c < first + of_group; c++) {
            out[c] = (float)m.mean;
            out[a->channels + c] = (float)(m.mean - (double)out[c]);
            out[2 * a->channels + c] = (float)((double)a->scale[c] / deviation);
        }
    }
}

void ln_groupnorm_f32(ln_cpu_isa isa, const ln_groupnorm_f32_args *a, ln_pool *pool,
                      float *workspace)
{
    if (a->batch * a->pixels * a->channels == 0)
        return;
    moments_job job = {.args = a,
                       .moments = ln_moments_f32_select(isa),
                       .slices = cut(a->pixels, a->channels),
                       .workspace = workspace};
    ln_pool_run(pool, a->batch * job.slices.count, measure_slice, &job);
    size_t image_floats = a->pixels * a->channels,
           found = MOMENT_ROWS * job.slices.count * a->channels;
    for (size_t i = 0; i < a->batch; i++) {
        float *rows = workspace + a->batch * found + 3 * i * a->channels;
        find_factors(&job, workspace + i * found, rows);
        ln_scale_shift_f32_args apply = {.rows = a->pixels,
                                         .channels = a->channels,
                                         .x = a->x + i * image_floats,
                                         .x_row = a->channels,
                                         .mean = rows,
                                         .lost = rows + a->channels,
                                         .scale = rows + 2 * a->channels,
                                         .offset = a->offset,
                                         .y = a->y + i * image_floats,
                                         .act = a->act};
        ln_scale_shift_f32(isa, &apply, pool);
    }
}
