// SPDX-License-Identifier: Apache-2.0
// How large Resize and Upsample make each axis.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "op/functions.h"
#include "op/onnx/resample.h"
#include "tensor/elem.h"

ln_status ln_resize_mode(ln_call *call, int *out_mode)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", "bicubic"};
    LN_TRY(ln_given_word(call, "mode", modes, 5, out_mode));
    if (*out_mode > LN_RESIZE_CUBIC)
        *out_mode -= 2; // names of the first form of GridSample
    return LN_OK;
}

// A plan that changes nothing.
static void keep_all(const tl_tensor *x, ln_resize_plan *plan)
{
    plan->is_known = true;
    for (int i = 0; i < x->ndim; i++) {
        plan->out_dims[i] = x->dims[i];
        plan->lengths[i] = x->dims[i];
        plan->scales[i] = 1;
        plan->starts[i] = 0;
        plan->ends[i] = 1;
    }
}

// Other engines multiply in float, too: a scale of 0.7 makes 7 of 10.
static ln_status scale_axis(ln_call *call, ln_resize_plan *plan, int axis, double scale)
{
    int dim = ln_call_in(call, 0)->dims[axis];
    if (!(scale > 0) || isinf(scale))
        return ln_call_fail(call, LN_INVALID, "scale %g of axis %d", scale, axis);
    double out_dim = floor((double)((float)dim * (float)scale));
    if (out_dim > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "axis %d becomes %g", axis, out_dim);
    plan->out_dims[axis] = (int)out_dim;
    plan->lengths[axis] = scale * dim;
    plan->scales[axis] = scale;
    return LN_OK;
}

static ln_status size_axis(ln_call *call, ln_resize_plan *plan, int axis, int64_t size)
{
    int dim = ln_call_in(call, 0)->dims[axis];
    if (size < 0 || size > INT_MAX)
        return ln_call_fail(call, LN_INVALID, "size %lld of axis %d", (long long)size, axis);
    if (dim == 0 && size > 0)
        return ln_call_fail(call, LN_INVALID, "axis %d has no elements to make %lld of", axis,
                            (long long)size);
    plan->out_dims[axis] = (int)size;
    plan->lengths[axis] = (double)size;
    plan->scales[axis] = dim == 0 ? 1 : (double)size / dim;
    return LN_OK;
}

// One scale for all axes, so that none becomes larger (or smaller) than its size.
static ln_status keep_aspect(ln_call *call, ln_resize_plan *plan, const int *axes, int count,
                             bool is_not_larger)
{
    double scale = 0;
    for (int i = 0; i < count; i++) {
        double of_axis = plan->scales[axes[i]];
        if (i == 0 || (is_not_larger ? of_axis < scale : of_axis > scale))
            scale = of_axis;
    }
    for (int i = 0; i < count; i++) {
        double size = floor(scale * ln_call_in(call, 0)->dims[axes[i]] + 0.5);
        if (size > INT_MAX)
            return ln_call_fail(call, LN_LIMIT, "axis %d becomes %g", axes[i], size);
        plan->out_dims[axes[i]] = (int)size;
        plan->lengths[axes[i]] = scale * ln_call_in(call, 0)->dims[axes[i]];
        plan->scales[axes[i]] = scale;
    }
    return LN_OK;
}

static ln_status use_sizes(ln_call *call, ln_resize_plan *plan, const int *axes, int count)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
    int64_t sizes[TL_MAXDIM];
    int size_count, policy;
    LN_TRY(ln_given_word(call, "keep_aspect_ratio_policy", policies, 3, &policy));
    LN_TRY(ln_given_ints(call, 3, NULL, TL_MAXDIM, sizes, &size_count));
    plan->is_known = size_count >= 0;
    if (!plan->is_known)
        return LN_OK;
    if (size_count != count)
        return ln_call_fail(call, LN_INVALID, "%d sizes for %d axes", size_count, count);
    for (int i = 0; i < count; i++)
        LN_TRY(size_axis(call, plan, axes[i], sizes[i]));
    return policy == 0 ? LN_OK : keep_aspect(call, plan, axes, count, policy == 1);
}

