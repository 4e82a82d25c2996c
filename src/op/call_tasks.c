// SPDX-License-Identifier: Apache-2.0
// Work that a kernel shares between the threads of its run.

#include "op/call.h"

#include "base/deadline.h"
#include "base/pool.h"
#include "ir/context.h"

static ln_pool *pool_of(const ln_call *call)
{
    const ln_context *ctx = call->op_arg->context;
    return ctx ? ctx->pool : NULL;
}

void ln_call_run_tasks(const ln_call *call, size_t count, ln_pool_task *task, void *job)
{
    const int64_t deadline = ln_deadline_set(0);
    const ln_cancel *cancel = ln_cancel_watch(NULL);
    ln_pool_run(pool_of(call), count, task, job);
    (void)ln_cancel_watch(cancel);
    (void)ln_deadline_set(deadline);
}

size_t ln_call_thread_count(const ln_call *call)
{
    return ln_pool_thread_count(pool_of(call));
}
