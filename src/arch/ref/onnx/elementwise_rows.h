// SPDX-License-Identifier: Apache-2.0
// Walks over all positions of a shape, row by row, and says where each of some operands that are
// broadcast to the shape has its elements.
//
//     ln_ref_rows rows;
//     LN_TRY(ln_ref_rows_init(call, &rows, 2, ndim, dims));
//     ln_ref_rows_operand(&rows, 0, a->ndim, a->dims);
//     ln_ref_rows_operand(&rows, 1, b->ndim, b->dims);
//     while (ln_ref_rows_next(&rows))
//         for (size_t i = 0; i < rows.len; i++)
//             ... element rows.start + i of the shape, element ln_ref_rows_at(&rows, 1, i) of b

#ifndef LN_ARCH_REF_ONNX_ELEMENTWISE_ROWS_H
#define LN_ARCH_REF_ONNX_ELEMENTWISE_ROWS_H

#include <stdbool.h>

#include <lightnet/call.h>

// Operands that need no workspace of the call.
#define LN_REF_FEW_OPERANDS 4

typedef struct ln_ref_rows {
    size_t start; // position of the row in the shape
    size_t len;   // elements of the row, or of a part of a long one
    size_t *at;   // of each operand: where the row begins
    size_t *step; // and how far its elements are apart: 0 where one element is broadcast
    int operand_count;
    int ndim;
    size_t dims[TL_MAXDIM];
    size_t index[TL_MAXDIM];
    size_t *strides; // [operand][TL_MAXDIM]
    size_t left;     // of the row, from `start` on
    size_t unlooked; // elements since the time was looked at
    bool is_started;
    size_t few[LN_REF_FEW_OPERANDS * (TL_MAXDIM + 2)]; // what the three point to, if it suffices
} ln_ref_rows;

ln_status ln_ref_rows_init(ln_call *call, ln_ref_rows *rows, int operand_count, int ndim,
                           const int *dims);

// Operand `index` has this shape, which is broadcast to that of the walk.
void ln_ref_rows_operand(ln_ref_rows *rows, int index, int ndim, const int *dims);

// False when there is no further row, or the deadline has passed; the walk then begins anew.
bool ln_ref_rows_next(ln_ref_rows *rows);

static inline size_t ln_ref_rows_at(const ln_ref_rows *rows, int operand, size_t i)
{
    return rows->at[operand] + i * rows->step[operand];
}

#endif
