// SPDX-License-Identifier: Apache-2.0
// What a loaded context runs: made by `load` and by `clone`.

#ifndef LN_COMPILE_RUNNER_H
#define LN_COMPILE_RUNNER_H

#include <lightnet/context.h>

// Lays out the operators of `ctx`, whose tensors have their memory, as steps, and prepares groups
// on their devices. `(*out_runner)->destroy` undoes it.
ln_status ln_runner_create(const ln_context *ctx, struct ln_runner **out_runner);

#endif
