// SPDX-License-Identifier: Apache-2.0
// --threads, of all commands that run models.

#ifndef LN_CLI_THREADS_OPTION_H
#define LN_CLI_THREADS_OPTION_H

#include <lightnet/context.h>

// How many threads run models from here on.
int take_threads(void *unused, const char *verb, const char *text);

// Tells a context, before it is loaded.
ln_status threads_option_apply(ln_context *ctx);

#endif
