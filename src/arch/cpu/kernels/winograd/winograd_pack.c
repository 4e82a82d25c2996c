// SPDX-License-Identifier: Apache-2.0
// Weights for Winograd's algorithm, transformed in double and rounded once, and what rounding does
// to its results.

#include <string.h>

#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/winograd/winograd.h"
#include "arch/cpu/kernels/winograd/winograd_kernel.h"
#include "arch/cpu/kernels/winograd/winograd_points.h"

#define LANES LN_WINOGRAD_LANES

// The rows of G: (g0 + x (g1 + x g2)) / n for each point but the last, which is g2.
typedef struct filter_transform {
    size_t side;
    double x[LN_WINOGRAD_MAX_SIDE], inverse_n[LN_WINOGRAD_MAX_SIDE];
} filter_transform;

static filter_transform transform_of(size_t m)
{
    static const double points[3][3] = {
        {1}, {LN_WINOGRAD4_A, LN_WINOGRAD4_B}, {LN_WINOGRAD6_A, LN_WINOGRAD6_B, LN_WINOGRAD6_C}};
    const double *magnitudes = points[m / 2 - 1];
    filter_transform t = {.side = m + 2};
    for (size_t i = 0; i <= m; i++) {
        double x = 0, n = 1;
        if (i > 0)
            x = i % 2 ? magnitudes[(i - 1) / 2] : -magnitudes[(i - 1) / 2];
        for (size_t k = 0; k < m / 2; k++) {
            double other = magnitudes[k];
            if (i > 0 && (i - 1) / 2 == k)
                n *= 2 * x; // x - (-x)
            else
                n *= x * x - other * other;
        }
        if (i > 0)
            n *= x; // x - 0
        t.x[i] = x;
        t.inverse_n[i] = 1 / n;
    }
    return t;
}

typedef double lanes[LANES];

// A column of filters, one in each lane, at all points.
static void to_points(const filter_transform *t, lanes *g, size_t step, lanes *out)
{
    for (size_t i = 0; i + 1 < t->side; i++)
        for (size_t l = 0; l < LANES; l++)
            out[i][l] =
                (g[0][l] + t->x[i] * (g[step][l] + t->x[i] * g[2 * step][l])) * t->inverse_n[i];
    memcpy(out[t->side - 1], g[2 * step], sizeof(lanes));
}

typedef struct pack_job {
    const ln_conv_shape *shape;
    const float *weight;
    float *packed;
    filter_transform transform;
} pack_job;

// The filters of LANES output channels from `o` on for one input channel; zeros after the last.
static void gather_filters(const pack_job *job, size_t o, size_t c, lanes g[9])
{
    size_t in = job->shape->in_channels, count = ln_min(job->shape->out_channels - o, LANES);
    if (count < LANES)
        memset(g, 0, 9 * sizeof *g);
    for (size_t l = 0; l < count; l++) {
        const float *filter = job->weight + ((o + l) * in + c) * 9;
        for (size_t k = 0; k < 9; k++)
            g[k][l] = (double)filter[k];
    }
}

static void pack_block(void *user, size_t index)
{
    const pack_job *job = user;
    const filter_transform *t = &job->transform;
    size_t in = job->shape->in_channels, side = t->side;
    size_t point_stride = ln_div_up(job->shape->out_channels, LANES) * LANES * in;
    lanes g[9], half[3 * LN_WINOGRAD_MAX_SIDE], row[LN_WINOGRAD_MAX_SIDE];
    for (size_t c = 0; c < in; c++) {
        gather_filters(job, index * LANES, c, g);
        for (size_t k = 0; k < 3; k++)
            to_points(t, g + k, 3, half + k * side);
        float *to = job->packed + (index * in + c) * LANES;
        for (size_t i = 0; i < side; i++) {
            to_points(t, half + i, side, row);
            for (size_t j = 0; j < side; j++, to += point_stride)
                for (size_t l = 0; l < LANES; l++)
                    to[l] = (float)row[j][l];
        }
    }
}

void ln_winograd_f32_pack(size_t m, const ln_conv_shape *shape, const float *weight, float *packed,
                          ln_pool *pool)
{
    pack_job job = {
        .shape = shape, .weight = weight, .packed = packed, .transform = transform_of(m)};
    ln_pool_run(pool, ln_div_up(shape->out_channels, LANES), pack_block, &job);
}

double ln_winograd_f32_error(size_t m, size_t in_channels)
{
    // The square, for two dimensions, of max over j of the sum over points i of
    // |A^T[j][i]| max_k |G[i][k]| sum_l |B^T[i][l]|.
    static const double amplification[3] = {16, 205, 1605};
    // Roundings on the longest way from an input to an output: 3 + 3 in B, 1 in U, a channel each
    // in the sum, 4 + 4 in A.
    double roundings = (double)in_channels + 15, unit = 0x1p-24;
    return amplification[m / 2 - 1] * roundings * unit / (1 - roundings * unit);
}
