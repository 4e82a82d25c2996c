// SPDX-License-Identifier: Apache-2.0
// What separable_nhwc_cpu calls. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_SEPARABLE_H
#define LN_ARCH_CPU_SEPARABLE_H

#include <string.h>

#include <lightnet/status.h>

#include "arch/cpu/nhwc.h"
#include "arch/cpu/separable_nhwc.h"
#include "base/pool.h"

LN_CPPSTART

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_separable_workspace(int *dims, const ln_separable_nhwc *op);

ln_status ln_cpu_separable(ln_pool *pool, const ln_separable_nhwc *op, tl_tensor *dst,
                           tl_tensor *workspace);

LN_CPPEND

#endif
