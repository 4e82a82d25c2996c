// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Col2Im and Det.

#include "arch/ref/functions.h"

#include <math.h>

#include "base/deadline.h"
#include "op/onnx/resample.h"
#include "tensor/elem.h"

// ---- Col2Im ----

// Where element `element` of block `block` is in an image; -1: outside of it.
static int64_t position_of(const ln_col2im_plan *plan, int64_t element, int64_t block)
{
    int64_t position = 0, stride = 1;
    for (int i = plan->ndim - 1; i >= 0; i--) {
        int64_t at = block % plan->blocks[i] * plan->strides[i] - plan->pads[i] +
                     element % plan->block[i] * plan->dilations[i];
        if (at < 0 || at >= plan->image[i])
            return -1;
        position += at * stride;
        stride *= plan->image[i];
        block /= plan->blocks[i];
        element /= plan->block[i];
    }
    return position;
}

ln_status ln_ref_onnx_col2im(ln_call *call)
{
    const tl_tensor *input = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_col2im_plan plan;
    LN_TRY(ln_col2im_find(call, &plan));
    if (dst->len == 0)
        return LN_OK;
    int64_t planes = (int64_t)dst->dims[0] * dst->dims[1], image = dst->len / planes;
    bool is_int = (LN_TYPE(dst->dtype) & LN_TYPES_INT) != 0;
    double *sums = ln_call_scratch(call, (size_t)dst->len, sizeof *sums);
    uint64_t *int_sums = ln_call_scratch(call, is_int ? (size_t)dst->len : 1, sizeof *int_sums);
    if (!sums || !int_sums)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;

    for (int64_t i = 0; i < input->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t block = i % plan.block_count, row = i / plan.block_count;
        int64_t at = position_of(&plan, row % plan.block_len, block);
        if (at < 0)
            continue;
        at += row / plan.block_len * image;
        if (is_int)
            int_sums[at] += (uint64_t)ln_elem_int(input, (size_t)i);
        else
            sums[at] += ln_elem_real(input, (size_t)i);
    }
    for (int i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++) {
        if (is_int)
            ln_elem_set_int(dst, (size_t)i, (int64_t)int_sums[i]);
        else
            ln_elem_set_real(dst, (size_t)i, sums[i]);
    }
    return LN_OK;
}

// ---- Det ----

static void swap_rows(double *matrix, int n, int a, int b)
{
    for (int i = 0; i < n; i++) {
        double x = matrix[(size_t)a * (size_t)n + (size_t)i];
        matrix[(size_t)a * (size_t)n + (size_t)i] = matrix[(size_t)b * (size_t)n + (size_t)i];
        matrix[(size_t)b * (size_t)n + (size_t)i] = x;
    }
}

// Gaussian elimination with the largest pivot of each column; the matrix is used up.
static double determinant(double *matrix, int n)
{
    double result = 1;
    for (int k = 0; k < n; k++) {
        size_t row = (size_t)k * (size_t)n, column = (size_t)k;
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(matrix[(size_t)i * (size_t)n + column]) >
                fabs(matrix[(size_t)pivot * (size_t)n + column]))
                pivot = i;
        if (pivot != k) {
            swap_rows(matrix, n, pivot, k);
            result = -result;
        }
        double head = matrix[row + column];
        result *= head;
        if (head == 0)
            return result;
        for (int i = k + 1; i < n; i++) {
            double *other = matrix + (size_t)i * (size_t)n, factor = other[column] / head;
            for (int j = k + 1; j < n; j++)
                other[j] -= factor * matrix[row + (size_t)j];
        }
    }
    return result;
}

ln_status ln_ref_onnx_det(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    int n = x->dims[x->ndim - 1];
    size_t len = (size_t)n * (size_t)n;
    if (dst->len == 0)
        return LN_OK;
    double *matrix = ln_call_scratch(call, len + 1, sizeof *matrix);
    if (!matrix)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        for (size_t j = 0; j < len; j++)
            matrix[j] = ln_elem_real(x, i * len + j);
        ln_elem_set_real(dst, i, determinant(matrix, n));
    }
    return LN_OK;
}
