// SPDX-License-Identifier: Apache-2.0
// The threads that run an operator in call form.

#ifndef LN_ARCH_CPU_ONNX_POOL_OF_H
#define LN_ARCH_CPU_ONNX_POOL_OF_H

#include "arch/cpu/nhwc.h"
#include "op/call.h"

static inline ln_pool *ln_cpu_call_pool(const ln_call *call)
{
    return ln_cpu_pool(call->op_arg);
}

#endif
