// SPDX-License-Identifier: Apache-2.0
// Tensors of an operator: as they are stored, and as real numbers, between which quantized ones are
// converted as in ONNX, so that rules find operators on integers.

#include "serial/tflite/builder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6, ACT_TANH };

void ln_tflite_problem(ln_tflite_op *op, const char *help, const char *fmt, ...)
{
    ln_tflite_builder *b = op->b;
    if (!ln_tflite_is_going(b))
        return;
    char reason[512], place[64];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    snprintf(place, sizeof place, "subgraph %zu, operator %zu", op->subgraph, op->index);
    ln_status status =
        ln_preflight_add_problem(b->report, &(ln_preflight_problem){
                                                .node = (char *)(uintptr_t)op->name,
                                                .optype = (char *)(uintptr_t)op->type,
                                                .domain = (char[]){"tflite"},
                                                .opset = op->version,
                                                .place = place,
                                                .reason = reason,
                                                .help = (char *)(uintptr_t)help,
                                            });
    if (b->status == LN_OK)
        b->status = status;
    op->is_bad = true;
}

// ---- Which tensor ----

static ln_tflite_tensor *nothing(void)
{
    static const ln_tflite_tensor none = {.name = "", .dtype = TL_FLOAT};
    // Nothing is written to it, since nothing is made after a problem.
    return (ln_tflite_tensor *)(uintptr_t)&none;
}

static ln_tflite_tensor *find(ln_tflite_op *op, ln_flat_vector list, size_t i, const char *what)
{
    ln_tflite_builder *b = op->b;
    if (!ln_tflite_is_going(b))
        return nothing();
    int64_t index = i < list.count ? ln_flat_number_at(b->file, list, i, LN_FLAT_I32) : -1;
    if (index == -1) {
        ln_tflite_problem(op, NULL, "its %s %zu is missing", what, i);
        return nothing();
    }
    if (index < 0 || (uint64_t)index >= b->tensor_count) {
        ln_tflite_stop(b, LN_INVALID, "%s %zu is tensor %lld of %zu", what, i, (long long)index,
                       b->tensor_count);
        return nothing();
    }
    return &b->tensors[index];
}

bool ln_tflite_has(const ln_tflite_op *op, size_t i)
{
    return i < op->ins.count && ln_flat_number_at(op->b->file, op->ins, i, LN_FLAT_I32) != -1;
}

// A constant without elements has no data in the file, as what is computed.
static bool is_empty_constant(const ln_tflite_tensor *t)
{
    bool is_empty = false;
    for (int i = 0; i < t->ndim; i++)
        is_empty = is_empty || t->dims[i] == 0;
    return is_empty && !t->is_there && !t->is_variable && t->data.count == 0;
}

ln_tflite_tensor *ln_tflite_input(ln_tflite_op *op, size_t i)
{
    ln_tflite_tensor *t = find(op, op->ins, i, "input");
    if (is_empty_constant(t))
        t->is_const = true;
    return t;
}

ln_tflite_tensor *ln_tflite_output(ln_tflite_op *op, size_t i)
{
    return find(op, op->outs, i, "output");
}

bool ln_tflite_is_quantized(const ln_tflite_tensor *t)
{
    return t->scales.count > 0 && (t->dtype == TL_INT8 || t->dtype == TL_UINT8 ||
                                   t->dtype == TL_INT16 || t->dtype == TL_INT4);
}

// ---- Constants ----

// Elements that the file packs otherwise than we do, in new memory; NULL with a status or if they
// are as ours.
static void *unpack(ln_tflite_builder *b, const ln_tflite_tensor *t, size_t count)
{
    const uint8_t *from = b->file->bytes + t->data.at;
    if (t->type == LN_TFLITE_BOOL) {
        tl_bool *to = ln_alloc((count + 1) * sizeof *to);
        for (size_t i = 0; to && i < count; i++)
            to[i] = from[i] != 0;
        return to;
    }
    // The first of two is in the low bits.
    int8_t *to = ln_alloc(count + 1);
    for (size_t i = 0; to && i < count; i++) {
        int nibble = from[i / 2] >> (i % 2 ? 4 : 0) & 15;
        to[i] = (int8_t)(nibble < 8 ? nibble : nibble - 16);
    }
    return to;
}

