// SPDX-License-Identifier: Apache-2.0
// Compiling: the passes, then the memory plan.

#include <lightnet/context.h>

#include "compile/context_plan.h"
#include "compile/limits.h"
#include "pass/pass.h"

static ln_status check_ready(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state == LN_CONTEXT_EMPTY)
        return LN_FAIL(LN_STATE, "the context holds no model to compile");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "the model is compiled already");
    return LN_OK;
}

ln_status ln_context_optimize(ln_context *ctx, const char *target, const char *passes)
{
    LN_TRY(check_ready(ctx));
    ln_compilation compilation;
    LN_TRY(ln_compilation_init(&compilation, ctx, target));
    LN_TRY(ln_passes_run(&compilation, passes));
    return ln_context_rerun_ops(ctx);
}

ln_status ln_context_compile(ln_context *ctx, const char *target)
{
    LN_TRY(ln_context_optimize(ctx, target, NULL));
    LN_TRY(ln_context_check_limits(ctx));
    return ln_context_plan_memory(ctx, target);
}
