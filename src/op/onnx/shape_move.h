// SPDX-License-Identifier: Apache-2.0
// Operators that put elements elsewhere: where to is said here, once for shapes and kernels.

#ifndef LN_OP_ONNX_SHAPE_MOVE_H
#define LN_OP_ONNX_SHAPE_MOVE_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

// Dimension i of the result is dimension perm[i] of the tensor; `perm` has room for TL_MAXDIM.
ln_status ln_transpose_perm(ln_call *call, int ndim, int *perm);

ln_status ln_concat_axis(ln_call *call, int *out_axis);

// The lengths of the parts that Split makes on `axis`, scratch of the call; at least as many as
// there are outputs.
ln_status ln_split_find(ln_call *call, int *out_axis, int64_t **out_parts, bool *out_is_known);

// What Slice takes of each axis: `dims` elements, `steps` apart, from `starts` on.
typedef struct ln_slice_plan {
    bool is_known; // else nothing else is set
    int64_t starts[TL_MAXDIM];
    int64_t steps[TL_MAXDIM];
    int dims[TL_MAXDIM];
} ln_slice_plan;

ln_status ln_slice_find(ln_call *call, ln_slice_plan *plan);

// What Pad puts before and after each axis; negative: what it takes away.
typedef struct ln_pad_plan {
    bool is_known;
    int64_t begins[TL_MAXDIM];
    int64_t ends[TL_MAXDIM];
} ln_pad_plan;

ln_status ln_pad_find(ln_call *call, ln_pad_plan *plan);

// The first row and column that Crop takes; the input is an image.
ln_status ln_crop_start(ln_call *call, int *out_top, int *out_left);

LN_CPPEND

#endif
