// SPDX-License-Identifier: Apache-2.0
// Shapes of matmul, linear and Gemm, and of what becomes them.

#include "op/onnx/matmul.h"
#include "op/functions.h"

#include <limits.h>
#include <string.h>

// ---- Stacks of matrices ----

// An operand with its batch axes. A vector is a row on the left, a column on the right.
typedef struct operand {
    ln_matrix_stack matrix;
    bool is_vector;
    int batch_ndim;
    int batch_dims[TL_MAXDIM];
    int64_t batch_steps[TL_MAXDIM];
} operand;

static void row_major_steps(const tl_tensor *t, int64_t *steps)
{
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        steps[d] = step;
        step *= t->dims[d];
    }
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void transpose(ln_matrix_stack *matrix)
{
    swap(&matrix->rows, &matrix->columns);
    swap(&matrix->row_step, &matrix->column_step);
}

static void read_vector(const tl_tensor *t, bool is_left, operand *out)
{
    out->is_vector = true;
    out->matrix =
        (ln_matrix_stack){.rows = 1, .columns = t->dims[0], .row_step = 0, .column_step = 1};
    if (!is_left)
        transpose(&out->matrix);
}

// With `is_batch_first` the rows are on the first axis, and the batch on those between.
static void read_stack(const tl_tensor *t, bool is_transposed, bool is_batch_first, operand *out)
{
    int64_t steps[TL_MAXDIM];
    row_major_steps(t, steps);
    int row = is_batch_first ? 0 : t->ndim - 2, first = is_batch_first ? 1 : 0;
    out->matrix = (ln_matrix_stack){.rows = t->dims[row],
                                    .columns = t->dims[t->ndim - 1],
                                    .row_step = steps[row],
                                    .column_step = 1};
    if (is_transposed)
        transpose(&out->matrix);
    out->batch_ndim = t->ndim - 2;
    for (int d = 0; d < out->batch_ndim; d++) {
        out->batch_dims[d] = t->dims[first + d];
        out->batch_steps[d] = steps[first + d];
    }
}

static ln_status read_operand(ln_call *call, int index, bool is_transposed, bool is_batch_first,
                              operand *out)
{
    const tl_tensor *t = ln_call_in(call, index);
    *out = (operand){0};
    if (t->ndim == 0)
        return ln_call_fail(call, LN_INVALID, "input %d is a scalar", index);
    if (t->ndim == 1) // there is nothing to transpose
        read_vector(t, index == 0, out);
    else
        read_stack(t, is_transposed, is_batch_first, out);
    return LN_OK;
}

// Broadcasts the batch axes, last to last.
static ln_status join_batches(ln_call *call, const operand *a, const operand *b,
                              ln_matmul_call *matmul)
{
    int ndim = a->batch_ndim > b->batch_ndim ? a->batch_ndim : b->batch_ndim;
    matmul->batch_ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        int in_a = d - (ndim - a->batch_ndim), in_b = d - (ndim - b->batch_ndim);
        int dim_a = in_a < 0 ? 1 : a->batch_dims[in_a], dim_b = in_b < 0 ? 1 : b->batch_dims[in_b];
        if (dim_a != dim_b && dim_a != 1 && dim_b != 1)
            return ln_call_fail(call, LN_INVALID, "batch axes of %d and %d do not broadcast", dim_a,
                                dim_b);
        matmul->batch_dims[d] = dim_a == 1 ? dim_b : dim_a;
        matmul->a.steps[d] = in_a < 0 || dim_a == 1 ? 0 : a->batch_steps[in_a];
        matmul->b.steps[d] = in_b < 0 || dim_b == 1 ? 0 : b->batch_steps[in_b];
    }
    return LN_OK;
}

ln_status ln_matmul_call_read(ln_call *call, ln_matmul_call *out_matmul)
{
    return ln_matmul_pair_read(call, 0, 1, out_matmul);
}

ln_status ln_matmul_pair_read(ln_call *call, int a_index, int b_index, ln_matmul_call *out_matmul)
{
    operand a, b;
    LN_TRY(read_operand(call, a_index, ln_call_int(call, "transA") != 0,
                        ln_call_int(call, "transBatchA") != 0, &a));
    LN_TRY(read_operand(call, b_index, ln_call_int(call, "transB") != 0,
                        ln_call_int(call, "transBatchB") != 0, &b));
    if (a.matrix.columns != b.matrix.rows)
        return ln_call_fail(call, LN_INVALID, "%lld columns times %lld rows",
                            (long long)a.matrix.columns, (long long)b.matrix.rows);

    *out_matmul = (ln_matmul_call){.a = a.matrix, .b = b.matrix};
    LN_TRY(join_batches(call, &a, &b, out_matmul));
    for (int d = 0; d < out_matmul->batch_ndim; d++)
        out_matmul->dims[d] = out_matmul->batch_dims[d];
    out_matmul->ndim = out_matmul->batch_ndim;
    if (!a.is_vector)
        out_matmul->dims[out_matmul->ndim++] = a.matrix.rows;
    if (!b.is_vector)
        out_matmul->dims[out_matmul->ndim++] = b.matrix.columns;
    return LN_OK;
}

ln_status ln_infer_matmul(ln_call *call)
{
    ln_matmul_call matmul;
    LN_TRY(ln_matmul_call_read(call, &matmul));
    return ln_call_out64(call, 0, ln_call_in(call, 0)->dtype, matmul.ndim, matmul.dims);
}

