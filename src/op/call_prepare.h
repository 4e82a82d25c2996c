// SPDX-License-Identifier: Apache-2.0
// What operators in call form make once, as whoever loads and clones models sees it.

#ifndef LN_OP_CALL_PREPARE_H
#define LN_OP_CALL_PREPARE_H

#include <lightnet/op.h>

// Has the operator make what it needs, once its constants are there, as a function that
// `ln_op_call` takes. Nothing for operators without `prepare`, and for those whose inputs are known
// only in a run.
void ln_call_prepare(ln_op_arg *op_arg);

// Forgets it, when the model is unloaded.
void ln_call_unprepare(ln_op_arg *op_arg);

// An operator of a clone takes what that of its origin has made.
void ln_call_share_prepared(ln_op_arg *to, const ln_op_arg *from);

#endif
