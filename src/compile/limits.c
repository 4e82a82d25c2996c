// SPDX-License-Identifier: Apache-2.0
// Limits on operators and work.

#include "compile/limits.h"

#include <lightnet/op.h>

#include "ir/context.h"
#include "ir/phase.h"

ln_status ln_context_check_limits(const ln_context *ctx)
{
    size_t op_count = 0;
    double work = 0, largest = 0;
    const ln_op *dearest = NULL, *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        double cost = ln_op_cost(op);
        if (!dearest || cost > largest) {
            dearest = op;
            largest = cost;
        }
        work += cost;
        op_count++;
    }
    if (op_count > ctx->limits.op_count)
        return LN_FAIL(LN_LIMIT, "%zu operators are over the limit of %zu (ln_limits.op_count)",
                       op_count, ctx->limits.op_count);
    if (dearest && !(work <= ctx->limits.work))
        return LN_FAIL(LN_LIMIT,
                       "a run costs %.4g work units, about %.3g s of one core, over the limit of "
                       "%.4g (--work, ln_limits.work); operator '%s' (%s) is %.0f %% of it",
                       work, work * 1e-9, ctx->limits.work, dearest->op_arg->name,
                       dearest->op_arg->optype, 100 * largest / work);
    return LN_OK;
}

ln_status ln_context_check_first_run(const ln_context *ctx)
{
    double byte_count = 0, work = ln_context_run_cost(ctx);
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        byte_count += (double)(ctx->mem_sizes[m] - ctx->static_sizes[m]);
    double fresh = byte_count * LN_FRESH_BYTE_COST;
    if (work + fresh <= ctx->limits.work)
        return LN_OK;
    return LN_FAIL(
        LN_LIMIT,
        "the first run costs %.4g work units, over the limit of %.4g (--work, "
        "ln_limits.work); %.4g of them are for %.0f bytes of workspace, which the system "
        "clears",
        work + fresh, ctx->limits.work, fresh, byte_count);
}