double ln_macs_matmul(const ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    if (!dst || a->ndim == 0)
        return 0;
    bool is_transposed = a->ndim > 1 && ln_call_int(call, "transA") != 0;
    return (double)dst->len * a->dims[a->ndim - (is_transposed ? 2 : 1)];
}

// ---- Gemm ----

static ln_status read_matrix(ln_call *call, int index, const char *param, ln_matrix_stack *out)
{
    const tl_tensor *t = ln_call_in(call, index);
    if (t->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "input %d is of rank %d, not a matrix", index,
                            t->ndim);
    *out = (ln_matrix_stack){
        .rows = t->dims[0], .columns = t->dims[1], .row_step = t->dims[1], .column_step = 1};
    if (ln_call_int(call, param) != 0)
        transpose(out);
    return LN_OK;
}

static ln_status read_addend(ln_call *call, ln_gemm_call *gemm)
{
    const tl_tensor *c = gemm->c;
    if (!c)
        return LN_OK;
    int64_t rows = c->ndim > 1 ? c->dims[c->ndim - 2] : 1;
    int64_t columns = c->ndim > 0 ? c->dims[c->ndim - 1] : 1;
    bool fits = c->ndim <= 2 && (rows == 1 || rows == gemm->a.rows) &&
                (columns == 1 || columns == gemm->b.columns);
    if (!fits)
        return ln_call_fail(call, LN_INVALID,
                            "C of rank %d, %lld x %lld, does not broadcast to %lld x %lld", c->ndim,
                            (long long)rows, (long long)columns, (long long)gemm->a.rows,
                            (long long)gemm->b.columns);
    gemm->c_row_step = rows == 1 ? 0 : columns;
    gemm->c_column_step = columns == 1 ? 0 : 1;
    return LN_OK;
}

ln_status ln_gemm_call_read(ln_call *call, ln_gemm_call *out_gemm)
{
    *out_gemm = (ln_gemm_call){.c = ln_call_in(call, 2)};
    LN_TRY(read_matrix(call, 0, "transA", &out_gemm->a));
    LN_TRY(read_matrix(call, 1, "transB", &out_gemm->b));
    if (out_gemm->a.columns != out_gemm->b.rows)
        return ln_call_fail(call, LN_INVALID, "%lld columns times %lld rows",
                            (long long)out_gemm->a.columns, (long long)out_gemm->b.rows);
    return read_addend(call, out_gemm);
}

ln_status ln_infer_gemm(ln_call *call)
{
    ln_gemm_call gemm;
    LN_TRY(ln_gemm_call_read(call, &gemm));
    LN_TRY(ln_activation_read(call, &(ln_activation){0}));
    int64_t dims[] = {gemm.a.rows, gemm.b.columns};
    return ln_call_out64(call, 0, ln_call_in(call, 0)->dtype, 2, dims);
}

double ln_macs_gemm(const ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    return dst ? (double)dst->len * a->dims[ln_call_int(call, "transA") ? 0 : 1] : 0;
}

// ---- Rows and a matrix ----

static ln_status check_linear(ln_call *call, const ln_linear_call *linear)
{
    const char *add = ln_call_string(call, "add");
    int64_t len = linear->a.rows * linear->b.columns;
    if (linear->a.columns != linear->b.rows)
        return ln_call_fail(call, LN_INVALID, "%lld columns times %lld rows",
                            (long long)linear->a.columns, (long long)linear->b.rows);
    if (linear->bias && linear->bias->len != linear->b.columns)
        return ln_call_fail(call, LN_INVALID, "there are %d biases instead of %lld",
                            linear->bias->len, (long long)linear->b.columns);
    if (linear->addend && linear->addend->len != len)
        return ln_call_fail(call, LN_INVALID, "the addend has %d elements instead of %lld",
                            linear->addend->len, (long long)len);
    if (strcmp(add, "first") != 0 && strcmp(add, "last") != 0)
        return ln_call_fail(call, LN_INVALID, "add should be first or last, but is '%s'", add);
    return LN_OK;
}

ln_status ln_linear_call_read(ln_call *call, ln_linear_call *out_linear)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *out_linear = (ln_linear_call){.bias = ln_call_in(call, 2), .addend = ln_call_in(call, 3)};
    if (src->ndim == 0)
        return ln_call_fail(call, LN_INVALID, "src is a scalar");
    int64_t columns = src->dims[src->ndim - 1], rows = 1;
    for (int d = 0; d < src->ndim - 1; d++)
        rows *= src->dims[d];
    out_linear->a =
        (ln_matrix_stack){.rows = rows, .columns = columns, .row_step = columns, .column_step = 1};
    LN_TRY(read_matrix(call, 1, "transB", &out_linear->b));
    LN_TRY(ln_activation_read(call, &out_linear->activation));
    LN_TRY(check_linear(call, out_linear));
    out_linear->is_addend_last = strcmp(ln_call_string(call, "add"), "last") == 0;
    return LN_OK;
}

ln_status ln_infer_linear(ln_call *call)
{
    ln_linear_call linear;
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    LN_TRY(ln_linear_call_read(call, &linear));
    for (int d = 0; d < src->ndim - 1; d++)
        dims[d] = src->dims[d];
    dims[src->ndim - 1] = linear.b.columns;
    return ln_call_out64(call, 0, src->dtype, src->ndim, dims);
}

double ln_macs_linear(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    return dst && src->ndim > 0 ? (double)dst->len * src->dims[src->ndim - 1] : 0;
}
