// SPDX-License-Identifier: Apache-2.0
// Routines that move elements and change none: slice, concat, reshape, transpose.
//
// Around an axis a tensor is `outer` blocks of dims[axis] * inner bytes, so that slices and
// concatenations are one memcpy per block.

#include <lightnet/tensor.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "tensor/tensor_check.h"

// The number of blocks before `axis`, and the bytes of one step on it. Only for non-empty tensors:
// the products are then at most `len`.
static void split_at_axis(const tl_tensor *t, int axis, size_t *out_outer, size_t *out_inner)
{
    *out_outer = 1;
    *out_inner = tl_size_of(t->dtype);
    for (int i = 0; i < axis; i++)
        *out_outer *= (size_t)t->dims[i];
    for (int i = axis + 1; i < t->ndim; i++)
        *out_inner *= (size_t)t->dims[i];
}

// Copies `count` rows of `byte_count` bytes between rows that are a stride apart.
static void copy_rows(char *dst, size_t dst_stride, const char *src, size_t src_stride,
                      size_t byte_count, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * dst_stride, src + i * src_stride, byte_count);
}

// ---- Slice ----

// Fills in the dimensions of a slice of `src`.
static bool slice_dims(const tl_tensor *src, int axis, int start, int len, int *dims)
{
    if (!tensor_is_usable(src, "src") || !tensor_has_axis(src, axis))
        return false;
    if (start < 0 || len < 0 || start > src->dims[axis] || len > src->dims[axis] - start) {
        ln_fail(LN_INVALID, "%d elements from %d are outside of dimension %d of size %d", len,
                start, axis, src->dims[axis]);
        return false;
    }
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[axis] = len;
    return true;
}

tl_tensor *tl_tensor_slice(const tl_tensor *src, tl_tensor *dst, int axis, int start, int len)
{
    int dims[TL_MAXDIM];
    if (!slice_dims(src, axis, start, len, dims) || !tensors_are_apart(src, dst))
        return NULL;
    dst = tensor_result(dst, src->ndim, dims, src->dtype);
    if (!dst || dst->len == 0)
        return dst;

    size_t outer, inner;
    split_at_axis(src, axis, &outer, &inner);
    copy_rows(dst->data, (size_t)len * inner, (const char *)src->data + (size_t)start * inner,
              (size_t)src->dims[axis] * inner, (size_t)len * inner, outer);
    return dst;
}

tl_tensor *tl_tensor_slice_nocopy(const tl_tensor *src, tl_tensor *dst, int axis, int start,
                                  int len)
{
    int dims[TL_MAXDIM];
    if (!slice_dims(src, axis, start, len, dims))
        return NULL;
    if (axis != 0) {
        ln_fail(LN_INVALID, "a slice without copying needs axis 0, not %d", axis);
        return NULL;
    }
    tl_tensor wanted = {.ndim = src->ndim, .dims = dims};
    if (dst && (dst->dtype != src->dtype || !tl_tensor_issameshape(dst, &wanted))) {
        ln_fail(LN_INVALID, "'dst' has not the dtype and the shape of the slice");
        return NULL;
    }
    if (!dst)
        dst = tl_tensor_create(NULL, src->ndim, dims, src->dtype);
    if (!dst)
        return NULL;

    char *data = src->data;
    size_t outer, inner;
    split_at_axis(src, axis, &outer, &inner);
    dst->data = dst->len > 0 ? data + (size_t)start * inner : data;
    dst->owner = src->owner ? src->owner : tensor_unconst(src);
    return dst;
}

// ---- Concat ----

