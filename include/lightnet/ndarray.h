/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are handed around: counted, with views, and with DLPack records on both sides.
 *
 *     int64_t shape[] = {2, 3};
 *     ln_ndarray *a, *column;
 *     ln_ndarray_create(2, shape, tl_dtype_to_dl(TL_FLOAT), &a);       // zeros
 *     ln_ndarray_fill(a, 1);
 *     ln_ndarray_slice(a, 1, 0, 1, 1, &column);                        // a view: [2, 1]
 *     DLManagedTensorVersioned *managed = ln_ndarray_to_dlpack_versioned(a);
 *     ...                                                              // to NumPy, PyTorch, ...
 *     ln_ndarray_release(column);
 *     ln_ndarray_release(a);
 *
 * An array is a shape, strides and an offset into a memory. It begins with a DLTensor, so that a
 * pointer to the array is a pointer to its DLTensor and back; what is after that is private, and
 * the DLTensor is to be read only. Arrays are counted (`retain`, `release`), and so are memories: a
 * view keeps the memory, not the array that it was made from.
 *
 * Copies are lazy. `retain` and views copy no element, and there are two ways to write then:
 *
 *     in place      `fill`, `copy`, `convert`, `set_bytes`: into the memory. All arrays that share
 *                   it see the change. Refused for memory that is read only, and for arrays with
 *                   elements that overlap.
 *     on its own    `write`: gives the holder an array that nobody else has, and copies for that
 *                   only if somebody else might look: another holder, a view, an export, the
 *                   foreign owner of the memory. Nobody sees the change but the holder.
 *
 * Memory of other devices can be held and handed on, not touched: functions that look at elements
 * answer LN_UNSUPPORTED. Main memory is kDLCPU, and the kinds of it that are pinned for a device.
 *
 * Counting is thread-safe: threads may hold, view and read one array at the same time. Writing in
 * place while others look is the program's to prevent; `write` prevents it by itself, as long as
 * each thread has a handle (a `retain`) of its own.
 *
 * Outputs are cleared first. A NULL array is LN_INVALID where a status is returned; functions that
 * ask answer 0, or NULL.
 */

#ifndef LIGHTNET_NDARRAY_H
#define LIGHTNET_NDARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/dlpack.h>
#include <lightnet/dtype.h>
#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* The most dimensions an array has. */
#define LN_NDARRAY_MAX_NDIM 32

/* Where the data of arrays made here begins: at a multiple of this many bytes. */
#define LN_NDARRAY_ALIGN 64

typedef struct ln_ndarray ln_ndarray;

/* ---- Element types ---- */

/* The DLPack type of the same numbers; {0, 0, 0} for an invalid dtype. Each has the bytes of its
 * dtype, but TL_BOOL: its elements have 4 bytes, and kDLBool has 1. */
LN_API DLDataType tl_dtype_to_dl(tl_dtype dtype);

/* The opposite; also TL_BOOL for the old kind of bool, kDLUInt with 1 bit. TL_DTYPE_INVALID for
 * what has no dtype, such as more than one lane. Records no error: asking is fine. */
LN_API tl_dtype tl_dtype_from_dl(DLDataType dtype);

/* ---- Making and counting ---- */

/* A new array of zeros in main memory, row-major. `shape` has `ndim` dimensions, each 0 or more,
 * and is copied. An element is `lanes` numbers of 8, 16, 32, 64 or 128 bits, or of 1 bit if it is
 * kDLUInt, and begins at a whole byte. The caller releases *out_array. */
LN_API ln_status ln_ndarray_create(int ndim, const int64_t *shape, DLDataType dtype,
                                   ln_ndarray **out_array);

/* An array in the caller's memory, as `tensor` describes it (which is copied; its strides may be
 * NULL). When nothing holds the memory any longer, `on_release` is called with `user`, once; NULL:
 * the caller keeps it valid by other means. A failure calls nothing: the memory stays the caller's.
 */
LN_API ln_status ln_ndarray_wrap(const DLTensor *tensor, bool is_read_only,
                                 void (*on_release)(void *user), void *user,
                                 ln_ndarray **out_array);

/* One holder more; returns `array`. NULL is fine. */
LN_API ln_ndarray *ln_ndarray_retain(ln_ndarray *array);

/* One holder less; the last one frees the array. NULL is fine. */
LN_API void ln_ndarray_release(ln_ndarray *array);

/* ---- Asking ---- */

/* The array as a DLTensor: the same address. Valid as long as the array is held. */
LN_API const DLTensor *ln_ndarray_tensor(const ln_ndarray *array);

/* The array of a DLTensor that `ln_ndarray_tensor` returned. No other DLTensor is one. */
LN_API ln_ndarray *ln_ndarray_from_tensor(DLTensor *tensor);

