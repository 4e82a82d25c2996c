// SPDX-License-Identifier: Apache-2.0
// Moving the elements of arrays: copies, conversions, filling, write access.
//
// All of them walk two layouts of one shape side by side, row by row. Dimensions that are after
// each other without a gap in both layouts are joined first, so that contiguous arrays are one row.
// Foreign data may be at any address, so elements are moved by memcpy only.

#include "tensor/ndarray.h"

#include <string.h>

#include <lightnet/allocator.h>

// ---- Walking ----

// One row of the walk: `count` elements, `dst_step` and `src_step` bytes apart.
typedef void (*row_func)(void *user, char *dst, int64_t dst_step, const char *src, int64_t src_step,
                         int64_t count);

typedef struct walk {
    int ndim; // at least 1
    int64_t shape[LN_NDARRAY_MAX_NDIM];
    int64_t dst_steps[LN_NDARRAY_MAX_NDIM]; // in bytes
    int64_t src_steps[LN_NDARRAY_MAX_NDIM];
} walk;

// Where a side of the walk is.
typedef struct layout {
    char *first;
    const int64_t *strides; // NULL: row-major
    size_t elem_bytes;
} layout;

static layout layout_of(const ln_ndarray *array)
{
    return (layout){.first = ln_ndarray_first(array),
                    .strides = array->strides,
                    .elem_bytes = ln_dl_elem_bytes(array->tensor.dtype)};
}

static layout compact_layout(void *bytes, DLDataType dtype)
{
    return (layout){.first = bytes, .elem_bytes = ln_dl_elem_bytes(dtype)};
}

static void fill_steps(int ndim, const int64_t *shape, const layout *side, int64_t *steps)
{
    int64_t row_major = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        int64_t stride = side->strides ? side->strides[i] : row_major;
        steps[i] = shape[i] == 1 ? 0 : stride * (int64_t)side->elem_bytes;
        row_major *= shape[i];
    }
}

// Drops dimensions of 1, and joins neighbours whose outer step is all of the inner one.
static void join(walk *w)
{
    int n = 0;
    for (int i = 0; i < w->ndim; i++) {
        if (w->shape[i] == 1)
            continue;
        bool joins = n > 0 && w->dst_steps[n - 1] == w->dst_steps[i] * w->shape[i] &&
                     w->src_steps[n - 1] == w->src_steps[i] * w->shape[i];
        int to = joins ? n - 1 : n++;
        w->shape[to] = joins ? w->shape[to] * w->shape[i] : w->shape[i];
        w->dst_steps[to] = w->dst_steps[i];
        w->src_steps[to] = w->src_steps[i];
    }
    if (n == 0) {
        w->shape[0] = 1;
        w->dst_steps[0] = w->src_steps[0] = 0;
        n = 1;
    }
    w->ndim = n;
}

// The shape has no dimension of 0.
static void walk_rows(int ndim, const int64_t *shape, layout dst, layout src, row_func row,
                      void *user)
{
    walk w = {.ndim = ndim};
    if (ndim > 0)
        memcpy(w.shape, shape, (size_t)ndim * sizeof *shape);
    fill_steps(ndim, shape, &dst, w.dst_steps);
    fill_steps(ndim, shape, &src, w.src_steps);
    join(&w);

    int inner = w.ndim - 1;
    int64_t index[LN_NDARRAY_MAX_NDIM] = {0};
    char *to = dst.first;
    const char *from = src.first;
    for (;;) {
        row(user, to, w.dst_steps[inner], from, w.src_steps[inner], w.shape[inner]);
        int i = inner - 1;
        for (; i >= 0; i--) {
            to += w.dst_steps[i];
            from += w.src_steps[i];
            if (++index[i] < w.shape[i])
                break;
            to -= w.dst_steps[i] * w.shape[i];
            from -= w.src_steps[i] * w.shape[i];
            index[i] = 0;
        }
        if (i < 0)
            return;
    }
}

// ---- Rows ----

