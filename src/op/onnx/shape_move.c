// SPDX-License-Identifier: Apache-2.0
// Shapes of Transpose, Concat, Split, Expand, Tile, and of those that reorder in place.

#include "op/onnx/shape_move.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "op/functions.h"
#include "tensor/elem.h"

// ---- Transpose ----

ln_status ln_transpose_perm(ln_call *call, int ndim, int *perm)
{
    int64_t given[TL_MAXDIM];
    int count;
    const char *param = ln_call_since(call) ? "perm" : "axes"; // as the core says
    LN_TRY(ln_given_ints(call, -1, param, TL_MAXDIM, given, &count));
    for (int i = 0; i < ndim; i++)
        perm[i] = ndim - 1 - i;
    if (count == LN_GIVEN_ABSENT)
        return LN_OK;
    if (count != ndim)
        return ln_call_fail(call, LN_INVALID, "perm has %d axes for rank %d", count, ndim);
    return ln_given_axes(call, ndim, given, count, perm);
}

ln_status ln_infer_transpose(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int perm[TL_MAXDIM], dims[TL_MAXDIM];
    LN_TRY(ln_transpose_perm(call, data->ndim, perm));
    for (int i = 0; i < data->ndim; i++)
        dims[i] = data->dims[perm[i]];
    return ln_call_out(call, 0, data->dtype, data->ndim, dims);
}

// ---- Concat ----

ln_status ln_concat_axis(ln_call *call, int *out_axis)
{
    int64_t axis = 1; // what the first form had where none is given
    *out_axis = (int)ln_call_int(call, "axis");
    if (ln_call_since(call) == 0)
        return LN_OK; // concat of the core, which is checked, or a stack, whose axis is 0
    if (ln_call_has(call, "axis"))
        axis = ln_call_int(call, "axis");
    else if (ln_call_since(call) >= 4)
        return ln_call_fail(call, LN_INVALID, "there is no axis");
    return ln_call_check_axis(call, "axis", axis, ln_call_in(call, 0)->ndim, out_axis);
}

ln_status ln_infer_concat(ln_call *call)
{
    const tl_tensor *first = ln_call_in(call, 0);
    int axis, dims[TL_MAXDIM];
    LN_TRY(ln_concat_axis(call, &axis));
    memcpy(dims, first->dims, (size_t)first->ndim * sizeof *dims);

    for (int i = 1; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        LN_TRY(ln_given_same_dtype(call, first, in));
        if (in->ndim != first->ndim)
            return ln_call_fail(call, LN_INVALID, "input %d has rank %d, the first one %d", i,
                                in->ndim, first->ndim);
        for (int d = 0; d < first->ndim; d++)
            if (d != axis && in->dims[d] != first->dims[d])
                return ln_call_fail(call, LN_INVALID,
                                    "input %d has dimension %d on axis %d, the first one %d", i,
                                    in->dims[d], d, first->dims[d]);
        if (__builtin_add_overflow(dims[axis], in->dims[axis], &dims[axis]))
            return ln_call_fail(call, LN_LIMIT, "too many elements on axis %d", axis);
    }
    return ln_call_out(call, 0, first->dtype, first->ndim, dims);
}

// ---- Split ----

// Lengths of parts that are as equal as can be: before opset 18 all must be equal, since then the
// last ones are shorter.
static ln_status equal_parts(ln_call *call, int dim, int64_t *parts, int count)
{
    int64_t in_all = count;
    if (ln_call_has(call, "num_outputs"))
        in_all = ln_call_int(call, "num_outputs");
    if (in_all < count || in_all < 1)
        return ln_call_fail(call, LN_INVALID, "num_outputs is %lld for %d outputs",
                            (long long)in_all, count);
    if (ln_call_since(call) < 18 && dim % in_all != 0)
        return ln_call_fail(call, LN_INVALID, "dimension %d does not split into %lld equal parts",
                            dim, (long long)in_all);
    int64_t size = dim / in_all + (dim % in_all != 0);
    for (int64_t i = 0, left = dim; i < count; i++, left -= parts[i - 1])
        parts[i] = left < size ? left : size;
    return LN_OK;
}

