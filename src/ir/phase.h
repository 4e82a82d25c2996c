// SPDX-License-Identifier: Apache-2.0
// What a context may spend in what it is doing: planning, loading or a run.
//
// A phase has a budget of work units, which operators charge, and ends at the context's deadline.
// It belongs to the root: the graphs inside spend from the same budget. Phases of one kind inside
// each other are one.

#ifndef LN_IR_PHASE_H
#define LN_IR_PHASE_H

#include <stdbool.h>

#include <lightnet/context.h>

LN_CPPSTART

// Work units for what operators compute while a model is read and compiled: seconds.
#define LN_PLAN_WORK 5e8

// Work units of a byte of memory that a run is the first to touch: the system finds a page for it
// and clears it, at 1 to 4 GB/s.
#define LN_FRESH_BYTE_COST 0.5

typedef enum ln_phase_kind {
    LN_PHASE_NONE,
    LN_PHASE_PLAN, // reading, binding shapes, compiling
    LN_PHASE_LOAD,
    LN_PHASE_RUN
} ln_phase_kind;

// A limit of time, and who has it.
typedef struct ln_time_limit {
    const char *of;                // "thread", "context" or "session"; NULL: there is none
    double seconds;                // as it was set; 0: none
    int64_t start_ns, deadline_ns; // 0: none
} ln_time_limit;

// What there was before, for ln_phase_end.
typedef struct ln_phase {
    ln_context *root; // NULL: nothing has begun
    int kind;
    double work_left, work_limit;
    int64_t start_ns, deadline_ns;
    ln_time_limit limit; // that the deadline is of
    const ln_cancel *cancel;
    int priority;
    bool is_inner; // another one goes on in this thread
} ln_phase;

// `ctx` may be NULL, a graph, or in a phase of this kind already: then nothing begins.
void ln_phase_begin(ln_context *ctx, ln_phase_kind kind, ln_phase *out_phase);

// Ends what began. Returns `status`.
ln_status ln_phase_end(const ln_phase *phase, ln_status status);

// LN_TIMEOUT once the deadline has passed, LN_CANCELLED once the end was requested, with the
// operator at which that was found; `op` may be NULL. The message of such a failure stays.
ln_status ln_phase_check(const ln_context *ctx, const ln_op *op);

// Takes work units from the budget; false if there are no longer as many.
bool ln_phase_take(ln_context *ctx, double units);

LN_CPPEND

#endif
