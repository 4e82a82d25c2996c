// SPDX-License-Identifier: Apache-2.0
// Resizing of channels-last images: each output pixel is a copy of one pixel of the input, or is
// between four.
//
// The bits of the latter, for each channel: fma(b, weight, a * (1 - weight)) in each of the two
// rows, of the left pixel a and the right one b; then the same of the upper and the lower of these.
// Where a weight is 0, b takes no part, and a stays as it is. 1 - weight is rounded to float.

#ifndef LN_ARCH_CPU_KERNELS_RESIZE_NHWC_H
#define LN_ARCH_CPU_KERNELS_RESIZE_NHWC_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

// Images as in conv_nhwc.h. Places are rows and columns of the input; of each pair the second is
// not before the first.
typedef struct ln_resize_nhwc_f32_args {
    size_t batch, channels;
    size_t in_h, in_w, out_h, out_w;
    const int32_t *rows;         // [out_h], or pairs of them where there are weights
    const int32_t *columns;      // [out_w], likewise
    const float *row_weights;    // [out_h] of the lower row; NULL: pixels are copied
    const float *column_weights; // [out_w] of the right column
    const float *x;
    size_t x_stride;
    float *y; // apart from what is read of x
    size_t y_stride;
} ln_resize_nhwc_f32_args;

void ln_resize_nhwc_f32(ln_cpu_isa isa, const ln_resize_nhwc_f32_args *args, ln_pool *pool);

// ---- Kernels ----

// Does the rows [row, row_end) of the output; row y of image n is number n * out_h + y.
typedef void ln_resize_nhwc_f32_fn(const ln_resize_nhwc_f32_args *args, size_t row, size_t row_end);

LN_KERNELS(ln_resize_nhwc_f32_fn, resize_nhwc_f32)

LN_CPPEND

#endif
