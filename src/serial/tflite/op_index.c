// SPDX-License-Identifier: Apache-2.0
// Operators that put elements at places which are computed: scattering, sums of segments, lists of
// places.

#include <float.h>

#include "serial/tflite/builder.h"

// Each index in a row of its own, as ScatterND takes them.
static const char *as_rows(ln_tflite_builder *b, const char *indices)
{
    return ln_tflite_binary(b, "Unsqueeze", indices, ln_tflite_ints(b, 1, (const int64_t[]){-1}));
}

static const char *scatter(ln_tflite_builder *b, const char *into, const char *at, const char *what,
                           const char *reduction)
{
    const char *y = ln_tflite_ternary(b, "ScatterND", into, at, what);
    ln_tflite_string(b, "reduction", reduction);
    return y;
}

// What falls to one place is added.
void ln_tflite_read_scatter_nd(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *at = ln_tflite_dims(op, 0), *updates = ln_tflite_raw(op, 1);
    const char *shape = ln_tflite_dims(op, 2);
    const char *zero = ln_tflite_scalar(b, ln_tflite_input(op, 1)->dtype, 0);
    const char *zeros = ln_tflite_binary(b, "Expand", zero, shape);
    ln_tflite_give_raw(op, 0, scatter(b, zeros, at, updates, "add"));
}

// Places are a number, a list of them or a matrix; there may be one value for all.
void ln_tflite_read_sparse_to_dense(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *at = ln_tflite_dims(op, 0), *shape = ln_tflite_dims(op, 1);
    const char *values = ln_tflite_raw(op, 2), *other = ln_tflite_raw(op, 3);
    const ln_tflite_tensor *places = ln_tflite_input(op, 0);
    int64_t count = places->ndim == 0 ? 1 : places->dims[0];
    if (places->ndim < 2)
        at = ln_tflite_reshape(b, at, 2, (const int64_t[]){-1, 1});
    if (count < 0)
        ln_tflite_problem(op, NULL, "'%s' has an unknown number of places", places->name);
    const char *into = ln_tflite_binary(b, "Expand", other, shape);
    values = ln_tflite_filled(b, values, 1, &count);
    ln_tflite_give_raw(op, 0, scatter(b, into, at, values, "none"));
}

// ---- Segments ----

// The dimensions of data with `count`, one element, in place of the first `gone`.
static const char *dims_after(ln_tflite_builder *b, const char *count, const char *data, int gone)
{
    const char *shape = ln_tflite_unary(b, "Shape", data);
    ln_tflite_number(b, "start", gone);
    count = ln_tflite_reshape(b, count, 1, (const int64_t[]){1});
    return ln_tflite_along(b, "Concat", count, shape, 0);
}

// Segments are in order, so that the last one says how many there are.
void ln_tflite_read_segment_sum(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_raw(op, 0), *ids = ln_tflite_dims(op, 1);
    const char *last = ln_tflite_scalar(b, TL_INT64, -1), *one = ln_tflite_scalar(b, TL_INT64, 1);
    const char *count = ln_tflite_binary(b, "Add", ln_tflite_along(b, "Gather", ids, last, 0), one);
    const char *zero = ln_tflite_scalar(b, ln_tflite_input(op, 0)->dtype, 0);
    const char *dims = dims_after(b, count, x, 1);
    const char *zeros = ln_tflite_binary(b, "Expand", zero, dims);
    ln_tflite_give_raw(op, 0, scatter(b, zeros, as_rows(b, ids), x, "add"));
}

