// SPDX-License-Identifier: Apache-2.0
// --allow-write, of the commands that run a model for its own sake. Those that run it to compare it
// silence what prints and writes.

#ifndef LN_CLI_WRITE_OPTION_H
#define LN_CLI_WRITE_OPTION_H

#include <lightnet/context.h>

// The option's function: below which folder models may create files from here on.
int take_allow_write(void *unused, const char *verb, const char *folder);

// Tells a context, before it is loaded.
ln_status write_option_apply(ln_context *ctx);

// A model that is compiled, and is run to be compared with something, prints and writes nothing.
void silence_model(const ln_context *ctx);

// The same of what prints to standard output alone, where an object of JSON is to be there.
void silence_prints(const ln_context *ctx);

#endif
