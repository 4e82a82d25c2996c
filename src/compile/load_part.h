// SPDX-License-Identifier: Apache-2.0
// The part of a model that runs once, when it is loaded: constants, and what is computed from them.
//
// Values that only this part reads, such as weights before they are folded or packed, need no
// memory afterwards. Each is made right before its reader, so that few are there at once.

#ifndef LN_COMPILE_LOAD_PART_H
#define LN_COMPILE_LOAD_PART_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "ir/plan_records.h"

// Moves constants and what is computed from them right before the first operator that needs them,
// where that changes nothing but how long they live. The order of inputs and outputs stays.
ln_status ln_context_sink_constants(ln_context *ctx);

// True if the operator belongs to the part: it runs once, and all that it makes is static.
bool ln_op_is_load(const ln_context *ctx, const ln_op *op);

// Sets may_load[i] for each value i that the part makes and nobody else reads; all are false
// before.
void ln_plan_find_load(const ln_context *ctx, const ln_plan_records *records, bool *may_load);

// Plans these to be there while loading only, but for those that share memory with others. Owners
// are those before a layout.
ln_status ln_plan_mark_load(const ln_context *ctx, ln_plan_records *records);

#endif
