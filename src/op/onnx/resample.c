// SPDX-License-Identifier: Apache-2.0
// Shapes of operators on regions, grids, blocks and matrices.

#include "op/onnx/resample.h"
#include "op/functions.h"
#include "op/resize.h"

#include <limits.h>
#include <string.h>

ln_status ln_given_word(ln_call *call, const char *param, const char *const *words, int count,
                        int *out_index)
{
    const char *word = ln_call_string(call, param);
    for (*out_index = 0; *out_index < count; ++*out_index)
        if (word && strcmp(word, words[*out_index]) == 0)
            return LN_OK;
    *out_index = 0;
    return ln_call_fail(call, LN_INVALID, "%s cannot be \"%s\"", param, word ? word : "");
}

// ---- Grids ----

ln_status ln_infer_grid_sample(ln_call *call)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const tl_tensor *x = ln_call_in(call, 0), *grid = ln_call_in(call, 1);
    int mode, padding, dims[TL_MAXDIM], rank = x->ndim - 2;
    LN_TRY(ln_resize_mode(call, &mode));
    LN_TRY(ln_given_word(call, "padding_mode", paddings, 3, &padding));
    if (rank < 1 || grid->ndim != x->ndim || grid->dims[rank + 1] != rank)
        return ln_call_fail(call, LN_INVALID, "a grid of rank %d does not fit an input of rank %d",
                            grid->ndim, x->ndim);
    if (grid->dims[0] != x->dims[0])
        return ln_call_fail(call, LN_INVALID, "a grid of a batch of %d for one of %d",
                            grid->dims[0], x->dims[0]);
    if (mode != LN_RESIZE_NEAREST && !(LN_TYPE(x->dtype) & LN_TYPES_NUMBER))
        return ln_call_fail(call, LN_UNSUPPORTED, "interpolation of type %s",
                            tl_dtype_title(x->dtype));
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (int i = 0; i < rank; i++)
        dims[2 + i] = grid->dims[1 + i];
    return ln_call_out(call, 0, x->dtype, x->ndim, dims);
}

