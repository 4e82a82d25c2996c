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

/* How many numbers start, start + step, ... come before `stop`: ceil((stop - start) / step), none
 * when `stop` is on the other side of `start`. -1 if one is not finite or beyond `dtype`, or `step`
 * is 0. */
LN_API int ln_range_len(double start, double stop, double step, tl_dtype dtype);

/* The shape `given` if it has as many elements as `src`. */
LN_API int ln_shape_reshape(int *dims, const tl_tensor *src, const int *given, int dims_len);

/* The shape of `src` with `dim` on `axis`. */
LN_API int ln_shape_with_dim(int *dims, const tl_tensor *src, int axis, int dim);

/* ---- Where parts are ----
 *
 * The offset in bytes of a part after the start of what it is a part of; LN_NO_OFFSET (op.h) if
 * its elements are no row of neighbours there. Shapes have been checked. */

/* The elements from `start` on `axis` of `src`. */
LN_API size_t ln_offset_of_slice(const tl_tensor *src, int axis, int start);

/* All of `src`, if the order `axes` leaves the elements where they are: 0. */
LN_API size_t ln_offset_of_transpose(const tl_tensor *src, const int *axes);

LN_CPPEND

#endif