static void move_elements(char *dst, int64_t dst_step, const char *src, int64_t src_step,
                          int64_t count, size_t elem_bytes)
{
    if (count == 1 || (dst_step == (int64_t)elem_bytes && src_step == dst_step)) {
        memcpy(dst, src, elem_bytes * (size_t)count);
        return;
    }
// A constant size makes memcpy one move.
#define MOVE_CASE(size)                                                                            \
    case size:                                                                                     \
        for (int64_t i = 0; i < count; i++)                                                        \
            memcpy(dst + i * dst_step, src + i * src_step, size);                                  \
        return
    switch (elem_bytes) {
        MOVE_CASE(1);
        MOVE_CASE(2);
        MOVE_CASE(4);
        MOVE_CASE(8);
    default:
        for (int64_t i = 0; i < count; i++)
            memcpy(dst + i * dst_step, src + i * src_step, elem_bytes);
    }
#undef MOVE_CASE
}

// `user` is the size of an element.
static void copy_row(void *user, char *dst, int64_t dst_step, const char *src, int64_t src_step,
                     int64_t count)
{
    move_elements(dst, dst_step, src, src_step, count, *(const size_t *)user);
}

// Elements converted in one go, gathered where their type's alignment holds.
#define CHUNK 256

typedef struct conversion {
    DLDataType from, to;
    tl_dtype from_dtype, to_dtype;
    uint64_t in[CHUNK], out[CHUNK];
} conversion;

static bool is_byte_bool(DLDataType dtype)
{
    return tl_dtype_from_dl(dtype) == TL_BOOL;
}

// A bool of one byte from and to the four bytes of a TL_BOOL.
static void widen_bools(tl_bool *dst, const char *src, int64_t src_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        dst[i] = src[i * src_step] != 0;
}

static void narrow_bools(char *dst, int64_t dst_step, const tl_bool *src, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        dst[i * dst_step] = src[i] != 0;
}

static void convert_row(void *user, char *dst, int64_t dst_step, const char *src, int64_t src_step,
                        int64_t count)
{
    conversion *c = user;
    size_t from_bytes = ln_dl_elem_bytes(c->from), to_bytes = ln_dl_elem_bytes(c->to);
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t n = count - done < CHUNK ? count - done : CHUNK;
        if (is_byte_bool(c->from))
            widen_bools((tl_bool *)c->in, src, src_step, n);
        else
            move_elements((char *)c->in, (int64_t)from_bytes, src, src_step, n, from_bytes);
        (void)tl_convert_n(c->out, c->to_dtype, c->in, c->from_dtype, (size_t)n);
        if (is_byte_bool(c->to))
            narrow_bools(dst, dst_step, (const tl_bool *)c->out, n);
        else
            move_elements(dst, dst_step, (const char *)c->out, (int64_t)to_bytes, n, to_bytes);
        dst += n * dst_step;
        src += n * src_step;
    }
}

// ---- Checks ----

static ln_status check_same_shape(const ln_ndarray *src, const ln_ndarray *dst)
{
    int ndim = src->tensor.ndim;
    if (ndim == dst->tensor.ndim && (ndim == 0 || memcmp(src->tensor.shape, dst->tensor.shape,
                                                         (size_t)ndim * sizeof(int64_t)) == 0))
        return LN_OK;
    char from[LN_ND_SHAPE_TEXT_BYTES], to[LN_ND_SHAPE_TEXT_BYTES];
    return LN_FAIL(LN_INVALID, "shapes differ: %s cannot be copied to %s",
                   ln_nd_shape_text(from, ndim, src->tensor.shape),
                   ln_nd_shape_text(to, dst->tensor.ndim, dst->tensor.shape));
}

static ln_status check_pair(const ln_ndarray *src, const ln_ndarray *dst)
{
    LN_TRY(ln_ndarray_check_access(src, false, "the source array"));
    LN_TRY(ln_ndarray_check_access(dst, true, "the array to be written"));
    return check_same_shape(src, dst);
}