// Elements of a constant; false with a problem if the file has another number of bytes.
static bool count_elements(ln_tflite_op *op, const ln_tflite_tensor *t, size_t *out_count)
{
    size_t count = 1, bytes = 0;
    bool is_fit = true;
    for (int i = 0; i < t->ndim; i++)
        is_fit = is_fit && t->dims[i] >= 0 && ln_size_mul(count, (size_t)t->dims[i], &count);
    if (is_fit && t->type == LN_TFLITE_INT4)
        bytes = count / 2 + count % 2;
    else if (is_fit)
        is_fit = ln_size_mul(count, t->type == LN_TFLITE_BOOL ? 1 : tl_size_of(t->dtype), &bytes);
    *out_count = count;
    if (is_fit && count <= INT32_MAX && bytes == t->data.count)
        return true;
    ln_tflite_problem(op, NULL, "the constant '%s' has %zu bytes, which its shape does not take",
                      t->name, t->data.count);
    return false;
}

void ln_tflite_make_constant(ln_tflite_op *op, ln_tflite_tensor *t)
{
    ln_tflite_builder *b = op->b;
    size_t count;
    if (t->is_there || !count_elements(op, t, &count))
        return;
    void *owned = NULL;
    if (t->type == LN_TFLITE_BOOL || t->type == LN_TFLITE_INT4) {
        owned = unpack(b, t, count);
        if (!owned) {
            ln_tflite_stop(b, LN_NO_MEMORY, "constant '%s'", t->name);
            return;
        }
    }
    t->is_there = true;
    ln_tflite_constant(b, t->name, t->dtype, t->ndim, t->dims,
                       owned ? owned : b->file->bytes + t->data.at, owned);
}

// ---- Inputs ----

// The tensor, with an operator that makes it.
static ln_tflite_tensor *get(ln_tflite_op *op, size_t i)
{
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (!ln_tflite_is_going(op->b) || t->is_there)
        return t;
    if (t->dtype == TL_DTYPE_INVALID)
        ln_tflite_problem(op, NULL, "input '%s' has elements of type %s, which is not read",
                          t->name, ln_tflite_type_name(t->type));
    else if (t->is_const)
        ln_tflite_make_constant(op, t);
    else if (ln_tflite_is_sparse(op->b, t))
        ln_tflite_make_dense(op, t);
    else if (t->is_variable)
        ln_tflite_problem(op, NULL, "it reads the variable '%s', which only recurrent operators do",
                          t->name);
    else
        ln_tflite_problem(op, NULL, "it reads '%s', which no operator before it makes", t->name);
    return t;
}

const char *ln_tflite_raw(ln_tflite_op *op, size_t i)
{
    return get(op, i)->name;
}

// Scales for each index of an axis, or one.
static bool check_scales(ln_tflite_op *op, const ln_tflite_tensor *t)
{
    size_t count = t->scales.count;
    if (count == 1)
        return true;
    if (t->axis < 0 || t->axis >= t->ndim || (size_t)t->dims[t->axis] != count) {
        ln_tflite_problem(op, NULL, "'%s' has %zu scales for axis %d of rank %d", t->name, count,
                          t->axis, t->ndim);
        return false;
    }
    return true;
}

static int64_t zero_of(const ln_tflite_builder *b, const ln_tflite_tensor *t, size_t i)
{
    if (t->zeros.count == 0)
        return 0;
    return ln_flat_number_at(b->file, t->zeros, i < t->zeros.count ? i : 0, LN_FLAT_I64);
}

