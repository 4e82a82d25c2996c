// SPDX-License-Identifier: Apache-2.0
// Arrays: making, counting, asking, views.
//
// Two counts: of the holders of an array, and of the arrays and exports on a memory. A view is
// another array on the same memory and does not need the array that it was made from.

#include "tensor/ndarray.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

// ---- Memory ----

// Where the data of our own memory begins, after the record.
#define OWN_DATA_OFFSET                                                                            \
    ((sizeof(ln_nd_memory) + LN_NDARRAY_ALIGN - 1) / LN_NDARRAY_ALIGN * LN_NDARRAY_ALIGN)

ln_status ln_nd_memory_create(bool is_read_only, bool is_foreign, void (*on_release)(void *user),
                              void *user, ln_nd_memory **out_memory)
{
    *out_memory = ln_alloc_aligned(sizeof **out_memory, LN_NDARRAY_ALIGN);
    if (!*out_memory)
        return LN_NO_MEMORY;
    **out_memory = (ln_nd_memory){
        .is_read_only = is_read_only,
        .is_foreign = is_foreign,
        .on_release = on_release,
        .user = user,
    };
    atomic_init(&(*out_memory)->count, 1);
    return LN_OK;
}

// Our own: zeros, after the record.
static ln_status own_memory_create(size_t byte_count, ln_nd_memory **out_memory, void **out_data)
{
    *out_memory = NULL;
    size_t block_bytes;
    if (!ln_size_add(byte_count, OWN_DATA_OFFSET, &block_bytes))
        return LN_FAIL(LN_NO_MEMORY, "out of memory: %zu bytes overflow", byte_count);
    ln_nd_memory *memory = ln_alloc_aligned(block_bytes, LN_NDARRAY_ALIGN);
    if (!memory)
        return LN_NO_MEMORY;
    atomic_init(&memory->count, 1);
    *out_memory = memory;
    *out_data = byte_count > 0 ? (char *)memory + OWN_DATA_OFFSET : NULL;
    return LN_OK;
}

ln_nd_memory *ln_nd_memory_retain(ln_nd_memory *memory)
{
    atomic_fetch_add_explicit(&memory->count, 1, memory_order_relaxed);
    return memory;
}

void ln_nd_memory_release(ln_nd_memory *memory)
{
    if (!memory || atomic_fetch_sub_explicit(&memory->count, 1, memory_order_acq_rel) != 1)
        return;
    if (memory->on_release)
        memory->on_release(memory->user);
    ln_free_aligned(memory);
}

// ---- Shapes ----

char *ln_nd_shape_text(char text[LN_ND_SHAPE_TEXT_BYTES], int ndim, const int64_t *shape)
{
    size_t len = (size_t)snprintf(text, LN_ND_SHAPE_TEXT_BYTES, "[");
    for (int i = 0; i < ndim && len < LN_ND_SHAPE_TEXT_BYTES; i++)
        len += (size_t)snprintf(text + len, LN_ND_SHAPE_TEXT_BYTES - len, i ? ", %lld" : "%lld",
                                (long long)shape[i]);
    if (len < LN_ND_SHAPE_TEXT_BYTES)
        snprintf(text + len, LN_ND_SHAPE_TEXT_BYTES - len, "]");
    return text;
}

// Row-major. With a dimension of 0 no element is ever addressed, and a product may overflow.
static void fill_strides(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        if (shape[i] > 0 && __builtin_mul_overflow(stride, shape[i], &stride))
            stride = 0;
    }
}

static bool is_empty(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0)
            return true;
    }
    return false;
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

