// SPDX-License-Identifier: Apache-2.0
// What an operator in call form runs with: threads, and workspace.
//
// A workspace is an output marked `scratch`, which is planned like all memory; where there is none,
// as in models written for an arch by hand, memory of the call.

#ifndef LN_ARCH_CPU_CALL_H
#define LN_ARCH_CPU_CALL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>
#include <lightnet/context.h>
#include <lightnet/op.h>

#include "base/checked.h"
#include "base/pool.h"
#include "op/call.h"

// The threads that run an operator; NULL: one.
static inline ln_pool *ln_cpu_pool(const ln_op_arg *op_arg)
{
    return op_arg->context ? op_arg->context->pool : NULL;
}

static inline ln_pool *ln_cpu_call_pool(const ln_call *call)
{
    return ln_cpu_pool(call->op_arg);
}

// ---- Workspace ----

// What is taken from a workspace, part by part. Without a block it counts only: planning and
// running go the same way, so that they cannot differ.
typedef struct ln_cpu_carver {
    float *block; // NULL: planning
    size_t taken; // floats; SIZE_MAX: more than there can be
} ln_cpu_carver;

// The next part; NULL while planning.
static inline float *ln_cpu_carve(ln_cpu_carver *carver, size_t count)
{
    float *part = carver->block ? carver->block + carver->taken : NULL;
    if (!ln_size_add(carver->taken, count, &carver->taken))
        carver->taken = SIZE_MAX;
    return part;
}

static inline bool ln_cpu_is_planning(const ln_cpu_carver *carver)
{
    return !carver->block;
}

// SIZE_MAX: more than there can be.
static inline size_t ln_cpu_carved_bytes(const ln_cpu_carver *carver)
{
    size_t byte_count;
    return ln_size_mul(carver->taken, sizeof(float), &byte_count) ? byte_count : SIZE_MAX;
}

// `infer` of a workspace of so many bytes as output `index`.
static inline ln_status ln_cpu_call_infer_workspace(ln_call *call, int index, size_t byte_count)
{
    size_t floats = byte_count / sizeof(float) + (byte_count % sizeof(float) != 0);
    if (floats > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "needs %zu bytes of workspace", byte_count);
    return ln_call_out(call, index, TL_FLOAT, 1, (const int[]){(int)floats});
}

// The workspace while running, not NULL if it has no bytes; NULL with a recorded failure.
static inline float *ln_cpu_call_workspace(ln_call *call, int index, size_t byte_count)
{
    tl_tensor *planned = ln_call_dst(call, index);
    if (planned && byte_count > 0 && tl_tensor_size(planned) >= byte_count)
        return planned->data;
    return ln_call_scratch(call, byte_count, 1);
}

#endif
