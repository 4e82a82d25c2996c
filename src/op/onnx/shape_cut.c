// SPDX-License-Identifier: Apache-2.0
// What Slice, Pad, CenterCropPad and Crop take of each axis, and put around it.

#include <limits.h>
#include <string.h>

#include "base/minmax.h"
#include "op/functions.h"
#include "op/onnx/shape_move.h"

// ---- Slice ----

// Elements from `start` to `end` on an axis of `dim`; both may count from its end and be outside.
static void slice_axis(ln_slice_plan *plan, int axis, int64_t dim, int64_t start, int64_t end,
                       int64_t step)
{
    bool is_back = step < 0;
    step = ln_clamp64(step, -INT_MAX, INT_MAX); // beyond any dimension one step leads outside
    start += start < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    start = is_back ? ln_clamp64(start, 0, dim - 1) : ln_clamp64(start, 0, dim);
    end = is_back ? ln_clamp64(end, -1, dim - 1) : ln_clamp64(end, 0, dim);

    int64_t span = is_back ? start - end : end - start, stride = is_back ? -step : step;
    plan->starts[axis] = start;
    plan->steps[axis] = step;
    plan->dims[axis] = dim == 0 || span <= 0 ? 0 : (int)((span - 1) / stride + 1);
}

static ln_status check_counts(ln_call *call, int starts, int ends, int axes, int steps)
{
    if (starts == LN_GIVEN_ABSENT || ends == LN_GIVEN_ABSENT)
        return ln_call_fail(call, LN_INVALID, "there are no starts or no ends");
    if (ends != starts)
        return ln_call_fail(call, LN_INVALID, "%d starts and %d ends", starts, ends);
    if (axes != LN_GIVEN_ABSENT && axes != starts)
        return ln_call_fail(call, LN_INVALID, "%d starts and %d axes", starts, axes);
    if (steps != LN_GIVEN_ABSENT && steps != starts)
        return ln_call_fail(call, LN_INVALID, "%d starts and %d steps", starts, steps);
    return LN_OK;
}

ln_status ln_slice_find(ln_call *call, ln_slice_plan *plan)
{
    const tl_tensor *data = ln_call_in(call, 0);
    for (int i = 0; i < data->ndim; i++)
        slice_axis(plan, i, data->dims[i], 0, data->dims[i], 1);
    plan->is_known = ln_call_since(call) == 0;
    if (plan->is_known) { // the core's, which is checked
        int axis = (int)ln_call_int(call, "axis");
        int64_t start = ln_call_int(call, "start");
        slice_axis(plan, axis, data->dims[axis], start, start + ln_call_int(call, "len"), 1);
        return LN_OK;
    }
    int64_t starts[TL_MAXDIM], ends[TL_MAXDIM], given[TL_MAXDIM], steps[TL_MAXDIM];
    int start_count, end_count, axis_count, step_count, axes[TL_MAXDIM];
    LN_TRY(ln_given_ints(call, 1, "starts", TL_MAXDIM, starts, &start_count));
    LN_TRY(ln_given_ints(call, 2, "ends", TL_MAXDIM, ends, &end_count));
    LN_TRY(ln_given_ints(call, 3, "axes", TL_MAXDIM, given, &axis_count));
    LN_TRY(ln_given_ints(call, 4, NULL, TL_MAXDIM, steps, &step_count));
    plan->is_known = start_count != LN_GIVEN_UNKNOWN && end_count != LN_GIVEN_UNKNOWN &&
                     axis_count != LN_GIVEN_UNKNOWN && step_count != LN_GIVEN_UNKNOWN;
    if (!plan->is_known)
        return LN_OK;
    LN_TRY(check_counts(call, start_count, end_count, axis_count, step_count));

    for (int i = 0; i < start_count && axis_count == LN_GIVEN_ABSENT; i++)
        given[i] = i;
    LN_TRY(ln_given_axes(call, data->ndim, given, start_count, axes));
    for (int i = 0; i < start_count; i++) {
        int64_t step = step_count == LN_GIVEN_ABSENT ? 1 : steps[i];
        if (step == 0)
            return ln_call_fail(call, LN_INVALID, "step 0 on axis %d", axes[i]);
        slice_axis(plan, axes[i], data->dims[axes[i]], starts[i], ends[i], step);
    }
    return LN_OK;
}

ln_status ln_infer_slice(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    ln_slice_plan plan;
    LN_TRY(ln_slice_find(call, &plan));
    if (!plan.is_known)
        return ln_call_out_open(call);
    return ln_call_out(call, 0, data->dtype, data->ndim, plan.dims);
}

// ---- Pad ----

static ln_status check_mode(ln_call *call)
{
    const char *mode = ln_call_string(call, "mode");
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i]) == 0)
            return LN_OK;
    return ln_call_fail(call, LN_INVALID, "mode \"%s\" is none of constant, reflect, edge, wrap",
                        mode ? mode : "");
}

// The axes that Pad's fourth input names, or all.
static ln_status pad_axes(ln_call *call, int ndim, int *axes, int *out_count)
{
    int64_t given[TL_MAXDIM];
    LN_TRY(ln_given_ints(call, 3, NULL, TL_MAXDIM, given, out_count));
    if (*out_count == LN_GIVEN_UNKNOWN)
        return LN_OK;
    if (*out_count >= 0)
        return ln_given_axes(call, ndim, given, *out_count, axes);
    *out_count = ndim;
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    return LN_OK;
}

