// SPDX-License-Identifier: Apache-2.0
// Poolings and resizing of channels-last images [N, H, W, C]: shapes, windows, and which pixels of
// the input a resized one is made of.

#ifndef LN_OP_NHWC_POOL_H
#define LN_OP_NHWC_POOL_H

#include <stdint.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// ---- Resizing ----

typedef enum ln_resize_nhwc_mode {
    LN_RESIZE_NHWC_NEAREST,
    LN_RESIZE_NHWC_LINEAR,
} ln_resize_nhwc_mode;

// Where element i of the result is in the input, before it is rounded.
typedef enum ln_resize_coordinates {
    LN_RESIZE_HALF_PIXEL,         // (i + 0.5) / scale - 0.5
    LN_RESIZE_PYTORCH_HALF_PIXEL, // the same; 0 for a single element
    LN_RESIZE_ASYMMETRIC,         // i / scale
    LN_RESIZE_ALIGN_CORNERS,      // i * (in - 1) / (out - 1); 0 for a single element
} ln_resize_coordinates;

typedef enum ln_resize_rounding {
    LN_RESIZE_PREFER_FLOOR,
    LN_RESIZE_PREFER_CEIL,
    LN_RESIZE_FLOOR,
    LN_RESIZE_CEIL,
} ln_resize_rounding;

// The value of that name; -1 for names that are none.
int ln_resize_nhwc_mode_from_str(const char *name);
int ln_resize_coordinates_from_str(const char *name);
int ln_resize_rounding_from_str(const char *name);

// One axis; `scale` 0 is out / in.
typedef struct ln_resize_axis {
    int in, out; // at least 1
    double scale;
    ln_resize_coordinates coordinates;
} ln_resize_axis;

// The element that element `i` of the result is a copy of.
int ln_resize_nearest_at(const ln_resize_axis *axis, ln_resize_rounding rounding, int i);

// The two neighbours that element `i` of the result lies between, and the weight of the second;
// that of the first is 1 less it. Both are the outermost one beyond the ends, with weight 0.
double ln_resize_linear_at(const ln_resize_axis *axis, int i, int out_at[2]);

// ---- For the descriptions ----

// The channels that are read.
static inline int ln_nhwc_channels(const tl_tensor *src, int src_channels)
{
    return src_channels ? src_channels : src->dims[3];
}

// Multiply-accumulates; what is outside of the image costs nothing.
double ln_cost_pool2d_nhwc(const tl_tensor *src, const tl_tensor *dst, const int size[2],
                           int src_channels);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure. `out` of a pooling is the height and width, or zeros for as many windows as fit.
int ln_shape_pool2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *into, const int size[2],
                         const int stride[2], const int padding[4], const int dilation[2],
                         const int out[2], int src_first, int src_channels, int dst_first,
                         int dst_channels);
int ln_shape_resize_nhwc(int *dims, const tl_tensor *src, const tl_tensor *into, const int out[2],
                         int src_first, int src_channels, int dst_first, int dst_channels);

LN_CPPEND

#endif
