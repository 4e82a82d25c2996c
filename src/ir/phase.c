// SPDX-License-Identifier: Apache-2.0
// Budgets and deadlines of planning, loading and running.

#include "ir/phase.h"

#include <math.h>

#include "base/deadline.h"
#include "ir/context.h"

// Deadlines that a caller outside has set for this thread hold as well.
static void set_deadline(const ln_context *root, int64_t outer_ns)
{
    double span = root->timeout * 1e9;
    if (!(span > 0) || span >= 9e18 - (double)root->start_ns)
        return;
    int64_t own = root->start_ns + (int64_t)span;
    ln_deadline_set(outer_ns != 0 && outer_ns < own ? outer_ns : own);
}

void ln_phase_begin(ln_context *ctx, ln_phase_kind kind, ln_phase *out_phase)
{
    *out_phase = (ln_phase){0};
    if (!ctx || ctx->outer || ctx->phase == (int)kind)
        return;
    if (ln_error_status() == LN_TIMEOUT)
        ln_error_clear(); // of an earlier phase
    *out_phase = (ln_phase){.root = ctx,
                            .kind = ctx->phase,
                            .work_left = ctx->work_left,
                            .work_limit = ctx->work_limit,
                            .start_ns = ctx->start_ns,
                            .deadline_ns = ln_deadline_get()};
    ctx->phase = (int)kind;
    ctx->work_limit = ctx->limits.work;
    if (kind == LN_PHASE_PLAN && ctx->work_limit > LN_PLAN_WORK)
        ctx->work_limit = LN_PLAN_WORK;
    ctx->work_left = ctx->work_limit;
    ctx->start_ns = ctx->timeout > 0 ? ln_now_ns() : 0;
    set_deadline(ctx, out_phase->deadline_ns);
}

static const char *name_of(int kind)
{
    return kind == LN_PHASE_LOAD ? "loading" : kind == LN_PHASE_RUN ? "the run" : "planning";
}

ln_status ln_phase_check(const ln_context *ctx, const ln_op *op)
{
    if (!ln_deadline_passed() || ln_error_status() == LN_TIMEOUT)
        return ln_deadline_passed() ? LN_TIMEOUT : LN_OK;
    const ln_context *root = ln_context_root((ln_context *)(uintptr_t)ctx);
    double elapsed = (double)(ln_now_ns() - root->start_ns) * 1e-9;
    if (!op)
        return LN_FAIL(LN_TIMEOUT,
                       "%s was stopped after %.3g s, the limit is %.3g s (--timeout, "
                       "ln_context_set_timeout)",
                       name_of(root->phase), elapsed, root->timeout);
    return LN_FAIL(LN_TIMEOUT,
                   "%s was stopped after %.3g s in operator '%s' (%s), the limit is %.3g s "
                   "(--timeout, ln_context_set_timeout)",
                   name_of(root->phase), elapsed, op->op_arg->name, op->op_arg->optype,
                   root->timeout);
}

ln_status ln_phase_end(const ln_phase *phase, ln_status status)
{
    ln_context *root = phase->root;
    if (!root)
        return status;
    root->phase = phase->kind;
    root->work_left = phase->work_left;
    root->work_limit = phase->work_limit;
    root->start_ns = phase->start_ns;
    ln_deadline_set(phase->deadline_ns);
    return status;
}

bool ln_phase_take(ln_context *ctx, double units)
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    if (!root)
        return true;
    root->work_left -= units;
    return root->work_left >= 0;
}
