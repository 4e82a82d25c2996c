// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that put elements elsewhere.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/move.h"
#include "base/minmax.h"
#include "op/onnx/shape_move.h"
#include "tensor/elem.h"

// A box that fills the whole output from the start of the input; who calls sets where from.
static ln_box whole_output(const tl_tensor *dst)
{
    ln_box box = {.ndim = dst->ndim};
    for (int i = 0; i < dst->ndim; i++)
        box.dims[i] = dst->dims[i];
    ln_dense_strides(dst->ndim, dst->dims, box.to_strides);
    return box;
}

// ---- Whole axes ----

ln_status ln_ref_onnx_transpose(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    ln_box box = whole_output(ln_call_dst(call, 0));
    int perm[TL_MAXDIM];
    int64_t strides[TL_MAXDIM];
    LN_TRY(ln_transpose_perm(call, data->ndim, perm));
    ln_dense_strides(data->ndim, data->dims, strides);
    for (int i = 0; i < data->ndim; i++)
        box.from_strides[i] = strides[perm[i]];
    return ln_move_box(call, 0, data, &box);
}

// Elements of one row of `axis` with all that is after it.
static int64_t row_len(const tl_tensor *t, int axis)
{
    int64_t len = 1;
    for (int i = axis; i < t->ndim; i++)
        len *= t->dims[i];
    return len;
}

ln_status ln_ref_onnx_concat(ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    int axis;
    LN_TRY(ln_concat_axis(call, &axis));
    if (dst->len == 0)
        return LN_OK;
    int64_t all = row_len(dst, axis), at = 0;
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        int64_t part = row_len(in, axis);
        ln_box box = {.ndim = 2,
                      .dims = {dst->len / all, part},
                      .from_strides = {part, 1},
                      .to = at,
                      .to_strides = {all, 1}};
        LN_TRY(ln_move_box(call, 0, in, &box));
        at += part;
    }
    return LN_OK;
}

ln_status ln_ref_onnx_split(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int axis;
    int64_t *parts;
    bool is_known;
    LN_TRY(ln_split_find(call, &axis, &parts, &is_known));
    if (data->len == 0 || ln_call_is_counting(call))
        return LN_OK;
    int64_t all = row_len(data, axis), inner = all / data->dims[axis], at = 0;
    for (int i = 0; i < ln_call_out_count(call); i++) {
        int64_t part = parts[i] * inner;
        ln_box box = {.ndim = 2,
                      .dims = {data->len / all, part},
                      .from = at,
                      .from_strides = {all, 1},
                      .to_strides = {part, 1}};
        if (ln_call_dst(call, i))
            LN_TRY(ln_move_box(call, i, data, &box));
        at += part;
    }
    return LN_OK;
}

ln_status ln_ref_unstack(ln_call *call)
{
    for (int i = 0; i < ln_call_out_count(call); i++) {
        int64_t len = ln_call_dst(call, i)->len;
        LN_TRY(ln_move_run(call, i, 0, ln_call_in(call, 0), i * len, len));
    }
    return LN_OK;
}

// ---- Parts and repetitions ----

ln_status ln_ref_onnx_slice(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    ln_box box = whole_output(ln_call_dst(call, 0));
    int64_t strides[TL_MAXDIM];
    ln_slice_plan plan;
    LN_TRY(ln_slice_find(call, &plan));
    ln_dense_strides(data->ndim, data->dims, strides);
    for (int i = 0; i < data->ndim; i++) {
        box.from += plan.starts[i] * strides[i];
        box.from_strides[i] = plan.steps[i] * strides[i];
    }
    return ln_move_box(call, 0, data, &box);
}

ln_status ln_ref_onnx_expand(ln_call *call)
{
    ln_box box = whole_output(ln_call_dst(call, 0));
    ln_broadcast_strides(ln_call_in(call, 0), box.ndim, box.from_strides);
    return ln_move_box(call, 0, ln_call_in(call, 0), &box);
}

// Arrays with room for a source position for each row of each axis of the output.
static ln_status make_maps(ln_call *call, const tl_tensor *dst, int64_t **maps)
{
    int64_t total = 0;
    for (int i = 0; i < dst->ndim; i++)
        total += dst->dims[i];
    int64_t *room = ln_call_scratch(call, (size_t)total + 1, sizeof *room);
    if (!room)
        return LN_NO_MEMORY;
    for (int i = 0; i < dst->ndim; i++) {
        maps[i] = room;
        room += dst->dims[i];
    }
    return LN_OK;
}