// Elements of segments below 0 go to a row past the end, which is cut off.
void ln_tflite_read_unsorted_segment(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    tl_dtype dtype = ln_tflite_input(op, 0)->dtype;
    const char *kind = op->builtin->name + sizeof "UNSORTED_SEGMENT_" - 1, *reduction = "add";
    double start = 0;
    if (kind[0] == 'P') {
        reduction = "mul";
        start = 1;
    } else if (kind[0] == 'M') {
        bool is_max = kind[1] == 'A';
        reduction = is_max ? "max" : "min";
        if (dtype == TL_FLOAT)
            start = is_max ? -(double)FLT_MAX : (double)FLT_MAX;
        else if (dtype == TL_INT32)
            start = is_max ? INT32_MIN : INT32_MAX;
        else
            ln_tflite_problem(op, NULL, "it compares %s, which is not read", tl_dtype_title(dtype));
    }
    const char *x = ln_tflite_raw(op, 0), *ids = ln_tflite_dims(op, 1);
    const char *count = ln_tflite_reshape(b, ln_tflite_dims(op, 2), 1, (const int64_t[]){1});
    const char *zero = ln_tflite_scalar(b, TL_INT64, 0), *one = ln_tflite_scalar(b, TL_INT64, 1);
    const char *is_none = ln_tflite_binary(b, "Less", ids, zero);
    ids = ln_tflite_ternary(b, "Where", is_none, count, ids);
    const char *more = ln_tflite_binary(b, "Add", count, one);
    const char *dims = dims_after(b, more, x, ln_tflite_input(op, 1)->ndim);
    const char *into = ln_tflite_binary(b, "Expand", ln_tflite_scalar(b, dtype, start), dims);
    const char *y = scatter(b, into, as_rows(b, ids), x, reduction);
    const char *from = ln_tflite_ints(b, 1, (const int64_t[]){0});
    y = ln_tflite_ternary(b, "Slice", y, from, count);
    ln_tflite_in(b, from); // of axis 0
    ln_tflite_give_raw(op, 0, y);
}

// ---- A window ----

// Places in the tensor as a list, of a window at the front of it.
static const char *window(ln_tflite_builder *b, int ndim, const int *dims, const int64_t *strides)
{
    const char *places = ln_tflite_scalar(b, TL_INT64, 0);
    for (int i = 0; i < ndim; i++) {
        int64_t shape[TL_MAXDIM];
        for (int k = 0; k < ndim; k++)
            shape[k] = k == i ? dims[i] : 1;
        const char *steps = ln_tflite_steps(b, dims[i], strides[i]);
        places = ln_tflite_binary(b, "Add", places, ln_tflite_reshape(b, steps, ndim, shape));
    }
    return ln_tflite_reshape(b, places, 1, (const int64_t[]){-1});
}

// The window is moved back to where it fits.
void ln_tflite_read_dynamic_update_slice(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *part = ln_tflite_input(op, 1);
    int64_t strides[TL_MAXDIM], most[TL_MAXDIM], dims[TL_MAXDIM];
    bool is_known = in->ndim == part->ndim && in->ndim > 0;
    double count = 1;
    for (int i = in->ndim; is_known && i-- > 0;) {
        is_known = in->dims[i] >= part->dims[i] && part->dims[i] > 0;
        strides[i] = (int64_t)count;
        most[i] = in->dims[i] - part->dims[i];
        dims[i] = in->dims[i];
        count *= in->dims[i];
        is_known = is_known && count <= INT32_MAX;
    }
    if (!is_known) {
        ln_tflite_problem(op, NULL, "'%s' is no window of known size in '%s'", part->name,
                          in->name);
        return;
    }
    size_t rank = (size_t)in->ndim;
    const int64_t flat[] = {-1};
    bool is_moved = ln_tflite_is_moved(op, 0, 2);
    const char *x = ln_tflite_moved(op, 0, is_moved), *y = ln_tflite_moved(op, 1, is_moved);
    const char *zero = ln_tflite_scalar(b, TL_INT64, 0);
    const char *at =
        ln_tflite_binary(b, "Min", ln_tflite_dims(op, 2), ln_tflite_ints(b, rank, most));
    at = ln_tflite_binary(b, "Max", at, zero);
    at = ln_tflite_binary(b, "Mul", at, ln_tflite_ints(b, rank, strides));
    at = ln_tflite_binary(b, "ReduceSum", at, ln_tflite_ints(b, 1, (const int64_t[]){0}));
    at = ln_tflite_binary(b, "Add", at, window(b, part->ndim, part->dims, strides));
    x = ln_tflite_reshape(b, x, 1, flat);
    y = ln_tflite_reshape(b, y, 1, flat);
    y = ln_tflite_ternary(b, "ScatterElements", x, at, y);
    ln_tflite_give_moved(op, 0, ln_tflite_reshape(b, y, in->ndim, dims), is_moved);
}

