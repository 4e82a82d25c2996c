// SPDX-License-Identifier: Apache-2.0
// Operators that compute each element from those in its place.

#include "serial/tflite/builder.h"

#include <string.h>

enum { NO_ACTIVATION = 0 };

static const char *real_pair(ln_tflite_op *op, const char *optype)
{
    const char *x = ln_tflite_real(op, 0), *y = ln_tflite_real(op, 1);
    return ln_tflite_binary(op->b, optype, x, y);
}

// The fused activation is the first option.
void ln_tflite_read_arithmetic(ln_tflite_op *op)
{
    const int64_t activation = ln_tflite_small_option(op, 0);
    const char *type = op->builtin->optype;
    if (strcmp(type, "Div") == 0 && ln_tflite_read_fixed_quotient(op, activation))
        return;
    if (strcmp(type, "Div") != 0 && ln_tflite_is_fixed(op, 2, activation)) {
        if (strcmp(type, "Mul") == 0)
            ln_tflite_read_fixed_product(op, activation);
        else
            ln_tflite_read_fixed_sum(op, activation);
        return;
    }
    ln_tflite_give(op, 0, real_pair(op, type), activation);
}

void ln_tflite_read_binary(ln_tflite_op *op)
{
    ln_tflite_give(op, 0, real_pair(op, op->builtin->optype), NO_ACTIVATION);
}

void ln_tflite_read_compare(ln_tflite_op *op)
{
    const char *y = ln_tflite_fixed_comparison(op);
    if (!y)
        y = real_pair(op, op->builtin->optype);
    if (op->builtin->name[0] == 'N') // NOT_EQUAL
        y = ln_tflite_unary(op->b, "Not", y);
    ln_tflite_give_raw(op, 0, y);
}

void ln_tflite_read_squared_difference(ln_tflite_op *op)
{
    if (ln_tflite_read_fixed_squared_difference(op))
        return;
    const char *d = real_pair(op, "Sub");
    ln_tflite_give(op, 0, ln_tflite_binary(op->b, "Mul", d, d), NO_ACTIVATION);
}

static bool is_integer(ln_tflite_op *op)
{
    tl_dtype dtype = ln_tflite_input(op, 0)->dtype;
    return dtype == TL_INT32 || dtype == TL_INT64 || dtype == TL_INT16 || dtype == TL_INT8;
}

// Rounded down, which ONNX's quotient of integers is not: what is left has the divisor's sign.
void ln_tflite_read_floor_div(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_raw(op, 0), *y = ln_tflite_raw(op, 1);
    if (is_integer(op)) {
        const char *whole = ln_tflite_binary(b, "Sub", x, ln_tflite_binary(b, "Mod", x, y));
        ln_tflite_give_raw(op, 0, ln_tflite_binary(b, "Div", whole, y));
    } else {
        ln_tflite_give_raw(op, 0, ln_tflite_unary(b, "Floor", ln_tflite_binary(b, "Div", x, y)));
    }
}

void ln_tflite_read_floor_mod(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_raw(op, 0), *y = ln_tflite_raw(op, 1);
    if (is_integer(op)) {
        ln_tflite_give_raw(op, 0, ln_tflite_binary(b, "Mod", x, y));
        return;
    }
    const char *count = ln_tflite_unary(b, "Floor", ln_tflite_binary(b, "Div", x, y));
    const char *whole = ln_tflite_binary(b, "Mul", count, y);
    ln_tflite_give_raw(op, 0, ln_tflite_binary(b, "Sub", x, whole));
}

// Constants are dense as soon as they are read.
void ln_tflite_read_densify(ln_tflite_op *op)
{
    ln_tflite_give_raw(op, 0, ln_tflite_unary(op->b, "Identity", ln_tflite_raw(op, 0)));
}

