// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's normalisations.

#include "op/onnx/norm.h"
#include "op/functions.h"

#include <string.h>

#include "op/call.h"

static ln_status check_rank(ln_call *call, int least)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->ndim < least)
        return ln_call_fail(call, LN_INVALID, "has an input of rank %d, not %d or more", src->ndim,
                            least);
    return LN_OK;
}

static ln_status check_len(ln_call *call, int index, int64_t len)
{
    const tl_tensor *t = ln_call_in(call, index);
    if (t && t->len != len)
        return ln_call_fail(call, LN_INVALID, "has %d elements in input %d, not %lld", t->len,
                            index, (long long)len);
    return LN_OK;
}

// An operand of the width of rows, [width]: others with as many elements would be broadcast along
// other axes.
static ln_status check_row(ln_call *call, int index, int64_t width)
{
    const tl_tensor *t = ln_call_in(call, index);
    LN_TRY(check_len(call, index, width));
    return !t || t->ndim == 1
               ? LN_OK
               : ln_call_fail(call, LN_INVALID, "has rank %d in input %d, not [%lld]", t->ndim,
                              index, (long long)width);
}

// ---- Batches and channels ----

bool ln_batch_norm_is_spatial(const ln_call *call)
{
    return ln_call_since(call) >= 9 || ln_call_int(call, "spatial") != 0;
}

bool ln_batch_norm_trains(const ln_call *call)
{
    int since = ln_call_since(call);
    if (since >= 14)
        return ln_call_int(call, "training_mode") != 0;
    if (since < 7 && ln_call_int(call, "is_test"))
        return false;
    for (int i = 1; i < ln_call_out_count(call); i++)
        if (ln_call_wants(call, i))
            return true;
    return false;
}

ln_status ln_infer_batch_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *mean = ln_call_in(call, 3);
    LN_TRY(check_rank(call, ln_call_since(call) >= 14 ? 1 : 2));
    int64_t count = src->ndim > 1 ? src->dims[1] : 1;
    for (int d = 2; !ln_batch_norm_is_spatial(call) && d < src->ndim; d++)
        count *= src->dims[d];
    for (int i = 1; i < 5; i++)
        LN_TRY(check_len(call, i, count));
    LN_TRY(ln_call_out_like(call, 0, 0));
    for (int i = 1; i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out(call, i, mean->dtype, mean->ndim, mean->dims));
    return LN_OK;
}

static ln_status check_epsilon(ln_call *call)
{
    double epsilon = ln_call_float(call, "epsilon");
    return epsilon >= 0 ? LN_OK : ln_call_fail(call, LN_INVALID, "has an epsilon of %g", epsilon);
}

ln_status ln_infer_batchnorm(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(check_rank(call, 1));
    for (int i = 1; i < 5; i++)
        LN_TRY(check_len(call, i, src->ndim > 1 ? src->dims[1] : 1));
    LN_TRY(check_epsilon(call));
    return ln_call_out_like(call, 0, 0);
}

// Folded weights are computed once, when the model is loaded.
static ln_status check_constants(ln_call *call)
{
    LN_TRY(check_epsilon(call));
    for (int i = 0; i < call->in_count; i++)
        if (call->ins[i] && !call->ins[i]->isstatic)
            return ln_call_fail(call, LN_INVALID, "needs a constant as input %d", i);
    return LN_OK;
}

ln_status ln_infer_bn_fold_weight(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    int axis, rows = weight->len > 0; // none in empty weights
    LN_TRY(check_constants(call));
    LN_TRY(ln_call_axis(call, "axis", weight->ndim, &axis));
    for (int d = 0; d < axis; d++)
        rows *= weight->dims[d];
    int64_t group = ln_call_int(call, "group");
    if (group < 1 || rows % group != 0)
        return ln_call_fail(call, LN_INVALID, "does not divide %d rows into %lld groups", rows,
                            (long long)group);
    LN_TRY(check_len(call, 1, group * weight->dims[axis]));
    LN_TRY(check_len(call, 2, group * weight->dims[axis]));
    return ln_call_out_like(call, 0, 0);
}

// A number of each kind for each channel.
ln_status ln_infer_bn_fold(ln_call *call)
{
    LN_TRY(check_constants(call));
    for (int i = 0; i < ln_call_in_count(call); i++)
        LN_TRY(check_len(call, i, ln_call_in(call, 0)->len));
    for (int i = 0; i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out_like(call, i, 0));
    return LN_OK;
}

