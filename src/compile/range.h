// SPDX-License-Identifier: Apache-2.0
// Ranges of symbolic dimensions, and the one plan that holds for all shapes in them.
//
// Each tensor of the workspace has as many bytes as the largest shape needs, its *envelope*, so
// that tensors are at the same places for every shape. Sizes of 0 and 1 have operators of their
// own (template.h), and so envelopes of their own; the workspace is that of the largest.

#ifndef LN_COMPILE_RANGE_H
#define LN_COMPILE_RANGE_H

#include <lightnet/context.h>

#include "ir/plan_records.h"

struct ln_plan_source;

// The ranges that `ctx` was given before it was compiled, counted; NULL: none.
typedef struct ln_range ln_range;

ln_range *ln_range_of(const ln_context *ctx);
ln_range *ln_range_retain(ln_range *range); // NULL is fine
void ln_range_release(ln_range *range);     // NULL is fine

// The same ranges for a clone, which is compiled by itself.
ln_status ln_range_copy(const ln_context *ctx, ln_context *clone);

// The symbol of one range, borrowed; NULL: there are not so many.
const char *ln_range_symbol(const ln_range *range, size_t index, int *out_from, int *out_to);

// Finds envelopes and peak from plans for shapes in the ranges, which are made from `source`, with
// the limits of `ctx`: all shapes if there are few, else those at the ends.
ln_status ln_range_measure(ln_range *range, struct ln_plan_source *source, const ln_context *ctx);

// LN_INVALID, with dimension and range, if the shapes, of inputs of `model`, are not all in range;
// what has no range is as `model` has it.
ln_status ln_range_check(const ln_range *range, const ln_context *model, size_t count,
                         const ln_input_shape *shapes);

// Lets `instance`, READY for shapes in the ranges, be planned with their envelope.
void ln_range_apply(const ln_range *range, ln_context *instance);

// What the plan of any shape takes at most, once that is measured.
const size_t *ln_range_workspace(const ln_range *range);

// Gives tensors of the workspace the bytes of the envelope.
void ln_envelope_apply(const struct ln_envelope *envelope, ln_plan_records *records);

// After the layout: what has become a part of a whole has its own bytes again, since the next part
// begins where they end.
void ln_envelope_leave_parts(ln_plan_records *records);

#endif