// The constants of scales and zero points. More than one of each become vectors.
static bool find_grid(ln_tflite_op *op, const ln_tflite_tensor *t, const char **out_scale,
                      const char **out_zero)
{
    ln_tflite_builder *b = op->b;
    size_t count = t->scales.count;
    if (!ln_tflite_is_going(b) || !check_scales(op, t))
        return false;
    double low = tl_dtype_min_double(t->dtype), high = tl_dtype_max_double(t->dtype);
    for (size_t i = 0; i < count; i++) {
        float scale = ln_flat_float_at(b->file, t->scales, i);
        int64_t zero = zero_of(b, t, i);
        if (!isfinite(scale) || (double)zero < low || (double)zero > high) {
            ln_tflite_problem(op, NULL, "'%s' has scale %g and zero point %lld of %s", t->name,
                              (double)scale, (long long)zero, tl_dtype_title(t->dtype));
            return false;
        }
    }
    if (count == 1) {
        *out_scale = ln_tflite_scalar(b, TL_FLOAT, ln_flat_float_at(b->file, t->scales, 0));
        *out_zero = ln_tflite_scalar(b, t->dtype, (double)zero_of(b, t, 0));
        return true;
    }
    size_t size = tl_size_of(t->dtype);
    char *zeros = ln_alloc(count * size);
    float *scales = ln_alloc(count * sizeof *scales);
    if (!zeros || !scales) {
        ln_free(zeros);
        ln_free(scales);
        ln_tflite_stop(b, LN_NO_MEMORY, "scales of '%s'", t->name);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t zero = zero_of(b, t, i);
        scales[i] = ln_flat_float_at(b->file, t->scales, i);
        memcpy(zeros + i * size, &zero, size); // it fits
    }
    int dim = (int)count;
    *out_scale = ln_tflite_claim(b, b->tensor_names, t->name);
    *out_zero = ln_tflite_claim(b, b->tensor_names, t->name);
    ln_tflite_constant(b, *out_scale, TL_FLOAT, 1, &dim, scales, scales);
    ln_tflite_constant(b, *out_zero, t->dtype, 1, &dim, zeros, zeros);
    return true;
}

static const char *convert(ln_tflite_op *op, const char *optype, const char *x,
                           const ln_tflite_tensor *t, int axis)
{
    const char *scale, *zero;
    if (!find_grid(op, t, &scale, &zero))
        return "";
    const char *y = ln_tflite_binary(op->b, optype, x, scale);
    ln_tflite_in(op->b, zero);
    if (t->scales.count > 1)
        ln_tflite_number(op->b, "axis", axis);
    return y;
}

const char *ln_tflite_dequantize(ln_tflite_op *op, const char *x, ln_tflite_tensor *t, int axis)
{
    return ln_tflite_is_quantized(t) ? convert(op, "DequantizeLinear", x, t, axis) : x;
}

const char *ln_tflite_real(ln_tflite_op *op, size_t i)
{
    ln_tflite_tensor *t = get(op, i);
    if (!ln_tflite_is_going(op->b))
        return t->name;
    if (!t->real) {
        t->real = ln_tflite_dequantize(op, t->name, t, t->axis);
        ln_tflite_flush(op->b); // it keeps this name
    }
    return t->real;
}

const char *ln_tflite_raw_image(ln_tflite_op *op, size_t i)
{
    ln_tflite_tensor *t = get(op, i);
    if (!ln_tflite_is_going(op->b))
        return t->name;
    if (t->ndim != 4) {
        ln_tflite_problem(op, NULL, "'%s' has rank %d in place of 4", t->name, t->ndim);
        return t->name;
    }
    if (!t->image) {
        t->image = ln_tflite_to_nchw(op->b, t->name);
        ln_tflite_flush(op->b); // it keeps this name
    }
    return t->image;
}

const char *ln_tflite_real_image(ln_tflite_op *op, size_t i)
{
    static const int moved_to[] = {0, 2, 3, 1};
    const char *x = ln_tflite_raw_image(op, i);
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    int axis = t->axis >= 0 && t->axis < 4 ? moved_to[t->axis] : 0;
    return ln_tflite_dequantize(op, x, t, axis);
}

