// SPDX-License-Identifier: Apache-2.0
// What the operators of `ref` compute: plain functions over tensors in main memory.
//
// These are the meaning of the operators: every other arch is measured against them. They are naive
// on purpose, take every dtype, and add up as element.h says, in the order in which the loops are
// written. What an operator merely moves or does element by element is in lightnet/tensor.h.
//
// `dst` is given, with the right dtype and shape. A tensor that does not fit is LN_INVALID and
// changes nothing. Nothing is allocated. Empty tensors are fine. Element-wise functions work
// in place, and parts that lie in a whole already are left alone; elsewhere the
// data of `dst` lies apart from the sources.

#ifndef LN_ARCH_REF_KERNELS_H
#define LN_ARCH_REF_KERNELS_H

#include <lightnet/status.h>
#include <lightnet/tensor.h>

// ---- Other sizes: resize.c ----

// `src` with the dimensions of `dst`, as many as its own; the elements are those that
// `tl_tensor_resize` gives, to the bit.
ln_status ln_ref_resize(const tl_tensor *src, tl_tensor *dst, tl_resize_type type);

// ---- Arguments: expect.c ----

// `t` is a tensor of this dtype and shape, with data unless it is empty. `what` names it in the
// message.
ln_status ln_ref_expect(const tl_tensor *t, const char *what, tl_dtype dtype, int ndim,
                        const int *dims);

// The same for a tensor that may have any valid dtype and shape.
ln_status ln_ref_expect_any(const tl_tensor *t, const char *what);

#endif