ln_status ln_pad_find(ln_call *call, ln_pad_plan *plan)
{
    int ndim = ln_call_in(call, 0)->ndim;
    const char *param = ln_call_since(call) == 1 ? "paddings" : "pads";
    int64_t pads[2 * TL_MAXDIM];
    int pad_count, axis_count, axes[TL_MAXDIM];
    LN_TRY(check_mode(call));
    LN_TRY(ln_given_ints(call, 1, param, 2 * TL_MAXDIM, pads, &pad_count));
    LN_TRY(pad_axes(call, ndim, axes, &axis_count));
    plan->is_known = pad_count != LN_GIVEN_UNKNOWN && axis_count != LN_GIVEN_UNKNOWN;
    if (!plan->is_known)
        return LN_OK;
    if (pad_count == LN_GIVEN_ABSENT)
        return ln_call_fail(call, LN_INVALID, "there are no pads");
    if (pad_count != 2 * axis_count)
        return ln_call_fail(call, LN_INVALID, "%d pads for %d axes", pad_count, axis_count);

    for (int i = 0; i < ndim; i++)
        plan->begins[i] = plan->ends[i] = 0;
    for (int i = 0; i < axis_count; i++) {
        plan->begins[axes[i]] = pads[i];
        plan->ends[axes[i]] = pads[i + axis_count];
    }
    return LN_OK;
}

// The length of an axis with its pads. A mode that repeats elements needs one that is left.
static ln_status padded(ln_call *call, int axis, int64_t begin, int64_t end, int64_t *out_dim)
{
    int64_t dim = ln_call_in(call, 0)->dims[axis];
    if (begin < -dim || begin > INT_MAX || end < -dim || end > INT_MAX || dim + begin + end < 0)
        return ln_call_fail(call, LN_INVALID, "pads %lld and %lld on axis %d of dimension %lld",
                            (long long)begin, (long long)end, axis, (long long)dim);
    int64_t left = dim + (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
    *out_dim = dim + begin + end;
    if (*out_dim > 0 && left <= 0 && strcmp(ln_call_string(call, "mode"), "constant") != 0)
        return ln_call_fail(call, LN_INVALID, "axis %d has no element to repeat", axis);
    return LN_OK;
}

ln_status ln_infer_pad(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *value = ln_call_in(call, 2);
    ln_pad_plan plan;
    LN_TRY(ln_pad_find(call, &plan));
    if (value) {
        LN_TRY(ln_given_same_dtype(call, data, value));
        if (value->len > 1)
            return ln_call_fail(call, LN_INVALID, "%d elements to pad with", value->len);
    }
    if (!plan.is_known)
        return ln_call_out_open(call);

    int64_t dims[TL_MAXDIM];
    for (int i = 0; i < data->ndim; i++)
        LN_TRY(padded(call, i, plan.begins[i], plan.ends[i], &dims[i]));
    return ln_call_out64(call, 0, data->dtype, data->ndim, dims);
}

// ---- CenterCropPad ----

ln_status ln_infer_center_crop_pad(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t shape[TL_MAXDIM], dims[TL_MAXDIM];
    int axes[TL_MAXDIM], axis_count, count;
    LN_TRY(ln_given_axes_param(call, data->ndim, axes, &axis_count));
    LN_TRY(ln_given_ints(call, 1, NULL, TL_MAXDIM, shape, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    if (count != axis_count)
        return ln_call_fail(call, LN_INVALID, "%d dimensions for %d axes", count, axis_count);
    for (int i = 0; i < data->ndim; i++)
        dims[i] = data->dims[i];
    for (int i = 0; i < count; i++)
        dims[axes[i]] = shape[i];
    return ln_call_out64(call, 0, data->dtype, data->ndim, dims);
}

// ---- Crop ----

ln_status ln_crop_start(ln_call *call, int *out_top, int *out_left)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *out_top = *out_left = 0;
    if (ln_call_count(call, "border") < 4)
        return ln_call_fail(call, LN_INVALID, "border has %d numbers instead of 4",
                            ln_call_count(call, "border"));
    int64_t left = ln_call_int_at(call, "border", 0), top = ln_call_int_at(call, "border", 1);
    if (left < 0 || top < 0 || left > src->dims[3] || top > src->dims[2])
        return ln_call_fail(call, LN_INVALID,
                            "border begins at row %lld and column %lld of %d by %d pixels",
                            (long long)top, (long long)left, src->dims[2], src->dims[3]);
    *out_top = (int)top;
    *out_left = (int)left;
    return LN_OK;
}

ln_status ln_infer_crop(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int top, left, scales = ln_call_count(call, "scale");
    if (src->ndim != 4)
        return ln_call_fail(call, LN_INVALID, "input has rank %d instead of 4", src->ndim);
    LN_TRY(ln_crop_start(call, &top, &left));
    if (scales != 0 && scales < 2)
        return ln_call_fail(call, LN_INVALID, "scale has %d number instead of 2", scales);
    int64_t most_rows = src->dims[2] - top, most_columns = src->dims[3] - left;
    int64_t right = ln_call_int_at(call, "border", 2), bottom = ln_call_int_at(call, "border", 3);
    int64_t rows =
        scales ? ln_call_int_at(call, "scale", 0) : most_rows - ln_clamp64(bottom, 0, INT_MAX);
    int64_t columns =
        scales ? ln_call_int_at(call, "scale", 1) : most_columns - ln_clamp64(right, 0, INT_MAX);
    if (rows < 0 || rows > most_rows || columns < 0 || columns > most_columns)
        return ln_call_fail(
            call, LN_INVALID, "it takes %lld by %lld pixels from (%d, %d) on of %d by %d",
            (long long)rows, (long long)columns, top, left, src->dims[2], src->dims[3]);
    int64_t dims[] = {src->dims[0], src->dims[1], rows, columns};
    return ln_call_out64(call, 0, src->dtype, 4, dims);
}
