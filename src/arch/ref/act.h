// SPDX-License-Identifier: Apache-2.0
// Activations as lightnet/act.h says, in double, and what goes element by element or row by row
// with them.

#ifndef LN_ARCH_REF_ACT_H
#define LN_ARCH_REF_ACT_H

#include <stdint.h>

#include <lightnet/tensor.h>

#include "op/elementwise.h"

LN_CPPSTART

// The activation of one number.
double ln_ref_act(ln_act act, double alpha, double beta, double x);

// Of `count` numbers, which become elements of type `dtype`, in place.
void ln_ref_act_values(ln_act act, double alpha, double beta, tl_dtype dtype, int64_t count,
                       double *values);

// Of all elements of `src`, numbers or bools; `dst` may be `src`. Both are of one type and shape.
void ln_ref_act_tensor(const tl_tensor *src, tl_tensor *dst, ln_act act, double alpha, double beta);

LN_CPPEND

#endif
