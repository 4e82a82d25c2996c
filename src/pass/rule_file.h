// SPDX-License-Identifier: Apache-2.0
// Files of rules that a compilation takes beside the built-in ones.

#ifndef LN_PASS_RULE_FILE_H
#define LN_PASS_RULE_FILE_H

#include "desc/rule.h"

// Reads and checks the files. *out_sets ends with NULL; the caller destroys it.
ln_status ln_rule_files_read(const char *const *paths, size_t count, ln_rule_set ***out_sets);

void ln_rule_files_destroy(ln_rule_set **sets); // accepts NULL

#endif
