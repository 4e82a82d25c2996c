// SPDX-License-Identifier: Apache-2.0
// How large resizing makes each axis, and which elements of the input are where.

#include "op/resize.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <lightnet/shape.h>

#include "op/functions.h"
#include "op/onnx/given.h"
#include "op/onnx/resample.h"
#include "tensor/elem.h"

// coordinate_transformation_mode: the place of element i of the output.
enum {
    HALF_PIXEL,           // (i + 0.5) / scale - 0.5
    HALF_PIXEL_SYMMETRIC, // the same around the middle
    PYTORCH_HALF_PIXEL,   // the same; 0 for a single element
    ALIGN_CORNERS,        // i * (in - 1) / (out - 1)
    ASYMMETRIC,           // i / scale
    TF_CROP_AND_RESIZE,   // between the corners of a part
    TF_HALF_PIXEL_FOR_NN  // (i + 0.5) / scale
};

// nearest_mode: the nearest element at a place. TOWARD_INPUT: up where an axis becomes smaller,
// else down. AWAY has no word: the place by dimensions alone, halves away from zero.
enum { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL, TOWARD_INPUT, AWAY };

// ---- Places ----

double ln_resize_place(const ln_resize_axis *axis, int i)
{
    double last = axis->in - 1, scale = axis->scale;
    switch (axis->coordinates) {
    case HALF_PIXEL_SYMMETRIC:
        return axis->in / 2.0 * (1 - axis->out / axis->length) + (i + 0.5) / scale - 0.5;
    case PYTORCH_HALF_PIXEL: return axis->length > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case ALIGN_CORNERS: return axis->length == 1 ? 0 : i * last / (axis->length - 1);
    case ASYMMETRIC: return i / scale;
    case TF_CROP_AND_RESIZE:
        if (axis->length == 1)
            return (axis->end - axis->start) * last / 2 + axis->start * last;
        return i * (axis->end - axis->start) * last / (axis->length - 1) + axis->start * last;
    case TF_HALF_PIXEL_FOR_NN: return (i + 0.5) / scale;
    default: return (i + 0.5) / scale - 0.5;
    }
}

bool ln_resize_is_beyond(const ln_resize_axis *axis, int i)
{
    double place = ln_resize_place(axis, i);
    return axis->coordinates == TF_CROP_AND_RESIZE && !(place >= 0 && place <= axis->in - 1);
}

int ln_resize_nearest(const ln_resize_axis *axis, int i)
{
    if (axis->rounding == AWAY)
        return (int)((2 * (int64_t)i + 1) * axis->in / (2 * (int64_t)axis->out));
    double place = ln_resize_place(axis, i);
    switch (axis->rounding) {
    case PREFER_CEIL: place = floor(place + 0.5); break;
    case FLOOR: place = floor(place); break;
    case CEIL: place = ceil(place); break;
    case TOWARD_INPUT: place = axis->scale < 1 ? ceil(place) : floor(place); break;
    default: place = ceil(place - 0.5); break;
    }
    if (!(place > 0))
        return 0;
    return place < axis->in - 1 ? (int)place : axis->in - 1;
}

// ---- Words ----

ln_status ln_resize_mode(ln_call *call, int *out_mode)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", "bicubic"};
    LN_TRY(ln_given_word(call, "mode", modes, 5, out_mode));
    if (*out_mode > LN_RESIZE_CUBIC)
        *out_mode -= 2; // names of the first form of GridSample
    return LN_OK;
}

