// SPDX-License-Identifier: Apache-2.0
// What a loaded context runs with: instances for the shapes that it has had, and, where its inputs
// were never bound, a program of these instances and a session.

#ifndef LN_PROGRAM_FACE_H
#define LN_PROGRAM_FACE_H

#include "ir/context.h"
#include "program/session.h"

typedef struct ln_face {
    struct ln_follower base;
    ln_instances *instances;
    ln_program *program; // of these; NULL: no run has asked for it, as the next
    ln_session *session; // whose runs are those of the context
} ln_face;

// Of `ctx`, LOADED, with plans for other shapes; it is there until `ctx` is unloaded.
ln_status ln_face_need(ln_context *ctx, ln_face **out_face);
ln_status ln_face_need_session(ln_context *ctx, ln_face *face);

// The session lets its instance and its workspace go.
void ln_face_end_session(ln_face *face);

// The shapes of all inputs of `ctx`, with those of `shapes` instead of what they are now; rank -1:
// dynamic. Names and dimensions are borrowed, the array is the caller's.
ln_status ln_face_list_shapes(const ln_context *ctx, size_t count, const ln_input_shape *shapes,
                              size_t *out_count, ln_input_shape **out_all);

#endif