// Conservative: sorted by stride, each dimension steps over all that the smaller ones reach, or
// elements are taken to overlap. The strides of an array with elements were checked, so
// nothing overflows.
static bool has_overlap(int ndim, const int64_t *shape, const int64_t *strides)
{
    int order[LN_NDARRAY_MAX_NDIM], count = 0;
    if (is_empty(ndim, shape))
        return false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 1)
            continue;
        int k = count++;
        for (; k > 0 && magnitude(strides[order[k - 1]]) > magnitude(strides[i]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    int64_t extent = 1;
    for (int k = 0; k < count; k++) {
        int64_t stride = magnitude(strides[order[k]]);
        if (stride < extent)
            return true;
        extent += (shape[order[k]] - 1) * stride;
    }
    return false;
}

// ---- Making and counting ----

ln_status ln_ndarray_make(const DLTensor *tensor, ln_nd_memory *memory, ln_ndarray **out_array)
{
    *out_array = NULL;
    size_t ndim = (size_t)tensor->ndim, dim_bytes = ndim * sizeof(int64_t);
    ln_ndarray *array = ln_alloc(sizeof *array + 2 * dim_bytes);
    if (!array)
        return LN_NO_MEMORY;
    int64_t *shape = array->dims, *strides = array->dims + ndim;
    if (ndim > 0)
        memcpy(shape, tensor->shape, dim_bytes);
    if (ndim > 0 && tensor->strides)
        memcpy(strides, tensor->strides, dim_bytes);
    else
        fill_strides(tensor->ndim, shape, strides);
    array->tensor = *tensor;
    array->tensor.shape = shape;
    array->tensor.strides = strides;
    array->strides = strides;
    array->has_overlap = has_overlap(tensor->ndim, shape, strides);
    array->memory = ln_nd_memory_retain(memory);
    atomic_init(&array->count, 1);
    *out_array = array;
    return LN_OK;
}

// The caller's shape is only read, but a record has no place for const.
static int64_t *unconst(const int64_t *shape)
{
    return (int64_t *)(uintptr_t)shape;
}

ln_status ln_ndarray_make_own(int ndim, const int64_t *shape, DLDataType dtype,
                              ln_ndarray **out_array)
{
    *out_array = NULL;
    DLTensor tensor = {
        .device = {kDLCPU, 0}, .ndim = ndim, .dtype = dtype, .shape = unconst(shape)};
    size_t elem_count;
    LN_TRY(ln_dl_check_shape(&tensor, &elem_count));
    ln_nd_memory *memory;
    LN_TRY(own_memory_create(elem_count * ln_dl_elem_bytes(dtype), &memory, &tensor.data));
    ln_status status = ln_ndarray_make(&tensor, memory, out_array);
    ln_nd_memory_release(memory);
    return status;
}

ln_status ln_ndarray_create(int ndim, const int64_t *shape, DLDataType dtype,
                            ln_ndarray **out_array)
{
    if (!out_array)
        return LN_FAIL(LN_INVALID, "no place for the new array");
    *out_array = NULL;
    LN_TRY(ln_dl_check_dtype(dtype, false));
    return ln_ndarray_make_own(ndim, shape, dtype, out_array);
}

ln_status ln_ndarray_wrap(const DLTensor *tensor, bool is_read_only, void (*on_release)(void *user),
                          void *user, ln_ndarray **out_array)
{
    if (!out_array)
        return LN_FAIL(LN_INVALID, "no place for the new array");
    *out_array = NULL;
    if (!tensor)
        return LN_FAIL(LN_INVALID, "no description of the memory to be wrapped");
    size_t elem_count;
    LN_TRY(ln_dl_check(tensor, false, &elem_count));
    ln_nd_memory *memory;
    LN_TRY(ln_nd_memory_create(is_read_only, true, NULL, user, &memory));
    ln_status status = ln_ndarray_make(tensor, memory, out_array);
    if (status == LN_OK)
        memory->on_release = on_release; // from here on: a failure calls nothing
    ln_nd_memory_release(memory);
    return status;
}

ln_ndarray *ln_ndarray_retain(ln_ndarray *array)
{
    if (array)
        atomic_fetch_add_explicit(&array->count, 1, memory_order_relaxed);
    return array;
}

void ln_ndarray_release(ln_ndarray *array)
{
    if (!array || atomic_fetch_sub_explicit(&array->count, 1, memory_order_acq_rel) != 1)
        return;
    ln_nd_memory_release(array->memory);
    ln_free(array);
}

// ---- Asking ----

const DLTensor *ln_ndarray_tensor(const ln_ndarray *array)
{
    return array ? &array->tensor : NULL;
}

ln_ndarray *ln_ndarray_from_tensor(DLTensor *tensor)
{
    return (ln_ndarray *)tensor;
}

int ln_ndarray_ndim(const ln_ndarray *array)
{
    return array ? array->tensor.ndim : 0;
}

const int64_t *ln_ndarray_shape(const ln_ndarray *array)
{
    return array ? array->tensor.shape : NULL;
}

const int64_t *ln_ndarray_strides(const ln_ndarray *array)
{
    return array ? array->strides : NULL;
}

DLDataType ln_ndarray_dtype(const ln_ndarray *array)
{
    return array ? array->tensor.dtype : (DLDataType){0, 0, 0};
}

size_t ln_ndarray_elem_count(const ln_ndarray *array)
{
    if (!array || is_empty(array->tensor.ndim, array->tensor.shape))
        return 0;
    size_t count = 1; // was checked: the product fits
    for (int i = 0; i < array->tensor.ndim; i++)
        count *= (size_t)array->tensor.shape[i];
    return count;
}

size_t ln_ndarray_byte_count(const ln_ndarray *array)
{
    return array ? ln_ndarray_elem_count(array) * ln_dl_elem_bytes(array->tensor.dtype) : 0;
}

char *ln_ndarray_first(const ln_ndarray *array)
{
    // A record from elsewhere may have any offset: as a number, which wraps.
    return (char *)((uintptr_t)array->tensor.data + (uintptr_t)array->tensor.byte_offset);
}

const void *ln_ndarray_data(const ln_ndarray *array)
{
    if (!array || !ln_dl_is_main_memory(array->tensor.device) || ln_ndarray_elem_count(array) == 0)
        return NULL;
    return ln_ndarray_first(array);
}

bool ln_ndarray_is_contiguous(const ln_ndarray *array)
{
    if (!array)
        return false;
    if (ln_ndarray_elem_count(array) == 0)
        return true;
    int64_t stride = 1;
    for (int i = array->tensor.ndim - 1; i >= 0; i--) {
        if (array->tensor.shape[i] != 1 && array->strides[i] != stride)
            return false;
        stride *= array->tensor.shape[i];
    }
    return true;
}

bool ln_ndarray_is_read_only(const ln_ndarray *array)
{
    return array && (array->memory->is_read_only || array->has_overlap);
}

size_t ln_ndarray_use_count(const ln_ndarray *array)
{
    return array ? atomic_load_explicit(&array->count, memory_order_relaxed) : 0;
}

// Acquire: what the last other holder read happens before what is written now.
bool ln_ndarray_is_shared(const ln_ndarray *array)
{
    if (!array)
        return false;
    return array->memory->is_foreign || ln_ndarray_is_read_only(array) ||
           atomic_load_explicit(&array->count, memory_order_acquire) != 1 ||
           atomic_load_explicit(&array->memory->count, memory_order_acquire) != 1;
}

ln_status ln_ndarray_check_access(const ln_ndarray *array, bool is_write, const char *what)
{
    if (!array)
        return LN_FAIL(LN_INVALID, "%s is NULL", what);
    if (!ln_dl_is_main_memory(array->tensor.device))
        return LN_FAIL(LN_UNSUPPORTED, "%s is on a device of type %d, not in main memory", what,
                       (int)array->tensor.device.device_type);
    if (is_write && array->memory->is_read_only)
        return LN_FAIL(LN_INVALID, "%s is read only; ln_ndarray_write makes a copy to write to",
                       what);
    if (is_write && array->has_overlap)
        return LN_FAIL(LN_INVALID,
                       "elements of %s overlap; ln_ndarray_write makes a copy to write "
                       "to",
                       what);
    return LN_OK;
}

// ---- Views ----

static ln_status check_view(const ln_ndarray *array, ln_ndarray **out_view)
{
    if (!out_view)
        return LN_FAIL(LN_INVALID, "no place for the view");
    *out_view = NULL;
    return array ? LN_OK : LN_FAIL(LN_INVALID, "the array to be viewed is NULL");
}

static ln_status check_slice(const ln_ndarray *array, int axis, int64_t start, int64_t count,
                             int64_t step)
{
    if (axis < 0 || axis >= array->tensor.ndim)
        return LN_FAIL(LN_INVALID, "axis %d is outside of %d dimensions", axis,
                       (int)array->tensor.ndim);
    int64_t dim = array->tensor.shape[axis], last = start;
    if (count < 0 || (count > 1 && step == 0))
        return LN_FAIL(LN_INVALID, "a slice has 0 or more elements and a step, not %lld by %lld",
                       (long long)count, (long long)step);
    bool fits = count < 2 || (!__builtin_mul_overflow(count - 1, step, &last) &&
                              !__builtin_add_overflow(last, start, &last));
    bool is_inside = fits && start >= 0 && start < dim && last >= 0 && last < dim;
    if (count == 0)
        is_inside = start >= 0 && start <= dim;
    if (!is_inside)
        return LN_FAIL(LN_INVALID,
                       "%lld elements from %lld by %lld are not all on axis %d of length %lld",
                       (long long)count, (long long)start, (long long)step, axis, (long long)dim);
    return LN_OK;
}

// Moves the view's first element by `delta` bytes. The offset is unsigned: below `data`, where
// negative strides may lead, `data` has to move.
static void move_first(DLTensor *view, int64_t delta)
{
    uint64_t down = 0 - (uint64_t)delta;
    if (delta >= 0 || view->byte_offset >= down) {
        view->byte_offset += (uint64_t)delta;
        return;
    }
    view->data = (char *)view->data - (down - view->byte_offset);
    view->byte_offset = 0;
}

ln_status ln_ndarray_slice(const ln_ndarray *array, int axis, int64_t start, int64_t count,
                           int64_t step, ln_ndarray **out_view)
{
    LN_TRY(check_view(array, out_view));
    LN_TRY(check_slice(array, axis, start, count, step));
    int64_t shape[LN_NDARRAY_MAX_NDIM], strides[LN_NDARRAY_MAX_NDIM];
    DLTensor view = array->tensor;
    memcpy(shape, view.shape, (size_t)view.ndim * sizeof *shape);
    memcpy(strides, array->strides, (size_t)view.ndim * sizeof *strides);
    view.shape = shape;
    view.strides = strides;
    shape[axis] = count;
    if (count > 0 && ln_ndarray_elem_count(array) > 0) { // else the strides may be anything
        move_first(&view, start * array->strides[axis] * (int64_t)ln_dl_elem_bytes(view.dtype));
        strides[axis] *= count > 1 ? step : 1;
    }
    return ln_ndarray_make(&view, array->memory, out_view);
}

ln_status ln_ndarray_reshape(const ln_ndarray *array, int ndim, const int64_t *shape,
                             ln_ndarray **out_view)
{
    LN_TRY(check_view(array, out_view));
    DLTensor view = array->tensor;
    view.ndim = ndim;
    view.shape = unconst(shape);
    view.strides = NULL;
    size_t elem_count;
    LN_TRY(ln_dl_check_shape(&view, &elem_count));
    if (elem_count != ln_ndarray_elem_count(array)) {
        char from[LN_ND_SHAPE_TEXT_BYTES], to[LN_ND_SHAPE_TEXT_BYTES];
        return LN_FAIL(LN_INVALID, "an array of shape %s cannot become %s: %zu and %zu elements",
                       ln_nd_shape_text(from, array->tensor.ndim, array->tensor.shape),
                       ln_nd_shape_text(to, ndim, shape), ln_ndarray_elem_count(array), elem_count);
    }
    if (!ln_ndarray_is_contiguous(array))
        return LN_FAIL(LN_INVALID, "only a contiguous array can be reshaped without a copy; "
                                   "ln_ndarray_clone makes one");
    return ln_ndarray_make(&view, array->memory, out_view);
}

ln_status ln_ndarray_transpose(const ln_ndarray *array, const int *axes, ln_ndarray **out_view)
{
    LN_TRY(check_view(array, out_view));
    int64_t shape[LN_NDARRAY_MAX_NDIM], strides[LN_NDARRAY_MAX_NDIM];
    DLTensor view = array->tensor;
    uint64_t seen = 0;
    for (int i = 0; i < view.ndim; i++) {
        int axis = axes ? axes[i] : view.ndim - 1 - i;
        if (axis < 0 || axis >= view.ndim || (seen >> axis & 1))
            return LN_FAIL(LN_INVALID, "axis %d at position %d: not a permutation of %d axes", axis,
                           i, (int)view.ndim);
        seen |= (uint64_t)1 << axis;
        shape[i] = view.shape[axis];
        strides[i] = array->strides[axis];
    }
    view.shape = shape;
    view.strides = strides;
    return ln_ndarray_make(&view, array->memory, out_view);
}
