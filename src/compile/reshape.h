// SPDX-License-Identifier: Apache-2.0
// Plans for other shapes: what compiling, cloning and writing do for them.

#ifndef LN_COMPILE_RESHAPE_H
#define LN_COMPILE_RESHAPE_H

#include <stdbool.h>

#include <lightnet/optimize.h>

#include "ir/context.h"

// The plans that are kept loaded when fewer are in use; the one unused for longest is dropped.
#define LN_PLANS_KEPT 16

// The tensor of an operator that is an input with dynamic dimensions; NULL: it is none.
const ln_tensor_list_entry *ln_op_dynamic_input(const ln_op *op);

// Before the operators of a READY context are rewritten: keeps what planning it again needs, in
// *out_plans; NULL if the shapes of its inputs are fixed.
ln_status ln_plans_begin(ln_context *ctx, const char *target, const ln_optimize_options *options,
                         struct ln_plans **out_plans);
void ln_plans_abandon(struct ln_plans *plans); // NULL is fine

// Compiles `ctx` as it has been at `begin`, with the same options: the plan that another shape's
// context would get if it were reshaped.
ln_status ln_plans_compile(struct ln_plans *plans, ln_context *ctx,
                           const ln_optimize_options *options);

// A clone of `ctx` can have other shapes too, if `ctx` can.
ln_status ln_plans_share(const ln_context *ctx, ln_context *clone);

// *out_model, the caller's, is what a compiled file of `ctx` says: the model as it was read, READY,
// and how it is compiled (ir/compiled.h). NULL if `ctx` has a plan for its shapes: they are fixed,
// or bound and in no range, or what is compiled does not follow from the file.
ln_status ln_plans_copy_model(const ln_context *ctx, bool has_weights, ln_context **out_model);

// Compiles such a model, with the shapes and ranges that the file states.
ln_status ln_context_compile_as_read(ln_context *model);

// ln_context_compile_with for a READY context that needs no plans for other shapes.
ln_status ln_context_compile_once(ln_context *ctx, const char *target,
                                  const ln_optimize_options *options);

// Its first half: the passes, for inner graphs and then for `ctx`.
ln_status ln_context_rewrite_once(ln_context *ctx, const char *target,
                                  const ln_optimize_options *options);

// What is left to do after the passes: limits, and the memory plan.
ln_status ln_context_plan_once(ln_context *ctx, const char *target,
                               const ln_optimize_options *options);

#endif