ln_status ln_infer_instance_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(check_rank(call, 2));
    LN_TRY(check_len(call, 1, src->dims[1]));
    LN_TRY(check_len(call, 2, src->dims[1]));
    return ln_call_out_like(call, 0, 0);
}

static ln_status check_groups(ln_call *call, int64_t groups)
{
    int channels = ln_call_in(call, 0)->dims[1];
    if (groups <= 0 || channels % groups != 0)
        return ln_call_fail(call, LN_INVALID, "has %lld groups for %d channels", (long long)groups,
                            channels);
    return LN_OK;
}

ln_status ln_infer_groupnorm(ln_call *call)
{
    LN_TRY(check_rank(call, 2));
    int64_t groups = ln_call_int(call, "groups"), channels = ln_call_in(call, 0)->dims[1];
    if (groups != 0)
        LN_TRY(check_groups(call, groups));
    for (int i = 1; i < 3; i++)
        if (groups == 0 || ln_call_in(call, i)->len != groups)
            LN_TRY(check_len(call, i, channels));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_group_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(check_rank(call, 2));
    int64_t groups = ln_call_int(call, "num_groups");
    LN_TRY(check_groups(call, groups));
    int64_t factors = ln_call_since(call) < 21 ? groups : src->dims[1];
    LN_TRY(check_len(call, 1, factors));
    LN_TRY(check_len(call, 2, factors));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_mean_variance_axes(ln_call *call, bool *out_is_reduced)
{
    static const int usual[] = {0, 2, 3};
    int ndim = ln_call_in(call, 0)->ndim;
    bool is_given = ln_call_has(call, "axes");
    int count = is_given ? ln_call_count(call, "axes") : 3;
    memset(out_is_reduced, 0, TL_MAXDIM * sizeof *out_is_reduced);
    for (int i = 0; i < count; i++) {
        int axis;
        LN_TRY(ln_call_check_axis(
            call, "axes", is_given ? ln_call_int_at(call, "axes", i) : usual[i], ndim, &axis));
        out_is_reduced[axis] = true;
    }
    return LN_OK;
}

ln_status ln_infer_mean_variance_normalization(ln_call *call)
{
    bool is_reduced[TL_MAXDIM];
    LN_TRY(ln_mean_variance_axes(call, is_reduced));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_lrn(ln_call *call)
{
    LN_TRY(check_rank(call, 2));
    if (ln_call_int(call, "size") <= 0)
        return ln_call_fail(call, LN_INVALID, "has a `size` of %lld",
                            (long long)ln_call_int(call, "size"));
    return ln_call_out_like(call, 0, 0);
}

// ---- Layers ----

// Input `index`, if it is there, is broadcast to the first.
static ln_status check_broadcast(ln_call *call, int index)
{
    const tl_tensor *tensors[] = {ln_call_in(call, 0), ln_call_in(call, index)};
    int ndim, dims[TL_MAXDIM];
    if (!tensors[1])
        return LN_OK;
    LN_TRY(ln_call_broadcast(call, 2, tensors, &ndim, dims));
    if (ndim != tensors[0]->ndim ||
        memcmp(dims, tensors[0]->dims, (size_t)ndim * sizeof *dims) != 0)
        return ln_call_fail(call, LN_INVALID, "has an input %d that is not broadcast to the first",
                            index);
    return LN_OK;
}

// Outputs `first` to `first + count - 1` have an element for each part that is normalised.
static ln_status out_statistics(ln_call *call, int first, int count, tl_dtype dtype, int axis)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int dims[TL_MAXDIM];
    for (int d = 0; d < src->ndim; d++)
        dims[d] = d < axis ? src->dims[d] : 1;
    for (int i = first; i < first + count && i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out(call, i, dtype, src->ndim, dims));
    return LN_OK;
}

static ln_status stash_dtype(ln_call *call, tl_dtype *out_dtype)
{
    *out_dtype = TL_FLOAT;
    if (ln_call_has(call, "stash_type"))
        LN_TRY(ln_call_dtype(call, "stash_type", out_dtype));
    if (!(LN_TYPE(*out_dtype) & LN_TYPES_FLOAT))
        return ln_call_fail(call, LN_INVALID, "has a `stash_type` that is no floating type");
    return LN_OK;
}

ln_status ln_infer_layernorm(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis;
    LN_TRY(check_rank(call, 1));
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    LN_TRY(check_broadcast(call, 1));
    LN_TRY(check_broadcast(call, 2));
    LN_TRY(check_epsilon(call));
    const tl_tensor *typed = ln_call_in(call, ln_call_int(call, "centered") ? 0 : 1);
    return ln_call_out(call, 0, typed->dtype, src->ndim, src->dims);
}

ln_status ln_infer_layer_normalization(ln_call *call)
{
    int axis;
    tl_dtype dtype;
    LN_TRY(check_rank(call, 1));
    LN_TRY(ln_call_axis(call, "axis", ln_call_in(call, 0)->ndim, &axis));
    LN_TRY(stash_dtype(call, &dtype));
    LN_TRY(check_broadcast(call, 1));
    LN_TRY(check_broadcast(call, 2));
    LN_TRY(ln_call_out_like(call, 0, 0));
    return out_statistics(call, 1, 2, dtype, axis);
}

ln_status ln_infer_rms_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis;
    tl_dtype dtype;
    LN_TRY(check_rank(call, 1));
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    LN_TRY(stash_dtype(call, &dtype));
    LN_TRY(check_broadcast(call, 1));
    LN_TRY(ln_call_out(call, 0, ln_call_in(call, 1)->dtype, src->ndim, src->dims));
    return out_statistics(call, 1, 1, dtype, axis);
}

