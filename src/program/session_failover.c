// SPDX-License-Identifier: Apache-2.0
// Sessions whose device fails in a run: the run is done again from its inputs, by a session of the
// model on the host, which then has the outputs.

#include <lightnet/object.h>

#include "compile/failover.h"
#include "ir/context.h"
#include "program/session.h"

size_t ln_session_plan_bytes(const ln_session *session)
{
    return session->instance ? session->instance->ctx->mem_sizes[LN_MEM_CPU] : 0;
}

// Where they are, but for what has no bytes of its own.
static ln_status give_input(const ln_session *session, size_t i)
{
    const char *name = session->program->ends[i].name;
    tl_tensor given;
    LN_TRY(ln_session_find_given(session, i, &given));
    if (given.dtype != TL_STRING && given.dtype != TL_OBJECT)
        return ln_session_bind_input(session->failover, name, &given);
    ln_object *copy = ln_object_copy_tensor(&given, NULL);
    if (!copy)
        return ln_error_status();
    ln_status status = ln_session_set_object(session->failover, name, copy);
    ln_object_release(copy);
    return status;
}

static ln_status run(const ln_session *session)
{
    for (size_t i = 0; i < session->program->input_count; i++)
        LN_TRY(give_input(session, i));
    return ln_session_run_now(session->failover);
}

// What both take is within the limits of the session.
static ln_status run_within_limits(const ln_session *session)
{
    ln_session *failover = session->failover;
    ln_context *own = failover->clone && !failover->values ? failover->clone : &failover->own_face;
    own->limits = session->face->limits;
    ln_failover_limit(&own->limits, session->face->work_left, ln_session_plan_bytes(session));
    return run(session);
}

ln_status ln_session_fail_over(ln_session *session, ln_status status)
{
    if (status == LN_OK || !ln_error_is_of_device())
        return status;
    ln_error_state reason;
    ln_failover_begin(&reason);
    const ln_observer *observer = session->face->observer;
    if (observer && observer->fails_over)
        observer->fails_over(observer->user, reason.message);
    status = run_within_limits(session);
    session->has_failed_over = status == LN_OK;
    if (status == LN_OK) {
        atomic_fetch_add(&session->failover_count, 1);
        ln_progress_end(session->face->progress);
    }
    return ln_failover_end(&reason, status);
}

size_t ln_session_failover_count(const ln_session *session)
{
    if (!session)
        return 0;
    size_t count = atomic_load(&session->failover_count);
    return session->clone && !session->values ? count + ln_context_failover_count(session->clone)
                                              : count;
}
