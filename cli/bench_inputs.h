// SPDX-License-Identifier: Apache-2.0
// Values for the inputs of a model that nobody gives: numbers to compute with.

#ifndef LN_CLI_BENCH_INPUTS_H
#define LN_CLI_BENCH_INPUTS_H

#include <stdint.h>

#include <lightnet/context.h>

#include "model_io.h"

// Gives each dimension of an input that is still open the size 1, which is said. The context is
// READY.
ln_status bench_close_shapes(ln_context *ctx, const given_inputs *given);

// Sets every input that is not given. Floats are in [-1, 1), the same on every machine for the same
// seed and name, or are all 0; anything else, which may be an index or a length, is 0. The context
// is LOADED.
ln_status bench_set_inputs(ln_context *ctx, const given_inputs *given, int is_zero, uint64_t seed);

#endif
