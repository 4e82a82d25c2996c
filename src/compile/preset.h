// SPDX-License-Identifier: Apache-2.0
// First values of inputs: what an input holds from loading on, until the program gives it data.

#ifndef LN_COMPILE_PRESET_H
#define LN_COMPILE_PRESET_H

#include <lightnet/context.h>

// Fills the outputs of `op`, if it is an `input` that states numbers, in a context whose memory is
// allocated. A value from a file comes with the weights (ir/fill.h).
ln_status ln_preset_input(const ln_context *ctx, const ln_op *op);

// The inputs of `clone`, a copy of `ctx` with a workspace of its own, that have a first value get
// what they hold in `ctx`.
ln_status ln_preset_copy(const ln_context *ctx, const ln_context *clone);

#endif
