// SPDX-License-Identifier: Apache-2.0
// Operators that make elements of numbers or shapes, and those on bits.

#include <math.h>

#include "serial/tflite/builder.h"

enum { NO_ACTIVATION = 0 };

void ln_tflite_read_fill(ln_tflite_op *op)
{
    bool is_moved = ln_tflite_is_moved(op, 1, 1);
    const char *dims = ln_tflite_dims(op, 0), *value = ln_tflite_moved(op, 1, is_moved);
    ln_tflite_give_moved(op, 0, ln_tflite_binary(op->b, "Expand", value, dims), is_moved);
}

void ln_tflite_read_zeros_like(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *dims = ln_tflite_unary(b, "Shape", ln_tflite_raw(op, 0));
    const char *zero = ln_tflite_scalar(b, ln_tflite_output(op, 0)->dtype, 0);
    ln_tflite_give_raw(op, 0, ln_tflite_binary(b, "Expand", zero, dims));
}

void ln_tflite_read_range(ln_tflite_op *op)
{
    const char *start = ln_tflite_raw(op, 0), *end = ln_tflite_raw(op, 1);
    ln_tflite_give_raw(op, 0, ln_tflite_ternary(op->b, "Range", start, end, ln_tflite_raw(op, 2)));
}

void ln_tflite_read_rank(ln_tflite_op *op)
{
    const char *rank = ln_tflite_scalar(op->b, TL_INT32, ln_tflite_input(op, 0)->ndim);
    ln_tflite_give_raw(op, 0, ln_tflite_unary(op->b, "Identity", rank));
}

