// SPDX-License-Identifier: Apache-2.0
// A row of a padded image is a row of the image between two runs of pixels.

#include "op/nhwc_pad.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/shape.h>
#include <lightnet/status.h>

int ln_pad_nhwc_mode_from_str(const char *name)
{
    static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
    for (int i = 0; name && i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int ln_shape_pad_nhwc(int *dims, const tl_tensor *src, const int pads[4])
{
    memcpy(dims, src->dims, 4 * sizeof *dims);
    for (int i = 0; i < 2; i++) {
        int64_t dim = (int64_t)src->dims[1 + i] + pads[i] + pads[2 + i];
        if (dim > INT_MAX) {
            ln_fail(LN_LIMIT, "%d pixels with %d and %d around them", src->dims[1 + i], pads[i],
                    pads[2 + i]);
            return -1;
        }
        dims[1 + i] = (int)dim;
    }
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}

// The place on an axis of `in` elements that place `i` of the padded one repeats; -1: none.
static int64_t find_place(ln_pad_nhwc_mode mode, int64_t i, int64_t in)
{
    if (i >= 0 && i < in)
        return i;
    switch (mode) {
    case LN_PAD_EDGE: return i < 0 ? 0 : in - 1;
    case LN_PAD_WRAP: return (i % in + in) % in;
    case LN_PAD_REFLECT: {
        int64_t period = in > 1 ? 2 * (in - 1) : 1, at = (i % period + period) % period;
        return at < in ? at : period - at;
    }
    case LN_PAD_CONSTANT: break;
    }
    return -1;
}

static void fill(float *to, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        to[i] = value;
}

// Pixels [first, end) of a padded row, places counted from the image's first one.
static void put_pixels(const ln_pad_nhwc *pad, const float *line, int64_t first, int64_t end,
                       float *to)
{
    size_t channels = (size_t)pad->src->dims[3];
    for (int64_t i = first; i < end; i++, to += channels) {
        int64_t from = find_place(pad->mode, i, pad->src->dims[2]);
        if (from < 0)
            fill(to, channels, pad->value);
        else
            memcpy(to, line + (size_t)from * channels, channels * sizeof *to);
    }
}

void ln_pad_nhwc_rows(const ln_pad_nhwc *pad, size_t row, size_t row_end)
{
    const int *in = pad->src->dims, *out = pad->dst->dims;
    size_t channels = (size_t)in[3], width = (size_t)out[2] * channels;
    for (; row < row_end; row++) {
        size_t image = row / (size_t)out[1];
        int64_t y = (int64_t)(row % (size_t)out[1]) - pad->pads[0];
        int64_t from = in[2] > 0 ? find_place(pad->mode, y, in[1]) : -1;
        float *to = (float *)pad->dst->data + row * width;
        if (from < 0) {
            fill(to, width, pad->value);
            continue;
        }
        const float *line = pad->src->data;
        line += (image * (size_t)in[1] + (size_t)from) * (size_t)in[2] * channels;
        put_pixels(pad, line, -pad->pads[1], 0, to);
        to += (size_t)pad->pads[1] * channels;
        memcpy(to, line, (size_t)in[2] * channels * sizeof *to);
        put_pixels(pad, line, in[2], in[2] + (int64_t)pad->pads[3], to + (size_t)in[2] * channels);
    }
}