// Whether axes in another order leave the elements where they are, since others have one index.
static bool keeps_order(const ln_tflite_tensor *t, const int *perm)
{
    for (int k = 0, last = -1; k < t->ndim; k++) {
        if (t->dims[perm[k]] == 1)
            continue;
        if (perm[k] < last)
            return false;
        last = perm[k];
    }
    return true;
}

// Input `i` with its axes in another order. The elements of weights of 1x1 stay where they are in
// the file; what moves others is computed once.
static const char *turn(ln_tflite_op *op, size_t i, const int *perm)
{
    ln_tflite_builder *b = op->b;
    const ln_tflite_tensor *t = ln_tflite_input(op, i);
    int dims[TL_MAXDIM];
    size_t count;
    if (t->is_const && t->dtype != TL_DTYPE_INVALID && t->type != LN_TFLITE_INT4 &&
        t->type != LN_TFLITE_BOOL && keeps_order(t, perm) && count_elements(op, t, &count)) {
        for (int k = 0; k < t->ndim; k++)
            dims[k] = t->dims[perm[k]];
        const char *name = ln_tflite_claim(b, b->tensor_names, t->name);
        ln_tflite_constant(b, name, t->dtype, t->ndim, dims, b->file->bytes + t->data.at, NULL);
        return name;
    }
    double axes[TL_MAXDIM];
    for (int k = 0; k < t->ndim; k++)
        axes[k] = perm[k];
    const char *y = ln_tflite_unary(b, "transpose", ln_tflite_raw(op, i));
    ln_tflite_numbers(b, "axes", (size_t)t->ndim, axes);
    return y;
}

const char *ln_tflite_raw_weights(ln_tflite_op *op, size_t i, int ndim, const int *perm, int axis)
{
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (!ln_tflite_is_going(op->b))
        return t->name;
    if (t->ndim != ndim) {
        ln_tflite_problem(op, NULL, "the weights '%s' have rank %d in place of %d", t->name,
                          t->ndim, ndim);
        return t->name;
    }
    if (t->scales.count > 1 && (t->axis < 0 || t->axis >= ndim || perm[axis] != t->axis)) {
        ln_tflite_problem(op, NULL, "the scales of '%s' are for axis %d in place of %d", t->name,
                          t->axis, perm[axis]);
        return t->name;
    }
    bool is_turned = false;
    for (int k = 0; k < ndim; k++)
        is_turned = is_turned || perm[k] != k;
    return is_turned ? turn(op, i, perm) : ln_tflite_raw(op, i);
}

const char *ln_tflite_weights(ln_tflite_op *op, size_t i, int ndim, const int *perm, int axis)
{
    const char *moved = ln_tflite_raw_weights(op, i, ndim, perm, axis);
    if (ln_tflite_is_going(op->b) && ln_tflite_has_blocks(op->b, ln_tflite_input(op, i)))
        return ln_tflite_of_blocks(op, moved, ln_tflite_input(op, i));
    return ln_tflite_dequantize(op, moved, ln_tflite_input(op, i), axis);
}

// ---- Bias ----

// A bias of integers is in units of the products, whatever scales the file states for it.
static const char *scale_bias(ln_tflite_op *op, const ln_tflite_tensor *t,
                              const ln_tflite_tensor *x, const ln_tflite_tensor *w)
{
    ln_tflite_builder *b = op->b;
    size_t count;
    if (!count_elements(op, t, &count))
        return t->name;
    if (x->scales.count != 1 || w->scales.count == 0 ||
        (w->scales.count > 1 && w->scales.count != count)) {
        ln_tflite_problem(op, NULL,
                          "the bias '%s' of %zu integers is for an input with %zu scales and "
                          "weights with %zu",
                          t->name, count, x->scales.count, w->scales.count);
        return t->name;
    }
    float *bias = ln_alloc((count + 1) * sizeof *bias);
    if (!bias) {
        ln_tflite_stop(b, LN_NO_MEMORY, "bias '%s'", t->name);
        return t->name;
    }
    double scale = ln_flat_float_at(b->file, x->scales, 0);
    ln_flat_kind kind = t->dtype == TL_INT64 ? LN_FLAT_I64 : LN_FLAT_I32;
    for (size_t i = 0; i < count; i++) {
        double unit = scale * ln_flat_float_at(b->file, w->scales, w->scales.count > 1 ? i : 0);
        bias[i] = (float)((double)ln_flat_number_at(b->file, t->data, i, kind) * unit);
    }
    const char *name = ln_tflite_claim(b, b->tensor_names, t->name);
    ln_tflite_constant(b, name, TL_FLOAT, t->ndim, t->dims, bias, bias);
    return name;
}

