// SPDX-License-Identifier: Apache-2.0
// Resizing along any axes, and the image to network layout with its mean removed.
//
// Nearest needs no floating point: x + 1/2 = (2i + 1) * in / (2 * out), whose floor is x rounded
// half away from zero, and is always inside of the source.

#include <lightnet/tensor.h>

#include <math.h>
#include <string.h>

#include "tensor/narrow.h"
#include "tensor/tensor_check.h"

static int nearest_index(int i, int in_size, int out_size)
{
    return (int)((2 * (int64_t)i + 1) * in_size / (2 * (int64_t)out_size));
}

// The two neighbours of new element i and the weight of the upper one.
typedef struct neighbours {
    int lower;
    int upper;
    double weight;
} neighbours;

static neighbours linear_neighbours(int i, int in_size, int out_size)
{
    double x = ((double)i + 0.5) * in_size / out_size - 0.5;
    if (x <= 0)
        return (neighbours){0, 0, 0};
    if (x >= in_size - 1)
        return (neighbours){in_size - 1, in_size - 1, 0};
    int lower = (int)x;
    return (neighbours){lower, lower + 1, x - lower};
}

// Dimensions before, on, and after `axis`.
typedef struct axis_split {
    size_t outer;
    int in_size;
    int out_size;
    size_t inner;
} axis_split;

static void nearest_on_axis(char *dst, const char *src, const axis_split *split, size_t size)
{
    size_t row = split->inner * size;
    for (size_t o = 0; o < split->outer; o++) {
        for (int i = 0; i < split->out_size; i++) {
            int from = nearest_index(i, split->in_size, split->out_size);
            memcpy(dst, src + (size_t)from * row, row);
            dst += row;
        }
        src += (size_t)split->in_size * row;
    }
}

static void linear_on_axis(double *dst, const double *src, const axis_split *split)
{
    for (size_t o = 0; o < split->outer; o++) {
        for (int i = 0; i < split->out_size; i++) {
            neighbours n = linear_neighbours(i, split->in_size, split->out_size);
            const double *lower = src + (size_t)n.lower * split->inner;
            const double *upper = src + (size_t)n.upper * split->inner;
            for (size_t k = 0; k < split->inner; k++) {
                // Without a share of `upper` its infinity or NaN must not leak in.
                dst[k] = n.weight > 0 ? lower[k] * (1 - n.weight) + upper[k] * n.weight : lower[k];
            }
            dst += split->inner;
        }
        src += (size_t)split->in_size * split->inner;
    }
}

// `src` with dims[axis] = size; in double for TL_LINEAR.
static tl_tensor *resize_axis(const tl_tensor *src, int axis, int size, tl_resize_type type)
{
    tl_tensor *dst = tl_tensor_zeros_slice(src, axis, size, src->dtype);
    if (!dst)
        return NULL;
    axis_split split = {1, src->dims[axis], size, 1};
    for (int i = 0; i < axis; i++)
        split.outer *= (size_t)src->dims[i];
    for (int i = axis + 1; i < src->ndim; i++)
        split.inner *= (size_t)src->dims[i];
    if (type == TL_NEAREST)
        nearest_on_axis(dst->data, src->data, &split, tl_size_of(src->dtype));
    else
        linear_on_axis(dst->data, src->data, &split);
    return dst;
}

static void round_all(tl_tensor *t)
{
    double *values = t->data;
    for (int i = 0; i < t->len; i++)
        values[i] = round(values[i]);
}

