// SPDX-License-Identifier: Apache-2.0
// Products of matrices, and what sums or compares along axes.

#include "serial/tflite/builder.h"

enum { NO_ACTIVATION = 0 };

// ---- Products ----

static bool is_matrix(ln_tflite_op *op, int width)
{
    const ln_tflite_tensor *t = ln_tflite_input(op, 0);
    return t->ndim == 2 && t->dims[1] == width;
}

// The input as a matrix, as it is stored.
static const char *as_raw_matrix(ln_tflite_op *op, int width)
{
    const char *x = ln_tflite_raw(op, 0);
    if (is_matrix(op, width))
        return x;
    return ln_tflite_reshape(op->b, x, 2, (const int64_t[]){-1, width});
}

// The same as real numbers; quantized elements are moved first.
static const char *as_matrix(ln_tflite_op *op, int width)
{
    const ln_tflite_tensor *t = ln_tflite_input(op, 0);
    if (is_matrix(op, width))
        return ln_tflite_real(op, 0);
    if (t->scales.count > 1)
        ln_tflite_problem(op, NULL, "'%s' has %zu scales in place of one", t->name,
                          t->scales.count);
    return ln_tflite_dequantize(op, as_raw_matrix(op, width), ln_tflite_input(op, 0), 0);
}

// The dimensions of the output, of which one may be open; false with a problem if more are.
static bool find_dims(ln_tflite_op *op, const ln_tflite_tensor *in, int width, int64_t *dims)
{
    int open = 0;
    for (int i = 0; i < in->ndim - 1; i++) {
        dims[i] = in->dims[i];
        open += dims[i] < 0;
    }
    dims[in->ndim - 1] = width;
    if (open > 1)
        ln_tflite_problem(op, NULL, "%d dimensions of '%s' are not known", open, in->name);
    return open <= 1;
}

void ln_tflite_read_fully_connected(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *weights = ln_tflite_input(op, 1), *in = ln_tflite_input(op, 0);
    if (ln_tflite_small_option(op, 1) != 0)
        ln_tflite_problem(op, NULL, "its weights are shuffled, which is not read");
    const int64_t activation = ln_tflite_small_option(op, 0);
    const bool is_fixed = ln_tflite_is_fixed_product(op, 0, 1, 2, activation);
    const char *w = is_fixed ? ln_tflite_raw_weights(op, 1, 2, (const int[]){0, 1}, 0)
                             : ln_tflite_weights(op, 1, 2, (const int[]){0, 1}, 0);
    if (!ln_tflite_is_going(b))
        return;
    if (weights->dims[1] < 1)
        ln_tflite_problem(op, NULL, "its weights '%s' have rows of %d", weights->name,
                          weights->dims[1]);
    const char *y;
    if (is_fixed) {
        const char *x = as_raw_matrix(op, weights->dims[1]);
        y = ln_tflite_sums(op, "quant_matmul", x, w, ln_tflite_sum_bias(op, 2));
    } else {
        const char *x = as_matrix(op, weights->dims[1]);
        x = ln_tflite_dynamic(op, x, 0, 1, 2, ln_tflite_small_option(op, 3) == 0);
        const char *bias = ln_tflite_bias(op, 2, 0, 1);
        y = ln_tflite_binary(b, "Gemm", x, w);
        if (bias)
            ln_tflite_in(b, bias);
    }
    ln_tflite_number(b, "transB", 1);
    if (is_fixed)
        y = ln_tflite_rescaled_sums(op, y, 0, 1, 2, 1, activation);
    bool keeps_dims = ln_tflite_small_option(op, 2) != 0 && in->ndim > 0 && in->ndim != 2;
    int64_t dims[TL_MAXDIM];
    keeps_dims = keeps_dims && find_dims(op, in, weights->dims[0], dims);
    if (is_fixed)
        ln_tflite_give_raw(op, 0, keeps_dims ? ln_tflite_reshape(b, y, in->ndim, dims) : y);
    else if (keeps_dims)
        ln_tflite_give_reshaped(op, y, activation, in->ndim, dims);
    else
        ln_tflite_give(op, 0, y, activation);
}

// Input i as it is stored, with its last two axes exchanged; those are where `axis` is then.
static const char *last_two_swapped(ln_tflite_op *op, size_t i, int *axis)
{
    const char *x = ln_tflite_raw(op, i);
    const ln_tflite_tensor *t = ln_tflite_input(op, i);
    *axis = t->axis;
    if (!ln_tflite_is_going(op->b) || t->ndim < 2)
        return x;
    int perm[TL_MAXDIM];
    for (int k = 0; k < t->ndim; k++)
        perm[k] = k;
    perm[t->ndim - 1] = t->ndim - 2;
    perm[t->ndim - 2] = t->ndim - 1;
    if (t->axis >= 0 && t->axis < t->ndim)
        *axis = perm[t->axis];
    return ln_tflite_transpose(op->b, x, t->ndim, perm);
}

