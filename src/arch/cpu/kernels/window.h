// SPDX-License-Identifier: Apache-2.0
// Which elements of a window are inside the image, on one axis.

#ifndef LN_ARCH_CPU_KERNELS_WINDOW_H
#define LN_ARCH_CPU_KERNELS_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/conv_shape.h"
#include "base/minmax.h"

LN_CPPSTART

// Output `i` looks at the inputs i * stride + tap * dilation - pad, for tap = 0 ... kernel - 1.
typedef struct ln_window_1d {
    size_t in, kernel, stride, dilation, pad;
} ln_window_1d;

// How many of a window's taps, from its first on, are before input `end`, be it negative or not.
static inline size_t ln_window_taps_before(const ln_window_1d *w, size_t i, size_t end)
{
    size_t start = i * w->stride, limit = end + w->pad;
    if (limit <= start)
        return 0;
    size_t count = limit - start;
    if (w->dilation > 1) // a division takes as long as many products
        count = ln_div_up(count, w->dilation);
    return ln_min(count, w->kernel);
}

// The taps inside the image are *out_first ... *out_end - 1; none if they are equal.
static inline void ln_window_taps_inside(const ln_window_1d *w, size_t i, size_t *out_first,
                                         size_t *out_end)
{
    *out_first = ln_window_taps_before(w, i, 0);
    *out_end = ln_window_taps_before(w, i, w->in);
}

typedef struct ln_taps {
    size_t first, end; // [first, end)
} ln_taps;

// The same as a struct, for what is done once a row or once at a border.
ln_taps ln_window_taps(const ln_window_1d *w, size_t i);

// The input that a tap inside the image looks at.
static inline size_t ln_window_at(const ln_window_1d *w, size_t i, size_t tap)
{
    return i * w->stride + tap * w->dilation - w->pad;
}

// Some lines of an image of bytes.
typedef struct ln_lines_i8 {
    const uint8_t *at;  // of line `first`
    const uint8_t *end; // of what may be read
    size_t first;
} ln_lines_i8;

// The axes of a convolution.
ln_window_1d ln_conv_rows(const ln_conv_shape *s);
ln_window_1d ln_conv_columns(const ln_conv_shape *s);

LN_CPPEND

#endif
