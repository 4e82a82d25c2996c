// SPDX-License-Identifier: Apache-2.0
// From operators and tensors to the records of plan/, and back: one offset per tensor.

#ifndef LN_COMPILE_CONTEXT_PLAN_H
#define LN_COMPILE_CONTEXT_PLAN_H

#include <lightnet/context.h>

// What may be in the memory of what.
typedef enum ln_plan_reuse {
    LN_PLAN_REUSE_ALL,       // all that the operators' descriptions allow, but constants are kept
    LN_PLAN_REUSE_CONSTANTS, // constants too: what is computed from them once may take their place
    LN_PLAN_REUSE_DEAD,      // only what is no longer needed: sharing is measured against it
    LN_PLAN_REUSE_NOTHING,   // as if every tensor were an output: `blame` compares them all
} ln_plan_reuse;

// Gives every tensor of a READY context an offset, fills in `mem_sizes` and `static_sizes`, and
// makes the context PLANNED for `target`. The result has passed the checker and the limits.
ln_status ln_context_plan_memory(ln_context *ctx, const char *target, ln_plan_reuse reuse);

// The same with the offsets that a compiled file states, after comparing its facts with the
// operators' and proving the plan.
ln_status ln_context_adopt_plan(ln_context *ctx);

#endif