tl_tensor *tl_tensor_concat(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst, int axis)
{
    if (!tensor_is_usable(src1, "src1") || !tensor_is_usable(src2, "src2") ||
        !tensor_has_axis(src1, axis) || !tensors_are_apart(src1, dst) ||
        !tensors_are_apart(src2, dst))
        return NULL;
    if (src1->dtype != src2->dtype || src1->ndim != src2->ndim) {
        ln_fail(LN_INVALID, "cannot join %s of %d dimensions and %s of %d",
                tl_dtype_title(src1->dtype), src1->ndim, tl_dtype_title(src2->dtype), src2->ndim);
        return NULL;
    }
    int dims[TL_MAXDIM];
    for (int i = 0; i < src1->ndim; i++) {
        dims[i] = src1->dims[i];
        if (i != axis && src2->dims[i] != dims[i]) {
            ln_fail(LN_INVALID, "dimension %d differs: %d and %d", i, dims[i], src2->dims[i]);
            return NULL;
        }
    }
    if (__builtin_add_overflow(src1->dims[axis], src2->dims[axis], &dims[axis])) {
        ln_fail(LN_INVALID, "dimension %d of the result is too large", axis);
        return NULL;
    }
    dst = tensor_result(dst, src1->ndim, dims, src1->dtype);
    if (!dst || dst->len == 0)
        return dst;

    size_t outer, inner;
    split_at_axis(dst, axis, &outer, &inner);
    size_t bytes1 = (size_t)src1->dims[axis] * inner, bytes2 = (size_t)src2->dims[axis] * inner;
    char *data = dst->data;
    if (bytes1)
        copy_rows(data, bytes1 + bytes2, src1->data, bytes1, bytes1, outer);
    if (bytes2)
        copy_rows(data + bytes1, bytes1 + bytes2, src2->data, bytes2, bytes2, outer);
    return dst;
}

// ---- Reshape ----

tl_tensor *tl_tensor_reshape(const tl_tensor *src, int ndim, const int *dims)
{
    if (!tensor_is_shaped(src, "src"))
        return NULL;
    int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return NULL;
    if (len != src->len) {
        ln_fail(LN_INVALID, "%d elements do not make a shape of %d", src->len, len);
        return NULL;
    }
    tl_tensor *dst = tl_tensor_create(src->data, ndim, dims, src->dtype);
    if (dst)
        dst->owner = src->owner ? src->owner : tensor_unconst(src);
    return dst;
}

ln_status tl_tensor_reshape_src(tl_tensor *src, int ndim, const int *dims)
{
    if (!tensor_is_shaped(src, "src"))
        return LN_INVALID;
    int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return LN_INVALID;
    if (len != src->len)
        return LN_FAIL(LN_INVALID, "%d elements do not make a shape of %d", src->len, len);

    // The new dimensions may be the old ones of the same tensor.
    int copy[TL_MAXDIM];
    tl_memcpy(copy, dims, (size_t)ndim * sizeof *copy);
    if (ndim > src->ndim) {
        int *old = tensor_has_inline_dims(src) ? NULL : src->dims;
        int *resized = ln_realloc(old, (size_t)ndim * sizeof *resized);
        if (!resized)
            return LN_NO_MEMORY;
        src->dims = resized;
    }
    tl_memcpy(src->dims, copy, (size_t)ndim * sizeof *copy);
    src->ndim = ndim;
    return LN_OK;
}

// ---- Transpose ----

// Copies `count` elements that are `stride` elements apart.
static void gather_row(char *dst, const char *src, size_t stride, size_t count, size_t size)
{
    if (stride == 1) {
        memcpy(dst, src, count * size);
        return;
    }
    // A constant size makes the memcpy one load and one store.
#define GATHER(bytes)                                                                              \
    case bytes:                                                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            memcpy(dst + i * bytes, src + i * stride * bytes, bytes);                              \
        break;
    switch (size) {
        GATHER(1)
        GATHER(2)
        GATHER(4)
        GATHER(8)
        GATHER(16)
    }
#undef GATHER
}

// Walks the result in memory order, a row of the last dimension at a time; strides[i] is what one
// step on dimension i of the result means in the source, in elements.
static void transpose_rows(tl_tensor *dst, const tl_tensor *src, const size_t *strides)
{
    size_t size = tl_size_of(src->dtype);
    int last = dst->ndim - 1;
    size_t row_len = (size_t)dst->dims[last];
    size_t row_count = (size_t)dst->len / row_len;
    int coords[TL_MAXDIM] = {0};
    const char *from = src->data;
    char *to = dst->data;
    size_t position = 0;
    for (size_t row = 0; row < row_count; row++) {
        gather_row(to, from + position * size, strides[last], row_len, size);
        to += row_len * size;
        for (int i = last - 1; i >= 0; i--) {
            position += strides[i];
            if (++coords[i] < dst->dims[i])
                break;
            position -= strides[i] * (size_t)coords[i];
            coords[i] = 0;
        }
    }
}

// A tile of a matrix, transposed: dst[i][j] = src[j][i], in elements of `size` bytes. Rows of the
// source are as short as its cache lines, so that each line is used up while it is there.
#define TILE 16

