// SPDX-License-Identifier: Apache-2.0
// Sessions: a frame with a workspace of its own, or a clone of the program's context.

#include <string.h>

#include <lightnet/allocator.h>

#include "ir/context.h"
#include "ir/phase.h"
#include "run/program.h"
#include "run/run.h"

struct ln_session {
    ln_program *program;
    ln_context *clone; // NULL: there is a frame
    ln_frame *frame;
    ln_memory *workspace;
    ln_context
        face; // of a frame: whom its calls belong to, with limits, time and threads; no model
};

// ---- Life ----

void ln_session_free(ln_session *session)
{
    if (!session)
        return;
    ln_context_free(session->clone);
    ln_free(session->frame);
    ln_memory_release(session->workspace);
    ln_cancel_release(session->face.cancel);
    ln_pool_release(session->face.pool);
    ln_program_release(session->program);
    ln_free(session);
}

// Operators write what they read, all but inputs.
static void set_inputs(ln_session *session)
{
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->input_count; i++) {
        const ln_program_end *end = &program->ends[i];
        tl_tensor *tensor = ln_frame_tensor(session->frame, end->index);
        if (tensor->data && end->first)
            memcpy(tensor->data, end->first, tl_tensor_size(tensor));
        else if (tensor->data)
            memset(tensor->data, 0, tl_tensor_size(tensor));
    }
}

static ln_status make_frame(ln_session *session)
{
    const ln_context *ctx = session->program->ctx;
    session->face = (ln_context){.state = LN_CONTEXT_LOADED,
                                 .limits = ctx->limits,
                                 .timeout = ctx->timeout,
                                 .thread_count = ctx->thread_count,
                                 .pool = ln_pool_retain(ctx->pool)};
    LN_TRY(ln_memory_create_raw(ctx->static_sizes, ctx->mem_sizes, &session->workspace));
    LN_TRY(ln_frame_copy(session->program->frame, ln_memory_start(session->workspace, LN_MEM_CPU),
                         &session->face, &session->frame));
    set_inputs(session);
    return LN_OK;
}

ln_status ln_session_create(ln_program *program, ln_session **out_session)
{
    if (!out_session)
        return LN_FAIL(LN_INVALID, "the place for the session is NULL");
    *out_session = NULL;
    if (!program)
        return LN_FAIL(LN_INVALID, "the program is NULL");
    ln_session *session = ln_alloc(sizeof *session);
    if (!session)
        return LN_NO_MEMORY;
    session->program = ln_program_retain(program);
    ln_status status =
        program->frame ? make_frame(session) : ln_context_clone(program->ctx, &session->clone);
    if (status != LN_OK) {
        ln_session_free(session);
        return status;
    }
    *out_session = session;
    return LN_OK;
}

// ---- Data ----

static ln_status find_end(const ln_session *session, const char *tname,
                          const ln_program_end **out_end)
{
    *out_end = NULL;
    if (!session || !tname)
        return LN_FAIL(LN_INVALID, "no session, or no name");
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->input_count + program->output_count && !*out_end; i++)
        if (strcmp(program->ends[i].name, tname) == 0)
            *out_end = &program->ends[i];
    if (!*out_end)
        return LN_FAIL(LN_NOT_FOUND, "the program has no input or output '%s'", tname);
    return LN_OK;
}

tl_dtype ln_session_tensor_dtype(const ln_session *session, const char *tname)
{
    const ln_program_end *end;
    if (find_end(session, tname, &end) != LN_OK)
        return TL_DTYPE_INVALID;
    return session->clone ? ln_context_tensor_dtype(session->clone, tname) : end->tensor.dtype;
}

static ln_status find_input(const ln_session *session, const char *tname,
                            const ln_program_end **out_end)
{
    LN_TRY(find_end(session, tname, out_end));
    if (!(*out_end)->is_input)
        return LN_FAIL(LN_INVALID, "tensor '%s' is an output", tname);
    return LN_OK;
}

static ln_status check_size(const ln_program_end *end, const void *data, size_t byte_count)
{
    size_t size = tl_tensor_size(&end->tensor);
    if (!data)
        return LN_FAIL(LN_INVALID, "the data for tensor '%s' are NULL", end->name);
    if (byte_count != size)
        return LN_FAIL(LN_INVALID, "tensor '%s' has %zu bytes, the data %zu", end->name, size,
                       byte_count);
    return LN_OK;
}

ln_status ln_session_set_data(ln_session *session, const char *tname, const void *data,
                              size_t byte_count)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    if (session->clone)
        return ln_context_set_data_n(session->clone, tname, data, byte_count);
    LN_TRY(check_size(end, data, byte_count));
    memcpy(ln_frame_tensor(session->frame, end->index)->data, data, byte_count);
    return LN_OK;
}