static ln_status check_parts(ln_call *call, int dim, const int64_t *parts, int count, int axis)
{
    int64_t left = dim;
    for (int i = 0; i < count; i++) {
        if (parts[i] < 0 || parts[i] > left)
            return ln_call_fail(call, LN_INVALID,
                                "part %d has %lld elements of %lld left on axis %d", i,
                                (long long)parts[i], (long long)left, axis);
        left -= parts[i];
    }
    if (left == 0)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "the parts leave %lld of %d elements on axis %d",
                        (long long)left, dim, axis);
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

ln_status ln_split_find(ln_call *call, int *out_axis, int64_t **out_parts, bool *out_is_known)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int count, out_count = ln_call_out_count(call);
    LN_TRY(ln_call_axis(call, "axis", data->ndim, out_axis));
    int room = most(out_count, ln_call_in(call, 1) ? ln_call_in(call, 1)->len : 0);
    room = most(room, ln_call_count(call, "split"));
    int64_t *parts = ln_call_scratch(call, (size_t)most(room, 1), sizeof *parts);
    if (!parts)
        return LN_NO_MEMORY;
    *out_parts = parts;
    *out_is_known = true;
    if (ln_call_is_counting(call))
        return LN_OK;

    LN_TRY(ln_given_ints(call, 1, "split", room, parts, &count));
    *out_is_known = count != LN_GIVEN_UNKNOWN;
    if (count == LN_GIVEN_UNKNOWN)
        return LN_OK;
    if (count == LN_GIVEN_ABSENT)
        return equal_parts(call, data->dims[*out_axis], parts, out_count);
    if (count < out_count)
        return ln_call_fail(call, LN_INVALID, "%d parts for %d outputs", count, out_count);
    return check_parts(call, data->dims[*out_axis], parts, count, *out_axis);
}

ln_status ln_infer_split(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int axis, dims[TL_MAXDIM];
    int64_t *parts;
    bool is_known;
    LN_TRY(ln_split_find(call, &axis, &parts, &is_known));
    if (!is_known)
        return ln_call_out_open(call);
    memcpy(dims, data->dims, (size_t)data->ndim * sizeof *dims);
    for (int i = 0; i < ln_call_out_count(call); i++) {
        dims[axis] = (int)parts[i];
        LN_TRY(ln_call_out(call, i, data->dtype, data->ndim, dims));
    }
    return LN_OK;
}

// ---- Expand, Tile ----

ln_status ln_infer_expand(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t shape[TL_MAXDIM], dims[TL_MAXDIM];
    int count;
    LN_TRY(ln_given_ints(call, 1, NULL, TL_MAXDIM, shape, &count));
    if (count == LN_GIVEN_UNKNOWN)
        return ln_call_out_open(call);

    int ndim = most(data->ndim, count);
    for (int i = 0; i < ndim; i++) {
        int from = i - (ndim - data->ndim), to = i - (ndim - count);
        int64_t have = from < 0 ? 1 : data->dims[from], want = to < 0 ? 1 : shape[to];
        if (have != want && have != 1 && want != 1)
            return ln_call_fail(call, LN_INVALID, "dimension %lld cannot become %lld",
                                (long long)have, (long long)want);
        dims[i] = have == 1 ? want : have;
    }
    return ln_call_out64(call, 0, data->dtype, ndim, dims);
}

// The first form: one axis, and numbers of the type of the data.
static ln_status tile_one_axis(ln_call *call, int64_t *repeats, bool *out_is_known)
{
    int ndim = ln_call_in(call, 0)->ndim;
    double times = 0, axis = 0;
    int times_count, axis_count, at;
    LN_TRY(ln_given_real(call, 1, &times, &times_count));
    LN_TRY(ln_given_real(call, 2, &axis, &axis_count));
    if (axis_count == LN_GIVEN_ABSENT)
        return ln_call_fail(call, LN_INVALID, "there is no axis");
    *out_is_known = times_count == 1 && axis_count == 1;
    if (!*out_is_known)
        return LN_OK;
    LN_TRY(ln_call_check_axis(call, "axis", ln_real_saturated(axis), ndim, &at));
    for (int i = 0; i < ndim; i++)
        repeats[i] = 1;
    repeats[at] = ln_real_saturated(times);
    return LN_OK;
}

