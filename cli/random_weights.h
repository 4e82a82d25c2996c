// SPDX-License-Identifier: Apache-2.0
// Weights for a model that has none: random, but such that the model computes something.

#ifndef LN_CLI_RANDOM_WEIGHTS_H
#define LN_CLI_RANDOM_WEIGHTS_H

#include <stdint.h>

#include <lightnet/context.h>
#include <lightnet/tensor_file.h>

// Makes all tensors that the model takes from a data file. The same seed, name, shape and use give
// the same numbers on every machine, whatever else is in the model. Names are borrowed from `ctx`;
// given back with random_weights_free.
ln_status random_weights_create(const ln_context *ctx, uint64_t seed, ln_named_tensor **out_tensors,
                                size_t *out_count);

void random_weights_free(ln_named_tensor *tensors, size_t count); // accepts NULL

#endif
