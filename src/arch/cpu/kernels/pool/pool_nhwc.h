// SPDX-License-Identifier: Apache-2.0
// Pooling of channels-last images: the maximum or the average of the inputs in a window, for each
// channel. What is outside the image takes no part, but an average may count it.
//
// The bits: each row of the window is reduced from the left, then these from the top. The average
// starts each of the two at +0 with plain additions and divides by the number of inputs in the
// window. The maximum starts at -infinity and is NaN where an input is; of zeros with different
// signs it is the first.

#ifndef LN_ARCH_CPU_KERNELS_POOL_NHWC_H
#define LN_ARCH_CPU_KERNELS_POOL_NHWC_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/pool/pool.h"
#include "arch/cpu/kernels/select.h"
#include "arch/cpu/kernels/window.h"
#include "base/pool.h"

LN_CPPSTART

// An image has `..._stride` floats from one pixel to the next: more than `channels` where it is a
// part of a wider image. Rows and images follow each other without gaps.
typedef struct ln_pool_nhwc_f32_args {
    ln_pool2d_kind kind;
    bool counts_padding; // an average: `pad_after` elements after the image count, too
    size_t batch, channels;
    size_t out_h, out_w;
    ln_window_1d rows, columns; // the last window starts before the end of the image
    size_t pad_after[2];
    const float *x;
    size_t x_stride;
    float *y; // apart from what is read of x
    size_t y_stride;
} ln_pool_nhwc_f32_args;

void ln_pool_nhwc_f32(ln_cpu_isa isa, const ln_pool_nhwc_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// Does the channels [channel, channel_end) of the rows [row, row_end) of the output; row y of image
// n is number n * out_h + y.
typedef void ln_pool_nhwc_f32_fn(const ln_pool_nhwc_f32_args *args, size_t row, size_t row_end,
                                 size_t channel, size_t channel_end);

LN_KERNELS(ln_pool_nhwc_f32_fn, pool_nhwc_f32)

LN_CPPEND

#endif
