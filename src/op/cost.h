// SPDX-License-Identifier: Apache-2.0
// What the descriptions of many operators in call form say about their cost: steps of one run.
//
// A step is what the innermost loop does; `step_cost` of the variant that runs says how many work
// units it is. Each of these bounds the steps from above, up to a constant factor.

#ifndef LN_OP_COST_H
#define LN_OP_COST_H

#include <lightnet/call.h>

double ln_cost_none(const ln_call *call);

// Elements of all outputs: what reads a part of its inputs, and no more than it writes.
double ln_cost_outputs(const ln_call *call);

// Elements of all outputs, and of all inputs but the first, of which a part is read.
double ln_cost_moved(const ln_call *call);

// Elements of all inputs and outputs, and multiply-accumulates.
double ln_cost_steps(const ln_call *call);

// The same where elements are sorted: n log n.
double ln_cost_sorted(const ln_call *call);

#endif
