// SPDX-License-Identifier: Apache-2.0
// Normalisations: of parts of a tensor by their mean and variance, and of neighbouring channels.

#include "arch/ref/onnx/norm.h"

#include <math.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "arch/ref/onnx/norm_floats.h"
#include "base/deadline.h"
#include "tensor/elem.h"

ln_shaped ln_shape_of(const tl_tensor *t)
{
    ln_shaped shape = {.ndim = t->ndim};
    for (int d = 0; d < t->ndim; d++)
        shape.dims[d] = t->dims[d];
    return shape;
}

// ---- The frame ----

static ln_status init(ln_call *call, ln_norm *norm)
{
    norm->part_count = 1;
    for (int d = 0; d < norm->parts.ndim; d++)
        norm->part_count *= (size_t)norm->parts.dims[d];
    norm->mean = ln_call_scratch(call, norm->part_count + 1, 2 * sizeof *norm->mean);
    norm->inverse = norm->mean + norm->part_count;
    return norm->mean ? LN_OK : LN_NO_MEMORY;
}

// With `operands` 3, scale and bias are the others.
static ln_status walk_parts(ln_call *call, const ln_norm *norm, ln_ref_rows *rows, int operands)
{
    LN_TRY(ln_ref_rows_init(call, rows, operands, norm->shape.ndim, norm->shape.dims));
    ln_ref_rows_operand(rows, 0, norm->parts.ndim, norm->parts.dims);
    if (operands == 3 && norm->scale)
        ln_ref_rows_operand(rows, 1, norm->scale_shape.ndim, norm->scale_shape.dims);
    if (operands == 3 && norm->bias)
        ln_ref_rows_operand(rows, 2, norm->bias_shape.ndim, norm->bias_shape.dims);
    return LN_OK;
}

// The floats of a row that belongs to one part, else NULL.
static const float *floats_of_part(const ln_norm *norm, const ln_ref_rows *rows)
{
    bool is_one_part = norm->src->dtype == TL_FLOAT && rows->step[0] == 0;
    return is_one_part ? (const float *)norm->src->data + rows->start : NULL;
}

static void add_row(ln_norm *norm, const ln_ref_rows *rows)
{
    const float *floats = floats_of_part(norm, rows);
    if (floats) {
        norm->mean[rows->at[0]] += ln_sum_of_floats(floats, rows->len);
        return;
    }
    for (size_t i = 0; i < rows->len; i++)
        norm->mean[ln_ref_rows_at(rows, 0, i)] += ln_elem_real(norm->src, rows->start + i);
}

static void add_squares_of_row(ln_norm *norm, const ln_ref_rows *rows)
{
    const float *floats = floats_of_part(norm, rows);
    if (floats) {
        size_t part = rows->at[0];
        norm->inverse[part] += ln_squares_of_floats(floats, rows->len, norm->mean[part]);
        return;
    }
    for (size_t i = 0; i < rows->len; i++) {
        size_t part = ln_ref_rows_at(rows, 0, i);
        double x = ln_elem_real(norm->src, rows->start + i) - norm->mean[part];
        norm->inverse[part] += x * x;
    }
}

// Fills in `mean`, and into `inverse` the variance; the mean stays 0, and the variance is the mean
// of squares, if not `is_centered`.
static ln_status measure(ln_call *call, ln_norm *norm, bool is_centered)
{
    double count = norm->part_count ? (double)norm->src->len / (double)norm->part_count : 0;
    ln_ref_rows rows;
    LN_TRY(walk_parts(call, norm, &rows, 1));
    if (is_centered) {
        while (ln_ref_rows_next(&rows))
            add_row(norm, &rows);
        for (size_t p = 0; p < norm->part_count; p++)
            norm->mean[p] /= count;
    }
    while (ln_ref_rows_next(&rows))
        add_squares_of_row(norm, &rows);
    for (size_t p = 0; p < norm->part_count; p++)
        norm->inverse[p] /= count;
    return LN_OK;
}

// inverse = 1 / sqrt(inverse + epsilon)
static void invert(ln_norm *norm, double epsilon)
{
    for (size_t p = 0; p < norm->part_count; p++)
        norm->inverse[p] = 1 / sqrt(norm->inverse[p] + epsilon);
}

