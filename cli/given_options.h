// SPDX-License-Identifier: Apache-2.0
// The options of the command line that was parsed last, in their order.

#ifndef LN_CLI_GIVEN_OPTIONS_H
#define LN_CLI_GIVEN_OPTIONS_H

#include <stddef.h>

#include "options.h"

typedef struct given_option {
    option_id id;
    const char *name;  // the long one
    const char *value; // NULL: none
} given_option;

// Those beyond MAX_OPTION_TEXTS are not kept. The texts are borrowed.
void given_add(option_id id, const char *name, const char *value);

size_t given_count(void);
const given_option *given_at(size_t index); // index < given_count()

// The value that was given for an option, "-" for one without a value; NULL if it was not given.
const char *given_value(option_id id);

// The long name of the first of `count` options that were given; NULL if none was.
const char *given_first(const option_id *ids, size_t count);

// The path in "PATH" or "NAME=PATH" of which `is_it` is true: names and paths may hold '=' too.
// NULL if there is none.
const char *given_path(const char *text, int (*is_it)(const char *path));

#endif