// The lowest address of an array with elements, and the one after the highest.
static void find_range(const ln_ndarray *array, uintptr_t *out_begin, uintptr_t *out_end)
{
    int64_t elem_bytes = (int64_t)ln_dl_elem_bytes(array->tensor.dtype);
    *out_begin = (uintptr_t)ln_ndarray_first(array);
    *out_end = *out_begin + (uintptr_t)elem_bytes;
    for (int i = 0; i < array->tensor.ndim; i++) {
        int64_t last = (array->tensor.shape[i] - 1) * array->strides[i] * elem_bytes;
        *(last < 0 ? out_begin : out_end) += (uintptr_t)last;
    }
}

static bool are_apart(const ln_ndarray *a, const ln_ndarray *b)
{
    uintptr_t a_begin, a_end, b_begin, b_end;
    find_range(a, &a_begin, &a_end);
    find_range(b, &b_begin, &b_end);
    return a_end <= b_begin || b_end <= a_begin;
}

// ---- Public ----

ln_status ln_ndarray_clone(const ln_ndarray *array, ln_ndarray **out_clone)
{
    if (!out_clone)
        return LN_FAIL(LN_INVALID, "no place for the copy");
    *out_clone = NULL;
    LN_TRY(ln_ndarray_check_access(array, false, "the array to be copied"));
    const DLTensor *t = &array->tensor;
    ln_ndarray *clone;
    LN_TRY(ln_ndarray_make_own(t->ndim, t->shape, t->dtype, &clone));
    size_t elem_bytes = ln_dl_elem_bytes(t->dtype);
    if (ln_ndarray_elem_count(array) > 0)
        walk_rows(t->ndim, t->shape, layout_of(clone), layout_of(array), copy_row, &elem_bytes);
    *out_clone = clone;
    return LN_OK;
}

ln_status ln_ndarray_write(ln_ndarray **array, void **out_data)
{
    if (out_data)
        *out_data = NULL;
    if (!array)
        return LN_FAIL(LN_INVALID, "no handle to be written through");
    LN_TRY(ln_ndarray_check_access(*array, false, "the array to be written"));
    if (ln_ndarray_is_shared(*array)) {
        ln_ndarray *own;
        LN_TRY(ln_ndarray_clone(*array, &own));
        ln_ndarray_release(*array);
        *array = own;
    }
    if (out_data && ln_ndarray_elem_count(*array) > 0)
        *out_data = ln_ndarray_first(*array);
    return LN_OK;
}

ln_status ln_ndarray_copy(const ln_ndarray *src, ln_ndarray *dst)
{
    LN_TRY(check_pair(src, dst));
    DLDataType from = src->tensor.dtype, to = dst->tensor.dtype;
    if (from.code != to.code || from.bits != to.bits || from.lanes != to.lanes) {
        char from_text[LN_DL_TEXT_BYTES], to_text[LN_DL_TEXT_BYTES];
        return LN_FAIL(LN_INVALID,
                       "types differ: %s cannot be copied to %s; see ln_ndarray_convert",
                       ln_dl_dtype_text(from_text, from), ln_dl_dtype_text(to_text, to));
    }
    if (ln_ndarray_elem_count(src) == 0)
        return LN_OK;
    ln_ndarray *apart = NULL; // elements not yet read must not be written over
    if (!are_apart(src, dst))
        LN_TRY(ln_ndarray_clone(src, &apart));
    size_t elem_bytes = ln_dl_elem_bytes(from);
    walk_rows(dst->tensor.ndim, dst->tensor.shape, layout_of(dst), layout_of(apart ? apart : src),
              copy_row, &elem_bytes);
    ln_ndarray_release(apart);
    return LN_OK;
}

static ln_status check_dtype(DLDataType dtype, tl_dtype *out_dtype)
{
    *out_dtype = tl_dtype_from_dl(dtype);
    if (*out_dtype != TL_DTYPE_INVALID && *out_dtype < TL_COMPLEX64)
        return LN_OK;
    char text[LN_DL_TEXT_BYTES];
    return LN_FAIL(LN_UNSUPPORTED, "elements of type %s cannot be converted",
                   ln_dl_dtype_text(text, dtype));
}

