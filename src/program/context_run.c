// SPDX-License-Identifier: Apache-2.0
// Runs of contexts. Where inputs were never bound, each run takes the instance for the shapes that
// its inputs hold, by the session that the context is the face of.
//
//     inputs of the context -> session, with the frame of an instance -> outputs of the context
//
// Shapes that the model refuses run with the plan that the context has: its error is the better
// one.

#include <lightnet/context.h>

#include <stdint.h>
#include <string.h>

#include "compile/failover.h"
#include "compile/instance.h"
#include "compile/runner.h"
#include "ir/context.h"
#include "ir/open.h"
#include "ir/phase.h"
#include "ir/symbols.h"
#include "program/face.h"
#include "program/failover.h"

// ---- Values ----

// Those of fixed shape are read where they are.
static ln_status give_inputs(const ln_context *ctx, ln_session *session)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        if (input->is_open)
            ln_session_hold_value(session, &session->program->ends[i], input->held);
        else
            LN_TRY(ln_session_bind_input(session, input->name, input->tensor));
    }
    return LN_OK;
}

// They are the context's.
static void forget_inputs(const ln_session *session)
{
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->input_count; i++)
        ln_session_hold_value(session, &program->ends[i], NULL);
}

static ln_status find_result(const ln_context *ctx, const ln_session *session,
                             const ln_program_end *end, ln_object **out_object)
{
    const tl_tensor *result;
    const ln_tensor_entry *made =
        session->has_cloned ? ln_tensor_table_find(session->clone->tensor_table, end->name) : NULL;
    if (made && (made->held || made->mtype != LN_MEM_CPU))
        return ln_context_get_object(session->clone, end->name, out_object);
    LN_TRY(ln_session_find_value(session, end, &result));
    *out_object = ln_object_copy_tensor(result, ctx->meter);
    return *out_object ? LN_OK : ln_error_status();
}

static ln_status take_output(const ln_context *ctx, ln_tensor_entry *output,
                             const ln_session *session, const ln_program_end *end)
{
    ln_object *object;
    if (output->isstatic || output->is_input)
        return LN_OK; // it is there
    LN_TRY(find_result(ctx, session, end, &object));
    const tl_tensor *result = ln_object_tensor(object);
    if (output->is_open)
        ln_open_hold(output, object);
    else if (result->len > 0)
        memcpy(output->tensor->data, result->data, tl_tensor_size(output->tensor));
    ln_object_release(object);
    return LN_OK;
}

static ln_status take_outputs(const ln_context *ctx, const ln_session *session)
{
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->output_count; i++)
        LN_TRY(take_output(ctx, (ln_tensor_entry *)(uintptr_t)ln_context_output(ctx, i), session,
                           &program->ends[program->input_count + i]));
    return LN_OK;
}

// What the last run has left is not there when this one fails.
static void drop_outputs(const ln_context *ctx)
{
    ln_tensor_entry *output;
    for (size_t i = 0; (output = (ln_tensor_entry *)(uintptr_t)ln_context_output(ctx, i)); i++)
        if (output->is_open && !output->isstatic && !output->is_input)
            ln_open_drop(output);
}

// ---- Running ----

// Whether all inputs have values; the error of the plan that the context has says which has not.
static bool has_values(const ln_context *ctx)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++)
        if (input->is_open && (!input->held || !ln_object_tensor(input->held)))
            return false;
    return true;
}

static ln_status follow(ln_context *ctx)
{
    ln_face *face;
    LN_TRY(ln_face_need(ctx, &face));
    LN_TRY(ln_face_need_session(ctx, face));
    drop_outputs(ctx);
    ln_status status = give_inputs(ctx, face->session);
    if (status == LN_OK)
        status = ln_session_run_values(face->session);
    forget_inputs(face->session);
    LN_TRY(status);
    if (!face->session->has_results)
        return ln_context_run_alone(ctx);
    ctx->work_done = ctx->work_limit - ctx->work_left;
    return take_outputs(ctx, face->session);
}

static ln_status run(ln_context *ctx)
{
    bool follows = ln_plans_follow(ctx) && has_values(ctx);
    ln_status status = follows ? follow(ctx) : ln_context_run_alone(ctx);
    return ln_symbols_explain(ctx, status, 0, NULL);
}

// Main memory of the plan that has run.
static size_t used_byte_count(const ln_context *ctx)
{
    const ln_face *face = ctx->plans ? (const ln_face *)ctx->plans->follower : NULL;
    size_t own = ctx->mem_sizes[LN_MEM_CPU];
    size_t other = face && face->session ? ln_session_plan_bytes(face->session) : 0;
    return other > own ? other : own;
}

static ln_status run_or_fail_over(ln_context *ctx)
{
    ln_error_clear(); // what failed before is no reason
    ln_status status = run(ctx);
    if (status == LN_OK || !ln_failover_is_due(ctx))
        return status;
    ctx->work_done = ctx->work_limit - ctx->work_left;
    return ln_failover_run(ctx, used_byte_count(ctx));
}

ln_status ln_context_run(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state != LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is not loaded; call ln_context_load first");
    if (ctx->outer)
        return ctx->runner->run(ctx); // in a run of its root

    ln_context *root = (ln_context *)(uintptr_t)ctx;
    ln_phase phase;
    ln_phase_begin(root, LN_PHASE_RUN, &phase);
    return ln_phase_end(&phase, root->failover ? run_or_fail_over(root) : run(root));
}
