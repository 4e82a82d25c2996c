// SPDX-License-Identifier: Apache-2.0
// What a loaded context runs: made by `load` and by `clone`; and its tensors.

#ifndef LN_COMPILE_RUNNER_H
#define LN_COMPILE_RUNNER_H

#include <lightnet/arch.h>
#include <lightnet/context.h>

// Lays out the operators of `ctx`, whose tensors have their memory, as steps, and prepares groups
// on their devices. `(*out_runner)->destroy` undoes it.
ln_status ln_runner_create(const ln_context *ctx, struct ln_runner **out_runner);

// Makes the meter that values of dynamic shape of `ctx` are charged to: the memory limit less what
// `planned_ctx`, itself or its origin, and its graphs have planned. Nothing for a graph.
ln_status ln_context_need_meter(ln_context *ctx, const ln_context *planned_ctx);

// Runs the operators of `ctx`, LOADED and no graph, in a phase of it.
ln_status ln_context_run_alone(ln_context *ctx);

// `ln_context_unload` of this plan alone, not of plans for other shapes.
void ln_context_unload_alone(ln_context *ctx);

// The inputs of a LOADED context have the values that they have after loading.
ln_status ln_context_reset_inputs(ln_context *ctx);

#define LN_GONE_AFTER_LOAD                                                                          \
    "tensor '%s' was only needed while the model was loaded and has no bytes of its own; copy it, " \
    "or compile the model with all its tensors kept"

// The tensor of a LOADED context; NULL with a recorded failure.
ln_tensor_entry *ln_context_find_loaded(const ln_context *ctx, const char *tname);

#endif
