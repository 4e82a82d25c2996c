// SPDX-License-Identifier: Apache-2.0
// Normalisation by neighbouring channels in f32, some pixels of all channels at a time, so that
// what a channel adds to its neighbours' sums stays in the nearest cache.
//
// All summands are positive. Sums that a float does not have to full precision, or not at all, are
// computed again in double.

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"
#include "op/prepare.h"

#define PIXELS                ((size_t)512)
#define ELEMS_PER_MICROSECOND 400.0

// So many roundings are within what is promised.
#define MAX_WINDOW 64

// The divisors, to powers of 0 to 1, are floats as well.
#define MIN_SUM 1e-30f

// Squares below those that floats have, times the larger, are nothing beside MIN_SUM.
#define MIN_FACTOR 1e-20
#define MAX_FACTOR 1e6

typedef struct lrn {
    const float *x;
    float *y;
    size_t channels, pixels, tasks_per_image;
    size_t before, after; // channels of the window
    double factor, beta, bias;
} lrn;

// The window of a channel.
typedef struct window {
    size_t first, end;
} window;

static window window_of(const lrn *l, size_t channel)
{
    return (window){.first = channel - ln_min(channel, l->before),
                    .end = ln_min(channel + l->after + 1, l->channels)};
}

static void add_squares(size_t n, const float *x, float *restrict sums)
{
    for (size_t i = 0; i < n; i++)
        sums[i] += x[i] * x[i];
}

// Whether a float does not have it to full precision, or not at all.
static inline bool is_rare(float sum)
{
    return !(sum >= MIN_SUM) | !(sum <= FLT_MAX);
}

// `x` is the pixel's first channel.
static float in_double(const lrn *l, window w, size_t channel, const float *x)
{
    double sum = 0;
    for (size_t c = w.first; c < w.end; c++)
        sum += (double)x[c * l->pixels] * (double)x[c * l->pixels];
    return (float)((double)x[channel * l->pixels] / pow(l->bias + l->factor * sum, l->beta));
}

// `n` pixels of a channel; `x` is the first channel of the first of them.
static void normalize(const lrn *l, size_t channel, size_t n, const float *x, float *y)
{
    const float beta = (float)l->beta, bias = (float)l->bias, factor = (float)l->factor;
    const window w = window_of(l, channel);
    float sums[PIXELS] = {0}, divisors[PIXELS];
    int rare_count = 0;
    for (size_t c = w.first; c < w.end; c++)
        add_squares(n, x + c * l->pixels, sums);
    for (size_t i = 0; i < n; i++) {
        sums[i] = bias + factor * sums[i];
        rare_count += is_rare(sums[i]);
    }
    ln_power_f32(ln_cpu_isa_get(), n, sums, 1, &beta, 0, divisors);
    const float *own = x + channel * l->pixels;
    for (size_t i = 0; i < n; i++)
        y[i] = own[i] / divisors[i];
    for (size_t i = 0; rare_count > 0 && i < n; i++)
        if (is_rare(sums[i]))
            y[i] = in_double(l, w, channel, x + i);
}

static void normalize_pixels(void *user, size_t index)
{
    const lrn *l = user;
    size_t image = index / l->tasks_per_image * l->channels * l->pixels;
    size_t pixel = index % l->tasks_per_image * PIXELS;
    size_t n = ln_min(PIXELS, l->pixels - pixel);
    for (size_t c = 0; c < l->channels; c++)
        normalize(l, c, n, l->x + image + pixel, l->y + image + c * l->pixels + pixel);
}

ln_status ln_cpu_accepts_lrn(ln_call *call)
{
    int64_t size = ln_call_int(call, "size");
    double factor = ln_call_float(call, "alpha") / (double)size;
    double beta = ln_call_float(call, "beta");
    LN_TRY(ln_cpu_accepts_floats(call));
    if (size > MAX_WINDOW || !(factor >= MIN_FACTOR && factor <= MAX_FACTOR) ||
        !(beta >= 0 && beta <= 1) || !(ln_call_float(call, "bias") >= 0))
        return ln_call_fail(call, LN_UNSUPPORTED, "is for small windows and exponents here");
    return LN_OK;
}

static ln_status prepare_lrn(ln_call *call, lrn *l)
{
    int64_t size = ln_call_int(call, "size");
    *l = (lrn){.before = (size_t)(size - 1) / 2,
               .after = (size_t)size / 2,
               .factor = ln_call_float(call, "alpha") / (double)size,
               .beta = ln_call_float(call, "beta"),
               .bias = ln_call_float(call, "bias")};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_lrn, lrn, prepare_lrn)

ln_status ln_cpu_lrn(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->len == 0)
        return LN_OK;
    lrn l = *(const lrn *)ln_call_prepared(call);
    l.x = src->data;
    l.y = ln_call_dst(call, 0)->data;
    l.channels = (size_t)src->dims[1];
    l.pixels = (size_t)src->len / (size_t)src->dims[0] / l.channels;
    l.tasks_per_image = ln_div_up(l.pixels, PIXELS);
    ln_pool *pool = ln_tasks_pool(ln_cpu_call_pool(call), src->len / ELEMS_PER_MICROSECOND);
    ln_pool_run(pool, (size_t)src->dims[0] * l.tasks_per_image, normalize_pixels, &l);
    return LN_OK;
}