static void transpose_tile(char *dst, size_t dst_stride, const char *src, size_t src_stride,
                           size_t rows, size_t cols, size_t size)
{
#define TRANSPOSE(bytes)                                                                           \
    case bytes:                                                                                    \
        for (size_t i = 0; i < rows; i++)                                                          \
            for (size_t j = 0; j < cols; j++)                                                      \
                memcpy(dst + (i * dst_stride + j) * bytes, src + (j * src_stride + i) * bytes,     \
                       bytes);                                                                     \
        break;
    switch (size) {
        TRANSPOSE(1)
        TRANSPOSE(2)
        TRANSPOSE(4)
        TRANSPOSE(8)
        TRANSPOSE(16)
    }
#undef TRANSPOSE
}

static void transpose_matrix(char *dst, size_t dst_stride, const char *src, size_t src_stride,
                             size_t rows, size_t cols, size_t size)
{
    for (size_t i = 0; i < rows; i += TILE) {
        for (size_t j = 0; j < cols; j += TILE)
            transpose_tile(dst + (i * dst_stride + j) * size, dst_stride,
                           src + (j * src_stride + i) * size, src_stride,
                           rows - i < TILE ? rows - i : TILE, cols - j < TILE ? cols - j : TILE,
                           size);
    }
}

// The axis of the result, other than the last, on which neighbours are neighbours in the source
// too; -1 if there is none.
static int find_source_row(const tl_tensor *dst, const size_t *strides)
{
    for (int i = 0; i < dst->ndim - 1; i++)
        if (strides[i] == 1 && dst->dims[i] > 1)
            return i;
    return -1;
}

// The last axis of the result and `row_axis`, the last one of the source, make matrices; walks the
// other axes.
static void transpose_matrices(tl_tensor *dst, const tl_tensor *src, const size_t *strides,
                               int row_axis)
{
    size_t size = tl_size_of(src->dtype), dst_strides[TL_MAXDIM], matrix_count = 1;
    int last = dst->ndim - 1;
    int coords[TL_MAXDIM] = {0};
    for (int i = last, stride = 1; i >= 0; stride *= dst->dims[i--]) {
        dst_strides[i] = (size_t)stride;
        matrix_count *= i == last || i == row_axis ? 1 : (size_t)dst->dims[i];
    }
    size_t to = 0, from = 0;
    for (size_t m = 0; m < matrix_count; m++) {
        transpose_matrix((char *)dst->data + to * size, dst_strides[row_axis],
                         (const char *)src->data + from * size, strides[last],
                         (size_t)dst->dims[row_axis], (size_t)dst->dims[last], size);
        for (int i = last - 1; i >= 0; i--) {
            if (i == row_axis)
                continue;
            to += dst_strides[i];
            from += strides[i];
            if (++coords[i] < dst->dims[i])
                break;
            to -= dst_strides[i] * (size_t)coords[i];
            from -= strides[i] * (size_t)coords[i];
            coords[i] = 0;
        }
    }
}

tl_tensor *tl_tensor_transpose(const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    if (!tensor_is_usable(src, "src") || !tensors_are_apart(src, dst))
        return NULL;
    if (!axes && src->ndim > 0) {
        ln_fail(LN_INVALID, "the axes are NULL");
        return NULL;
    }
    int dims[TL_MAXDIM];
    unsigned seen = 0;
    for (int i = 0; i < src->ndim; i++) {
        if (!tensor_has_axis(src, axes[i]))
            return NULL;
        if (seen & 1u << axes[i]) {
            ln_fail(LN_INVALID, "axis %d is named twice", axes[i]);
            return NULL;
        }
        seen |= 1u << axes[i];
        dims[i] = src->dims[axes[i]];
    }
    dst = tensor_result(dst, src->ndim, dims, src->dtype);
    if (!dst || dst->len == 0)
        return dst;
    if (dst->ndim == 0) {
        memcpy(dst->data, src->data, tl_tensor_size(src));
        return dst;
    }

    size_t src_strides[TL_MAXDIM], strides[TL_MAXDIM], stride = 1;
    for (int i = src->ndim - 1; i >= 0; i--) {
        src_strides[i] = stride;
        stride *= (size_t)src->dims[i];
    }
    for (int i = 0; i < src->ndim; i++)
        strides[i] = src_strides[axes[i]];
    int row_axis = strides[dst->ndim - 1] == 1 ? -1 : find_source_row(dst, strides);
    if (row_axis < 0)
        transpose_rows(dst, src, strides);
    else
        transpose_matrices(dst, src, strides, row_axis);
    return dst;
}
