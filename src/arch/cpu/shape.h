// SPDX-License-Identifier: Apache-2.0
// What the operators of arch cpu that move elements call. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_SHAPE_H
#define LN_ARCH_CPU_SHAPE_H

#include <stdbool.h>

#include <lightnet/dtype.h>
#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

// Whether elements of this type are moved by copying their bytes, as many as kernels are for.
bool ln_cpu_moves(tl_dtype dtype);

// Outputs that the memory plan has put in their places, or inputs in the output, stay there.
ln_status ln_cpu_transpose(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, const int *axes);
ln_status ln_cpu_slice(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, int axis, int start);
ln_status ln_cpu_concat(ln_pool *pool, tl_tensor *const *srcs, int count, tl_tensor *dst, int axis);

LN_CPPEND

#endif
