// SPDX-License-Identifier: Apache-2.0
// Reference kernels of RoiAlign and MaxRoiPool.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "op/onnx/given.h"
#include "tensor/elem.h"

// A region of an image, in its elements.
typedef struct region {
    int64_t image;
    double y, x, height, width;
} region;

static ln_status check_image(ln_call *call, double image, int64_t *out_image)
{
    int count = ln_call_in(call, 0)->dims[0];
    if (!(image >= 0 && image < count))
        return ln_call_fail(call, LN_INVALID, "image %g of a batch of %d", image, count);
    *out_image = (int64_t)image;
    return LN_OK;
}

// ---- RoiAlign ----

typedef struct aligner {
    bool is_max, is_half_pixel;
    int64_t sampling;
    double scale;
} aligner;

static ln_status find_region(ln_call *call, const aligner *how, int index, region *out)
{
    const tl_tensor *rois = ln_call_in(call, 1);
    double offset = how->is_half_pixel ? 0.5 : 0, corners[4];
    LN_TRY(check_image(call, (double)ln_elem_int(ln_call_in(call, 2), (size_t)index), &out->image));
    for (int i = 0; i < 4; i++) {
        corners[i] = ln_elem_real(rois, (size_t)index * 4 + (size_t)i) * how->scale - offset;
        if (!isfinite(corners[i]))
            return ln_call_fail(call, LN_INVALID, "corner %d of region %d is no number", i, index);
    }
    out->x = corners[0];
    out->y = corners[1];
    out->width = corners[2] - corners[0];
    out->height = corners[3] - corners[1];
    if (!how->is_half_pixel) {
        out->width = fmax(out->width, 1);
        out->height = fmax(out->height, 1);
    }
    return LN_OK;
}

// Samples along one axis of an element of the output that covers `size` elements of the input.
static ln_status count_samples(ln_call *call, const aligner *how, double size, int64_t *out_count)
{
    double count = how->sampling > 0 ? (double)how->sampling : ceil(size);
    if (count > 4096)
        return ln_call_fail(call, LN_LIMIT, "%g samples along an axis of one element", count);
    *out_count = count > 0 ? (int64_t)count : 0;
    return LN_OK;
}

// The four elements around a place, weighted: their sum, or the largest of them.
static double sample(const tl_tensor *t, int64_t plane, double y, double x, bool is_max)
{
    int64_t height = t->dims[2], width = t->dims[3];
    if (y < -1 || y > (double)height || x < -1 || x > (double)width)
        return 0;
    y = fmin(fmax(y, 0), (double)(height - 1));
    x = fmin(fmax(x, 0), (double)(width - 1));
    int64_t y0 = (int64_t)y, x0 = (int64_t)x;
    int64_t y1 = y0 + 1 < height ? y0 + 1 : y0, x1 = x0 + 1 < width ? x0 + 1 : x0;
    double ly = y - (double)y0, lx = x - (double)x0;

    const int64_t base = plane * height;
    double a = (1 - ly) * (1 - lx) * ln_elem_real(t, (size_t)((base + y0) * width + x0));
    double b = (1 - ly) * lx * ln_elem_real(t, (size_t)((base + y0) * width + x1));
    double c = ly * (1 - lx) * ln_elem_real(t, (size_t)((base + y1) * width + x0));
    double d = ly * lx * ln_elem_real(t, (size_t)((base + y1) * width + x1));
    return is_max ? fmax(fmax(a, b), fmax(c, d)) : a + b + c + d;
}

typedef struct samples {
    int64_t rows, columns;
    double height, width; // of an element of the output
} samples;

static double pooled(const tl_tensor *t, int64_t plane, const region *r, const samples *s, int row,
                     int column, bool is_max)
{
    double result = 0;
    for (int64_t i = 0; i < s->rows && !ln_deadline_passed(); i++)
        for (int64_t j = 0; j < s->columns; j++) {
            double y = r->y + row * s->height + ((double)i + 0.5) * s->height / (double)s->rows;
            double x = r->x + column * s->width + ((double)j + 0.5) * s->width / (double)s->columns;
            double value = sample(t, plane, y, x, is_max);
            if (!is_max)
                result += value;
            else
                result = i == 0 && j == 0 ? value : fmax(result, value);
        }
    int64_t count = s->rows * s->columns;
    return is_max || count == 0 ? result : result / (double)count;
}

