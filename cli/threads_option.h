// SPDX-License-Identifier: Apache-2.0
// --threads, of all commands that run models.

#ifndef LN_CLI_THREADS_OPTION_H
#define LN_CLI_THREADS_OPTION_H

#include <getopt.h>

#include <lightnet/context.h>

enum { OPTION_THREADS = 1200 };

// A row for an array of long options.
// clang-format off
#define THREADS_OPTION {"threads", required_argument, NULL, OPTION_THREADS}
// clang-format on

// Its line in a help text.
#define THREADS_OPTION_HELP                                                                        \
    "      --threads=COUNT     threads that run the model (default: the processors that may be\n"  \
    "                          used, or LN_THREADS)\n"

// How many threads run models from here on. EXIT_OK, or EXIT_USAGE after having said why.
int threads_option_take(const char *command_name, const char *text);

// Tells a context, before it is loaded.
ln_status threads_option_apply(ln_context *ctx);

#endif
