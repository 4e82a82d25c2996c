// SPDX-License-Identifier: Apache-2.0
// How a model states that it takes pictures, as options.

#ifndef LN_CLI_NORMALIZATION_H
#define LN_CLI_NORMALIZATION_H

#include <lightnet/context.h>

// "--mean=127.5 --scale=0.00784313725" of the first input of floats for which the model states
// means and deviations, as TensorFlow Lite models do; 0: there is none.
int normalization_options(const ln_context *ctx, char *buf, size_t size);

#endif