// Repeats what `axis` has in each row of the axes before it. What is there is doubled, so that most
// of it is copied in long rows.
static ln_status repeat_axis(ln_call *call, const tl_tensor *data, const int64_t *strides, int axis)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    ln_box box = {.ndim = axis + 1};
    for (int i = 0; i < axis; i++) {
        box.dims[i] = data->dims[i];
        box.from_strides[i] = box.to_strides[i] = strides[i];
    }
    box.from_strides[axis] = box.to_strides[axis] = 1;
    int64_t all = dst->dims[axis] * strides[axis];
    for (box.to = data->dims[axis] * strides[axis]; box.to < all; box.to += box.dims[axis]) {
        box.dims[axis] = ln_clamp64(box.to, 0, all - box.to);
        LN_TRY(ln_move_box(call, 0, dst, &box));
    }
    return LN_OK;
}

ln_status ln_ref_onnx_tile(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    if (dst->len == 0)
        return LN_OK;
    ln_box box = {.ndim = data->ndim};
    for (int i = 0; i < data->ndim; i++)
        box.dims[i] = data->dims[i];
    ln_dense_strides(data->ndim, data->dims, box.from_strides);
    ln_dense_strides(dst->ndim, dst->dims, box.to_strides);
    LN_TRY(ln_move_box(call, 0, data, &box));
    for (int axis = dst->ndim - 1; axis >= 0; axis--)
        LN_TRY(repeat_axis(call, data, box.to_strides, axis));
    return LN_OK;
}

// ---- Around the edges ----

static int64_t modulo(int64_t x, int64_t n)
{
    x %= n;
    return x < 0 ? x + n : x;
}

// Row `i` of `count` rows that go on beyond both ends; -1: none.
static int64_t row_beyond(char mode, int64_t i, int64_t count)
{
    if (i >= 0 && i < count)
        return i;
    switch (mode) {
    case 'e': return i < 0 ? 0 : count - 1;
    case 'w': return modulo(i, count);
    case 'r': {
        if (count == 1)
            return 0;
        int64_t at = modulo(i, 2 * (count - 1));
        return at < count ? at : 2 * (count - 1) - at;
    }
    default: return -1;
    }
}

ln_status ln_ref_pad(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *value = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0);
    char mode = ln_call_string(call, "mode")[0];
    int64_t *maps[TL_MAXDIM], strides[TL_MAXDIM];
    ln_pad_plan plan;
    LN_TRY(make_maps(call, dst, maps));
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(ln_pad_find(call, &plan));
    ln_dense_strides(data->ndim, data->dims, strides);
    for (int axis = 0; axis < dst->ndim; axis++) {
        int64_t cut = plan.begins[axis] < 0 ? -plan.begins[axis] : 0;
        int64_t left = data->dims[axis] - cut + (plan.ends[axis] < 0 ? plan.ends[axis] : 0);
        for (int i = 0; i < dst->dims[axis]; i++) {
            int64_t row = row_beyond(mode, i - plan.begins[axis] - cut, left);
            maps[axis][i] = row < 0 ? -1 : (row + cut) * strides[axis];
        }
    }
    if (mode == 'c') {
        LN_TRY(ln_move_fill(call, 0, value && value->len == 1 ? value : NULL));
        double number = ln_call_float(call, "value");
        for (int i = 0; i < dst->len && !value && ln_call_since(call) < 11; i++)
            ln_elem_set_real(dst, (size_t)i, number);
    }
    return ln_move_mapped(call, 0, data, maps);
}

ln_status ln_ref_onnx_center_crop_pad(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    ln_box box = {.ndim = dst->ndim};
    ln_dense_strides(data->ndim, data->dims, box.from_strides);
    ln_dense_strides(dst->ndim, dst->dims, box.to_strides);
    for (int i = 0; i < dst->ndim; i++) {
        int64_t have = data->dims[i], want = dst->dims[i];
        box.dims[i] = have < want ? have : want;
        box.from += have > want ? (have - want) / 2 * box.from_strides[i] : 0;
        box.to += want > have ? (want - have) / 2 * box.to_strides[i] : 0;
    }
    LN_TRY(ln_move_fill(call, 0, NULL));
    return ln_move_box(call, 0, data, &box);
}

ln_status ln_ref_onnx_crop(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int top, left;
    LN_TRY(ln_crop_start(call, &top, &left));
    ln_box box = whole_output(ln_call_dst(call, 0));
    ln_dense_strides(src->ndim, src->dims, box.from_strides);
    box.from = (int64_t)top * box.from_strides[2] + left;
    return ln_move_box(call, 0, src, &box);
}