static ln_status align_region(ln_call *call, const aligner *how, int index)
{
    const tl_tensor *t = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    int height = dst->dims[2], width = dst->dims[3];
    region r = {0};
    samples s = {0};
    LN_TRY(find_region(call, how, index, &r));
    s.height = r.height / height;
    s.width = r.width / width;
    LN_TRY(count_samples(call, how, s.height, &s.rows));
    LN_TRY(count_samples(call, how, s.width, &s.columns));
    LN_TRY(ln_call_charge(call, 8.0 * (double)(s.rows * s.columns) * height * width * t->dims[1]));
    for (int64_t c = 0; c < t->dims[1]; c++)
        for (int row = 0; row < height; row++)
            for (int column = 0; column < width; column++) {
                size_t to = (size_t)(((index * t->dims[1] + c) * height + row) * width + column);
                ln_elem_set_real(
                    dst, to, pooled(t, r.image * t->dims[1] + c, &r, &s, row, column, how->is_max));
            }
    return LN_OK;
}

ln_status ln_ref_onnx_roi_align(ln_call *call)
{
    const tl_tensor *t = ln_call_in(call, 0);
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    if (t->dims[2] == 0 || t->dims[3] == 0)
        return ln_call_fail(call, LN_INVALID, "regions of an image without elements");
    aligner how = {
        .is_max = strcmp(ln_call_string(call, "mode"), "max") == 0,
        .is_half_pixel =
            ln_call_since(call) >= 16 &&
            strcmp(ln_call_string(call, "coordinate_transformation_mode"), "half_pixel") == 0,
        .sampling = ln_call_int(call, "sampling_ratio"),
        .scale = ln_call_float(call, "spatial_scale"),
    };
    for (int i = 0; i < ln_call_in(call, 1)->dims[0]; i++)
        LN_TRY(align_region(call, &how, i));
    return LN_OK;
}

// ---- MaxRoiPool ----

static double at_most(double x, double limit)
{
    return x < 0 ? 0 : x > limit ? limit : x;
}

// The largest element of part `index` of `count` of the span from `start` on, on both axes.
static double largest(const tl_tensor *t, int64_t plane, const region *r, int row, int rows,
                      int column, int columns)
{
    double height = t->dims[2], width = t->dims[3];
    int64_t top = (int64_t)at_most(floor(row * r->height / rows) + r->y, height);
    int64_t bottom = (int64_t)at_most(ceil((row + 1) * r->height / rows) + r->y, height);
    int64_t left = (int64_t)at_most(floor(column * r->width / columns) + r->x, width);
    int64_t right = (int64_t)at_most(ceil((column + 1) * r->width / columns) + r->x, width);
    double result = -(double)INFINITY;
    for (int64_t y = top; y < bottom && !ln_deadline_passed(); y++)
        for (int64_t x = left; x < right; x++) {
            double value = ln_elem_real(t, (size_t)((plane * t->dims[2] + y) * t->dims[3] + x));
            result = isnan(value) || value > result ? value : result;
        }
    return top >= bottom || left >= right ? 0 : result;
}

static ln_status find_pool_region(ln_call *call, int index, region *out)
{
    const tl_tensor *rois = ln_call_in(call, 1);
    double scale = ln_call_float(call, "spatial_scale"), corners[4];
    LN_TRY(check_image(call, ln_elem_real(rois, (size_t)index * 5), &out->image));
    for (int i = 0; i < 4; i++) {
        corners[i] = round(ln_elem_real(rois, (size_t)index * 5 + 1 + (size_t)i) * scale);
        if (!isfinite(corners[i]))
            return ln_call_fail(call, LN_INVALID, "corner %d of region %d is no number", i, index);
    }
    out->x = corners[0];
    out->y = corners[1];
    out->width = fmax(corners[2] - corners[0] + 1, 1);
    out->height = fmax(corners[3] - corners[1] + 1, 1);
    return LN_OK;
}

ln_status ln_ref_onnx_max_roi_pool(ln_call *call)
{
    const tl_tensor *t = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    int height = dst->dims[2], width = dst->dims[3];
    size_t to = 0;
    for (int i = 0; i < dst->dims[0]; i++) {
        region r = {0};
        LN_TRY(find_pool_region(call, i, &r));
        for (int64_t c = 0; c < t->dims[1]; c++)
            for (int row = 0; row < height; row++)
                for (int column = 0; column < width; column++)
                    ln_elem_set_real(
                        dst, to++,
                        largest(t, r.image * t->dims[1] + c, &r, row, height, column, width));
    }
    return LN_OK;
}
