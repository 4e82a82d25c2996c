// SPDX-License-Identifier: Apache-2.0
// Loading a plan beside others: constants that an earlier one has are where they are, and the
// workspace is there only as long as addresses in it are looked for.

#include "compile/instance.h"

#include "compile/threads.h"
#include "ir/context.h"

void ln_instance_constants_deinit(ln_instance_constants *shared)
{
    ln_constants_destroy(shared->constants);
    ln_memory_leave(shared->statics);
    ln_memory_release(shared->statics);
    *shared = (ln_instance_constants){0};
}

// Says where the memory of the plan is while it is loaded.
typedef struct loading {
    struct ln_plans base;
    const ln_instance_constants *shared;
} loading;

static ln_status allocate(struct ln_plans *base, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace)
{
    const ln_instance_constants *shared = ((const loading *)base)->shared;
    const size_t *begins = ctx->constants ? ln_constants_ends(ctx->constants) : NULL;
    *out_workspace = NULL;
    LN_TRY(ln_memory_create_after(begins ? shared->statics : NULL, begins, ctx->static_sizes,
                                  out_statics));
    ln_status status = ln_memory_create(ctx->static_sizes, ctx->mem_sizes, out_workspace);
    if (status != LN_OK) {
        ln_memory_release(*out_statics);
        *out_statics = NULL;
    }
    return status;
}

ln_status ln_instance_constants_share(ln_instance_constants *shared, const ln_context *first)
{
    LN_TRY(ln_constants_create(first, &shared->constants));
    if (!shared->constants)
        return LN_OK;
    shared->statics = ln_memory_retain(first->static_memory);
    ln_memory_join(shared->statics);
    return LN_OK;
}

ln_status ln_instance_load(const ln_instance_constants *shared, const ln_context *ctx,
                           ln_context *instance)
{
    loading l = {.base = {.allocate = allocate}, .shared = shared};
    ln_context_share_threads(instance, ctx);
    instance->plans = &l.base;
    ln_status status = ln_context_load(instance, ctx->datafile);
    instance->plans = NULL;
    return status;
}