void ln_tflite_read_unary(ln_tflite_op *op)
{
    if (ln_tflite_read_fixed_function(op) || ln_tflite_read_byte_hard_swish(op))
        return;
    const char *x = ln_tflite_real(op, 0);
    ln_tflite_give(op, 0, ln_tflite_unary(op->b, op->builtin->optype, x), NO_ACTIVATION);
}

void ln_tflite_read_relu(ln_tflite_op *op)
{
    if (!ln_tflite_read_fixed_relu(op))
        ln_tflite_read_unary(op);
}

void ln_tflite_read_abs(ln_tflite_op *op)
{
    if (ln_tflite_is_fixed(op, 1, NO_ACTIVATION))
        ln_tflite_read_fixed_abs(op);
    else
        ln_tflite_read_unary(op);
}

void ln_tflite_read_sigmoid(ln_tflite_op *op)
{
    if (!ln_tflite_read_int16_sigmoid(op))
        ln_tflite_read_unary(op);
}

void ln_tflite_read_rsqrt(ln_tflite_op *op)
{
    if (ln_tflite_read_fixed_function(op))
        return;
    const char *root = ln_tflite_unary(op->b, "Sqrt", ln_tflite_real(op, 0));
    ln_tflite_give(op, 0, ln_tflite_unary(op->b, "Reciprocal", root), NO_ACTIVATION);
}

void ln_tflite_read_square(ln_tflite_op *op)
{
    const char *x = ln_tflite_real(op, 0);
    ln_tflite_give(op, 0, ln_tflite_binary(op->b, "Mul", x, x), NO_ACTIVATION);
}

static void clip(ln_tflite_op *op, float low, float high)
{
    if (ln_tflite_read_fixed_relu(op))
        return;
    const char *x = ln_tflite_real(op, 0);
    ln_tflite_give(op, 0, ln_tflite_clip(op->b, x, low, high), NO_ACTIVATION);
}

void ln_tflite_read_relu6(ln_tflite_op *op)
{
    clip(op, 0, 6);
}

void ln_tflite_read_relu_n1_to_1(ln_tflite_op *op)
{
    clip(op, -1, 1);
}

void ln_tflite_read_relu_0_to_1(ln_tflite_op *op)
{
    clip(op, 0, 1);
}

void ln_tflite_read_leaky_relu(ln_tflite_op *op)
{
    const float alpha = ln_tflite_float_option(op, 0, 0);
    if (ln_tflite_is_fixed(op, 1, NO_ACTIVATION)) {
        ln_tflite_read_fixed_leaky_relu(op, alpha);
        return;
    }
    const char *y = ln_tflite_unary(op->b, "LeakyRelu", ln_tflite_real(op, 0));
    ln_tflite_number(op->b, "alpha", alpha);
    ln_tflite_give(op, 0, y, NO_ACTIVATION);
}

void ln_tflite_read_gelu(ln_tflite_op *op)
{
    if (ln_tflite_read_fixed_function(op))
        return;
    const char *y = ln_tflite_unary(op->b, "Gelu", ln_tflite_real(op, 0));
    ln_tflite_string(op->b, "approximate", ln_tflite_small_option(op, 0) ? "tanh" : "none");
    ln_tflite_give(op, 0, y, NO_ACTIVATION);
}

void ln_tflite_read_prelu(ln_tflite_op *op)
{
    if (ln_tflite_is_fixed_prelu(op))
        ln_tflite_read_fixed_prelu(op);
    else
        ln_tflite_give(op, 0, real_pair(op, "PRelu"), NO_ACTIVATION);
}

void ln_tflite_read_add_n(ln_tflite_op *op)
{
    const char *sum = ln_tflite_real(op, 0);
    for (size_t i = 1; i < op->ins.count; i++)
        sum = ln_tflite_binary(op->b, "Add", sum, ln_tflite_real(op, i));
    if (op->ins.count == 1)
        sum = ln_tflite_unary(op->b, "Identity", sum);
    ln_tflite_give(op, 0, sum, NO_ACTIVATION);
}

