// SPDX-License-Identifier: Apache-2.0
// Files of rules that a compilation takes beside the built-in ones.

#ifndef LN_PASS_RULE_FILE_H
#define LN_PASS_RULE_FILE_H

#include "base/value.h"
#include "desc/rule.h"

typedef struct ln_rule_file {
    const ln_rule_set *set; // NULL ends the array
    ln_document *arena;     // what the set lies in
} ln_rule_file;

// Reads and checks the files. *out_files ends with an entry without a set; the caller destroys it.
ln_status ln_rule_files_read(const char *const *paths, size_t count, ln_rule_file **out_files);

void ln_rule_files_destroy(ln_rule_file *files); // accepts NULL

#endif
