// SPDX-License-Identifier: Apache-2.0
// Weights whose scales are a tensor of the file: one for each block of a row.

#include "serial/tflite/builder.h"

// The field of a tensor's quantization, the kind of its details, and the fields of these.
enum { QUANTIZATION = 4, DETAILS_TYPE = 4, DETAILS = 5, BLOCKWISE = 2 };
enum { SCALES = 0, ZERO_POINTS = 1, BLOCK_SIZE = 2 };

bool ln_tflite_has_blocks(const ln_tflite_builder *b, const ln_tflite_tensor *t)
{
    ln_flat_table quantization = ln_flat_child(b->file, t->table, QUANTIZATION);
    return ln_flat_number(b->file, quantization, DETAILS_TYPE, LN_FLAT_U8, 0) == BLOCKWISE;
}

// NULL with a problem.
static ln_tflite_tensor *scales_of(ln_tflite_op *op, const ln_tflite_tensor *t, int64_t index,
                                   int64_t block)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_tensor *s =
        index >= 0 && (uint64_t)index < b->tensor_count ? &b->tensors[index] : NULL;
    const bool is_fit = s && s->is_const && (s->dtype == TL_FLOAT16 || s->dtype == TL_FLOAT) &&
                        t->ndim == 2 && s->ndim == 2 && s->dims[0] == t->dims[0] && block > 0 &&
                        s->dims[1] * block == t->dims[1];
    if (is_fit)
        return s;
    ln_tflite_problem(op, NULL, "the scales of '%s' for blocks of %lld do not fit it", t->name,
                      (long long)block);
    return NULL;
}

const char *ln_tflite_of_blocks(ln_tflite_op *op, const char *x, const ln_tflite_tensor *t)
{
    ln_tflite_builder *b = op->b;
    ln_flat_table details =
        ln_flat_child(b->file, ln_flat_child(b->file, t->table, QUANTIZATION), DETAILS);
    const int64_t block = ln_flat_number(b->file, details, BLOCK_SIZE, LN_FLAT_I32, 0);
    ln_tflite_tensor *s =
        scales_of(op, t, ln_flat_number(b->file, details, SCALES, LN_FLAT_I32, -1), block);
    if (!s)
        return x;
    if (ln_flat_number(b->file, details, ZERO_POINTS, LN_FLAT_I32, -1) > 0)
        ln_tflite_problem(op, NULL, "the zero points of the blocks of '%s' are not read", t->name);
    ln_tflite_make_constant(op, s);
    const char *scale = s->dtype == TL_FLOAT ? s->name : ln_tflite_cast(b, s->name, TL_FLOAT);
    const char *y = ln_tflite_binary(b, "DequantizeLinear", x, scale);
    ln_tflite_number(b, "axis", 1);
    ln_tflite_number(b, "block_size", (double)block);
    return y;
}