static inline void apply_at(const ln_norm *norm, const ln_ref_rows *rows, size_t i, double mean,
                            double inverse)
{
    double x = (ln_elem_real(norm->src, rows->start + i) - mean) * inverse;
    if (norm->scale)
        x *= ln_elem_real(norm->scale, ln_ref_rows_at(rows, 1, i));
    if (norm->bias)
        x += ln_elem_real(norm->bias, ln_ref_rows_at(rows, 2, i));
    ln_elem_set_real(norm->dst, rows->start + i, x);
}

// Floats of one part, one scale and one bias. What adds nothing is -0, which keeps the sign of 0.
static void apply_to_floats(const ln_norm *norm, const ln_ref_rows *rows, const float *x)
{
    const double scale = norm->scale ? ln_elem_real(norm->scale, rows->at[1]) : 1;
    const double bias = norm->bias ? ln_elem_real(norm->bias, rows->at[2]) : -0.0;
    const double mean = norm->mean[rows->at[0]], inverse = norm->inverse[rows->at[0]];
    ln_scale_floats(rows->len, x, mean, inverse, scale, bias,
                    (float *)norm->dst->data + rows->start);
}

static void apply_to_row(const ln_norm *norm, const ln_ref_rows *rows)
{
    const float *floats = floats_of_part(norm, rows);
    if (floats && norm->dst->dtype == TL_FLOAT && rows->step[1] == 0 && rows->step[2] == 0) {
        apply_to_floats(norm, rows, floats);
        return;
    }
    for (size_t i = 0; i < rows->len; i++) {
        size_t part = ln_ref_rows_at(rows, 0, i);
        apply_at(norm, rows, i, norm->mean[part], norm->inverse[part]);
    }
}

static ln_status apply(ln_call *call, const ln_norm *norm)
{
    ln_ref_rows rows;
    LN_TRY(walk_parts(call, norm, &rows, 3));
    while (ln_ref_rows_next(&rows))
        apply_to_row(norm, &rows);
    return LN_OK;
}

static void store_parts(tl_tensor *dst, const double *values)
{
    for (size_t i = 0; dst && i < (size_t)dst->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, values[i]);
}

// A part, whose elements are neighbours.
typedef struct layer {
    size_t part, len;
    double mean, inverse;
} layer;

static void measure_layer(const ln_norm *norm, size_t part, double epsilon, bool is_centered,
                          tl_tensor *const dst[2], layer *l)
{
    double sum = 0, squares = 0, count = (double)l->len;
    size_t first = part * l->len, end = first + l->len;
    for (size_t i = first; i < end && is_centered; i++)
        sum += ln_elem_real(norm->src, i);
    l->mean = is_centered ? sum / count : 0;
    for (size_t i = first; i < end; i++) {
        double x = ln_elem_real(norm->src, i) - l->mean;
        squares += x * x;
    }
    l->inverse = 1 / sqrt(squares / count + epsilon);
    l->part = part;
    if (dst[0])
        ln_elem_set_real(dst[0], part, l->mean);
    if (dst[1])
        ln_elem_set_real(dst[1], part, l->inverse);
}

ln_status ln_norm_layer(ln_call *call, ln_norm *norm, int axis, double epsilon, bool is_centered,
                        tl_tensor *mean_dst, tl_tensor *inverse_dst)
{
    if (ln_call_is_counting(call))
        return LN_OK;
    layer l = {.part = SIZE_MAX, .len = 1};
    tl_tensor *const dst[2] = {mean_dst, inverse_dst};
    const tl_tensor *wanted = mean_dst ? mean_dst : inverse_dst;
    norm->parts = norm->shape;
    for (int d = axis; d < norm->parts.ndim; d++) {
        l.len *= norm->src->len ? (size_t)norm->shape.dims[d] : 0;
        norm->parts.dims[d] = 1;
    }
    for (size_t part = 0; norm->src->len == 0 && wanted && part < (size_t)wanted->len; part++)
        measure_layer(norm, part, epsilon, is_centered, dst, &l);
    ln_ref_rows rows;
    LN_TRY(walk_parts(call, norm, &rows, 3));
    while (ln_ref_rows_next(&rows)) {
        for (size_t i = 0; i < rows.len; i++) {
            size_t part = ln_ref_rows_at(&rows, 0, i);
            if (part != l.part)
                measure_layer(norm, part, epsilon, is_centered, dst, &l);
            apply_at(norm, &rows, i, l.mean, l.inverse);
        }
    }
    return LN_OK;
}

