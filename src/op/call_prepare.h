// SPDX-License-Identifier: Apache-2.0
// Operators in call form, as whoever loads, clones and runs models sees them.

#ifndef LN_OP_CALL_PREPARE_H
#define LN_OP_CALL_PREPARE_H

#include <lightnet/op.h>

struct ln_call;

// NULL: the operator is not in call form, or has not been checked.
struct ln_call *ln_call_of(const ln_op_arg *op_arg);

// Has the operator make what it needs, once its constants are there, as a function that
// `ln_op_call` takes. Nothing for operators without `prepare`, and for those whose inputs are known
// only in a run.
void ln_call_prepare(ln_op_arg *op_arg);

// Forgets it, when the model is unloaded.
void ln_call_unprepare(ln_op_arg *op_arg);

// An operator of a clone takes what that of its origin has made.
void ln_call_share_prepared(ln_op_arg *to, const ln_op_arg *from);

// One run, by the call's step if that is complete; else as the operator's `run`, which completes it
// where runs are alike.
ln_status ln_call_run_step(struct ln_call *call);

// To be called once all constants are there: an operator whose shapes were inferred from constants,
// and from nothing else that may change, has nothing to infer in a run until they are set.
void ln_call_settle(ln_op_arg *op_arg);

// To be called before a run if parameters or constants have been set since the last one.
void ln_call_reset_step(struct ln_call *call);

#endif
