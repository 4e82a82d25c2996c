/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of the outputs of operators, and where parts of tensors lie; what descriptions call.
 *
 * Each function fills in `dims`, which has room for TL_MAXDIM dimensions, and returns how many
 * there are. On arguments that do not fit together it returns -1 and records LN_INVALID or
 * LN_LIMIT with the values. Empty tensors (a dimension of 0) and scalars (no dimensions) are shapes
 * like others. Pointers are not NULL. Any thread may call them.
 *
 * Axes count from 0.
 */

#ifndef LIGHTNET_OPSHAPE_H
#define LIGHTNET_OPSHAPE_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

/* The shape `dims_len`, `given` as it is; the number of elements must fit an int. */
LN_API int ln_shape_given(int *dims, const int *given, int dims_len);

/* The same; and `data` has no more elements than the shape, unless it is the [0] that stands for
 * zeros. */
LN_API int ln_shape_create(int *dims, const int *given, int dims_len, const double *data,
                           int data_len);

/* How many numbers start, start + step, ... come before `stop`: ceil((stop - start) / step), none
 * when `stop` is on the other side of `start`. -1 if one is not finite or beyond `dtype`, or `step`
 * is 0. */
LN_API int ln_range_len(double start, double stop, double step, tl_dtype dtype);
LN_API int ln_shape_arange(int *dims, double start, double stop, double step, tl_dtype dtype);

/* The shape `given` if it has as many elements as `src`. */
LN_API int ln_shape_reshape(int *dims, const tl_tensor *src, const int *given, int dims_len);

/* The shape of `src` with `dim` on `axis`. */
LN_API int ln_shape_with_dim(int *dims, const tl_tensor *src, int axis, int dim);

/* The shape of `src` with 1 on `axis`, which must have elements unless the result has none. */
LN_API int ln_shape_reduce(int *dims, const tl_tensor *src, int axis);

/* `count` tensors one after the other on `axis`; they differ at most there. */
LN_API int ln_shape_concat(int *dims, tl_tensor *const *srcs, int count, int axis);

/* `count` tensors of the shape of `first` on a new first axis. */
LN_API int ln_shape_gather(int *dims, const tl_tensor *first, int count);

/* Each of the `count` parts of `src` along its first axis, which has that many elements. */
LN_API int ln_shape_scatter(int *dims, const tl_tensor *src, int count);

/* The shape `given`, of the rank of `src`, which has elements unless the result has none. */
LN_API int ln_shape_resize(int *dims, const tl_tensor *src, const int *given, int dims_len);

/* The same for floor(scales[i] * dimension i). Scales are finite and above 0. */
LN_API int ln_shape_upsample(int *dims, const tl_tensor *src, const double *scales, int scales_len);

/* [3, height, width] for `src` [height, width, 3], which is not bool. */
LN_API int ln_shape_submean(int *dims, const tl_tensor *src);

/* [len * stride] for `index` of at least `len` positions of groups of `stride` elements. */
LN_API int ln_shape_pick1d(int *dims, const tl_tensor *index, int stride, int len);

/* [1, A, channels, H, W] for `feature` [1, A * (5 + K), H, W] and `anchors` [A, 2]; `channels` -1
 * is K. */
LN_API int ln_shape_yolov3(int *dims, const tl_tensor *feature, const tl_tensor *anchors,
                           int channels);

/* Dimension i is dimension axes[i] of `src`; `axes` is a permutation of all of them. */
LN_API int ln_shape_transpose(int *dims, const tl_tensor *src, const int *axes, int axes_len);

/* ---- Where parts are ----
 *
 * The offset in bytes of a part after the start of what it is a part of; LN_NO_OFFSET (op.h) if
 * its elements are no row of neighbours there. Shapes have been checked. */

/* The elements from `start` on `axis` of `src`. */
LN_API size_t ln_offset_of_slice(const tl_tensor *src, int axis, int start);

/* `part`, the first of `srcs` that is this very tensor, in `dst`, which joins them on `axis`. */
LN_API size_t ln_offset_in_concat(tl_tensor *const *srcs, int count, const tl_tensor *dst, int axis,
                                  const tl_tensor *part);

/* `part`, the first of `parts` that is this very tensor, in the stack of all of them. */
LN_API size_t ln_offset_in_stack(tl_tensor *const *parts, int count, const tl_tensor *part);

/* All of `src`, if the order `axes` leaves the elements where they are: 0. */
LN_API size_t ln_offset_of_transpose(const tl_tensor *src, const int *axes);

LN_CPPEND

#endif
