// SPDX-License-Identifier: Apache-2.0
// What the target takes: a rewrite is refused if its result would be computed by a later arch of
// the target than what it replaces, or by none.

#ifndef LN_PASS_TAKEN_H
#define LN_PASS_TAKEN_H

#include "pass/match.h"
#include "pass/pass.h"

// Whether the archs take `new_ops`, the result of a match, as they take the operators that it
// replaces, before lowering. Operators that run when the model is loaded, and views, count nothing.
// The context is not changed.
ln_status ln_match_is_taken(const ln_compilation *compilation, const ln_match *match,
                            const ln_list *new_ops, bool *out_taken);

#endif
