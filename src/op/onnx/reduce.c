// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that work along axes.

#include "op/onnx/reduce.h"
#include "op/functions.h"

#include <string.h>

#include "op/call.h"

// ---- Reductions ----

ln_status ln_reduce_kind_of(ln_call *call, ln_reduce_kind *out_kind)
{
    static const char *const names[LN_REDUCE_KIND_COUNT][2] = {{"sum", "ReduceSum"},
                                                               {"mean", "ReduceMean"},
                                                               {"prod", "ReduceProd"},
                                                               {"max", "ReduceMax"},
                                                               {"min", "ReduceMin"},
                                                               {"l1", "ReduceL1"},
                                                               {"l2", "ReduceL2"},
                                                               {"log_sum", "ReduceLogSum"},
                                                               {"log_sum_exp", "ReduceLogSumExp"},
                                                               {"sum_square", "ReduceSumSquare"}};
    const char *kind = ln_call_string(call, "kind"), *optype = call->op_arg->optype;
    size_t len = strlen(optype);
    if (len > 4 && strcmp(optype + len - 4, "_ref") == 0)
        len -= 4;
    for (int i = 0; i < LN_REDUCE_KIND_COUNT; i++) {
        *out_kind = (ln_reduce_kind)i;
        if (kind ? strcmp(kind, names[i][0]) == 0
                 : strlen(names[i][1]) == len && strncmp(optype, names[i][1], len) == 0)
            return LN_OK;
    }
    return ln_call_fail(call, LN_INVALID, "kind '%s' is not known", kind ? kind : optype);
}

static ln_status mark_axis(ln_call *call, int64_t axis, bool *is_reduced)
{
    int checked;
    LN_TRY(ln_call_check_axis(call, "axes", axis, ln_call_in(call, 0)->ndim, &checked));
    is_reduced[checked] = true;
    return LN_OK;
}

static void mark_all_or_none(ln_call *call, bool *is_reduced)
{
    bool is_all = !ln_call_int(call, "noop_with_empty_axes");
    for (int d = 0; d < TL_MAXDIM; d++)
        is_reduced[d] = is_all;
}

ln_status ln_reduced_axes(ln_call *call, bool *out_is_reduced, bool *out_is_known)
{
    memset(out_is_reduced, 0, TL_MAXDIM * sizeof *out_is_reduced);
    *out_is_known = true;
    const tl_tensor *input = ln_call_in(call, 1);
    int count = ln_call_count(call, "axes");
    if (input) {
        int64_t axes[2 * TL_MAXDIM]; // the same axis twice is no harm
        if (input->len > 0)
            count = ln_call_value_ints(call, 1, 2 * TL_MAXDIM, axes);
        else
            count = 0;
        if (count == -2)
            return LN_LIMIT;
        *out_is_known = count >= 0;
        for (int i = 0; i < count; i++)
            LN_TRY(mark_axis(call, axes[i], out_is_reduced));
    } else {
        for (int i = 0; i < count; i++)
            LN_TRY(mark_axis(call, ln_call_int_at(call, "axes", i), out_is_reduced));
    }
    if (count == 0)
        mark_all_or_none(call, out_is_reduced);
    return LN_OK;
}

static ln_status reduced_shape(ln_call *call, tl_dtype dtype, const bool *is_reduced)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool keeps = ln_call_int(call, "keepdims") != 0;
    int ndim = 0, dims[TL_MAXDIM];
    for (int d = 0; d < data->ndim; d++) {
        if (!is_reduced[d])
            dims[ndim++] = data->dims[d];
        else if (keeps)
            dims[ndim++] = 1;
    }
    return ln_call_out(call, 0, dtype, ndim, dims);
}

ln_status ln_infer_reduce(ln_call *call)
{
    bool is_reduced[TL_MAXDIM], is_known;
    ln_reduce_kind kind;
    LN_TRY(ln_reduce_kind_of(call, &kind));
    LN_TRY(ln_reduced_axes(call, is_reduced, &is_known));
    if (!is_known)
        return ln_call_out_open(call);
    return reduced_shape(call, ln_call_in(call, 0)->dtype, is_reduced);
}

