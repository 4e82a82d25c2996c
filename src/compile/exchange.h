// SPDX-License-Identifier: Apache-2.0
// Two contexts change places, so that pointers to them stay right.

#ifndef LN_COMPILE_EXCHANGE_H
#define LN_COMPILE_EXCHANGE_H

#include <lightnet/context.h>

// Exchanges what belongs to the models of `a` and `b`; what the program has set, or what a call is
// doing, stays where it is.
void ln_context_exchange(ln_context *a, ln_context *b);

#endif