ln_status ln_resize_read_words(ln_call *call, const char *coordinates, const char *rounding,
                               ln_resize_axis *axis)
{
    static const char *const places[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil", "toward_input"};
    LN_TRY(ln_given_word(call, coordinates, places, 7, &axis->coordinates));
    return ln_given_word(call, rounding, roundings, 5, &axis->rounding);
}

// The same for all axes. Before version 11 of ONNX there is no choice.
static ln_status read_words(ln_call *call, ln_resizing *r)
{
    const char *mode = ln_call_string(call, "mode");
    int since = ln_call_since(call), type = since ? -1 : tl_resize_type_from_str(mode);
    ln_resize_axis words = {.coordinates = ASYMMETRIC, .rounding = TOWARD_INPUT};
    if (type < 0)
        LN_TRY(ln_resize_mode(call, &r->mode));
    else
        r->mode = type == TL_NEAREST ? LN_RESIZE_TL_NEAREST : LN_RESIZE_TL_LINEAR;
    if (ln_call_has(call, "nearest_mode") && (since == 0 || since >= 11))
        LN_TRY(
            ln_resize_read_words(call, "coordinate_transformation_mode", "nearest_mode", &words));
    if (r->mode == LN_RESIZE_TL_NEAREST)
        words.rounding = AWAY;
    for (int i = 0; i < ln_call_in(call, 0)->ndim; i++) {
        r->axes[i].coordinates = words.coordinates;
        r->axes[i].rounding = words.rounding;
    }
    return LN_OK;
}

// ---- Sizes ----

static void keep_all(const tl_tensor *x, ln_resizing *r)
{
    *r = (ln_resizing){.is_known = true};
    for (int i = 0; i < x->ndim; i++)
        r->axes[i] = (ln_resize_axis){
            .in = x->dims[i], .out = x->dims[i], .scale = 1, .length = x->dims[i], .end = 1};
}

static void set_axis(ln_resize_axis *axis, double out, double length, double scale)
{
    axis->out = (int)out;
    axis->length = length;
    axis->scale = scale;
}

// Other engines multiply in float, too: a scale of 0.7 makes 7 of 10.
static ln_status scale_axis(ln_call *call, ln_resizing *r, int axis, double scale)
{
    int dim = r->axes[axis].in;
    if (!(scale > 0) || isinf(scale))
        return ln_call_fail(call, LN_INVALID, "scale %g of axis %d", scale, axis);
    double out = floor((double)((float)dim * (float)scale));
    if (out > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "axis %d becomes %g", axis, out);
    set_axis(&r->axes[axis], out, scale * dim, scale);
    return LN_OK;
}

static ln_status size_axis(ln_call *call, ln_resizing *r, int axis, int64_t size)
{
    int dim = r->axes[axis].in;
    if (size < 0 || size > INT_MAX)
        return ln_call_fail(call, LN_INVALID, "size %lld of axis %d", (long long)size, axis);
    if (dim == 0 && size > 0)
        return ln_call_fail(call, LN_INVALID, "axis %d has no elements to make %lld of", axis,
                            (long long)size);
    set_axis(&r->axes[axis], (double)size, (double)size, dim == 0 ? 1 : (double)size / dim);
    return LN_OK;
}

// One scale for all axes, so that none becomes larger (or smaller) than its size.
static ln_status keep_aspect(ln_call *call, ln_resizing *r, const int *axes, int count,
                             bool is_not_larger)
{
    double scale = 0;
    for (int i = 0; i < count; i++) {
        double of_axis = r->axes[axes[i]].scale;
        if (i == 0 || (is_not_larger ? of_axis < scale : of_axis > scale))
            scale = of_axis;
    }
    for (int i = 0; i < count; i++) {
        ln_resize_axis *axis = &r->axes[axes[i]];
        double size = floor(scale * axis->in + 0.5);
        if (size > INT_MAX)
            return ln_call_fail(call, LN_LIMIT, "axis %d becomes %g", axes[i], size);
        set_axis(axis, size, scale * axis->in, scale);
    }
    return LN_OK;
}

static ln_status use_sizes(ln_call *call, ln_resizing *r, const int *axes, int count)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
    int64_t sizes[TL_MAXDIM];
    int size_count, policy;
    LN_TRY(ln_given_word(call, "keep_aspect_ratio_policy", policies, 3, &policy));
    LN_TRY(ln_given_ints(call, 3, NULL, TL_MAXDIM, sizes, &size_count));
    r->is_known = size_count >= 0;
    if (!r->is_known)
        return LN_OK;
    if (size_count != count)
        return ln_call_fail(call, LN_INVALID, "%d sizes for %d axes", size_count, count);
    for (int i = 0; i < count; i++)
        LN_TRY(size_axis(call, r, axes[i], sizes[i]));
    return policy == 0 ? LN_OK : keep_aspect(call, r, axes, count, policy == 1);
}

