// SPDX-License-Identifier: Apache-2.0
// Runs of a session in a thread of its own.

#ifndef LN_PROGRAM_SESSION_ASYNC_H
#define LN_PROGRAM_SESSION_ASYNC_H

#include <stdbool.h>

#include <lightnet/program.h>

// LN_STATE while a run goes on that another thread is to wait for; the thread of the run itself may
// look at the session.
ln_status ln_session_check_idle(const ln_session *session);

// The same, for what the thread of the run may not do either.
ln_status ln_session_check_ended(const ln_session *session);

// Waits for the run that goes on and ends its thread. False if this is that thread, which then
// frees the session when it ends.
bool ln_session_end_async(ln_session *session);

#endif
