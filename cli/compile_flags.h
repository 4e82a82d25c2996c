// SPDX-License-Identifier: Apache-2.0
// What the commands that compile have in common: --rules, --skip, --tune, --keep-halves,
// --failover, --verbose, --budget, --strict.

#ifndef LN_CLI_COMPILE_FLAGS_H
#define LN_CLI_COMPILE_FLAGS_H

#include <lightnet/optimize.h>

#include "cli.h"

#define MAX_RULE_FILES 64
#define MAX_SKIPPED    4096

typedef struct compile_flags {
    ln_optimize_options options; // through compile_flags_options
    const char *rule_files[MAX_RULE_FILES];
    size_t skip[MAX_SKIPPED];
    int is_verbose;
} compile_flags;

// Rows of a verb's options; `member` is its compile_flags. None is needed for reading a model that
// is compiled already.
#define COMPILE_FLAGS(type, member) COMPILE_FLAGS_UNTIMED(type, member), OPENS_MODELS

// The same without what OPENS_MODELS has.
#define COMPILE_FLAGS_UNTIMED(type, member)                                                        \
    CALLS(RULES, type, member, take_rules), CALLS(SKIP, type, member, take_skip),                  \
        TAKES(TUNE, type, member.options.tunes),                                                   \
        TAKES(KEEP_HALVES, type, member.options.keeps_halves),                                     \
        TAKES(FAILOVER, type, member.options.fails_over), TAKES(VERBOSE, type, member.is_verbose)

int take_rules(void *flags, const char *verb, const char *path);
int take_skip(void *flags, const char *verb, const char *list);

void compile_flags_init(compile_flags *flags);

// The options as the flags say; they point into `flags`.
const ln_optimize_options *compile_flags_options(compile_flags *flags);

// `target`, or the default for NULL: "cpu", or "ref" for a model that stays as it was read.
const char *compile_flags_target(const compile_flags *flags, const char *target);

// 1 if something was asked for that only compiling can do.
int compile_flags_any(const compile_flags *flags);

// One line for a firing, on standard error.
void say_firing(void *user, const ln_firing *firing);

// The same for what is decided about a device.
void say_offload(void *user, const ln_offload *offload);

#endif
