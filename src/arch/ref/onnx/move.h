// SPDX-License-Identifier: Apache-2.0
// Moving elements of any type, strings too, from inputs to outputs: what operators that do not
// compute are made of. Positions and strides count elements; who calls has checked them.

#ifndef LN_ARCH_REF_ONNX_MOVE_H
#define LN_ARCH_REF_ONNX_MOVE_H

#include <stdint.h>

#include <lightnet/call.h>

LN_CPPSTART

// Elements that are in a regular pattern here and there. A stride may be 0 or negative.
typedef struct ln_box {
    int ndim;
    int64_t dims[TL_MAXDIM];
    int64_t from, from_strides[TL_MAXDIM];
    int64_t to, to_strides[TL_MAXDIM];
} ln_box;

// Strides of a dense tensor of this shape.
void ln_dense_strides(int ndim, const int *dims, int64_t *out_strides);

// `count` neighbours from `from` on become those from `to` on.
ln_status ln_move_run(ln_call *call, int out_index, int64_t to, const tl_tensor *src, int64_t from,
                      int64_t count);

ln_status ln_move_box(ln_call *call, int out_index, const tl_tensor *src, const ln_box *box);

// All elements in their order, where only the shape changes.
ln_status ln_move_all(ln_call *call, int out_index, const tl_tensor *src);

// Every element of the output becomes the first one of `value`; NULL: 0, false, "".
ln_status ln_move_fill(ln_call *call, int out_index, const tl_tensor *value);

// Element (i, j, ...) of the output is the one at maps[0][i] + maps[1][j] + ... of `src`. Where one
// of these is negative, the output stays as it is.
ln_status ln_move_mapped(ln_call *call, int out_index, const tl_tensor *src, int64_t *const *maps);

LN_CPPEND

#endif
