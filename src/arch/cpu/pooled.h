// SPDX-License-Identifier: Apache-2.0
// What conv2d_maxpool_nhwc_cpu calls. As in cpu_ops.h.

#ifndef LN_ARCH_CPU_POOLED_H
#define LN_ARCH_CPU_POOLED_H

#include <lightnet/status.h>

#include "arch/cpu/pooled_nhwc.h"
#include "base/pool.h"

LN_CPPSTART

// The shape of `workspace`: fills in `dims` and returns the rank, 1; -1 with a recorded failure.
int ln_cpu_pooled_workspace(int *dims, const ln_pooled_nhwc *op);

ln_status ln_cpu_pooled(ln_pool *pool, const ln_pooled_nhwc *op, tl_tensor *dst,
                        tl_tensor *workspace);

LN_CPPEND

#endif
