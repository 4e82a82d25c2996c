// SPDX-License-Identifier: Apache-2.0
// Symbols of dimensions that have two sizes: in two inputs, or twice in one.
//
// A model states one size for a symbol. Its operators need not care, and then it runs with two, as
// elsewhere (docs/decisions/0040): a warning says so. Where they do, their message is about the
// dimension of some tensor, and what was wrong is added.

#ifndef LN_IR_SYMBOLS_H
#define LN_IR_SYMBOLS_H

#include <lightnet/context.h>

// After `status`, which is returned: adds to the message of LN_INVALID which symbol has two sizes
// in `shapes`. NULL: in the values of the inputs, or the shapes that they are bound to.
ln_status ln_symbols_explain(const ln_context *ctx, ln_status status, size_t count,
                             const ln_input_shape *shapes);

// Warns of a symbol that inputs are bound to two sizes of. Fails: LN_INVALID with
// `ln_context_set_strict`; LN_NO_MEMORY.
ln_status ln_symbols_check(const ln_context *ctx);

#endif
