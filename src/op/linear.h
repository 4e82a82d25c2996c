// SPDX-License-Identifier: Apache-2.0
// Shapes of products with packed weights, and where a weight is among them.

#ifndef LN_OP_LINEAR_H
#define LN_OP_LINEAR_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// Floats of packed weights [k, n]; -1 with a recorded failure if they are too many.
int ln_linear_packed_len(int k, int n);

// Where the weight of row `p` and column `j` is.
size_t ln_linear_packed_at(int k, int p, int j);

// The packed row that row `p` of weights becomes, if the k of them are the elements of an image
// [channels, pixels] that are packed in the order of [pixels, channels]; 0 channels: in theirs.
int ln_linear_packed_row(int k, int channels, int p);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure.
int ln_shape_linear_pack(int *dims, const tl_tensor *weight, int is_transposed, int channels);
int ln_shape_linear(int *dims, const tl_tensor *src, const tl_tensor *packed, const tl_tensor *bias,
                    const tl_tensor *addend, int outputs);

LN_CPPEND

#endif
