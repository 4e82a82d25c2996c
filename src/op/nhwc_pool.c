// SPDX-License-Identifier: Apache-2.0
// Shapes of channels-last poolings, and the places of resized pixels.

#include "op/nhwc_pool.h"

#include <math.h>
#include <string.h>

#include <lightnet/convdim.h>
#include <lightnet/shape.h>

// ---- Names ----

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; name && i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

int ln_resize_nhwc_mode_from_str(const char *name)
{
    static const char *const names[] = {"nearest", "linear"};
    return find_name(names, 2, name);
}

int ln_resize_coordinates_from_str(const char *name)
{
    static const char *const names[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                        "align_corners"};
    return find_name(names, 4, name);
}

int ln_resize_rounding_from_str(const char *name)
{
    static const char *const names[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    return find_name(names, 4, name);
}

// ---- Places ----

static double place_of(const ln_resize_axis *axis, int i)
{
    double scale = axis->scale > 0 ? axis->scale : (double)axis->out / axis->in;
    double length = axis->scale > 0 ? axis->scale * axis->in : axis->out;
    switch (axis->coordinates) {
    case LN_RESIZE_PYTORCH_HALF_PIXEL: return length > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case LN_RESIZE_ASYMMETRIC: return i / scale;
    case LN_RESIZE_ALIGN_CORNERS: return length == 1 ? 0 : i * (axis->in - 1.0) / (length - 1);
    default: return (i + 0.5) / scale - 0.5;
    }
}

static int clamp(double place, int in)
{
    if (!(place > 0))
        return 0;
    return place < in - 1 ? (int)place : in - 1;
}

int ln_resize_nearest_at(const ln_resize_axis *axis, ln_resize_rounding rounding, int i)
{
    double place = place_of(axis, i);
    switch (rounding) {
    case LN_RESIZE_PREFER_CEIL: return clamp(floor(place + 0.5), axis->in);
    case LN_RESIZE_FLOOR: return clamp(floor(place), axis->in);
    case LN_RESIZE_CEIL: return clamp(ceil(place), axis->in);
    default: return clamp(ceil(place - 0.5), axis->in);
    }
}

double ln_resize_linear_at(const ln_resize_axis *axis, int i, int out_at[2])
{
    double place = place_of(axis, i), before = floor(place);
    out_at[0] = out_at[1] = clamp(before, axis->in);
    if (!(before >= 0) || before >= axis->in - 1)
        return 0;
    out_at[1]++;
    return place - before;
}

// ---- Shapes ----

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

// The channels of `dims`, whose height and width are known.
static int finish_shape(int *dims, const tl_tensor *src, const tl_tensor *into, int src_first,
                        int src_channels, int dst_first, int dst_channels)
{
    int channels = ln_nhwc_channels(src, src_channels);
    if (src_first > src->dims[3] || channels > src->dims[3] - src_first)
        return fail("channels from %d on are not among %d", src_first, src->dims[3]);
    dims[0] = src->dims[0];
    dims[3] = into ? into->dims[3] : dst_channels ? dst_channels : channels;
    for (int i = 0; into && i < 3; i++) {
        if (into->dims[i] != dims[i])
            return fail("`into` has %d pixels or images where the result has %d", into->dims[i],
                        dims[i]);
    }
    if (dst_first > dims[3] || channels > dims[3] - dst_first)
        return fail("channels from %d on are not among %d", dst_first, dims[3]);
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}

double ln_cost_pool2d_nhwc(const tl_tensor *src, const tl_tensor *dst, const int size[2],
                           int src_channels)
{
    double taps = 1;
    for (int i = 0; i < 2; i++)
        taps *= size[i] < src->dims[1 + i] ? size[i] : src->dims[1 + i];
    return taps * dst->dims[0] * dst->dims[1] * dst->dims[2] * ln_nhwc_channels(src, src_channels);
}

int ln_shape_pool2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *into, const int size[2],
                         const int stride[2], const int padding[4], const int dilation[2],
                         const int out[2], int src_first, int src_channels, int dst_first,
                         int dst_channels)
{
    for (int i = 0; i < 2; i++) {
        int in = src->dims[1 + i];
        dims[1 + i] = out[i] ? out[i]
                             : ln_output_dim_conv(in, size[i], stride[i], padding[i],
                                                  padding[2 + i], dilation[i]);
        if (dims[1 + i] < 0)
            return -1;
        // The last window starts in the image or in front of it.
        if (out[i] && ((int64_t)out[i] - 1) * stride[i] >= (int64_t)in + padding[i])
            return fail("window %d is behind an image of %d pixels", out[i] - 1, in);
    }
    return finish_shape(dims, src, into, src_first, src_channels, dst_first, dst_channels);
}

int ln_shape_resize_nhwc(int *dims, const tl_tensor *src, const tl_tensor *into, const int out[2],
                         int src_first, int src_channels, int dst_first, int dst_channels)
{
    for (int i = 0; i < 2; i++) {
        dims[1 + i] = out[i];
        if (src->dims[1 + i] == 0)
            return fail("an image of %d x %d pixels has none to make others of", src->dims[1],
                        src->dims[2]);
    }
    return finish_shape(dims, src, into, src_first, src_channels, dst_first, dst_channels);
}