// ---- com.microsoft ----

ln_status ln_infer_skip_layer_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(check_rank(call, 1));
    LN_TRY(check_broadcast(call, 1));
    for (int i = 2; i < ln_call_in_count(call); i++)
        LN_TRY(check_row(call, i, src->dims[src->ndim - 1]));
    LN_TRY(ln_call_out_like(call, 0, 0));
    LN_TRY(out_statistics(call, 1, 2, TL_FLOAT, src->ndim - 1));
    return ln_call_out_count(call) > 3 ? ln_call_out_like(call, 3, 0) : LN_OK;
}

static ln_status check_table(ln_call *call, int index, int columns)
{
    const tl_tensor *table = ln_call_in(call, index);
    if (table && (table->ndim != 2 || table->dims[1] != columns))
        return ln_call_fail(call, LN_INVALID, "has a table in input %d that is not [rows, %d]",
                            index, columns);
    return LN_OK;
}

ln_status ln_infer_embed_layer_normalization(ln_call *call)
{
    enum { IDS, SEGMENT_IDS, WORDS, POSITIONS, SEGMENTS, GAMMA, BETA, MASK, POSITION_IDS };
    const tl_tensor *ids = ln_call_in(call, IDS), *words = ln_call_in(call, WORDS);
    const tl_tensor *segment_ids = ln_call_in(call, SEGMENT_IDS), *mask = ln_call_in(call, MASK);
    const tl_tensor *position_ids = ln_call_in(call, POSITION_IDS);
    if (!words || !ln_call_in(call, POSITIONS) || !ln_call_in(call, GAMMA) ||
        !ln_call_in(call, BETA))
        return ln_call_fail(call, LN_INVALID, "lacks a table, gamma or beta");
    if (ids->ndim != 2 || words->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "has ids or words that are not a matrix");
    for (int i = WORDS; i <= SEGMENTS; i++)
        LN_TRY(check_table(call, i, words->dims[1]));
    if (segment_ids && (!ln_call_in(call, SEGMENTS) || segment_ids->len != ids->len))
        return ln_call_fail(call, LN_INVALID, "has segment ids that do not fit");
    if (position_ids && position_ids->len != ids->len && position_ids->len != ids->dims[1])
        return ln_call_fail(call, LN_INVALID, "has position ids that do not fit");
    if (!position_ids && ln_call_in(call, POSITIONS)->dims[0] < ids->dims[1])
        return ln_call_fail(call, LN_INVALID, "has %d positions for sequences of %d",
                            ln_call_in(call, POSITIONS)->dims[0], ids->dims[1]);
    if (mask && mask->len != ids->len)
        return ln_call_fail(call, LN_INVALID, "has a mask that does not fit");
    LN_TRY(check_row(call, GAMMA, words->dims[1]));
    LN_TRY(check_row(call, BETA, words->dims[1]));
    int dims[] = {ids->dims[0], ids->dims[1], words->dims[1]};
    LN_TRY(ln_call_out(call, 0, words->dtype, 3, dims));
    LN_TRY(ln_call_out(call, 1, TL_INT32, 1, dims));
    return ln_call_out(call, 2, words->dtype, 3, dims);
}

double ln_cost_lrn(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    return src ? ((double)ln_call_int(call, "size") + 10) * src->len : 0;
}
