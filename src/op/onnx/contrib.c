// SPDX-License-Identifier: Apache-2.0
// Shapes of operators of com.microsoft that no other family has.

#include "op/functions.h"

#include <limits.h>
#include <string.h>

#include "op/onnx/given.h"

static ln_status check_rank(ln_call *call, const char *name, const tl_tensor *t, int rank)
{
    return t->ndim == rank ? LN_OK
                           : ln_call_fail(call, LN_INVALID, "%s has rank %d instead of %d", name,
                                          t->ndim, rank);
}

// ---- CDist ----

ln_status ln_infer_ms_cdist(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    const char *metric = ln_call_string(call, "metric");
    LN_TRY(check_rank(call, "A", a, 2));
    LN_TRY(check_rank(call, "B", b, 2));
    LN_TRY(ln_given_same_dtype(call, a, b));
    if (a->dims[1] != b->dims[1])
        return ln_call_fail(call, LN_INVALID, "rows of %d and of %d elements", a->dims[1],
                            b->dims[1]);
    if (strcmp(metric, "euclidean") != 0 && strcmp(metric, "sqeuclidean") != 0)
        return ln_call_fail(call, LN_INVALID, "metric is '%s' instead of euclidean or sqeuclidean",
                            metric);
    return ln_call_out(call, 0, a->dtype, 2, (const int[]){a->dims[0], b->dims[0]});
}

double ln_cost_ms_cdist(const ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    return ln_cost_steps(call) + (b->ndim > 0 ? (double)a->len * b->dims[0] : 0);
}

// ---- CropAndResize ----

ln_status ln_infer_ms_crop_and_resize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *rois = ln_call_in(call, 1),
                    *batch = ln_call_in(call, 2);
    const char *mode = ln_call_string(call, "mode");
    int64_t size[2];
    int count;
    LN_TRY(check_rank(call, "X", x, 4));
    LN_TRY(check_rank(call, "rois", rois, 2));
    LN_TRY(check_rank(call, "batch_indices", batch, 1));
    if (rois->dims[1] != 4 || rois->dims[0] != batch->dims[0])
        return ln_call_fail(call, LN_INVALID, "rois of [%d, %d] and %d batch indices",
                            rois->dims[0], rois->dims[1], batch->dims[0]);
    if (strcmp(mode, "bilinear") != 0 && strcmp(mode, "nearest") != 0)
        return ln_call_fail(call, LN_INVALID, "mode is '%s' instead of bilinear or nearest", mode);
    LN_TRY(ln_given_ints(call, 3, NULL, 2, size, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    if (count != 2 || size[0] < 1 || size[1] < 1)
        return ln_call_fail(call, LN_INVALID, "crop_size is no height and width");
    int64_t dims[] = {rois->dims[0], x->dims[1], size[0], size[1]};
    return ln_call_out64(call, 0, x->dtype, 4, dims);
}

// ---- DynamicTimeWarping ----

// The path has as many elements as the costs say.
ln_status ln_infer_ms_dynamic_time_warping(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    if (x->ndim != 2 && !(x->ndim == 3 && x->dims[0] == 1))
        return ln_call_fail(call, LN_INVALID, "input is neither [M, N] nor [1, M, N]");
    return ln_call_out_open(call);
}

// ---- ExpandDims ----

ln_status ln_infer_ms_expand_dims(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int64_t axis = 0, dims[TL_MAXDIM];
    int count, at;
    LN_TRY(ln_given_int(call, 1, &axis, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    if (x->ndim == TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d can have no further axis", x->ndim);
    LN_TRY(ln_call_check_axis(call, "axis", axis, x->ndim + 1, &at));
    for (int i = 0; i <= x->ndim; i++)
        dims[i] = i == at ? 1 : x->dims[i - (i > at)];
    return ln_call_out64(call, 0, x->dtype, x->ndim + 1, dims);
}

// ---- MurmurHash3 ----

ln_status ln_infer_ms_murmur_hash(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    tl_dtype dtype = ln_call_int(call, "positive") == 1 ? TL_UINT32 : TL_INT32;
    return ln_call_out(call, 0, dtype, x->ndim, x->dims);
}

// ---- NGramRepeatBlock ----

ln_status ln_infer_ms_ngram_repeat_block(ln_call *call)
{
    const tl_tensor *ids = ln_call_in(call, 0), *scores = ln_call_in(call, 1);
    LN_TRY(check_rank(call, "input_ids", ids, 2));
    LN_TRY(check_rank(call, "scores", scores, 2));
    if (ids->dims[0] != scores->dims[0])
        return ln_call_fail(call, LN_INVALID, "%d rows of tokens and %d of scores", ids->dims[0],
                            scores->dims[0]);
    if (ln_call_int(call, "ngram_size") < 1)
        return ln_call_fail(call, LN_INVALID, "ngram_size is %lld",
                            (long long)ln_call_int(call, "ngram_size"));
    return ln_call_out_like(call, 0, 1);
}

// ---- UnfoldTensor ----

ln_status ln_infer_ms_unfold_tensor(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    int64_t size = ln_call_int(call, "size"), step = ln_call_int(call, "step"), dims[TL_MAXDIM];
    int axis;
    LN_TRY(ln_call_axis(call, "dim", x->ndim, &axis));
    if (x->ndim == TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d can have no further axis", x->ndim);
    if (size < 1 || size > x->dims[axis] || step < 1)
        return ln_call_fail(call, LN_INVALID, "windows of %lld every %lld of %d elements",
                            (long long)size, (long long)step, x->dims[axis]);
    for (int i = 0; i < x->ndim; i++)
        dims[i] = i == axis ? (x->dims[i] - size) / step + 1 : x->dims[i];
    dims[x->ndim] = size;
    return ln_call_out64(call, 0, x->dtype, x->ndim + 1, dims);
}

// Each position of a row is compared with its end; no n-gram is longer than the row.
double ln_cost_ms_ngram_repeat_block(const ln_call *call)
{
    const tl_tensor *ids = ln_call_in(call, 0);
    double size = (double)ln_call_int(call, "ngram_size");
    if (ids->ndim == 0 || size > ids->dims[ids->ndim - 1])
        return ln_cost_steps(call);
    return ln_cost_steps(call) + ids->len * size;
}
