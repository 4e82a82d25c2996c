// SPDX-License-Identifier: Apache-2.0
// Inputs of models from before there was `input`.

#ifndef LN_SERIAL_OLD_INPUTS_H
#define LN_SERIAL_OLD_INPUTS_H

#include <lightnet/context.h>

LN_CPPSTART

// Makes `input` of each `create` of a model without `input` that gives its data: one whose elements
// the text does not give (from a file, random, zeros), from which a path of data operands leads to
// an output of the model. The operators are in ctx->ops and not checked yet.
ln_status ln_old_inputs_read(ln_context *ctx);

LN_CPPEND

#endif