// ---- Chosen ----

// Rows of a table, which may be of bytes while the output is of floats.
void ln_tflite_read_embedding_lookup(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_tensor *table = ln_tflite_input(op, 1);
    bool is_moved = ln_tflite_is_moved(op, 1, 1), is_late = !is_moved && table->scales.count == 1;
    const char *x = is_moved || is_late ? ln_tflite_raw(op, 1) : ln_tflite_real(op, 1);
    const char *y = ln_tflite_along(b, "Gather", x, ln_tflite_raw(op, 0), 0);
    if (is_late)
        y = ln_tflite_dequantize(op, y, table, 0);
    ln_tflite_give_moved(op, 0, y, is_moved);
}

// Places where the condition holds, one in each row.
void ln_tflite_read_where(ln_tflite_op *op)
{
    const char *places = ln_tflite_unary(op->b, "NonZero", ln_tflite_raw(op, 0));
    ln_tflite_give_raw(op, 0, ln_tflite_transpose(op->b, places, 2, (const int[]){1, 0}));
}

// In the order in which elements are met.
void ln_tflite_read_unique(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *y = ln_tflite_unary(b, "Unique", ln_tflite_raw(op, 0));
    ln_tflite_out(b); // where each is met first
    const char *which = ln_tflite_out(b);
    ln_tflite_number(b, "sorted", 0);
    ln_tflite_give_raw(op, 0, y);
    ln_tflite_give_raw(op, 1, ln_tflite_cast(b, which, ln_tflite_output(op, 1)->dtype));
}

// An index below 0 names nothing.
void ln_tflite_read_one_hot(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const int64_t one[] = {1};
    const char *indices = ln_tflite_dims(op, 0), *depth = ln_tflite_dims(op, 1);
    const char *on = ln_tflite_raw(op, 2), *off = ln_tflite_raw(op, 3);
    const char *is_none = ln_tflite_binary(b, "Less", indices, ln_tflite_scalar(b, TL_INT64, 0));
    indices = ln_tflite_ternary(b, "Where", is_none, depth, indices);
    off = ln_tflite_reshape(b, off, 1, one);
    const char *values = ln_tflite_along(b, "Concat", off, ln_tflite_reshape(b, on, 1, one), 0);
    const char *y = ln_tflite_ternary(b, "OneHot", indices, depth, values);
    ln_tflite_number(b, "axis", (double)ln_tflite_option(op, 0, 0));
    ln_tflite_give_raw(op, 0, y);
}

// Of a matrix of known size: on the diagonal.
static const char *diagonal(ln_tflite_builder *b, int rows, int columns)
{
    const char *row = ln_tflite_steps(b, rows, 1), *column = ln_tflite_steps(b, columns, 1);
    row = ln_tflite_reshape(b, row, 2, (const int64_t[]){-1, 1});
    return ln_tflite_binary(b, "Equal", row, column);
}

void ln_tflite_read_matrix_diag(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int size = in->ndim > 0 ? in->dims[in->ndim - 1] : -1;
    if (size < 0)
        ln_tflite_problem(op, NULL, "the last dimension of '%s' is not known", in->name);
    const char *x = as_rows(b, ln_tflite_raw(op, 0)), *is_on = diagonal(b, size, size);
    const char *zero = ln_tflite_scalar(b, in->dtype, 0);
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_on, x, zero));
}

void ln_tflite_read_matrix_set_diag(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int rows = in->ndim > 1 ? in->dims[in->ndim - 2] : -1;
    int columns = in->ndim > 1 ? in->dims[in->ndim - 1] : -1;
    if (rows < 0 || columns < 0)
        ln_tflite_problem(op, NULL, "the matrices '%s' have no known size", in->name);
    // As many as the shorter side has, along it.
    const int64_t axis = rows <= columns ? -1 : -2;
    const char *x = ln_tflite_raw(op, 0), *put = ln_tflite_raw(op, 1);
    put = ln_tflite_binary(b, "Unsqueeze", put, ln_tflite_ints(b, 1, &axis));
    const char *is_on = diagonal(b, rows, columns);
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(b, "Where", is_on, put, x));
}