ln_status ln_infer_affine_grid(ln_call *call)
{
    const tl_tensor *theta = ln_call_in(call, 0);
    int64_t size[TL_MAXDIM], dims[TL_MAXDIM];
    int count;
    LN_TRY(ln_given_ints(call, 1, NULL, TL_MAXDIM, size, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);
    int rank = count - 2;
    if (rank != 2 && rank != 3)
        return ln_call_fail(call, LN_INVALID, "size has %d dimensions, not 4 or 5", count);
    if (theta->ndim != 3 || theta->dims[1] != rank || theta->dims[2] != rank + 1 ||
        theta->dims[0] != size[0])
        return ln_call_fail(call, LN_INVALID, "theta is not [%lld, %d, %d]", (long long)size[0],
                            rank, rank + 1);
    dims[0] = size[0];
    for (int i = 0; i < rank; i++)
        dims[1 + i] = size[2 + i];
    dims[1 + rank] = rank;
    return ln_call_out64(call, 0, theta->dtype, rank + 2, dims);
}

// ---- Regions ----

static ln_status check_regions(ln_call *call, int columns)
{
    const tl_tensor *x = ln_call_in(call, 0), *rois = ln_call_in(call, 1);
    LN_TRY(ln_given_same_dtype(call, x, rois));
    if (x->ndim != 4 || rois->ndim != 2 || rois->dims[1] != columns)
        return ln_call_fail(call, LN_INVALID, "inputs are not [N, C, H, W] and [regions, %d]",
                            columns);
    return LN_OK;
}

ln_status ln_infer_roi_align(ln_call *call)
{
    static const char *const modes[] = {"avg", "max"};
    static const char *const transforms[] = {"half_pixel", "output_half_pixel"};
    const tl_tensor *x = ln_call_in(call, 0), *rois = ln_call_in(call, 1),
                    *images = ln_call_in(call, 2);
    int mode, transform;
    LN_TRY(check_regions(call, 4));
    LN_TRY(ln_given_word(call, "mode", modes, 2, &mode));
    LN_TRY(ln_given_word(call, "coordinate_transformation_mode", transforms, 2, &transform));
    if (images->ndim != 1 || images->len != rois->dims[0])
        return ln_call_fail(call, LN_INVALID, "%d batch_indices for %d rois", images->len,
                            rois->dims[0]);
    int64_t height = ln_call_int(call, "output_height"), width = ln_call_int(call, "output_width");
    if (height < 1 || width < 1 || ln_call_int(call, "sampling_ratio") < 0)
        return ln_call_fail(call, LN_INVALID, "output of %lld x %lld, sampling_ratio %lld",
                            (long long)height, (long long)width,
                            (long long)ln_call_int(call, "sampling_ratio"));
    int64_t dims[] = {rois->dims[0], x->dims[1], height, width};
    return ln_call_out64(call, 0, x->dtype, 4, dims);
}

ln_status ln_infer_max_roi_pool(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *rois = ln_call_in(call, 1);
    int64_t shape[2];
    int count;
    LN_TRY(check_regions(call, 5));
    LN_TRY(ln_given_ints(call, -1, "pooled_shape", 2, shape, &count));
    if (count != 2 || shape[0] < 1 || shape[1] < 1)
        return ln_call_fail(call, LN_INVALID, "pooled_shape is not a height and a width");
    int64_t dims[] = {rois->dims[0], x->dims[1], shape[0], shape[1]};
    return ln_call_out64(call, 0, x->dtype, 4, dims);
}

// ---- Col2Im ----

// Array parameter `param` of `count` numbers from `least` on; all `fallback` without it.
static ln_status axis_numbers(ln_call *call, const char *param, int count, int64_t least,
                              int64_t fallback, int64_t *values)
{
    int given;
    LN_TRY(ln_given_ints(call, -1, param, count, values, &given));
    if (given == LN_GIVEN_ABSENT)
        for (int i = 0; i < count; i++)
            values[i] = fallback;
    else if (given != count)
        return ln_call_fail(call, LN_INVALID, "%s has %d numbers, not %d", param, given, count);
    for (int i = 0; i < count; i++)
        if (values[i] < least || values[i] > INT_MAX)
            return ln_call_fail(call, LN_INVALID, "%s has %lld", param, (long long)values[i]);
    return LN_OK;
}

// How many blocks fit each axis, and the products over all axes.
static ln_status count_blocks(ln_call *call, ln_col2im_plan *plan, const int64_t *pads)
{
    plan->block_len = plan->block_count = 1;
    for (int i = 0; i < plan->ndim; i++) {
        if (plan->image[i] < 0 || plan->image[i] > INT_MAX || plan->block[i] < 1 ||
            plan->block[i] > INT_MAX)
            return ln_call_fail(call, LN_INVALID, "axis %d: an image of %lld, a block of %lld", i,
                                (long long)plan->image[i], (long long)plan->block[i]);
        plan->pads[i] = pads[i];
        int64_t span = plan->dilations[i] * (plan->block[i] - 1) + 1;
        int64_t room = plan->image[i] + pads[i] + pads[plan->ndim + i] - span;
        plan->blocks[i] = room < 0 ? 0 : room / plan->strides[i] + 1;
        if (__builtin_mul_overflow(plan->block_len, plan->block[i], &plan->block_len) ||
            __builtin_mul_overflow(plan->block_count, plan->blocks[i], &plan->block_count))
            return ln_call_fail(call, LN_LIMIT, "too many blocks");
    }
    return LN_OK;
}

ln_status ln_col2im_find(ln_call *call, ln_col2im_plan *plan)
{
    const tl_tensor *input = ln_call_in(call, 0);
    int64_t pads[2 * TL_MAXDIM];
    int block_ndim;
    LN_TRY(ln_given_ints(call, 1, NULL, TL_MAXDIM - 2, plan->image, &plan->ndim));
    LN_TRY(ln_given_ints(call, 2, NULL, TL_MAXDIM - 2, plan->block, &block_ndim));
    plan->is_known = plan->ndim != LN_GIVEN_UNKNOWN && block_ndim != LN_GIVEN_UNKNOWN;
    if (!plan->is_known)
        return LN_OK;
    if (input->ndim != 3 || plan->ndim < 1 || block_ndim != plan->ndim)
        return ln_call_fail(call, LN_INVALID, "an input of rank %d, %d and %d dimensions",
                            input->ndim, plan->ndim, block_ndim);
    LN_TRY(axis_numbers(call, "dilations", plan->ndim, 1, 1, plan->dilations));
    LN_TRY(axis_numbers(call, "strides", plan->ndim, 1, 1, plan->strides));
    LN_TRY(axis_numbers(call, "pads", 2 * plan->ndim, 0, 0, pads));
    LN_TRY(count_blocks(call, plan, pads));
    if (input->dims[1] % plan->block_len != 0 || input->dims[2] != plan->block_count)
        return ln_call_fail(call, LN_INVALID, "%d rows of %d for blocks of %lld, and %lld of them",
                            input->dims[1], input->dims[2], (long long)plan->block_len,
                            (long long)plan->block_count);
    return LN_OK;
}

ln_status ln_infer_col2im(ln_call *call)
{
    const tl_tensor *input = ln_call_in(call, 0);
    ln_col2im_plan plan;
    int64_t dims[TL_MAXDIM];
    LN_TRY(ln_col2im_find(call, &plan));
    if (!plan.is_known)
        return ln_call_out_open(call);
    dims[0] = input->dims[0];
    dims[1] = input->dims[1] / plan.block_len;
    memcpy(dims + 2, plan.image, (size_t)plan.ndim * sizeof *dims);
    return ln_call_out64(call, 0, input->dtype, plan.ndim + 2, dims);
}

// ---- Det ----

ln_status ln_infer_det(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    if (x->ndim < 2 || x->dims[x->ndim - 1] != x->dims[x->ndim - 2])
        return ln_call_fail(call, LN_INVALID, "the last two dimensions are not those of a square");
    return ln_call_out(call, 0, x->dtype, x->ndim - 2, x->dims);
}

// ---- Costs ----

// Neighbours along one axis that the mode reads.
static double neighbours(const ln_call *call)
{
    const char *mode = ln_call_string(call, "mode");
    if (!mode || strcmp(mode, "nearest") == 0 || strcmp(mode, "TL_NEAREST") == 0)
        return 1;
    return strstr(mode, "cubic") ? 4 : 2;
}

// Axes are resized one after the other, each by its neighbours; with `antialias` every element of
// an axis that shrinks is one. TL_LINEAR looks for neighbours on all axes at each element.
double ln_cost_resize(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    double count = dst ? neighbours(call) : 0;
    if (dst && tl_resize_type_from_str(ln_call_string(call, "mode")) >= 0)
        return 4 * ln_cost_steps(call) + 16.0 * dst->len;
    for (int i = 0; dst && i < dst->ndim && i < src->ndim; i++)
        count *= src->dims[i] > dst->dims[i] ? src->dims[i] : dst->dims[i];
    return ln_cost_steps(call) + count * (dst && neighbours(call) > 1 ? dst->ndim : 1);
}

double ln_cost_grid_sample(const ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    double count = dst ? dst->len : 0;
    for (int i = 2; dst && i < dst->ndim; i++)
        count *= neighbours(call);
    return ln_cost_steps(call) + count;
}

// Each region may be the whole image, and its parts overlap by one element on each axis.
double ln_cost_max_roi_pool(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    if (!dst || src->ndim != 4)
        return 0;
    double height = (double)src->dims[2] + 2.0 * dst->dims[2];
    double width = (double)src->dims[3] + 2.0 * dst->dims[3];
    return ln_cost_steps(call) + (double)dst->dims[0] * dst->dims[1] * height * width;
}

double ln_cost_det(const ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    return x->ndim < 1 ? 0 : (double)x->len * (1 + x->dims[x->ndim - 1]);
}
