// SPDX-License-Identifier: Apache-2.0
// The threads of a context, for those who load and copy it.

#ifndef LN_COMPILE_THREADS_H
#define LN_COMPILE_THREADS_H

#include <lightnet/context.h>

// Gives the context, and its graphs, the threads that it is to have, if it has none. Nothing for a
// graph: its root has done so.
ln_status ln_context_need_threads(ln_context *ctx);

// The same threads as `from` has, or is to have.
void ln_context_share_threads(ln_context *ctx, const ln_context *from);

#endif
