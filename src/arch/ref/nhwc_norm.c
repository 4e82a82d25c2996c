// SPDX-License-Identifier: Apache-2.0
// One group of one image after the other.

#include "arch/ref/nhwc_norm.h"

#include <math.h>

#include "arch/ref/act.h"
#include "base/deadline.h"

// Channels [first, first + count) of all pixels of an image.
typedef struct group {
    const float *x;
    size_t pixels, channels, first, count;
} group;

static double mean_of(const group *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->pixels; i++)
        for (size_t c = 0; c < g->count; c++)
            sum += (double)g->x[i * g->channels + g->first + c];
    return sum / (double)(g->pixels * g->count);
}

static double variance_of(const group *g, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < g->pixels; i++)
        for (size_t c = 0; c < g->count; c++) {
            double d = (double)g->x[i * g->channels + g->first + c] - mean;
            sum += d * d;
        }
    return sum / (double)(g->pixels * g->count);
}

static void normalise(const ln_ref_groupnorm *norm, const group *g, float *y)
{
    const float *scale = norm->scale->data, *offset = norm->offset->data;
    double mean = mean_of(g), deviation = sqrt(variance_of(g, mean) + norm->epsilon);
    for (size_t i = 0; i < g->pixels; i++)
        for (size_t c = g->first; c < g->first + g->count; c++) {
            double x = (double)g->x[i * g->channels + c];
            double value = (x - mean) / deviation * (double)scale[c] + (double)offset[c];
            y[i * g->channels + c] = (float)ln_ref_act(norm->act, norm->alpha, norm->beta, value);
        }
}

void ln_ref_groupnorm_nhwc(const ln_ref_groupnorm *norm)
{
    const int *dims = norm->src->dims;
    group g = {.pixels = (size_t)dims[1] * (size_t)dims[2], .channels = (size_t)dims[3]};
    g.count = g.channels / (size_t)norm->groups;
    if (norm->src->len == 0)
        return;
    for (int n = 0; n < dims[0]; n++) {
        size_t image = (size_t)n * g.pixels * g.channels;
        g.x = (const float *)norm->src->data + image;
        for (g.first = 0; g.first < g.channels; g.first += g.count)
            normalise(norm, &g, (float *)norm->dst->data + image);
    }
}

void ln_ref_prelu_nhwc(const tl_tensor *src, const tl_tensor *slope, tl_tensor *dst)
{
    const float *x = src->data, *slopes = slope->data;
    float *y = dst->data;
    int channels = src->dims[3];
    for (int i = 0; i < src->len && !ln_deadline_passed_at((size_t)i); i++)
        y[i] = x[i] >= 0 ? x[i] : slopes[i % channels] * x[i];
}
