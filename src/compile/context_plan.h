// SPDX-License-Identifier: Apache-2.0
// From operators and tensors to the records of plan/, and back: one offset per tensor.

#ifndef LN_COMPILE_CONTEXT_PLAN_H
#define LN_COMPILE_CONTEXT_PLAN_H

#include <lightnet/context.h>

// Gives every tensor of a READY context an offset, fills in `mem_sizes` and `static_sizes`, and
// makes the context PLANNED for `target`. The result has passed the checker and the limits.
// `keeps_tensors`: nothing is reused, as if every tensor were an output.
ln_status ln_context_plan_memory(ln_context *ctx, const char *target, int keeps_tensors);

// The same with the offsets that a compiled file states, after comparing its facts with the
// operators' and proving the plan.
ln_status ln_context_adopt_plan(ln_context *ctx);

#endif