static ln_status tile_axes(ln_call *call, int64_t *repeats, bool *out_is_known)
{
    int ndim = ln_call_in(call, 0)->ndim, count;
    tl_dtype dtype = ln_call_in(call, 1)->dtype;
    if (dtype != TL_INT64 && dtype != TL_INT32)
        return ln_call_fail(call, LN_INVALID, "repeats are of type %s", tl_dtype_title(dtype));
    LN_TRY(ln_given_ints(call, 1, NULL, TL_MAXDIM, repeats, &count));
    *out_is_known = count >= 0;
    if (count >= 0 && count != ndim)
        return ln_call_fail(call, LN_INVALID, "%d repeats for rank %d", count, ndim);
    return LN_OK;
}

static ln_status find_repeats(ln_call *call, int64_t *repeats, bool *out_is_known)
{
    if (ln_call_since(call) < 6)
        return tile_one_axis(call, repeats, out_is_known);
    return tile_axes(call, repeats, out_is_known);
}

ln_status ln_infer_tile(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t dims[TL_MAXDIM];
    bool is_known = false;
    LN_TRY(find_repeats(call, dims, &is_known));
    if (!is_known)
        return ln_call_out_open(call);
    for (int i = 0; i < data->ndim; i++) {
        if (dims[i] < 0)
            return ln_call_fail(call, LN_INVALID, "axis %d is repeated %lld times", i,
                                (long long)dims[i]);
        if (__builtin_mul_overflow(dims[i], data->dims[i], &dims[i]))
            return ln_call_fail(call, LN_LIMIT, "too many elements on axis %d", i);
    }
    return ln_call_out64(call, 0, data->dtype, data->ndim, dims);
}

// ---- DepthToSpace, SpaceToDepth ----

static ln_status block_size(ln_call *call, int64_t *out_size)
{
    const tl_tensor *data = ln_call_in(call, 0);
    *out_size = ln_call_int(call, "blocksize");
    if (data->ndim != 4)
        return ln_call_fail(call, LN_INVALID, "input of rank %d, not 4", data->ndim);
    if (*out_size < 1 || *out_size > 32768)
        return ln_call_fail(call, LN_INVALID, "blocksize is %lld", (long long)*out_size);
    return LN_OK;
}

ln_status ln_infer_depth_to_space(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t size;
    LN_TRY(block_size(call, &size));
    const char *mode = ln_call_string(call, "mode");
    if (mode && strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return ln_call_fail(call, LN_INVALID, "mode \"%s\" is neither DCR nor CRD", mode);
    if (data->dims[1] % (size * size) != 0)
        return ln_call_fail(call, LN_INVALID, "%d channels are not a multiple of blocksize %lld^2",
                            data->dims[1], (long long)size);
    int64_t dims[] = {data->dims[0], data->dims[1] / (size * size), data->dims[2] * size,
                      data->dims[3] * size};
    return ln_call_out64(call, 0, data->dtype, 4, dims);
}

ln_status ln_infer_space_to_depth(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int64_t size;
    LN_TRY(block_size(call, &size));
    if (data->dims[2] % size != 0 || data->dims[3] % size != 0)
        return ln_call_fail(call, LN_INVALID, "%d x %d is not a multiple of blocksize %lld",
                            data->dims[2], data->dims[3], (long long)size);
    int64_t dims[] = {data->dims[0], data->dims[1] * size * size, data->dims[2] / size,
                      data->dims[3] / size};
    return ln_call_out64(call, 0, data->dtype, 4, dims);
}

// ---- ReverseSequence, Trilu ----

ln_status ln_infer_reverse_sequence(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *lens = ln_call_in(call, 1);
    int64_t batch = ln_call_int(call, "batch_axis"), time = ln_call_int(call, "time_axis");
    if (data->ndim < 2)
        return ln_call_fail(call, LN_INVALID, "input of rank %d, not 2 or more", data->ndim);
    if (batch < 0 || batch > 1 || time != 1 - batch)
        return ln_call_fail(call, LN_INVALID, "batch_axis %lld and time_axis %lld: not 0 and 1",
                            (long long)batch, (long long)time);
    if (lens->ndim != 1 || lens->len != data->dims[batch])
        return ln_call_fail(call, LN_INVALID, "%d sequence_lens for a batch of %d", lens->len,
                            data->dims[batch]);
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_trilu(ln_call *call)
{
    if (ln_call_in(call, 0)->ndim < 2)
        return ln_call_fail(call, LN_INVALID, "input of rank %d, not 2 or more",
                            ln_call_in(call, 0)->ndim);
    return ln_call_out_like(call, 0, 0);
}
