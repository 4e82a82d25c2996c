// SPDX-License-Identifier: Apache-2.0
// Clones that the public API does not know.

#ifndef LN_COMPILE_CLONE_H
#define LN_COMPILE_CLONE_H

#include <lightnet/context.h>

#include "compile/spares.h"

// The compiled model `ctx`, loaded or not, without its attached weights: PLANNED as by
// whoever reads its compiled form, which holds none. LN_UNSUPPORTED if shapes depend on them.
// Of a READY one it is READY.
ln_status ln_context_clone_bare(const ln_context *ctx, ln_context **out_bare);

// Of a template, an instance that is spared operators.
ln_status ln_context_clone_spared(const ln_context *rewritten, const ln_spares *spares,
                                  ln_context **out_instance);

#endif