static ln_status use_scales(ln_call *call, ln_resizing *r, int index, const int *axes, int count)
{
    const tl_tensor *scales = ln_call_in(call, index);
    if (scales->len != count)
        return ln_call_fail(call, LN_INVALID, "%d scales for %d axes", scales->len, count);
    const void *values = ln_call_value(call, index);
    r->is_known = values != NULL || count == 0;
    for (int i = 0; i < count && r->is_known; i++)
        LN_TRY(scale_axis(call, r, axes[i], ln_data_real(values, scales->dtype, (size_t)i)));
    return LN_OK;
}

// The part of the input that is to be resized, only known in a run.
static ln_status use_roi(ln_call *call, ln_resizing *r, const int *axes, int count)
{
    const char *transform = ln_call_string(call, "coordinate_transformation_mode");
    const tl_tensor *roi = ln_call_in(call, 1);
    if (!transform || strcmp(transform, "tf_crop_and_resize") != 0)
        return LN_OK;
    if (!roi || roi->len != 2 * count)
        return ln_call_fail(call, LN_INVALID, "roi has %d numbers for %d axes", roi ? roi->len : 0,
                            count);
    const void *values = ln_call_value(call, 1);
    for (int i = 0; i < count && values; i++) {
        r->axes[axes[i]].start = ln_data_real(values, roi->dtype, (size_t)i);
        r->axes[axes[i]].end = ln_data_real(values, roi->dtype, (size_t)(i + count));
    }
    return LN_OK;
}

static bool is_given(const ln_call *call, int index)
{
    return ln_call_in(call, index) && ln_call_in(call, index)->len > 0;
}

// As many numbers as the input has axes.
static ln_status check_count(ln_call *call, const char *param)
{
    int count = ln_call_count(call, param), ndim = ln_call_in(call, 0)->ndim;
    return count == ndim
               ? LN_OK
               : ln_call_fail(call, LN_INVALID, "param '%s' has %d numbers for a tensor of rank %d",
                              param, count, ndim);
}

static ln_status check_elements(ln_call *call, const int *dims)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int len = ln_compute_length(x->ndim, dims);
    if (len < 0)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    return len == 0 || x->len > 0
               ? LN_OK
               : ln_call_fail(call, LN_INVALID, "%d elements cannot be made from 0", len);
}

// Dimensions that are multiplied by parameter `param`.
static ln_status find_multiplied(ln_call *call, const char *param, int *dims)
{
    const tl_tensor *x = ln_call_in(call, 0);
    LN_TRY(check_count(call, param));
    for (int i = 0; i < x->ndim; i++) {
        double scale = ln_call_float_at(call, param, i), dim = floor(scale * x->dims[i]);
        if (!(scale > 0) || !(dim <= INT_MAX))
            return ln_call_fail(call, LN_INVALID,
                                "scale %g of axis %d, which has %d elements, is out of range",
                                scale, i, x->dims[i]);
        dims[i] = (int)dim;
    }
    return check_elements(call, dims);
}

// Parameters dims and factors of the core.
static ln_status use_params(ln_call *call, ln_resizing *r)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int dims[TL_MAXDIM];
    if (ln_call_count(call, "factors") > 0) {
        if (ln_call_count(call, "dims") > 0)
            return ln_call_fail(call, LN_INVALID, "there are dims and factors");
        LN_TRY(find_multiplied(call, "factors", dims));
    } else {
        LN_TRY(check_count(call, "dims"));
        for (int i = 0; i < x->ndim; i++) {
            dims[i] = (int)ln_call_int_at(call, "dims", i);
            if (dims[i] != ln_call_float_at(call, "dims", i))
                return ln_call_fail(call, LN_INVALID, "%g is no dimension",
                                    ln_call_float_at(call, "dims", i));
        }
        LN_TRY(check_elements(call, dims));
    }
    for (int i = 0; i < x->ndim; i++)
        LN_TRY(size_axis(call, r, i, dims[i]));
    return LN_OK;
}