// A condition of rank 1 may choose on the first axis.
void ln_tflite_read_select(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved = ln_tflite_is_moved(op, 1, 2);
    const char *condition = ln_tflite_raw(op, 0);
    const char *x = ln_tflite_moved(op, 1, is_moved), *y = ln_tflite_moved(op, 2, is_moved);
    int rank = ln_tflite_input(op, 1)->ndim;
    bool is_first = op->builtin->name[6] == '\0'; // SELECT, not SELECT_V2
    if (is_first && ln_tflite_input(op, 0)->ndim == 1 && rank > 1) {
        int64_t dims[TL_MAXDIM] = {-1};
        for (int i = 1; i < rank; i++)
            dims[i] = 1;
        condition = ln_tflite_reshape(b, condition, rank, dims);
    }
    ln_tflite_begin(b, "Where");
    ln_tflite_in(b, condition);
    ln_tflite_in(b, x);
    ln_tflite_in(b, y);
    ln_tflite_give_moved(op, 0, ln_tflite_out(b), is_moved);
}

// ---- Types ----

void ln_tflite_read_cast(ln_tflite_op *op)
{
    const char *x = ln_tflite_raw(op, 0);
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    if (out->dtype == TL_DTYPE_INVALID)
        ln_tflite_problem(op, NULL, "it casts to %s, which is not read",
                          ln_tflite_type_name(out->type));
    else
        ln_tflite_give_raw(op, 0, ln_tflite_cast(op->b, x, out->dtype));
}

// The one scale of sums, which are no activations elsewhere; NULL with a problem if there is
// another number of them, or a zero point.
static const char *scale_of_sums(ln_tflite_op *op, const ln_tflite_tensor *t)
{
    const ln_flat *f = op->b->file;
    if (t->dtype == TL_INT32 && t->scales.count == 1 &&
        (t->zeros.count == 0 || ln_flat_number_at(f, t->zeros, 0, LN_FLAT_I64) == 0))
        return ln_tflite_scalar(op->b, TL_FLOAT, ln_flat_float_at(f, t->scales, 0));
    ln_tflite_problem(op, NULL, "'%s' has no scale that is read", t->name);
    return NULL;
}

static const char *real_or_sums(ln_tflite_op *op)
{
    ln_tflite_tensor *t = ln_tflite_input(op, 0);
    if (t->dtype == TL_FLOAT || ln_tflite_is_quantized(t))
        return ln_tflite_real(op, 0);
    const char *x = ln_tflite_cast(op->b, ln_tflite_raw(op, 0), TL_FLOAT);
    const char *scale = scale_of_sums(op, t);
    return ln_tflite_binary(op->b, "Mul", x, scale);
}

void ln_tflite_read_quantize(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    if (ln_tflite_is_fixed_quantize(op)) {
        ln_tflite_read_fixed_quantize(op);
        return;
    }
    if (ln_tflite_read_rounded_away(op))
        return;
    const char *x = real_or_sums(op);
    if (ln_tflite_is_quantized(out)) {
        ln_tflite_give(op, 0, x, NO_ACTIVATION);
        return;
    }
    const char *scale = scale_of_sums(op, out);
    const char *rounded = ln_tflite_unary(b, "Round", ln_tflite_binary(b, "Div", x, scale));
    ln_tflite_give_raw(op, 0, ln_tflite_cast(b, rounded, TL_INT32));
}

// Of float16 too, which are weights that take half the file.
void ln_tflite_read_dequantize(ln_tflite_op *op)
{
    const char *x = ln_tflite_raw(op, 0);
    ln_tflite_tensor *t = ln_tflite_input(op, 0);
    if (t->dtype == TL_FLOAT16)
        ln_tflite_give_raw(op, 0, ln_tflite_cast(op->b, x, TL_FLOAT));
    else if (ln_tflite_is_quantized(t))
        ln_tflite_give_raw(op, 0, ln_tflite_dequantize(op, x, t, t->axis));
    else
        ln_tflite_give_raw(op, 0, real_or_sums(op));
}
