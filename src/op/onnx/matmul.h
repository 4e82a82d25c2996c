// SPDX-License-Identifier: Apache-2.0
// Shapes of matrix products and of sums over products.

#ifndef LN_OP_ONNX_MATMUL_H
#define LN_OP_ONNX_MATMUL_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/activation.h"

LN_CPPSTART

// A stack of matrices in memory; strides count elements. The last two axes of a tensor, or others
// where an operator transposes.
typedef struct ln_matrix_stack {
    int64_t rows, columns;
    int64_t row_step, column_step;
    int64_t steps[TL_MAXDIM]; // for each batch axis of the product; 0 where it is broadcast
} ln_matrix_stack;

// A product of stacks: MatMul and its kin.
typedef struct ln_matmul_call {
    ln_matrix_stack a, b;
    int batch_ndim;
    int batch_dims[TL_MAXDIM];
    int ndim; // of the output
    int64_t dims[TL_MAXDIM];
} ln_matmul_call;

// Shapes as NumPy's matmul has them, with the attributes transA, transB, transBatchA, transBatchB
// where the description has them.
ln_status ln_matmul_call_read(ln_call *call, ln_matmul_call *out_matmul);

// The same with A and B at other positions among the inputs.
ln_status ln_matmul_pair_read(ln_call *call, int a_index, int b_index, ln_matmul_call *out_matmul);

// The matrices of Gemm, and the broadcast of C: steps for rows and columns of the output.
typedef struct ln_gemm_call {
    ln_matrix_stack a, b;
    const tl_tensor *c; // NULL: none
    int64_t c_row_step, c_column_step;
} ln_gemm_call;

ln_status ln_gemm_call_read(ln_call *call, ln_gemm_call *out_gemm);

// The product of rows, which are next to each other whatever the rank, with a matrix.
typedef struct ln_linear_call {
    ln_matrix_stack a, b;
    const tl_tensor *bias, *addend; // NULL: none
    ln_activation activation;
    bool is_addend_last;
} ln_linear_call;

ln_status ln_linear_call_read(ln_call *call, ln_linear_call *out_linear);

// ---- einsum: matmul_einsum.c ----

// Letters, and one label for each axis after an ellipsis.
#define LN_EINSUM_MAX_LABELS (52 + TL_MAXDIM)

// Each term is a list of labels, each label a loop. Loops 0 to out_ndim - 1 are those of the
// output, in its order; the others are summed.
typedef struct ln_einsum_call {
    int loop_count;
    int out_ndim;
    int64_t sizes[LN_EINSUM_MAX_LABELS]; // of the loops
    int term_count;
    int64_t (*steps)[LN_EINSUM_MAX_LABELS]; // [term_count]: elements from turn to turn of a loop
} ln_einsum_call;

// `steps` lives as long as the call.
ln_status ln_einsum_call_read(ln_call *call, ln_einsum_call *out_einsum);

LN_CPPEND

#endif
