// SPDX-License-Identifier: Apache-2.0
// Budgets, deadlines and ends on request of planning, loading and running.

#include "ir/phase.h"

#include <stdio.h>

#include "base/deadline.h"
#include "base/priority.h"
#include "ir/context.h"

// The limit of all phases of this thread. It is a deadline only within phases: what a program does
// between them with its own tasks ends when it ends.
static _Thread_local ln_time_limit of_thread = {.of = "thread"};

// The one that the deadline of this thread is of: where plans for other shapes are made, it may be
// that of a phase around them.
static _Thread_local ln_time_limit of_deadline;

// Phases of other contexts inside one have its priority.
static _Thread_local bool is_in_phase;

// 0 for more than the clock can count.
static int64_t deadline_of(int64_t start_ns, double seconds)
{
    double span = seconds * 1e9;
    return span > 0 && span < 9e18 - (double)start_ns ? start_ns + (int64_t)span : 0;
}

ln_status ln_thread_set_timeout(double seconds)
{
    if (!(seconds >= 0))
        return LN_FAIL(LN_INVALID, "a time limit of %g s", seconds);
    of_thread.seconds = seconds;
    of_thread.start_ns = seconds > 0 ? ln_now_ns() : 0;
    of_thread.deadline_ns = deadline_of(of_thread.start_ns, seconds);
    return LN_OK;
}

static ln_time_limit limit_of(const ln_context *root)
{
    bool is_session = root->state == LN_CONTEXT_LOADED && !root->tensor_table;
    return (ln_time_limit){.of = is_session ? "session" : "context",
                           .seconds = root->timeout,
                           .start_ns = root->start_ns,
                           .deadline_ns = deadline_of(root->start_ns, root->timeout)};
}

// The earliest of the phase's, the thread's and the one that holds already.
static void set_deadline(const ln_context *root, int64_t outer_ns)
{
    const ln_time_limit own = limit_of(root);
    ln_time_limit earliest = of_thread;
    if (own.deadline_ns != 0 &&
        (earliest.deadline_ns == 0 || own.deadline_ns < earliest.deadline_ns))
        earliest = own;
    if (outer_ns != 0 && (earliest.deadline_ns == 0 || outer_ns <= earliest.deadline_ns))
        return;
    of_deadline = earliest;
    ln_deadline_set(earliest.deadline_ns);
}

static bool is_stopped(ln_status status)
{
    return status == LN_TIMEOUT || status == LN_CANCELLED;
}

void ln_phase_begin(ln_context *ctx, ln_phase_kind kind, ln_phase *out_phase)
{
    *out_phase = (ln_phase){0};
    if (!ctx || ctx->outer || ctx->phase == (int)kind)
        return;
    if (is_stopped(ln_error_status()))
        ln_error_clear(); // of an earlier phase
    *out_phase = (ln_phase){.root = ctx,
                            .kind = ctx->phase,
                            .work_left = ctx->work_left,
                            .work_limit = ctx->work_limit,
                            .start_ns = ctx->start_ns,
                            .deadline_ns = ln_deadline_get(),
                            .limit = of_deadline,
                            .cancel = ln_cancel_watched(),
                            .priority = ln_priority_get(),
                            .is_inner = is_in_phase};
    ctx->phase = (int)kind;
    ctx->work_limit = ctx->limits.work;
    if (kind == LN_PHASE_PLAN && ctx->work_limit > LN_PLAN_WORK)
        ctx->work_limit = LN_PLAN_WORK;
    ctx->work_left = ctx->work_limit;
    ctx->start_ns = ctx->timeout > 0 ? ln_now_ns() : 0;
    set_deadline(ctx, out_phase->deadline_ns);
    if (ctx->cancel)
        ln_cancel_watch(ctx->cancel);
    if (!is_in_phase)
        ln_priority_set(ctx->priority);
    is_in_phase = true;
}

static const char *name_of(int kind)
{
    return kind == LN_PHASE_LOAD ? "loading" : kind == LN_PHASE_RUN ? "the run" : "planning";
}

static ln_status fail_cancelled(const ln_context *root, const ln_op *op)
{
    if (!op)
        return LN_FAIL(LN_CANCELLED, "%s was cancelled", name_of(root->phase));
    return LN_FAIL(LN_CANCELLED, "%s was cancelled in operator '%s' (%s)", name_of(root->phase),
                   op->op_arg->name, op->op_arg->optype);
}

// A thread of a pool has the deadline alone.
static ln_time_limit find_passed(const ln_context *root)
{
    return of_deadline.deadline_ns == ln_deadline_get() ? of_deadline : limit_of(root);
}

static ln_status fail_late(const ln_context *root, const ln_op *op)
{
    const ln_time_limit limit = find_passed(root);
    char words[160];
    snprintf(words, sizeof words, "the limit %sis %.3g s (--timeout, ln_%s_set_timeout)",
             limit.of == of_thread.of ? "in all " : "", limit.seconds, limit.of);
    double elapsed = (double)(ln_now_ns() - limit.start_ns) * 1e-9;
    if (!op)
        return LN_FAIL(LN_TIMEOUT, "%s was stopped after %.3g s, %s", name_of(root->phase), elapsed,
                       words);
    return LN_FAIL(LN_TIMEOUT, "%s was stopped after %.3g s in operator '%s' (%s), %s",
                   name_of(root->phase), elapsed, op->op_arg->name, op->op_arg->optype, words);
}

ln_status ln_phase_check(const ln_context *ctx, const ln_op *op)
{
    if (!ln_deadline_passed())
        return LN_OK;
    if (is_stopped(ln_error_status()))
        return ln_error_status();
    const ln_context *root = ln_context_root((ln_context *)(uintptr_t)ctx);
    return ln_cancel_is_requested(ln_cancel_watched()) ? fail_cancelled(root, op)
                                                       : fail_late(root, op);
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
    of_deadline = phase->limit;
    ln_deadline_set(phase->deadline_ns);
    ln_cancel_watch(phase->cancel);
    ln_priority_set(phase->priority);
    is_in_phase = phase->is_inner;
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