ln_status ln_infer_arg(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool is_reduced[TL_MAXDIM] = {false};
    if (data->ndim == 0) // a number is the largest of its own
        return ln_call_out(call, 0, TL_INT64, 0, NULL);
    int axis;
    LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
    if (data->dims[axis] == 0)
        return ln_call_fail(call, LN_INVALID, "has no element along axis %d", axis);
    is_reduced[axis] = true;
    return reduced_shape(call, TL_INT64, is_reduced);
}

ln_status ln_infer_cumulate(ln_call *call)
{
    const tl_tensor *axis = ln_call_in(call, 1);
    if (axis->len != 1)
        return ln_call_fail(call, LN_INVALID, "has an axis of %d elements", axis->len);
    return ln_call_out_like(call, 0, 0);
}

// ---- Lines ----

ln_lines ln_lines_along(const tl_tensor *t, int axis)
{
    ln_lines lines = {1, 1, 1};
    for (int d = 0; d < t->ndim; d++) {
        size_t *side = d < axis ? &lines.outer : d == axis ? &lines.count : &lines.inner;
        *side *= (size_t)t->dims[d];
    }
    return lines;
}

ln_status ln_softmax_lines(ln_call *call, ln_lines *out_lines)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_core = ln_call_has(call, "flat");
    bool is_flat = is_core ? ln_call_int(call, "flat") != 0 : ln_call_since(call) < 13;
    *out_lines = (ln_lines){1, 1, 1};
    if (src->ndim == 0)
        return LN_OK;
    int64_t axis = ln_call_has(call, "axis") ? ln_call_int(call, "axis") : is_flat ? 1 : -1;
    if (is_flat && axis == src->ndim) { // every element is a line of its own
        out_lines->outer = (size_t)src->len;
        return LN_OK;
    }
    int checked;
    LN_TRY(ln_call_check_axis(call, "axis", axis, src->ndim, &checked));
    *out_lines = ln_lines_along(src, checked);
    if (is_flat) {
        out_lines->count *= out_lines->inner;
        out_lines->inner = 1;
    }
    return LN_OK;
}

ln_status ln_infer_lp_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int64_t p = ln_call_int(call, "p");
    int axis;
    if (p != 1 && p != 2)
        return ln_call_fail(call, LN_INVALID, "has a `p` of %lld, not 1 or 2", (long long)p);
    if (src->ndim > 0)
        LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_softmax(ln_call *call)
{
    ln_lines lines;
    LN_TRY(ln_softmax_lines(call, &lines));
    return ln_call_out_like(call, 0, 0);
}

// ---- Losses ----

static ln_status check_labels(ln_call *call)
{
    const tl_tensor *scores = ln_call_in(call, 0), *labels = ln_call_in(call, 1);
    if (scores->ndim < 2 || labels->ndim != scores->ndim - 1)
        return ln_call_fail(call, LN_INVALID, "has scores of rank %d and labels of rank %d",
                            scores->ndim, labels->ndim);
    for (int d = 0; d < labels->ndim; d++)
        if (labels->dims[d] != scores->dims[d ? d + 1 : 0])
            return ln_call_fail(call, LN_INVALID,
                                "has labels whose shape is not that of the scores");
    return LN_OK;
}

ln_status ln_infer_loss(ln_call *call)
{
    const tl_tensor *scores = ln_call_in(call, 0), *labels = ln_call_in(call, 1);
    const tl_tensor *weights = ln_call_in(call, 2);
    const char *reduction = ln_call_string(call, "reduction");
    LN_TRY(check_labels(call));
    if (weights && (weights->ndim != 1 || weights->dims[0] != scores->dims[1]))
        return ln_call_fail(call, LN_INVALID, "has weights of other than %d classes",
                            scores->dims[1]);
    if (strcmp(reduction, "none") == 0)
        LN_TRY(ln_call_out(call, 0, scores->dtype, labels->ndim, labels->dims));
    else if (strcmp(reduction, "sum") == 0 || strcmp(reduction, "mean") == 0)
        LN_TRY(ln_call_out(call, 0, scores->dtype, 0, NULL));
    else
        return ln_call_fail(call, LN_INVALID, "has a `reduction` other than none, sum and mean");
    return ln_call_out_count(call) > 1 ? ln_call_out_like(call, 1, 0) : LN_OK;
}