ln_status ln_resizing_read(ln_call *call, ln_resizing *r)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int axes[TL_MAXDIM], count, since = ln_call_since(call);
    keep_all(x, r);
    LN_TRY(read_words(call, r));
    LN_TRY(ln_given_axes_param(call, x->ndim, axes, &count));
    if (since == 10) {
        if (!ln_call_in(call, 1))
            return ln_call_fail(call, LN_INVALID, "there are no scales");
        return use_scales(call, r, 1, axes, count);
    }
    LN_TRY(use_roi(call, r, axes, count));
    if (is_given(call, 3) && is_given(call, 2))
        return ln_call_fail(call, LN_INVALID, "there are scales and sizes");
    if (is_given(call, 3))
        return use_sizes(call, r, axes, count);
    if (is_given(call, 2) || (ln_call_in(call, 2) && count == 0))
        return use_scales(call, r, 2, axes, count);
    if (since == 0)
        return use_params(call, r);
    return ln_call_fail(call, LN_INVALID, "there are neither scales nor sizes");
}

static ln_status find_upsample(ln_call *call, ln_resizing *r)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const tl_tensor *x = ln_call_in(call, 0);
    keep_all(x, r);
    if (ln_call_in(call, 1))
        return use_scales(call, r, 1, all, x->ndim);
    if (ln_call_has(call, "scales")) {
        if (ln_call_count(call, "scales") != x->ndim)
            return ln_call_fail(call, LN_INVALID, "%d scales for rank %d",
                                ln_call_count(call, "scales"), x->ndim);
        for (int i = 0; i < x->ndim; i++)
            LN_TRY(scale_axis(call, r, i, ln_call_float_at(call, "scales", i)));
        return LN_OK;
    }
    if (x->ndim != 4 || !ln_call_has(call, "height_scale") || !ln_call_has(call, "width_scale"))
        return ln_call_fail(call, LN_INVALID, "there are no scales for rank %d", x->ndim);
    LN_TRY(scale_axis(call, r, 2, ln_call_float(call, "height_scale")));
    return scale_axis(call, r, 3, ln_call_float(call, "width_scale"));
}

static ln_status state(ln_call *call, const ln_resizing *r)
{
    const tl_tensor *x = ln_call_in(call, 0);
    uint64_t types = r->mode == LN_RESIZE_TL_LINEAR ? LN_TYPES_NATIVE : LN_TYPES_NUMBER;
    int dims[TL_MAXDIM];
    if (r->mode != LN_RESIZE_NEAREST && r->mode != LN_RESIZE_TL_NEAREST &&
        !(LN_TYPE(x->dtype) & types))
        return ln_call_fail(call, LN_UNSUPPORTED, "interpolation of type %s",
                            tl_dtype_title(x->dtype));
    if (!r->is_known)
        return ln_call_out_open(call);
    for (int i = 0; i < x->ndim; i++)
        dims[i] = r->axes[i].out;
    return ln_call_out(call, 0, x->dtype, x->ndim, dims);
}

ln_status ln_infer_resize(ln_call *call)
{
    ln_resizing r;
    LN_TRY(ln_resizing_read(call, &r));
    return state(call, &r);
}

ln_status ln_infer_upsample(ln_call *call)
{
    ln_resizing r;
    LN_TRY(find_upsample(call, &r));
    LN_TRY(ln_resize_mode(call, &r.mode));
    return state(call, &r);
}

// Of LightNet's list.
ln_status ln_infer_multiplied(ln_call *call)
{
    const char *mode = ln_call_string(call, "mode");
    int dims[TL_MAXDIM];
    if (tl_resize_type_from_str(mode) < 0)
        return ln_call_fail(call, LN_INVALID, "mode cannot be \"%s\"", mode);
    LN_TRY(find_multiplied(call, "scales", dims));
    return ln_call_out(call, 0, ln_call_in(call, 0)->dtype, ln_call_in(call, 0)->ndim, dims);
}
