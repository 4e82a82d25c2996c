// SPDX-License-Identifier: Apache-2.0
// Waits for groups in a list of operators.

#ifndef LN_RUN_WAITS_H
#define LN_RUN_WAITS_H

#include <lightnet/context.h>

// LN_INVALID unless each `wait` of `ctx`, whose operators are checked, comes after the group that
// it names, before whoever reads what the group makes, and names all of the group's tensors that
// are not static.
ln_status ln_waits_check(const ln_context *ctx);

#endif
