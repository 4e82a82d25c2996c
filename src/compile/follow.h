// SPDX-License-Identifier: Apache-2.0
// Runs of a context whose inputs were never bound: each takes the plan for the shapes of the values
// that it is given.

#ifndef LN_COMPILE_FOLLOW_H
#define LN_COMPILE_FOLLOW_H

#include <stdbool.h>

#include <lightnet/context.h>

// Whether a run of `ctx`, LOADED, is to be done by `ln_follow_run`. Else shapes are found operator
// by operator.
bool ln_follows(const ln_context *ctx);

// Whether that holds whatever values the inputs are given: their types are known, and are numbers.
bool ln_follows_always(const ln_context *ctx);

// Does `run`, on `ctx` with the plan for the shapes of what its inputs hold, or, if there can be
// none, with the plan that it has. Afterwards it has the latter, and its outputs hold the results.
ln_status ln_follow_run(ln_context *ctx, ln_status (*run)(const ln_context *ctx));

#endif
