// SPDX-License-Identifier: Apache-2.0
// Broadcasting: two tensors of different shapes as if they had the same.
//
// Shapes are compared from their last dimension on; missing dimensions count as 1, and where one is
// 1, its only row stands for all of the other's. The walk below hands out the result row by row,
// with as many axes joined to one as keep the order of elements.
//
//     ln_broadcast walk;
//     for (ln_broadcast_start(&walk, ndim, dims, a_ndim, a, b_ndim, b); walk.rows_left > 0;
//          ln_broadcast_next(&walk))
//         use(walk.at[0], walk.step[0], walk.at[1], walk.step[1], walk.to, walk.count);

#ifndef LN_BASE_BROADCAST_H
#define LN_BASE_BROADCAST_H

#include <stddef.h>

#include <lightnet/shape.h>

LN_CPPSTART

typedef struct ln_broadcast {
    size_t rows_left; // this one included; 0 at the end
    size_t count;     // elements of a row
    size_t at[2];     // the row's first element in each operand
    size_t step[2];   // 1, or 0 where one element stands for the whole row
    size_t to;        // the row's first element in the result

    int ndim; // joined axes, the row's aside
    size_t dims[LN_MAXDIM];
    size_t strides[2][LN_MAXDIM]; // in elements, 0 where repeated
    size_t coords[LN_MAXDIM];
} ln_broadcast;

// Fills in `dims`, which has room for LN_MAXDIM, and returns how many; -1 with a recorded
// LN_INVALID if the shapes do not fit, or LN_LIMIT if the result has too many elements.
int ln_broadcast_shape(int *dims, int a_ndim, const int *a, int b_ndim, const int *b);

// `dims` is what the function above has found.
void ln_broadcast_start(ln_broadcast *walk, int ndim, const int *dims, int a_ndim, const int *a,
                        int b_ndim, const int *b);
void ln_broadcast_next(ln_broadcast *walk);

LN_CPPEND

#endif
