// SPDX-License-Identifier: Apache-2.0
// Resizing: how many elements each axis gets, and where in the input each of them is. Of `resize`
// of the core, and of ONNX's Resize and Upsample.

#ifndef LN_OP_RESIZE_H
#define LN_OP_RESIZE_H

#include <stdbool.h>

#include <lightnet/call.h>

LN_CPPSTART

// The last two are LightNet's TL_NEAREST and TL_LINEAR, which look at dimensions only.
enum {
    LN_RESIZE_NEAREST,
    LN_RESIZE_LINEAR,
    LN_RESIZE_CUBIC,
    LN_RESIZE_TL_NEAREST,
    LN_RESIZE_TL_LINEAR
};

// One axis. What the words of `coordinates` and `rounding` say is in resize.c.
typedef struct ln_resize_axis {
    int in, out;
    double scale;      // how many times larger it becomes
    double length;     // `out` as the scale has it, maybe no integer
    double start, end; // the part of the input that is resized; 0 and 1 for all of it
    int coordinates, rounding;
} ln_resize_axis;

typedef struct ln_resizing {
    bool is_known; // else nothing is known of the axes
    int mode;
    ln_resize_axis axes[TL_MAXDIM];
} ln_resizing;

ln_status ln_resizing_read(ln_call *call, ln_resizing *out_resizing);

// `mode` of ONNX's operators, GridSample among them: nearest, linear or cubic.
ln_status ln_resize_mode(ln_call *call, int *out_mode);

// The parameters of these names.
ln_status ln_resize_read_words(ln_call *call, const char *coordinates, const char *rounding,
                               ln_resize_axis *axis);

// Where element `i` of the output is in the input, not rounded; and the nearest element there.
double ln_resize_place(const ln_resize_axis *axis, int i);
int ln_resize_nearest(const ln_resize_axis *axis, int i);

// It is outside of the input where that means another value.
bool ln_resize_is_beyond(const ln_resize_axis *axis, int i);

LN_CPPEND

#endif