// ---- Blocks of pixels as channels ----

// `pixels` has channel (c, y, x) or (y, x, c) of `depth` at (c, y, x) of blocks of size x size; the
// box goes over [batch, channel, row, block row, column, block column].
static void block_strides(const tl_tensor *pixels, const tl_tensor *depth, int64_t size,
                          bool is_channel_last, int64_t *pixel_strides, int64_t *depth_strides)
{
    int64_t p[TL_MAXDIM], d[TL_MAXDIM], channels = pixels->dims[1];
    ln_dense_strides(4, pixels->dims, p);
    ln_dense_strides(4, depth->dims, d);
    int64_t channel = is_channel_last ? 1 : size * size, block = is_channel_last ? channels : 1;
    int64_t of_pixels[] = {p[0], p[1], p[2] * size, p[2], p[3] * size, p[3]};
    int64_t of_depth[] = {d[0], d[1] * channel, d[2], d[1] * block * size, d[3], d[1] * block};
    memcpy(pixel_strides, of_pixels, sizeof of_pixels);
    memcpy(depth_strides, of_depth, sizeof of_depth);
}

static ln_box block_box(const tl_tensor *pixels, const tl_tensor *depth, int64_t size)
{
    return (ln_box){
        .ndim = 6,
        .dims = {pixels->dims[0], pixels->dims[1], depth->dims[2], size, depth->dims[3], size}};
}

ln_status ln_ref_onnx_depth_to_space(ln_call *call)
{
    const tl_tensor *depth = ln_call_in(call, 0), *pixels = ln_call_dst(call, 0);
    int64_t size = ln_call_int(call, "blocksize");
    const char *mode = ln_call_string(call, "mode");
    ln_box box = block_box(pixels, depth, size);
    block_strides(pixels, depth, size, !mode || strcmp(mode, "CRD") != 0, box.to_strides,
                  box.from_strides);
    return ln_move_box(call, 0, depth, &box);
}

ln_status ln_ref_onnx_space_to_depth(ln_call *call)
{
    const tl_tensor *pixels = ln_call_in(call, 0), *depth = ln_call_dst(call, 0);
    int64_t size = ln_call_int(call, "blocksize");
    ln_box box = block_box(pixels, depth, size);
    block_strides(pixels, depth, size, true, box.from_strides, box.to_strides);
    return ln_move_box(call, 0, pixels, &box);
}

// ---- In place ----

ln_status ln_ref_onnx_reverse_sequence(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *lens = ln_call_in(call, 1);
    int batch_axis = (int)ln_call_int(call, "batch_axis"), time_axis = 1 - batch_axis;
    int64_t times = data->dims[time_axis], strides[TL_MAXDIM];
    ln_dense_strides(data->ndim, data->dims, strides);
    for (int b = 0; b < data->dims[batch_axis]; b++) {
        int64_t len = ln_elem_int(lens, (size_t)b);
        if (len < 0 || len > times)
            return ln_call_fail(call, LN_INVALID, "sequence %d of %d has length %lld", b,
                                (int)times, (long long)len);
        for (int64_t t = 0; t < times; t++) {
            int64_t from = t < len ? len - 1 - t : t, base = b * strides[batch_axis];
            LN_TRY(ln_move_run(call, 0, base + t * strides[time_axis], data,
                               base + from * strides[time_axis], strides[1]));
        }
    }
    return LN_OK;
}

ln_status ln_ref_trilu(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    bool is_upper = ln_call_int(call, "upper") != 0;
    int64_t rows = data->dims[data->ndim - 2], columns = data->dims[data->ndim - 1], k = 0;
    int count;
    LN_TRY(ln_given_int(call, 1, &k, &count));
    LN_TRY(ln_move_fill(call, 0, NULL));
    if (data->len == 0)
        return LN_OK;
    k = ln_clamp64(k, -rows, columns);
    for (int64_t row = 0; row < data->len / columns; row++) {
        int64_t border = row % rows + k; // the first column that is upper, and the last lower one
        int64_t from = is_upper ? ln_clamp64(border, 0, columns) : 0;
        int64_t end = is_upper ? columns : ln_clamp64(border + 1, 0, columns);
        LN_TRY(ln_move_run(call, 0, row * columns + from, data, row * columns + from, end - from));
    }
    return LN_OK;
}