ln_status ln_session_get_data(ln_session *session, const char *tname, void *data, size_t byte_count)
{
    const ln_program_end *end;
    LN_TRY(find_end(session, tname, &end));
    if (session->clone)
        return ln_context_get_data_n(session->clone, tname, data, byte_count);
    LN_TRY(check_size(end, data, byte_count));
    memcpy(data, ln_frame_tensor(session->frame, end->index)->data, byte_count);
    return LN_OK;
}

ln_status ln_session_borrow_data(ln_session *session, const char *tname, const void **out_data,
                                 size_t *out_byte_count)
{
    const ln_program_end *end;
    if (!out_data || !out_byte_count)
        return LN_FAIL(LN_INVALID, "the place for the address or the size is NULL");
    *out_data = NULL;
    *out_byte_count = 0;
    LN_TRY(find_end(session, tname, &end));
    if (session->clone)
        return ln_context_borrow_data(session->clone, tname, out_data, out_byte_count);
    *out_data = ln_frame_tensor(session->frame, end->index)->data;
    *out_byte_count = tl_tensor_size(&end->tensor);
    return LN_OK;
}

// ---- Values ----

static ln_status fail_shape(const ln_program_end *end, const tl_tensor *given)
{
    char wanted[LN_SHAPE_TEXT_BYTES], got[LN_SHAPE_TEXT_BYTES];
    ln_sprint_shape(wanted, sizeof wanted, end->tensor.ndim, end->tensor.dims);
    ln_sprint_shape(got, sizeof got, given->ndim, given->dims);
    return LN_FAIL(LN_INVALID, "tensor '%s' is %s %s, not %s %s", end->name,
                   tl_dtype_title(end->tensor.dtype), wanted, tl_dtype_title(given->dtype), got);
}

ln_status ln_session_set_object(ln_session *session, const char *tname, ln_object *object)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    if (session->clone)
        return ln_context_set_object(session->clone, tname, object);
    const tl_tensor *given = object ? ln_object_tensor(object) : NULL;
    if (!given)
        return LN_FAIL(LN_INVALID, "tensor '%s' is no sequence, optional or map", tname);
    if (given->dtype != end->tensor.dtype ||
        !ln_shape_fit(given->ndim, given->dims, end->tensor.ndim, end->tensor.dims, NULL))
        return fail_shape(end, given);
    memcpy(ln_frame_tensor(session->frame, end->index)->data, given->data, tl_tensor_size(given));
    return LN_OK;
}

ln_status ln_session_get_object(ln_session *session, const char *tname, ln_object **out_object)
{
    const ln_program_end *end;
    if (!out_object)
        return LN_FAIL(LN_INVALID, "the place for the value is NULL");
    *out_object = NULL;
    LN_TRY(find_end(session, tname, &end));
    if (session->clone)
        return ln_context_get_object(session->clone, tname, out_object);
    *out_object = ln_object_copy_tensor(ln_frame_tensor(session->frame, end->index), NULL);
    return *out_object ? LN_OK : ln_error_status();
}

// ---- Running ----

static ln_status run_steps(ln_session *session)
{
    ln_frame *frame = session->frame;
    if (!ln_phase_take(&session->face, session->program->cost))
        return LN_FAIL(LN_LIMIT,
                       "a run costs %.4g work units, over the limit of %.4g (ln_limits.work)",
                       session->program->cost, session->face.work_limit);
    for (size_t i = 0; i < ln_frame_step_count(frame); i++) {
        ln_status status = ln_frame_run_step(frame, i);
        // An operator that leaves early because time is up may say so in any way.
        const ln_op op = {.op_arg = (ln_op_arg *)(uintptr_t)ln_frame_op(frame, i)};
        LN_TRY(ln_phase_check(&session->face, &op));
        LN_TRY(status);
    }
    return LN_OK;
}

ln_status ln_session_run(ln_session *session)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    if (session->clone)
        return ln_context_run(session->clone);
    ln_phase phase;
    fenv_t callers;
    ln_phase_begin(&session->face, LN_PHASE_RUN, &phase);
    ln_run_begin(session->face.pool, &callers);
    ln_status status = run_steps(session);
    ln_run_end(session->face.pool, &callers);
    return ln_phase_end(&phase, status);
}

ln_status ln_session_set_timeout(ln_session *session, double seconds)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    return ln_context_set_timeout(session->clone ? session->clone : &session->face, seconds);
}

ln_status ln_session_set_cancel(ln_session *session, ln_cancel *cancel)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    return ln_context_set_cancel(session->clone ? session->clone : &session->face, cancel);
}
