// SPDX-License-Identifier: Apache-2.0
// Moving elements of any type.
//
// Bytes are copied as they are; strings belong to their tensor and go through `ln_call_set_string`.

#include "arch/ref/onnx/move.h"

#include <string.h>

#include "base/deadline.h"

// Elements that are moved without a look at the time.
#define MAX_ROW 1048576

void ln_dense_strides(int ndim, const int *dims, int64_t *out_strides)
{
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        out_strides[i] = stride;
        stride *= dims[i];
    }
}

static ln_status move_strings(ln_call *call, int out_index, int64_t to, int64_t to_stride,
                              const tl_tensor *src, int64_t from, int64_t from_stride,
                              int64_t count)
{
    const char *const *strings = src->data;
    for (int64_t i = 0; i < count; i++) {
        const char *s = strings[from + i * from_stride];
        s = s ? s : "";
        LN_TRY(ln_call_set_string(call, out_index, (size_t)(to + i * to_stride), s, strlen(s)));
    }
    return LN_OK;
}

#define MOVE_STRIDED(type)                                                                         \
    for (int64_t i = 0; i < count; i++)                                                            \
    ((type *)dst)[i * to_stride] = ((const type *)src)[i * from_stride]

static void move_bytes(char *dst, int64_t to_stride, const char *src, int64_t from_stride,
                       int64_t count, size_t size)
{
    if (to_stride == 1 && from_stride == 1) {
        if (dst != src) // the plan may have put them there
            memcpy(dst, src, (size_t)count * size);
        return;
    }
    switch (size) {
    case 1: MOVE_STRIDED(uint8_t); return;
    case 2: MOVE_STRIDED(uint16_t); return;
    case 4: MOVE_STRIDED(uint32_t); return;
    case 8: MOVE_STRIDED(uint64_t); return;
    default: break;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(dst + i * to_stride * (int64_t)size, src + i * from_stride * (int64_t)size, size);
}

static ln_status move_row(ln_call *call, int out_index, int64_t to, int64_t to_stride,
                          const tl_tensor *src, int64_t from, int64_t from_stride, int64_t count)
{
    if (src->dtype == TL_STRING)
        return move_strings(call, out_index, to, to_stride, src, from, from_stride, count);
    if (count <= 0)
        return LN_OK;
    int64_t size = (int64_t)tl_size_of(src->dtype), len;
    char *dst = ln_call_dst(call, out_index)->data;
    for (int64_t i = 0; i < count && (i == 0 || !ln_deadline_passed()); i += len) {
        len = count - i < MAX_ROW ? count - i : MAX_ROW;
        move_bytes(dst + (to + i * to_stride) * size, to_stride,
                   (const char *)src->data + (from + i * from_stride) * size, from_stride, len,
                   (size_t)size);
    }
    return LN_OK;
}

ln_status ln_move_run(ln_call *call, int out_index, int64_t to, const tl_tensor *src, int64_t from,
                      int64_t count)
{
    return move_row(call, out_index, to, 1, src, from, 1, count);
}

ln_status ln_move_all(ln_call *call, int out_index, const tl_tensor *src)
{
    return ln_move_run(call, out_index, 0, src, 0, src->len);
}

// The box without dimensions of 1, and with neighbouring dimensions joined that are as one on both
// sides, so that rows are long.
static ln_box joined(const ln_box *box)
{
    ln_box out = {.from = box->from, .to = box->to};
    for (int i = 0; i < box->ndim; i++) {
        if (box->dims[i] == 1)
            continue;
        int last = out.ndim - 1;
        if (last >= 0 && out.from_strides[last] == box->from_strides[i] * box->dims[i] &&
            out.to_strides[last] == box->to_strides[i] * box->dims[i]) {
            out.dims[last] *= box->dims[i];
        } else {
            last = out.ndim++;
            out.dims[last] = box->dims[i];
        }
        out.from_strides[last] = box->from_strides[i];
        out.to_strides[last] = box->to_strides[i];
    }
    return out;
}

ln_status ln_move_box(ln_call *call, int out_index, const tl_tensor *src, const ln_box *box)
{
    for (int i = 0; i < box->ndim; i++)
        if (box->dims[i] == 0)
            return LN_OK;

    ln_box b = joined(box);
    if (b.ndim == 0)
        return move_row(call, out_index, b.to, 1, src, b.from, 1, 1);

    int row = b.ndim - 1;
    int64_t coords[TL_MAXDIM] = {0};
    for (size_t turn = 0; !ln_deadline_passed_at(turn); turn++) {
        LN_TRY(move_row(call, out_index, b.to, b.to_strides[row], src, b.from, b.from_strides[row],
                        b.dims[row]));
        int axis = row - 1;
        for (; axis >= 0; axis--) {
            b.from += b.from_strides[axis];
            b.to += b.to_strides[axis];
            if (++coords[axis] < b.dims[axis])
                break;
            b.from -= b.from_strides[axis] * b.dims[axis];
            b.to -= b.to_strides[axis] * b.dims[axis];
            coords[axis] = 0;
        }
        if (axis < 0)
            return LN_OK;
    }
    return LN_OK; // late
}

ln_status ln_move_fill(ln_call *call, int out_index, const tl_tensor *value)
{
    tl_tensor *dst = ln_call_dst(call, out_index);
    if (dst->len == 0)
        return LN_OK;
    if (value) {
        ln_box box = {.ndim = 1, .dims = {dst->len}, .from_strides = {0}, .to_strides = {1}};
        return ln_move_box(call, out_index, value, &box);
    }
    if (dst->dtype != TL_STRING) {
        memset(dst->data, 0, tl_tensor_size(dst));
        return LN_OK;
    }
    for (int i = 0; i < dst->len; i++)
        LN_TRY(ln_call_set_string(call, out_index, (size_t)i, "", 0));
    return LN_OK;
}

// One row of `ln_move_mapped`, in pieces that are side by side in the source.
static ln_status move_mapped_row(ln_call *call, int out_index, int64_t to, const tl_tensor *src,
                                 int64_t base, const int64_t *map, int64_t count)
{
    for (int64_t i = 0; i < count;) {
        if (map[i] < 0) {
            i++;
            continue;
        }
        int64_t end = i + 1;
        while (end < count && map[end] == map[end - 1] + 1)
            end++;
        LN_TRY(ln_move_run(call, out_index, to + i, src, base + map[i], end - i));
        i = end;
    }
    return LN_OK;
}

ln_status ln_move_mapped(ln_call *call, int out_index, const tl_tensor *src, int64_t *const *maps)
{
    const tl_tensor *dst = ln_call_dst(call, out_index);
    if (dst->len == 0)
        return LN_OK;
    if (dst->ndim == 0)
        return ln_move_run(call, out_index, 0, src, 0, 1);

    int row = dst->ndim - 1;
    int coords[TL_MAXDIM] = {0};
    for (int64_t to = 0; to < dst->len; to += dst->dims[row]) {
        int64_t base = 0;
        for (int i = 0; i < row && base >= 0; i++)
            base = maps[i][coords[i]] < 0 ? -1 : base + maps[i][coords[i]];
        if (base >= 0)
            LN_TRY(move_mapped_row(call, out_index, to, src, base, maps[row], dst->dims[row]));
        for (int i = row - 1; i >= 0 && ++coords[i] == dst->dims[i]; i--)
            coords[i] = 0;
    }
    return LN_OK;
}