ln_status ln_ndarray_convert(const ln_ndarray *src, ln_ndarray *dst)
{
    LN_TRY(check_pair(src, dst));
    conversion c = {.from = src->tensor.dtype, .to = dst->tensor.dtype};
    LN_TRY(check_dtype(c.from, &c.from_dtype));
    LN_TRY(check_dtype(c.to, &c.to_dtype));
    if (ln_ndarray_elem_count(src) == 0)
        return LN_OK;
    ln_ndarray *apart = NULL;
    if (!are_apart(src, dst))
        LN_TRY(ln_ndarray_clone(src, &apart));
    walk_rows(dst->tensor.ndim, dst->tensor.shape, layout_of(dst), layout_of(apart ? apart : src),
              convert_row, &c);
    ln_ndarray_release(apart);
    return LN_OK;
}

// One element that the source side of the walk never leaves.
static void fill_row(void *user, char *dst, int64_t dst_step, const char *src, int64_t src_step,
                     int64_t count)
{
    (void)src_step;
    move_elements(dst, dst_step, src, 0, count, *(const size_t *)user);
}

ln_status ln_ndarray_fill(ln_ndarray *array, double value)
{
    LN_TRY(ln_ndarray_check_access(array, true, "the array to be filled"));
    tl_dtype dtype;
    LN_TRY(check_dtype(array->tensor.dtype, &dtype));
    if (ln_ndarray_elem_count(array) == 0)
        return LN_OK;
    uint64_t element = 0;
    LN_TRY(tl_convert(&element, dtype, &value, TL_DOUBLE));
    if (dtype == TL_BOOL)
        memset(&element, value != 0, 1); // the one byte that is stored
    static const int64_t still[LN_NDARRAY_MAX_NDIM];
    size_t elem_bytes = ln_dl_elem_bytes(array->tensor.dtype);
    layout src = {.first = (char *)&element, .strides = still, .elem_bytes = elem_bytes};
    walk_rows(array->tensor.ndim, array->tensor.shape, layout_of(array), src, fill_row,
              &elem_bytes);
    return LN_OK;
}

// ---- Bytes ----

static ln_status check_bytes(const ln_ndarray *array, const void *bytes, size_t byte_count)
{
    if (byte_count != ln_ndarray_byte_count(array))
        return LN_FAIL(LN_INVALID, "%zu bytes for an array of %zu bytes", byte_count,
                       ln_ndarray_byte_count(array));
    if (!bytes && byte_count > 0)
        return LN_FAIL(LN_INVALID, "the %zu bytes are NULL", byte_count);
    return LN_OK;
}

ln_status ln_ndarray_set_bytes(ln_ndarray *array, const void *bytes, size_t byte_count)
{
    LN_TRY(ln_ndarray_check_access(array, true, "the array to be written"));
    LN_TRY(check_bytes(array, bytes, byte_count));
    const DLTensor *t = &array->tensor;
    size_t elem_bytes = ln_dl_elem_bytes(t->dtype);
    if (byte_count > 0)
        walk_rows(t->ndim, t->shape, layout_of(array),
                  compact_layout((void *)(uintptr_t)bytes, t->dtype), copy_row, &elem_bytes);
    return LN_OK;
}

ln_status ln_ndarray_get_bytes(const ln_ndarray *array, void *bytes, size_t byte_count)
{
    LN_TRY(ln_ndarray_check_access(array, false, "the array to be read"));
    LN_TRY(check_bytes(array, bytes, byte_count));
    const DLTensor *t = &array->tensor;
    size_t elem_bytes = ln_dl_elem_bytes(t->dtype);
    if (byte_count > 0)
        walk_rows(t->ndim, t->shape, compact_layout(bytes, t->dtype), layout_of(array), copy_row,
                  &elem_bytes);
    return LN_OK;
}
