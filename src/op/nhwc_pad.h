// SPDX-License-Identifier: Apache-2.0
// Padding of channels-last images: the same on every arch whose tensors are in main memory.

#ifndef LN_OP_NHWC_PAD_H
#define LN_OP_NHWC_PAD_H

#include <stddef.h>

#include <lightnet/tensor.h>

LN_CPPSTART

typedef enum ln_pad_nhwc_mode {
    LN_PAD_CONSTANT,
    LN_PAD_EDGE,
    LN_PAD_REFLECT,
    LN_PAD_WRAP,
} ln_pad_nhwc_mode;

// The value of that name; -1 for names that are none.
int ln_pad_nhwc_mode_from_str(const char *name);

typedef struct ln_pad_nhwc {
    const tl_tensor *src;
    tl_tensor *dst;
    const int *pads;
    ln_pad_nhwc_mode mode;
    float value;
} ln_pad_nhwc;

// Rows of all images of dst, from `row` to before `row_end`.
void ln_pad_nhwc_rows(const ln_pad_nhwc *pad, size_t row, size_t row_end);

// As in lightnet/opshape.h.
int ln_shape_pad_nhwc(int *dims, const tl_tensor *src, const int pads[4]);

LN_CPPEND

#endif
