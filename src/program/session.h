// SPDX-License-Identifier: Apache-2.0
// What a session has.
//
//     program with one instance     a frame, in whose tensors values are
//     with one for each shape       values of inputs; a frame for the shapes of the last run, or,
//                                   where their plan is no frame, a clone of its context
//     with both                     the first, until an input is given another shape
//     with none                     a clone of the program's context

#ifndef LN_PROGRAM_SESSION_H
#define LN_PROGRAM_SESSION_H

#include <stdatomic.h>

#include "ir/memory.h"
#include "ir/progress.h"
#include "program/program.h"

// Memory of the caller's that an input or output uses.
typedef struct ln_session_binding {
    void *data; // NULL: none
    size_t byte_count;
    tl_dtype dtype; // of an input, as are the next
    int ndim, dims[TL_MAXDIM];
    tl_tensor tensor; // the input as it is there, for those who ask for it
    bool is_in_place; // the frame's tensor is there; else a run copies
} ln_session_binding;

struct ln_session {
    ln_program *program;
    ln_context *clone;            // where it runs what has no frame; NULL: nothing yet
    const ln_held_instance *held; // of an instance for each shape, which `frame` or `clone` is for;
                                  // NULL: of none
    const ln_instance *instance;  // whose frame `frame` is a copy of
    ln_frame *frame;
    ln_memory *workspace;
    ln_session_binding *bindings; // one for each end of the program; NULL: nothing has been bound
    bool has_new_bindings;        // since their memory was compared last
    ln_object **values;     // of inputs, apart from frames; NULL: they are in the frame, or not set
    ln_input_shape *shapes; // room for those of dynamic inputs
    bool has_results;       // there: of the last run
    bool has_cloned;        // its outputs are the clone's
    ln_context *face;       // whom runs belong to, with limits, time and threads: this one, or the
                            // context whose runs they are
    ln_context own_face;    // no model
    struct ln_progress progress;    // of the run that goes on, or was the last: that of `own_face`
    ln_session *failover;           // of the program's failover, with a workspace; NULL: none
    bool is_failover;               // all its runs are of that, as the device has no memory for it
    bool has_failed_over;           // the last run has: its outputs are there
    _Atomic size_t failover_count;  // runs that did
    struct ln_session_async *async; // runs in a thread of their own; NULL: none has been started
};

// Runs in this thread, whoever else may wait for it.
ln_status ln_session_run_now(ln_session *session);

size_t ln_session_number(const ln_session *session, const ln_program_end *end);

// Of a session with a frame: its tensor for an input or output.
tl_tensor *ln_session_frame_tensor(const ln_session *session, const ln_program_end *end);

// The tensor of input or output `number`, and what is in its memory, is at `first` from now on.
void ln_session_move(const ln_session *session, size_t number, void *first);

// What an input that is bound has there.
tl_tensor ln_session_bound_tensor(const ln_session_binding *binding);

// Main memory of the plan that the session has run last; 0: none.
size_t ln_session_plan_bytes(const ln_session *session);

// The elements and shape that a run reads input `i` from; LN_STATE if it has none. Of a session
// that does not always run a clone.
ln_status ln_session_find_given(const ln_session *session, size_t i, tl_tensor *out_given);

// After a run that has failed with `status`: runs the failover, if that is due, in a phase of
// `face`. Returns the status of the run.
ln_status ln_session_fail_over(ln_session *session, ln_status status);

// Runs the frame, in a phase of `face`.
ln_status ln_session_run_steps(ln_session *session);

// ---- Sessions of programs with an instance for each shape ----

// On failure the session is as before.
ln_status ln_session_begin_values(ln_session *session);
void ln_session_end_values(ln_session *session);

// What an input or output holds; LN_STATE if it has no value yet.
ln_status ln_session_find_value(const ln_session *session, const ln_program_end *end,
                                const tl_tensor **out_tensor);

// Lets an input of dynamic shape hold `object`, which fits, or any input a copy of `given`.
void ln_session_hold_value(const ln_session *session, const ln_program_end *end, ln_object *object);
ln_status ln_session_copy_value(ln_session *session, const ln_program_end *end,
                                const tl_tensor *given);

// Runs with values and bindings of inputs; outputs are not copied to where they are bound. Of a
// context's there are no results where the model refuses the shapes.
ln_status ln_session_run_values(ln_session *session);

#endif