// Fills in `dst` from `src`, both not empty: one axis after the other, those that shrink first, so
// that no tensor in between is larger than both.
static ln_status resize_into(tl_tensor *dst, const tl_tensor *src, tl_resize_type type)
{
    tl_tensor *current = tl_tensor_convert(src, NULL, type == TL_LINEAR ? TL_DOUBLE : src->dtype);
    for (int grows = 0; grows <= 1; grows++) {
        for (int axis = 0; current && axis < src->ndim; axis++) {
            int size = dst->dims[axis];
            if (size == src->dims[axis] || (size > src->dims[axis]) != grows)
                continue;
            tl_tensor *next = resize_axis(current, axis, size, type);
            tl_tensor_free_data_too(current);
            current = next;
        }
    }
    if (!current)
        return ln_error_status();
    if (type == TL_LINEAR && dst->dtype != TL_DOUBLE && dst->dtype != TL_FLOAT &&
        !TL_DTYPE_IS_NARROW(dst->dtype))
        round_all(current);
    (void)tl_convert_n(dst->data, dst->dtype, current->data, current->dtype, (size_t)dst->len);
    tl_tensor_free_data_too(current);
    return LN_OK;
}

tl_tensor *tl_tensor_resize(const tl_tensor *src, tl_tensor *dst, const int *new_dims,
                            tl_resize_type type)
{
    if (!tensor_is_usable(src, "src") || !tensors_are_apart(src, dst))
        return NULL;
    if (!tl_resize_type_name(type)) {
        ln_fail(LN_INVALID, "%d is not a resize type", (int)type);
        return NULL;
    }
    int len = tl_compute_length(src->ndim, new_dims);
    if (len < 0)
        return NULL;
    if (len > 0 && src->len == 0) {
        ln_fail(LN_INVALID, "an empty tensor cannot be resized to %d elements", len);
        return NULL;
    }
    tl_tensor *result = tensor_result(dst, src->ndim, new_dims, src->dtype);
    if (!result || len == 0)
        return result;
    if (resize_into(result, src, type) == LN_OK)
        return result;
    if (!dst)
        tl_tensor_free_data_too(result);
    return NULL;
}

// ---- Mean of an image ----

enum { CHANNELS = 3, SUBMEAN_PIXELS = 128 };

// Neighbouring pixels at once, so that they are converted as arrays.
static void submean_pixels(const tl_tensor *src, tl_tensor *dst, const double *mean, size_t first,
                           size_t count)
{
    double pixels[SUBMEAN_PIXELS * CHANNELS], channel[SUBMEAN_PIXELS];
    size_t plane = (size_t)src->len / CHANNELS;
    const char *from = (const char *)src->data + first * CHANNELS * tl_size_of(src->dtype);
    (void)tl_convert_n(pixels, TL_DOUBLE, from, src->dtype, count * CHANNELS);
    for (size_t c = 0; c < CHANNELS; c++) {
        for (size_t i = 0; i < count; i++)
            channel[i] = pixels[i * CHANNELS + c] - mean[c];
        char *to = (char *)dst->data + (c * plane + first) * tl_size_of(dst->dtype);
        (void)tl_convert_n(to, dst->dtype, channel, TL_DOUBLE, count);
    }
}

tl_tensor *tl_tensor_submean(const tl_tensor *src, tl_tensor *dst, const double *mean)
{
    if (!tensor_is_usable(src, "src") || !tensors_are_apart(src, dst))
        return NULL;
    tl_dtype dtype = dst ? dst->dtype : TL_FLOAT;
    if (src->ndim != 3 || src->dims[2] != CHANNELS || !mean) {
        ln_fail(LN_INVALID, "'src' must be [height, width, 3], with three means");
        return NULL;
    }
    if (!tensor_is_native(src, "src") || (dst && !tensor_is_native(dst, "dst")))
        return NULL;
    if (src->dtype == TL_BOOL || dtype == TL_BOOL) {
        ln_fail(LN_INVALID, "a mean cannot be subtracted from bool or into it");
        return NULL;
    }
    dst = tensor_result(dst, 3, (int[]){CHANNELS, src->dims[0], src->dims[1]}, dtype);
    if (!dst)
        return NULL;

    size_t plane = (size_t)src->len / CHANNELS;
    for (size_t i = 0; i < plane; i += SUBMEAN_PIXELS)
        submean_pixels(src, dst, mean, i, plane - i < SUBMEAN_PIXELS ? plane - i : SUBMEAN_PIXELS);
    return dst;
}
