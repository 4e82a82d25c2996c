// SPDX-License-Identifier: Apache-2.0
// Models of dynamic range: weights of int8 and inputs of floats, which TensorFlow Lite quantizes
// when the model runs, each image or row with a scale of its own. So do these operators, with the
// rounding of its kernels as far as floats have it.

#include "serial/tflite/builder.h"

// What no range is smaller than, so that zeros stay zeros.
#define LEAST_RANGE 1e-30F

static const char *reduce(ln_tflite_builder *b, const char *optype, const char *x, int first,
                          int ndim)
{
    int64_t axes[TL_MAXDIM];
    for (int i = first; i < ndim; i++)
        axes[i - first] = i;
    const char *list = ln_tflite_ints(b, (size_t)(ndim - first), axes);
    return ln_tflite_binary(b, optype, x, list);
}

static const char *with(ln_tflite_builder *b, const char *optype, const char *x, float number)
{
    const char *scalar = ln_tflite_scalar(b, TL_FLOAT, number);
    return ln_tflite_binary(b, optype, x, scalar);
}

static const char *inverse(ln_tflite_builder *b, const char *scale)
{
    return ln_tflite_unary(b, "Reciprocal", scale);
}

// From -127 to 127, with 0 at 0.
static const char *symmetric(ln_tflite_builder *b, const char *x, int first, int ndim)
{
    const char *size = ln_tflite_unary(b, "Abs", x);
    size = with(b, "Max", reduce(b, "ReduceMax", size, first, ndim), LEAST_RANGE);
    const char *scale = with(b, "Div", size, 127);
    const char *steps = ln_tflite_binary(b, "Mul", x, inverse(b, scale));
    steps = ln_tflite_clip(b, ln_tflite_unary(b, "Round", steps), -127, 127);
    return ln_tflite_binary(b, "Mul", steps, scale);
}

// From -128 to 127 for what is from the least number to the largest, 0 among them.
static const char *asymmetric(ln_tflite_builder *b, const char *x, int first, int ndim)
{
    const char *low = with(b, "Min", reduce(b, "ReduceMin", x, first, ndim), 0);
    const char *high = with(b, "Max", reduce(b, "ReduceMax", x, first, ndim), 0);
    const char *range = with(b, "Max", ln_tflite_binary(b, "Sub", high, low), LEAST_RANGE);
    const char *scale = with(b, "Div", range, 255);
    const char *zero = with(b, "Add", ln_tflite_binary(b, "Div", low, scale), 128);
    zero = ln_tflite_unary(b, "Round", ln_tflite_unary(b, "Neg", zero));
    const char *steps = ln_tflite_binary(b, "Mul", x, inverse(b, scale));
    steps = ln_tflite_unary(b, "Round", ln_tflite_binary(b, "Add", steps, zero));
    steps = ln_tflite_binary(b, "Sub", ln_tflite_clip(b, steps, -128, 127), zero);
    return ln_tflite_binary(b, "Mul", steps, scale);
}

const char *ln_tflite_dynamic(ln_tflite_op *op, const char *x, size_t input, size_t weights,
                              int ndim, bool is_symmetric)
{
    const ln_tflite_tensor *w = ln_tflite_input(op, weights);
    bool is_dynamic = ln_tflite_input(op, input)->dtype == TL_FLOAT && w->dtype == TL_INT8 &&
                      ln_tflite_is_quantized(w);
    if (!is_dynamic || !ln_tflite_is_going(op->b))
        return x;
    return is_symmetric ? symmetric(op->b, x, 1, ndim) : asymmetric(op->b, x, 1, ndim);
}