LN_API int ln_ndarray_ndim(const ln_ndarray *array);
LN_API const int64_t *ln_ndarray_shape(const ln_ndarray *array);   /* borrowed */
LN_API const int64_t *ln_ndarray_strides(const ln_ndarray *array); /* in elements; borrowed */
LN_API DLDataType ln_ndarray_dtype(const ln_ndarray *array);

/* The number of elements, 1 for a scalar; and of the bytes that they take without gaps. */
LN_API size_t ln_ndarray_elem_count(const ln_ndarray *array);
LN_API size_t ln_ndarray_byte_count(const ln_ndarray *array);

/* The first element, in main memory; NULL if there is none, or no way to it from the CPU. */
LN_API const void *ln_ndarray_data(const ln_ndarray *array);

/* True if the elements are in row-major order without gaps. */
LN_API bool ln_ndarray_is_contiguous(const ln_ndarray *array);

/* True if it must not be written in place: read-only memory, or elements that overlap. */
LN_API bool ln_ndarray_is_read_only(const ln_ndarray *array);

/* How many hold this array. Other arrays may share its memory all the same. */
LN_API size_t ln_ndarray_use_count(const ln_ndarray *array);

/* True if `write` would copy. With one holder, "false" stays true until that holder shares it. */
LN_API bool ln_ndarray_is_shared(const ln_ndarray *array);

/* ---- Views: new arrays on the same memory, which the caller releases ---- */

/* `count` elements on `axis`: at `start`, start + step, ... `step` may be negative; every element
 * is within the array. */
LN_API ln_status ln_ndarray_slice(const ln_ndarray *array, int axis, int64_t start, int64_t count,
                                  int64_t step, ln_ndarray **out_view);

/* Other dimensions of the same product. The array must be contiguous. */
LN_API ln_status ln_ndarray_reshape(const ln_ndarray *array, int ndim, const int64_t *shape,
                                    ln_ndarray **out_view);

/* Dimension i of the view is dimension axes[i] of the array; NULL reverses them. */
LN_API ln_status ln_ndarray_transpose(const ln_ndarray *array, const int *axes,
                                      ln_ndarray **out_view);

/* ---- Copying ---- */

/* A copy at once: contiguous, with memory of its own. */
LN_API ln_status ln_ndarray_clone(const ln_ndarray *array, ln_ndarray **out_clone);

/* Write access for the holder of *array alone. If anybody else might look at the memory, or nobody
 * may write to it, *array is replaced by a copy and the old one released. *out_data (which may be
 * NULL) receives the first element; the others are at the array's strides. On failure *array is
 * untouched. Pointers taken from *array before are to be taken again. */
LN_API ln_status ln_ndarray_write(ln_ndarray **array, void **out_data);

/* The elements of `src` into `dst`, of the same shape and type, in place. They may share memory. */
LN_API ln_status ln_ndarray_copy(const ln_ndarray *src, ln_ndarray *dst);

/* The same between types that have a dtype, converted by the rules of `tl_convert`. */
LN_API ln_status ln_ndarray_convert(const ln_ndarray *src, ln_ndarray *dst);

/* Sets all elements to `value`, converted to the type. */
LN_API ln_status ln_ndarray_fill(ln_ndarray *array, double value);

/* Between the array and `byte_count` bytes in row-major order without gaps. `byte_count` must be
 * the array's; `bytes` is apart from the array. */
LN_API ln_status ln_ndarray_set_bytes(ln_ndarray *array, const void *bytes, size_t byte_count);
LN_API ln_status ln_ndarray_get_bytes(const ln_ndarray *array, void *bytes, size_t byte_count);

/* ---- DLPack ---- */

/* Hands the memory to a consumer, who calls the record's deleter once and may do that on any
 * thread; until then the memory is held. NULL with a recorded failure if memory is gone. Strides
 * are always given. The consumer may write, unless the memory is read only: the versioned record
 * says so, and without a version the export is refused (LN_UNSUPPORTED). The old kind of bool goes
 * out as kDLBool. */
LN_API DLManagedTensorVersioned *ln_ndarray_to_dlpack_versioned(const ln_ndarray *array);
LN_API DLManagedTensor *ln_ndarray_to_dlpack(const ln_ndarray *array);

/* Takes a producer's record over, as an array in the producer's memory; nothing is copied. The
 * deleter is called once, whatever happens: at once on failure, else when the memory is no longer
 * held. Every field is checked: LN_INVALID for what contradicts itself (a negative dimension, no
 * data, sizes that overflow), LN_UNSUPPORTED for another major version (then nothing but the
 * deleter is touched), an unknown device, and types that are not whole bytes.
 * Writing on its own (`write`) copies, for the producer may look; unless the record says that it
 * was copied for us. The old record cannot say "read only": in-place writes are the caller's
 * responsibility. */
LN_API ln_status ln_ndarray_from_dlpack_versioned(DLManagedTensorVersioned *managed,
                                                  ln_ndarray **out_array);
LN_API ln_status ln_ndarray_from_dlpack(DLManagedTensor *managed, ln_ndarray **out_array);

LN_CPPEND

#endif