// ---- Batches ----

// The shape of a statistic: [channels, 1, 1, ...], or that of an element of the batch.
static ln_shaped batch_parts(const ln_call *call, const tl_tensor *src)
{
    ln_shaped parts = {.ndim = src->ndim > 1 ? src->ndim - 1 : 1, .dims = {1}};
    bool is_spatial = ln_batch_norm_is_spatial(call);
    for (int d = 1; d < src->ndim; d++)
        parts.dims[d - 1] = d == 1 || !is_spatial ? src->dims[d] : 1;
    return parts;
}

// Mean and variance of the batch; what runs along with it are averages of all batches so far.
static ln_status measure_batch(ln_call *call, ln_norm *norm)
{
    double momentum = ln_call_float(call, "momentum");
    LN_TRY(measure(call, norm, true));
    const double *measured[] = {norm->mean, norm->inverse};
    for (int k = 0; k < 2; k++) {
        const tl_tensor *before = ln_call_in(call, 3 + k);
        tl_tensor *after = ln_call_dst(call, 1 + k);
        for (size_t p = 0; after && p < norm->part_count; p++)
            ln_elem_set_real(after, p,
                             ln_elem_real(before, p) * momentum + measured[k][p] * (1 - momentum));
        store_parts(ln_call_dst(call, 3 + k), measured[k]);
    }
    return LN_OK;
}

static void take_statistics(ln_call *call, ln_norm *norm)
{
    const tl_tensor *mean = ln_call_in(call, 3), *variance = ln_call_in(call, 4);
    for (size_t p = 0; p < norm->part_count; p++) {
        norm->mean[p] = ln_elem_real(mean, p);
        norm->inverse[p] = ln_elem_real(variance, p);
    }
    for (int i = 1; i < ln_call_out_count(call); i++)
        store_parts(ln_call_dst(call, i), i % 2 ? norm->mean : norm->inverse);
}

// One plane after the other, without a block for the channels.
ln_status ln_ref_batchnorm(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    const tl_tensor *offset = ln_call_in(call, 2), *mean = ln_call_in(call, 3);
    size_t channels = (size_t)scale->len, inner = 1, len = (size_t)src->len;
    for (int d = 2; d < src->ndim; d++)
        inner *= len ? (size_t)src->dims[d] : 1;
    for (size_t at = 0, plane = 0; at < len && !ln_deadline_passed(); plane++) {
        size_t c = plane % channels;
        double m = ln_elem_real(mean, c), s = ln_elem_real(scale, c), o = ln_elem_real(offset, c);
        double deviation =
            sqrt(ln_elem_real(ln_call_in(call, 4), c) + ln_call_float(call, "epsilon"));
        for (size_t end = at + inner; at < end; at++)
            ln_elem_set_real(ln_call_dst(call, 0), at,
                             (ln_elem_real(src, at) - m) / deviation * s + o);
    }
    return LN_OK;
}

ln_status ln_ref_onnx_batch_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_norm norm = {
        .src = src,
        .dst = ln_call_dst(call, 0),
        .shape = ln_shape_of(src),
        .parts = batch_parts(call, src),
        .scale = ln_call_in(call, 1),
        .bias = ln_call_in(call, 2),
    };
    norm.scale_shape = norm.bias_shape = norm.parts;
    LN_TRY(init(call, &norm));
    if (ln_call_is_counting(call))
        return LN_OK;
    if (ln_batch_norm_trains(call))
        LN_TRY(measure_batch(call, &norm));
    else
        take_statistics(call, &norm);
    invert(&norm, ln_call_float(call, "epsilon"));
    return apply(call, &norm);
}

// ---- Channels of one element of the batch ----