const char *ln_tflite_bias(ln_tflite_op *op, size_t i, size_t x, size_t w)
{
    if (!ln_tflite_has(op, i))
        return NULL;
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (!ln_tflite_is_going(op->b) || t->dtype == TL_FLOAT)
        return ln_tflite_raw(op, i);
    if (!t->is_const || (t->dtype != TL_INT32 && t->dtype != TL_INT64)) {
        ln_tflite_problem(op, NULL, "the bias '%s' is neither of floats nor a constant of integers",
                          t->name);
        return t->name;
    }
    return scale_bias(op, t, ln_tflite_input(op, x), ln_tflite_input(op, w));
}

// ---- Integers ----

bool ln_tflite_is_known(ln_tflite_op *op, size_t i)
{
    return ln_tflite_input(op, i)->is_const;
}

bool ln_tflite_known(ln_tflite_op *op, size_t i, const char *what, size_t max, int64_t *values,
                     size_t *out_count)
{
    *out_count = 0;
    ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (!ln_tflite_is_going(op->b))
        return false;
    if (!t->is_const || (t->dtype != TL_INT32 && t->dtype != TL_INT64)) {
        ln_tflite_problem(op, NULL, "its %s, input '%s', is not a constant of integers", what,
                          t->name);
        return false;
    }
    size_t count;
    if (!count_elements(op, t, &count))
        return false;
    if (count > max) {
        ln_tflite_problem(op, NULL, "its %s, input '%s', has %zu numbers, more than %zu", what,
                          t->name, count, max);
        return false;
    }
    ln_flat_kind kind = t->dtype == TL_INT64 ? LN_FLAT_I64 : LN_FLAT_I32;
    for (size_t k = 0; k < count; k++)
        values[k] = ln_flat_number_at(op->b->file, t->data, k, kind);
    *out_count = count;
    return true;
}

const char *ln_tflite_dims(ln_tflite_op *op, size_t i)
{
    const char *x = ln_tflite_raw(op, i);
    return ln_tflite_input(op, i)->dtype == TL_INT64 ? x : ln_tflite_cast(op->b, x, TL_INT64);
}

int ln_tflite_axis(ln_tflite_op *op, int64_t axis, int ndim)
{
    if (axis >= -ndim && axis < ndim)
        return (int)(axis < 0 ? axis + ndim : axis);
    ln_tflite_problem(op, NULL, "axis %lld is outside of rank %d", (long long)axis, ndim);
    return -1;
}

const char *ln_tflite_axes(ln_tflite_op *op, size_t i)
{
    int64_t axes[TL_MAXDIM];
    size_t count;
    if (!ln_tflite_is_known(op, i))
        return ln_tflite_reshape(op->b, ln_tflite_dims(op, i), 1, (const int64_t[]){-1});
    if (!ln_tflite_known(op, i, "list of axes", TL_MAXDIM, axes, &count))
        return "";
    return ln_tflite_ints(op->b, count, axes);
}

// ---- Moves ----

static bool has_grid(const ln_tflite_builder *b, const ln_tflite_tensor *t,
                     const ln_tflite_tensor *other)
{
    if (t->dtype != other->dtype)
        return false;
    if (!ln_tflite_is_quantized(t) || !ln_tflite_is_quantized(other))
        return true; // integers that are no other numbers
    return t->scales.count == 1 && other->scales.count == 1 &&
           ln_flat_float_at(b->file, t->scales, 0) == ln_flat_float_at(b->file, other->scales, 0) &&
           zero_of(b, t, 0) == zero_of(b, other, 0);
}

