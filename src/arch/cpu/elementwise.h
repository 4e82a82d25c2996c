// SPDX-License-Identifier: Apache-2.0
// What the element-wise operators of arch cpu and those over an axis call: from tensors and
// parameters to the kernels. As in cpu_ops.h, but `dst` may be a source.

#ifndef LN_ARCH_CPU_ELEMENTWISE_H
#define LN_ARCH_CPU_ELEMENTWISE_H

#include <lightnet/act.h>
#include <lightnet/call.h>
#include <lightnet/context.h>
#include <lightnet/dtype.h>
#include <lightnet/op.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

// `op` is not TL_POW, which is left to ref. A source of a smaller shape is repeated.
ln_status ln_cpu_elew(ln_pool *pool, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                      tl_elew_op op, ln_act act, float alpha, float beta);

// What `elew` computes of other types than TL_FLOAT, of any number of operands, or by one of the
// operations that op/elementwise.h adds; without an activation.
ln_status ln_cpu_elew_rows(ln_call *call, int op);

ln_status ln_cpu_act(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, ln_act act, float alpha,
                     float beta);

// Rows of the last axis, of as many elements as `scale`; `bias` may be NULL.
ln_status ln_cpu_layernorm(ln_pool *pool, const tl_tensor *src, const tl_tensor *scale,
                           const tl_tensor *bias, tl_tensor *dst, float epsilon, ln_bool centered);

LN_CPPEND

#endif
