// SPDX-License-Identifier: Apache-2.0
// Operators that read between elements, and a few more of images and matrices.

#ifndef LN_OP_ONNX_RESAMPLE_H
#define LN_OP_ONNX_RESAMPLE_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

// One of `count` words that a string parameter is, as its place in the list.
ln_status ln_given_word(ln_call *call, const char *param, const char *const *words, int count,
                        int *out_index);

// The geometry of Col2Im on its `ndim` axes.
typedef struct ln_col2im_plan {
    bool is_known;
    int ndim;
    int64_t image[TL_MAXDIM], block[TL_MAXDIM],
        blocks[TL_MAXDIM]; // dimensions, and how many blocks
    int64_t dilations[TL_MAXDIM], strides[TL_MAXDIM], pads[TL_MAXDIM];
    int64_t block_len, block_count;
} ln_col2im_plan;

ln_status ln_col2im_find(ln_call *call, ln_col2im_plan *plan);

LN_CPPEND

#endif
