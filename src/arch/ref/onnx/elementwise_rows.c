// SPDX-License-Identifier: Apache-2.0
// Walks over a shape with operands that are broadcast to it.

#include "arch/ref/onnx/elementwise_rows.h"

#include <string.h>

#include "base/deadline.h"

// Elements of a part of a row, and after how many the time is looked at.
#define MAX_ROW 32768

ln_status ln_ref_rows_init(ln_call *call, ln_ref_rows *rows, int operand_count, int ndim,
                           const int *dims)
{
    memset(rows, 0, sizeof *rows);
    size_t *numbers = rows->few;
    if (operand_count > LN_REF_FEW_OPERANDS)
        numbers = ln_call_scratch(call, (size_t)operand_count * (TL_MAXDIM + 2), sizeof *numbers);
    if (!numbers)
        return LN_NO_MEMORY;
    rows->operand_count = operand_count;
    rows->at = numbers;
    rows->step = numbers + operand_count;
    rows->strides = numbers + 2 * operand_count;
    rows->ndim = ndim;
    for (int d = 0; d < ndim; d++)
        rows->dims[d] = (size_t)dims[d];
    return LN_OK;
}

void ln_ref_rows_operand(ln_ref_rows *rows, int index, int ndim, const int *dims)
{
    size_t *strides = rows->strides + index * TL_MAXDIM, stride = 1;
    memset(strides, 0, TL_MAXDIM * sizeof *strides);
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d + rows->ndim - ndim] = dims[d] == 1 ? 0 : stride;
        stride *= (size_t)dims[d];
    }
}

// Every operand goes on from dimension d to its neighbour as if they were one.
static bool is_joinable(const ln_ref_rows *rows, int d)
{
    for (int i = 0; i < rows->operand_count; i++) {
        const size_t *strides = rows->strides + i * TL_MAXDIM;
        if (strides[d] != strides[d + 1] * rows->dims[d + 1])
            return false;
    }
    return true;
}

static void drop_dimension(ln_ref_rows *rows, int dropped)
{
    size_t tail = (size_t)(rows->ndim - 1 - dropped) * sizeof(size_t);
    memmove(rows->dims + dropped, rows->dims + dropped + 1, tail);
    for (int i = 0; i < rows->operand_count; i++) {
        size_t *strides = rows->strides + i * TL_MAXDIM;
        memmove(strides + dropped, strides + dropped + 1, tail);
    }
    rows->ndim--;
}

// Long rows make short work: dimensions of 1 go, and neighbours that can be one become one.
static void join_dimensions(ln_ref_rows *rows)
{
    for (int d = rows->ndim - 1; d >= 0; d--)
        if (rows->dims[d] == 1)
            drop_dimension(rows, d);
    for (int d = rows->ndim - 2; d >= 0; d--) {
        if (!is_joinable(rows, d))
            continue;
        rows->dims[d + 1] *= rows->dims[d];
        drop_dimension(rows, d);
    }
}

static bool start(ln_ref_rows *rows)
{
    join_dimensions(rows);
    for (int d = 0; d < rows->ndim; d++)
        if (rows->dims[d] == 0)
            return false;
    rows->is_started = true;
    rows->unlooked = 0;
    rows->start = 0;
    memset(rows->index, 0, sizeof rows->index);
    int last = rows->ndim - 1;
    rows->left = last >= 0 ? rows->dims[last] : 1;
    rows->len = rows->left < MAX_ROW ? rows->left : MAX_ROW;
    for (int i = 0; i < rows->operand_count; i++) {
        rows->at[i] = 0;
        rows->step[i] = last >= 0 ? rows->strides[i * TL_MAXDIM + last] : 0;
    }
    return true;
}

// The next part of a row that is not over.
static void go_on(ln_ref_rows *rows)
{
    for (int i = 0; i < rows->operand_count; i++)
        rows->at[i] += rows->step[i] * rows->len;
    rows->len = rows->left < MAX_ROW ? rows->left : MAX_ROW;
}

static void rewind_row(ln_ref_rows *rows)
{
    size_t len = rows->ndim > 0 ? rows->dims[rows->ndim - 1] : 1;
    for (int i = 0; i < rows->operand_count; i++)
        rows->at[i] -= rows->step[i] * (len - rows->len);
    rows->left = len;
    rows->len = len < MAX_ROW ? len : MAX_ROW;
}

static bool is_late(ln_ref_rows *rows)
{
    if (rows->unlooked < MAX_ROW)
        return false;
    rows->unlooked = 0;
    return ln_deadline_passed();
}

bool ln_ref_rows_next(ln_ref_rows *rows)
{
    if (!rows->is_started)
        return start(rows);
    rows->start += rows->len;
    rows->left -= rows->len;
    rows->unlooked += rows->len;
    if (is_late(rows)) {
        rows->is_started = false;
        return false;
    }
    if (rows->left > 0) {
        go_on(rows);
        return true;
    }
    rewind_row(rows);
    for (int d = rows->ndim - 2; d >= 0; d--) {
        bool is_turn = ++rows->index[d] == rows->dims[d];
        for (int i = 0; i < rows->operand_count; i++) {
            size_t stride = rows->strides[i * TL_MAXDIM + d];
            if (is_turn)
                rows->at[i] -= stride * (rows->dims[d] - 1);
            else
                rows->at[i] += stride;
        }
        if (!is_turn)
            return true;
        rows->index[d] = 0;
    }
    rows->is_started = false;
    return false;
}