ln_status ln_ref_group_norm(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *of[] = {ln_call_in(call, 1), ln_call_in(call, 2)};
    int groups = (int)ln_call_int(call, "groups"), rest = 1;
    ln_shaped shapes[2];
    if (src->len == 0)
        return LN_OK;
    groups = groups ? groups : src->dims[1];
    for (int d = 2; d < src->ndim; d++)
        rest *= src->dims[d];
    for (int i = 0; i < 2; i++)
        shapes[i] = (ln_shaped){3, {groups, of[i]->len / groups, 1}};
    ln_norm norm = {
        .src = src,
        .dst = ln_call_dst(call, 0),
        .shape = {.ndim = 4, .dims = {src->dims[0], groups, src->dims[1] / groups, rest}},
        .parts = {.ndim = 4, .dims = {src->dims[0], groups, 1, 1}},
        .scale = of[0],
        .bias = of[1],
        .scale_shape = shapes[0],
        .bias_shape = shapes[1],
    };
    LN_TRY(init(call, &norm));
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(measure(call, &norm, true));
    invert(&norm, ln_call_float(call, "epsilon"));
    return apply(call, &norm);
}

ln_status ln_ref_onnx_mean_variance_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_reduced[TL_MAXDIM];
    if (src->len == 0)
        return LN_OK;
    LN_TRY(ln_mean_variance_axes(call, is_reduced));
    ln_norm norm = {.src = src, .dst = ln_call_dst(call, 0), .shape = ln_shape_of(src)};
    norm.parts = norm.shape;
    for (int d = 0; d < src->ndim; d++)
        norm.parts.dims[d] = is_reduced[d] ? 1 : src->dims[d];
    LN_TRY(init(call, &norm));
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(measure(call, &norm, true));
    for (size_t p = 0; p < norm.part_count; p++)
        norm.inverse[p] = 1 / (sqrt(norm.inverse[p]) + 1e-9);
    return apply(call, &norm);
}

// ---- Layers ----

static ln_status normalize_layer(ln_call *call, const tl_tensor *bias, bool is_centered,
                                 tl_tensor *mean_dst, tl_tensor *inverse_dst)
{
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    int axis;
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    ln_norm norm = {
        .src = src,
        .dst = ln_call_dst(call, 0),
        .shape = ln_shape_of(src),
        .scale = scale,
        .bias = bias,
        .scale_shape = ln_shape_of(scale),
    };
    if (bias)
        norm.bias_shape = ln_shape_of(bias);
    return ln_norm_layer(call, &norm, axis, ln_call_float(call, "epsilon"), is_centered, mean_dst,
                         inverse_dst);
}

ln_status ln_ref_layernorm(ln_call *call)
{
    return normalize_layer(call, ln_call_in(call, 2), ln_call_int(call, "centered") != 0, NULL,
                           NULL);
}

ln_status ln_ref_onnx_layer_normalization(ln_call *call)
{
    return normalize_layer(call, ln_call_in(call, 2), true, ln_call_dst(call, 1),
                           ln_call_dst(call, 2));
}

ln_status ln_ref_onnx_rms_normalization(ln_call *call)
{
    return normalize_layer(call, NULL, false, NULL, ln_call_dst(call, 1));
}

// ---- Neighbouring channels ----

ln_status ln_ref_lrn(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    double alpha = ln_call_float(call, "alpha"), beta = ln_call_float(call, "beta");
    double bias = ln_call_float(call, "bias");
    int64_t size = ln_call_int(call, "size");
    int64_t before = (size - 1) / 2, after = size / 2; // channels of the window
    int64_t channels = src->dims[1], inner = 1;
    for (int d = 2; d < src->ndim; d++)
        inner *= src->len ? src->dims[d] : 1;
    for (int64_t i = 0; i < src->len && !ln_deadline_passed(); i++) {
        int64_t channel = i / inner % channels;
        int64_t first = channel > before ? channel - before : 0;
        int64_t last = channels - 1 - channel > after ? channel + after : channels - 1;
        double sum = 0;
        for (int64_t c = first; c <= last; c++) {
            double x = ln_elem_real(src, (size_t)(i + (c - channel) * inner));
            sum += x * x;
        }
        double scale = pow(bias + alpha / (double)size * sum, beta);
        ln_elem_set_real(dst, (size_t)i, ln_elem_real(src, (size_t)i) / scale);
    }
    return LN_OK;
}
