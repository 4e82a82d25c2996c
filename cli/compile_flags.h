// SPDX-License-Identifier: Apache-2.0
// What the commands that compile have in common: --rules, --skip, --tune, --verbose, --budget.

#ifndef LN_CLI_COMPILE_FLAGS_H
#define LN_CLI_COMPILE_FLAGS_H

#include <getopt.h>

#include <lightnet/optimize.h>

#define MAX_RULE_FILES 64
#define MAX_SKIPPED    4096

typedef struct compile_flags {
    ln_optimize_options options; // through compile_flags_options
    const char *rule_files[MAX_RULE_FILES];
    size_t skip[MAX_SKIPPED];
    int is_verbose;
} compile_flags;

enum {
    OPTION_RULES = 1000,
    OPTION_SKIP,
    OPTION_TUNE,
    OPTION_VERBOSE,
    OPTION_BUDGET,
};

// Rows for an array of long options.
// clang-format off
#define COMPILE_FLAGS_OPTIONS                                                                      \
    {"rules", required_argument, NULL, OPTION_RULES},                                              \
    {"skip", required_argument, NULL, OPTION_SKIP},                                                \
    {"tune", no_argument, NULL, OPTION_TUNE},                                                      \
    {"verbose", no_argument, NULL, OPTION_VERBOSE},                                                \
    {"budget", required_argument, NULL, OPTION_BUDGET}
// clang-format on

// Their lines in a help text.
#define COMPILE_FLAGS_HELP                                                                          \
    "      --rules=FILE        rules tried before the built-in ones; may be given several times\n"  \
    "      --skip=LIST         firings that are not to happen, such as 3,7-9\n"                     \
    "      --tune              measure which algorithm is fastest for each convolution\n"           \
    "      --verbose           list the firings: what the compiler rewrites, numbered\n"            \
    "      --budget=BYTES      refuse a model whose peak of memory is above: 64000000, 64M, 64Mi\n" \
    "                          (default 4Gi)\n"

void compile_flags_init(compile_flags *flags);

// Takes an option of those above; EXIT_OK or EXIT_USAGE. -1 for any other option.
int compile_flags_take(compile_flags *flags, const char *command_name, int option,
                       const char *value);

// The options as the flags say; they point into `flags`.
const ln_optimize_options *compile_flags_options(compile_flags *flags);

// 1 if something was asked for that only compiling can do.
int compile_flags_any(const compile_flags *flags);

// One line for a firing, on standard error.
void say_firing(void *user, const ln_firing *firing);

#endif