// The shape that two shapes, lists from the last dimension on, have in common.
void ln_tflite_read_broadcast_args(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    static const int64_t ones[TL_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    const char *lists[] = {ln_tflite_dims(op, 0), ln_tflite_dims(op, 1)};
    int lens[] = {ln_tflite_input(op, 0)->dims[0], ln_tflite_input(op, 1)->dims[0]};
    for (size_t i = 0; i < 2; i++) {
        if (ln_tflite_input(op, i)->ndim != 1 || lens[i] < 0 || lens[i] > TL_MAXDIM) {
            ln_tflite_problem(op, NULL, "its input %zu is not a shape of known length", i);
            return;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        int more = lens[1 - i] - lens[i];
        if (more > 0)
            lists[i] =
                ln_tflite_along(b, "Concat", ln_tflite_ints(b, (size_t)more, ones), lists[i], 0);
    }
    const char *is_one = ln_tflite_binary(b, "Equal", lists[0], ln_tflite_scalar(b, TL_INT64, 1));
    const char *y = ln_tflite_ternary(b, "Where", is_one, lists[1], lists[0]);
    tl_dtype dtype = ln_tflite_output(op, 0)->dtype;
    ln_tflite_give_raw(op, 0, dtype == TL_INT64 ? y : ln_tflite_cast(b, y, dtype));
}

// How many bounds each element has reached.
void ln_tflite_read_bucketize(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    ln_flat_vector bounds = ln_flat_list(b->file, op->options, 0, 4);
    if (bounds.count > INT32_MAX)
        ln_tflite_problem(op, NULL, "it has %zu bounds", bounds.count);
    const char *x = ln_tflite_cast(b, ln_tflite_raw(op, 0), TL_FLOAT);
    const char *last = ln_tflite_ints(b, 1, (const int64_t[]){-1});
    x = ln_tflite_binary(b, "Unsqueeze", x, last);
    if (!ln_tflite_is_going(b))
        return;
    const char *list = ln_tflite_claim(b, b->tensor_names, "bounds");
    ln_tflite_constant(b, list, TL_FLOAT, 1, (const int[]){(int)bounds.count},
                       b->file->bytes + bounds.at, NULL);
    const char *is_past = ln_tflite_binary(b, "GreaterOrEqual", x, list);
    const char *y = ln_tflite_cast(b, is_past, TL_INT32);
    y = ln_tflite_binary(b, "ReduceSum", y, last);
    ln_tflite_number(b, "keepdims", 0);
    ln_tflite_give_raw(op, 0, y);
}

// Rounded to the steps of a grid that has 0 on it.
void ln_tflite_read_fake_quant(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    float low = ln_tflite_float_option(op, 0, 0), high = ln_tflite_float_option(op, 1, 0);
    int64_t bits = ln_tflite_option(op, 2, 0), first = ln_tflite_small_option(op, 3) != 0;
    if (bits < 2 || bits > 16 || !(low <= 0 && high >= 0 && low < high) || isinf(high - low)) {
        ln_tflite_problem(op, NULL, "it rounds to %lld bits of the range %g to %g", (long long)bits,
                          (double)low, (double)high);
        return;
    }
    float last = (float)((1 << bits) - 1), scale = (high - low) / (last - (float)first);
    float zero = roundf((float)first - low / scale);
    zero = zero < (float)first ? (float)first : zero > last ? last : zero;
    float least = ((float)first - zero) * scale, most = (last - zero) * scale;
    const char *x = ln_tflite_clip(b, ln_tflite_real(op, 0), least, most);
    const char *start = ln_tflite_scalar(b, TL_FLOAT, least);
    const char *step = ln_tflite_scalar(b, TL_FLOAT, scale);
    x = ln_tflite_binary(b, "Sub", x, start);
    x = ln_tflite_binary(b, "Div", x, step);
    x = ln_tflite_binary(b, "Add", x, ln_tflite_scalar(b, TL_FLOAT, 0.5)); // halves go up
    x = ln_tflite_binary(b, "Mul", ln_tflite_unary(b, "Floor", x), step);
    ln_tflite_give(op, 0, ln_tflite_binary(b, "Add", x, start), NO_ACTIVATION);
}

// Of y and x, by the quotient; where x is negative half a turn away, to the side of y, whose sign
// counts at 0 as well.
void ln_tflite_read_atan2(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const double pi = 3.14159265358979323846;
    const char *y = ln_tflite_real(op, 0), *x = ln_tflite_real(op, 1);
    const char *zero = ln_tflite_scalar(b, TL_FLOAT, 0);
    const char *angle = ln_tflite_unary(b, "Atan", ln_tflite_binary(b, "Div", y, x));
    const char *is_zero = ln_tflite_binary(b, "Equal", y, zero);
    angle = ln_tflite_ternary(b, "Where", is_zero, y, angle);
    const char *below = ln_tflite_binary(b, "Less", y, zero);
    const char *turned = ln_tflite_unary(b, "Reciprocal", y);
    below = ln_tflite_binary(b, "Or", below, ln_tflite_binary(b, "Less", turned, zero));
    const char *down = ln_tflite_scalar(b, TL_FLOAT, -pi), *up = ln_tflite_scalar(b, TL_FLOAT, pi);
    const char *half = ln_tflite_ternary(b, "Where", below, down, up);
    const char *other = ln_tflite_binary(b, "Add", angle, half);
    const char *is_left = ln_tflite_binary(b, "Less", x, zero);
    angle = ln_tflite_ternary(b, "Where", is_left, other, angle);
    ln_tflite_give(op, 0, angle, NO_ACTIVATION);
}

// ---- Bits ----

static const char *read_as(ln_tflite_builder *b, const char *x, tl_dtype dtype)
{
    const char *y = ln_tflite_unary(b, "BitCast", x);
    ln_tflite_string(b, "to", tl_dtype_name(dtype));
    return y;
}

void ln_tflite_read_bitcast(ln_tflite_op *op)
{
    const ln_tflite_tensor *in = ln_tflite_input(op, 0), *out = ln_tflite_output(op, 0);
    const char *x = ln_tflite_raw(op, 0);
    if (out->dtype == TL_DTYPE_INVALID || tl_size_of(out->dtype) != tl_size_of(in->dtype))
        ln_tflite_problem(op, NULL, "it reads %s as %s, of another size",
                          ln_tflite_type_name(in->type), ln_tflite_type_name(out->type));
    ln_tflite_give_raw(op, 0, read_as(op->b, x, out->dtype));
}

void ln_tflite_read_binary_bits(ln_tflite_op *op)
{
    const char *x = ln_tflite_raw(op, 0), *y = ln_tflite_raw(op, 1);
    ln_tflite_give_raw(op, 0, ln_tflite_binary(op->b, op->builtin->optype, x, y));
}

static tl_dtype unsigned_of(tl_dtype dtype)
{
    switch (dtype) {
    case TL_INT8: return TL_UINT8;
    case TL_INT16: return TL_UINT16;
    case TL_INT32: return TL_UINT32;
    case TL_INT64: return TL_UINT64;
    default: return dtype;
    }
}

// Signed integers keep their sign: of negative ones all bits are turned before and after.
void ln_tflite_read_right_shift(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_raw(op, 0), *y = ln_tflite_raw(op, 1);
    tl_dtype dtype = ln_tflite_input(op, 0)->dtype, bits = unsigned_of(dtype);
    const char *is_negative = NULL;
    if (bits != dtype) {
        is_negative = ln_tflite_binary(b, "Less", x, ln_tflite_scalar(b, dtype, 0));
        x = read_as(b, x, bits);
        y = read_as(b, y, bits);
        const char *turned = ln_tflite_unary(b, "BitwiseNot", x);
        x = ln_tflite_ternary(b, "Where", is_negative, turned, x);
    }
    x = ln_tflite_binary(b, "BitShift", x, y);
    ln_tflite_string(b, "direction", "RIGHT");
    if (is_negative) {
        const char *turned = ln_tflite_unary(b, "BitwiseNot", x);
        x = read_as(b, ln_tflite_ternary(b, "Where", is_negative, turned, x), dtype);
    }
    ln_tflite_give_raw(op, 0, x);
}