static ln_status use_scales(ln_call *call, ln_resize_plan *plan, int index, const int *axes,
                            int count)
{
    const tl_tensor *scales = ln_call_in(call, index);
    if (scales->len != count)
        return ln_call_fail(call, LN_INVALID, "%d scales for %d axes", scales->len, count);
    const void *values = ln_call_value(call, index);
    plan->is_known = values != NULL || count == 0;
    for (int i = 0; i < count && plan->is_known; i++)
        LN_TRY(scale_axis(call, plan, axes[i], ln_data_real(values, scales->dtype, (size_t)i)));
    return LN_OK;
}

// The part of the input that is to be resized, only known in a run.
static ln_status use_roi(ln_call *call, ln_resize_plan *plan, const int *axes, int count)
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
        plan->starts[axes[i]] = ln_data_real(values, roi->dtype, (size_t)i);
        plan->ends[axes[i]] = ln_data_real(values, roi->dtype, (size_t)(i + count));
    }
    return LN_OK;
}

static bool is_given(const ln_call *call, int index)
{
    return ln_call_in(call, index) && ln_call_in(call, index)->len > 0;
}

ln_status ln_resize_find(ln_call *call, ln_resize_plan *plan)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int axes[TL_MAXDIM], count;
    keep_all(x, plan);
    LN_TRY(ln_given_axes_param(call, x->ndim, axes, &count));
    if (ln_call_since(call) < 11) {
        if (!ln_call_in(call, 1))
            return ln_call_fail(call, LN_INVALID, "there are no scales");
        return use_scales(call, plan, 1, axes, count);
    }
    LN_TRY(use_roi(call, plan, axes, count));
    if (is_given(call, 3) && is_given(call, 2))
        return ln_call_fail(call, LN_INVALID, "there are scales and sizes");
    if (is_given(call, 3))
        return use_sizes(call, plan, axes, count);
    if (is_given(call, 2) || (ln_call_in(call, 2) && count == 0))
        return use_scales(call, plan, 2, axes, count);
    return ln_call_fail(call, LN_INVALID, "there are neither scales nor sizes");
}

static ln_status find_upsample(ln_call *call, ln_resize_plan *plan)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const tl_tensor *x = ln_call_in(call, 0);
    keep_all(x, plan);
    if (ln_call_in(call, 1))
        return use_scales(call, plan, 1, all, x->ndim);
    if (ln_call_has(call, "scales")) {
        if (ln_call_count(call, "scales") != x->ndim)
            return ln_call_fail(call, LN_INVALID, "%d scales for rank %d",
                                ln_call_count(call, "scales"), x->ndim);
        for (int i = 0; i < x->ndim; i++)
            LN_TRY(scale_axis(call, plan, i, ln_call_float_at(call, "scales", i)));
        return LN_OK;
    }
    if (x->ndim != 4 || !ln_call_has(call, "height_scale") || !ln_call_has(call, "width_scale"))
        return ln_call_fail(call, LN_INVALID, "there are no scales for rank %d", x->ndim);
    LN_TRY(scale_axis(call, plan, 2, ln_call_float(call, "height_scale")));
    return scale_axis(call, plan, 3, ln_call_float(call, "width_scale"));
}

static ln_status state(ln_call *call, const ln_resize_plan *plan)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int mode;
    LN_TRY(ln_resize_mode(call, &mode));
    if (mode != LN_RESIZE_NEAREST && !(LN_TYPE(x->dtype) & LN_TYPES_NUMBER))
        return ln_call_fail(call, LN_UNSUPPORTED, "interpolation of type %s",
                            tl_dtype_title(x->dtype));
    if (!plan->is_known)
        return ln_call_out_open(call);
    return ln_call_out(call, 0, x->dtype, x->ndim, plan->out_dims);
}

ln_status ln_infer_resize(ln_call *call)
{
    ln_resize_plan plan;
    LN_TRY(ln_resize_find(call, &plan));
    return state(call, &plan);
}

ln_status ln_infer_upsample(ln_call *call)
{
    ln_resize_plan plan;
    LN_TRY(find_upsample(call, &plan));
    return state(call, &plan);
}