bool ln_tflite_is_moved(ln_tflite_op *op, size_t first, size_t count)
{
    const ln_tflite_tensor *out = ln_tflite_output(op, 0);
    for (size_t i = first; i < first + count; i++) {
        const ln_tflite_tensor *in = ln_tflite_input(op, i);
        if (!ln_tflite_is_going(op->b) || !has_grid(op->b, in, out))
            return false;
    }
    return true;
}

const char *ln_tflite_moved(ln_tflite_op *op, size_t i, bool is_moved)
{
    return is_moved ? ln_tflite_raw(op, i) : ln_tflite_real(op, i);
}

// ---- Outputs ----

void ln_tflite_give_raw(ln_tflite_op *op, size_t i, const char *x)
{
    ln_tflite_tensor *t = ln_tflite_output(op, i);
    if (!ln_tflite_is_going(op->b))
        return;
    if (t->is_there || t->is_const) {
        ln_tflite_stop(op->b, LN_INVALID, "output '%s' is there before it", t->name);
        return;
    }
    ln_tflite_name(op->b, x, t->name);
    t->is_there = true;
}

static const char *activate(ln_tflite_op *op, const char *x, int64_t activation)
{
    switch (activation) {
    case ACT_NONE: return x;
    case ACT_RELU: return ln_tflite_unary(op->b, "Relu", x);
    case ACT_RELU_N1_TO_1: return ln_tflite_clip(op->b, x, -1, 1);
    case ACT_RELU6: return ln_tflite_clip(op->b, x, 0, 6);
    case ACT_TANH: return ln_tflite_unary(op->b, "Tanh", x);
    default:
        ln_tflite_problem(op, NULL, "the fused activation %lld is not read", (long long)activation);
        return x;
    }
}

// As output `i` has it, whatever order the elements are in: there is one scale.
static const char *quantize(ln_tflite_op *op, size_t i, const char *x)
{
    const ln_tflite_tensor *t = ln_tflite_output(op, i);
    if (!ln_tflite_is_going(op->b) || !ln_tflite_is_quantized(t))
        return x;
    if (t->scales.count != 1) {
        ln_tflite_problem(op, NULL, "output '%s' has %zu scales in place of one", t->name,
                          t->scales.count);
        return x;
    }
    return convert(op, "QuantizeLinear", x, t, 0);
}

void ln_tflite_give(ln_tflite_op *op, size_t i, const char *x, int64_t activation)
{
    ln_tflite_give_raw(op, i, quantize(op, i, activate(op, x, activation)));
}

void ln_tflite_give_image(ln_tflite_op *op, const char *x, int64_t activation)
{
    const char *y = quantize(op, 0, activate(op, x, activation));
    ln_tflite_give_raw(op, 0, ln_tflite_to_nhwc(op->b, y));
}

void ln_tflite_give_reshaped(ln_tflite_op *op, const char *x, int64_t activation, int ndim,
                             const int64_t *dims)
{
    const char *y = quantize(op, 0, activate(op, x, activation));
    ln_tflite_give_raw(op, 0, ln_tflite_reshape(op->b, y, ndim, dims));
}

void ln_tflite_give_moved(ln_tflite_op *op, size_t i, const char *x, bool is_moved)
{
    if (is_moved)
        ln_tflite_give_raw(op, i, x);
    else
        ln_tflite_give(op, i, x, ACT_NONE);
}

// ---- Options ----

int64_t ln_tflite_option(ln_tflite_op *op, unsigned field, int64_t absent)
{
    return ln_flat_number(op->b->file, op->options, field, LN_FLAT_I32, absent);
}

int64_t ln_tflite_small_option(ln_tflite_op *op, unsigned field)
{
    return ln_flat_number(op->b->file, op->options, field, LN_FLAT_I8, 0);
}

float ln_tflite_float_option(ln_tflite_op *op, unsigned field, float absent)
{
    return ln_flat_float(op->b->file, op->options, field, absent);
}
