// SPDX-License-Identifier: Apache-2.0
// Padding of channels-last images: a row of a padded image is a row of the image between two runs
// of pixels.

#include <limits.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/nhwc.h"
#include "base/grain.h"
#include "op/prepare.h"

// Floats that are copied in about 20 microseconds.
#define TASK_FLOATS ((size_t)128 << 10)

typedef enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP } pad_mode;

typedef struct padding {
    const tl_tensor *src;
    tl_tensor *dst;
    int pads[4];
    int mode; // pad_mode
    float value;
    size_t rows, tasks;
} padding;

static ln_status read_padding(ln_call *call, padding *pad)
{
    static const ln_nhwc_param params[] = {{"pads", 4, 0, offsetof(padding, pads)},
                                           {NULL, 0, 0, 0}};
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap", NULL};
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    *pad = (padding){.src = ln_call_in(call, 0), .value = (float)ln_call_float(call, "value")};
    LN_TRY(ln_nhwc_read(call, params, pad));
    return ln_nhwc_read_word(call, "mode", modes, &pad->mode);
}

ln_status ln_cpu_infer_pad_nhwc(ln_call *call)
{
    padding pad;
    LN_TRY(read_padding(call, &pad));
    const int *in = pad.src->dims;
    const int64_t dims[] = {in[0], (int64_t)in[1] + pad.pads[0] + pad.pads[2],
                            (int64_t)in[2] + pad.pads[1] + pad.pads[3], in[3]};
    return ln_call_out64(call, 0, TL_FLOAT, 4, dims);
}

// The index on an axis of `in` elements that index `i` of the padded one repeats; -1: none.
static int64_t find_source(int mode, int64_t i, int64_t in)
{
    if (i >= 0 && i < in)
        return i;
    switch ((pad_mode)mode) {
    case PAD_EDGE: return i < 0 ? 0 : in - 1;
    case PAD_WRAP: return (i % in + in) % in;
    case PAD_REFLECT: {
        int64_t period = in > 1 ? 2 * (in - 1) : 1, at = (i % period + period) % period;
        return at < in ? at : period - at;
    }
    case PAD_CONSTANT: break;
    }
    return -1;
}

static void fill(float *to, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        to[i] = value;
}

// Pixels [first, end) of a padded row, counted from the image's first one.
static void put_pixels(const padding *pad, const float *line, int64_t first, int64_t end, float *to)
{
    size_t channels = (size_t)pad->src->dims[3];
    for (int64_t i = first; i < end; i++, to += channels) {
        int64_t from = find_source(pad->mode, i, pad->src->dims[2]);
        if (from < 0)
            fill(to, channels, pad->value);
        else
            memcpy(to, line + (size_t)from * channels, channels * sizeof *to);
    }
}

// A row of one of the images of dst.
static void put_row(const padding *pad, size_t row)
{
    const int *in = pad->src->dims, *out = pad->dst->dims;
    size_t channels = (size_t)in[3], width = (size_t)out[2] * channels;
    size_t image = row / (size_t)out[1];
    int64_t y = (int64_t)(row % (size_t)out[1]) - pad->pads[0];
    int64_t from = in[2] > 0 ? find_source(pad->mode, y, in[1]) : -1;
    float *to = (float *)pad->dst->data + row * width;
    if (from < 0) {
        fill(to, width, pad->value);
        return;
    }
    const float *line = pad->src->data;
    line += (image * (size_t)in[1] + (size_t)from) * (size_t)in[2] * channels;
    put_pixels(pad, line, -pad->pads[1], 0, to);
    to += (size_t)pad->pads[1] * channels;
    memcpy(to, line, (size_t)in[2] * channels * sizeof *to);
    put_pixels(pad, line, in[2], in[2] + (int64_t)pad->pads[3], to + (size_t)in[2] * channels);
}

static void run_task(void *user, size_t index)
{
    const padding *pad = user;
    size_t end = ln_task_start(pad->rows, pad->tasks, index + 1);
    for (size_t row = ln_task_start(pad->rows, pad->tasks, index); row < end; row++)
        put_row(pad, row);
}

LN_PREPARE(ln_cpu_prepare_pad_nhwc, padding, read_padding)

ln_status ln_cpu_pad_nhwc(ln_call *call)
{
    padding pad = *(const padding *)ln_call_prepared(call);
    pad.src = ln_call_in(call, 0);
    pad.dst = ln_call_dst(call, 0);
    if (pad.dst->len == 0)
        return LN_OK;
    pad.rows = (size_t)pad.dst->dims[0] * (size_t)pad.dst->dims[1];
    size_t tasks = (size_t)pad.dst->len / ln_grain(TASK_FLOATS);
    pad.tasks = ln_min(tasks ? tasks : 1, pad.rows);
    ln_pool_run(ln_cpu_call_pool(call), pad.tasks, run_task, &pad);
    return LN_OK;
}