// ---- Boxes ----

// Boxes that overlap by the threshold itself go too, which ONNX keeps.
static const char *least_below(ln_tflite_op *op, size_t i)
{
    ln_tflite_builder *b = op->b;
    const char *share = ln_tflite_reshape(b, ln_tflite_raw(op, i), 1, (const int64_t[]){1});
    const char *bits = ln_tflite_unary(b, "BitCast", share);
    ln_tflite_string(b, "to", tl_dtype_name(TL_INT32));
    bits = ln_tflite_binary(b, "Sub", bits, ln_tflite_scalar(b, TL_INT32, 1));
    bits = ln_tflite_binary(b, "Max", bits, ln_tflite_scalar(b, TL_INT32, 0));
    share = ln_tflite_unary(b, "BitCast", bits);
    ln_tflite_string(b, "to", tl_dtype_name(TL_FLOAT));
    return share;
}

// Lists are as long as the most that may be chosen, with zeros at the end.
void ln_tflite_read_non_max_suppression(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_soft = op->builtin->name[sizeof "NON_MAX_SUPPRESSION_V" - 1] == '5';
    ln_tflite_tensor *sigma = is_soft ? ln_tflite_input(op, 5) : NULL;
    if (is_soft && (!sigma->is_const || sigma->data.count != 4 ||
                    ln_flat_float_at(b->file, sigma->data, 0) != 0))
        ln_tflite_problem(op, NULL, "it lowers scores of boxes that overlap: sigma is not 0");
    int64_t most = 0;
    size_t count;
    const int64_t one[] = {1}, last[] = {2}, past[] = {3}, second[] = {1}, flat[] = {-1};
    if (!ln_tflite_known(op, 2, "number of boxes", 1, &most, &count))
        return;
    if (most < 0 || most > INT32_MAX)
        ln_tflite_problem(op, NULL, "it chooses %lld boxes", (long long)most);
    const char *boxes = ln_tflite_raw(op, 0), *scores = ln_tflite_raw(op, 1);
    const int64_t around[] = {0, 1};
    boxes = ln_tflite_binary(b, "Unsqueeze", boxes, ln_tflite_ints(b, 1, around));
    const char *list = scores;
    scores = ln_tflite_binary(b, "Unsqueeze", scores, ln_tflite_ints(b, 2, around));
    const char *share = least_below(op, 3);
    const char *least = ln_tflite_reshape(b, ln_tflite_raw(op, 4), 1, one);
    const char *number = ln_tflite_ints(b, 1, &most);
    const char *chosen = ln_tflite_ternary(b, "NonMaxSuppression", boxes, scores, number);
    ln_tflite_in(b, share);
    ln_tflite_in(b, least);
    chosen = ln_tflite_ternary(b, "Slice", chosen, ln_tflite_ints(b, 1, last),
                               ln_tflite_ints(b, 1, past));
    ln_tflite_in(b, ln_tflite_ints(b, 1, second));
    chosen = ln_tflite_reshape(b, chosen, 1, flat);
    const char *found = ln_tflite_unary(b, "Size", chosen);
    const char *zero = ln_tflite_scalar(b, TL_INT64, 0), *step = ln_tflite_scalar(b, TL_INT64, 1);
    const char *at = as_rows(b, ln_tflite_ternary(b, "Range", zero, found, step));
    const char *into = ln_tflite_filled(b, zero, 1, &most);
    const char *y = scatter(b, into, at, chosen, "none");
    ln_tflite_give_raw(op, 0, ln_tflite_cast(b, y, TL_INT32));
    if (is_soft) {
        into = ln_tflite_filled(b, ln_tflite_scalar(b, TL_FLOAT, 0), 1, &most);
        const char *of = ln_tflite_along(b, "Gather", list, chosen, 0);
        ln_tflite_give_raw(op, 1, scatter(b, into, at, of, "none"));
    }
    ln_tflite_give_raw(op, is_soft ? 2 : 1, ln_tflite_cast(b, found, TL_INT32));
}
