// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by their values. What they choose says how large the output is, so
// it is found here, for shapes and kernels alike.

#ifndef LN_OP_ONNX_SELECT_H
#define LN_OP_ONNX_SELECT_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/given.h"

LN_CPPSTART

// Sorts `order`, `count` positions, so that less(context, a, b) holds for none that stands after.
// Positions that are equal keep their order. `buffer` has as many elements. O(n log n) without
// recursion.
typedef bool (*ln_position_less)(const void *context, int a, int b);
void ln_sort_positions(int *order, int *buffer, int count, ln_position_less less,
                       const void *context);

// An element that is not 0, false or "".
bool ln_element_is_set(const tl_tensor *t, size_t i);

// Compress: `*out_axis` is -1 without an axis; `*out_limit` is how many conditions count.
ln_status ln_compress_find(ln_call *call, const tl_tensor *condition, int *out_axis, int *out_limit,
                           int *out_chosen);

// Unique: what is equal among the `row_count` rows of the input, its elements or, with an axis, its
// slices. Arrays are scratch of the call.
typedef struct ln_unique {
    int axis; // -1: all elements
    int row_count, group_count;
    int *group_of; // of each row, in the order of the output
    int *first_of; // of each group, its first row
    int *counts;   // of each group
} ln_unique;

ln_status ln_unique_find(ln_call *call, const tl_tensor *data, ln_unique *unique);

// TopK: the axis, and K if it is known.
ln_status ln_top_k_find(ln_call *call, int *out_axis, int64_t *out_k, bool *out_is_known);

// NonMaxSuppression: (batch, class, box) of each box that stays, scratch of the call.
ln_status ln_nms_find(ln_call *call, int64_t **out_chosen, int *out_count);

LN_CPPEND

#endif