static const char *matrix(ln_tflite_op *op, size_t i)
{
    int axis;
    if (!ln_tflite_small_option(op, (unsigned)i))
        return ln_tflite_real(op, i);
    const char *x = last_two_swapped(op, i, &axis);
    return ln_tflite_dequantize(op, x, ln_tflite_input(op, i), axis);
}

static const char *matrix_of_integers(ln_tflite_op *op, size_t i)
{
    int axis;
    return ln_tflite_small_option(op, (unsigned)i) ? last_two_swapped(op, i, &axis)
                                                   : ln_tflite_raw(op, i);
}

void ln_tflite_read_batch_matmul(ln_tflite_op *op)
{
    if (ln_tflite_is_fixed_matmul(op)) {
        const char *left = matrix_of_integers(op, 0);
        ln_tflite_read_fixed_matmul(op, left, matrix_of_integers(op, 1));
        return;
    }
    const char *x = matrix(op, 0), *y = matrix(op, 1);
    ln_tflite_give(op, 0, ln_tflite_binary(op->b, "MatMul", x, y), NO_ACTIVATION);
}

// ---- Axes ----

const char *ln_tflite_reduced(ln_tflite_op *op, const char *optype, const char *x)
{
    ln_tflite_builder *b = op->b;
    const char *y = ln_tflite_binary(b, optype, x, ln_tflite_axes(op, 1));
    ln_tflite_number(b, "keepdims", ln_tflite_small_option(op, 0) != 0);
    ln_tflite_number(b, "noop_with_empty_axes", 1);
    return y;
}

void ln_tflite_read_reduce(ln_tflite_op *op)
{
    if (ln_tflite_read_fixed_reduction(op) || ln_tflite_read_fixed_factors(op))
        return;
    const char *x = ln_tflite_real(op, 0);
    ln_tflite_give(op, 0, ln_tflite_reduced(op, op->builtin->optype, x), NO_ACTIVATION);
}

void ln_tflite_read_reduce_flags(ln_tflite_op *op)
{
    ln_tflite_give_raw(op, 0, ln_tflite_reduced(op, op->builtin->optype, ln_tflite_raw(op, 0)));
}

void ln_tflite_read_cumsum(ln_tflite_op *op)
{
    const char *x = ln_tflite_real(op, 0), *axis = ln_tflite_raw(op, 1);
    const char *y = ln_tflite_binary(op->b, "CumSum", x, axis);
    ln_tflite_number(op->b, "exclusive", ln_tflite_small_option(op, 0) != 0);
    ln_tflite_number(op->b, "reverse", ln_tflite_small_option(op, 1) != 0);
    ln_tflite_give(op, 0, y, NO_ACTIVATION);
}

static const char *along_last(ln_tflite_op *op, const char *optype, const char *x)
{
    const char *y = ln_tflite_unary(op->b, optype, x);
    ln_tflite_number(op->b, "axis", -1);
    return y;
}

void ln_tflite_read_softmax(ln_tflite_op *op)
{
    float beta = ln_tflite_float_option(op, 0, 0);
    if (ln_tflite_read_int16_softmax(op, beta) || ln_tflite_read_byte_softmax(op, beta))
        return;
    const char *x = ln_tflite_real(op, 0);
    if (beta != 1) {
        const char *factor = ln_tflite_scalar(op->b, TL_FLOAT, beta);
        x = ln_tflite_binary(op->b, "Mul", x, factor);
    }
    ln_tflite_give(op, 0, along_last(op, "Softmax", x), NO_ACTIVATION);
}

void ln_tflite_read_log_softmax(ln_tflite_op *op)
{
    ln_tflite_give(op, 0, along_last(op, "LogSoftmax", ln_tflite_real(op, 0)), NO_ACTIVATION);
}

// Vectors shorter than a millionth are not made longer than that allows.
void ln_tflite_read_l2_normalization(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_real(op, 0);
    const char *axes = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    const char *length = ln_tflite_binary(b, "ReduceL2", x, axes);
    const char *least = ln_tflite_scalar(b, TL_FLOAT, 1e-6F);
    length = ln_tflite_binary(b, "Max", length, least);
    const char *y = ln_tflite_binary(b, "Div", x, length);
    ln_tflite_give(op, 0, y, ln_tflite_small_option(op, 0));
}

void ln_tflite_read_arg(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_raw(op, 0);
    int64_t axis = 0;
    size_t count;
    if (!ln_tflite_known(op, 1, "axis", 1, &axis, &count))
        return;
    const char *y = ln_tflite_unary(b, op->builtin->optype, x);
    ln_tflite_number(b, "axis", ln_tflite_axis(op, axis, ln_tflite_input(op, 0)->ndim));
    ln_tflite_number(b, "keepdims", 0);
    if (ln_tflite_output(op, 0)->dtype != TL_INT64)
        y = ln_tflite_cast(b, y, ln_tflite_output(op, 0)->dtype);
    ln_tflite_give_raw(op, 0, y);
}
