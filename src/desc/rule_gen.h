// SPDX-License-Identifier: Apache-2.0
// Rewrite rules as C: the tables of rule.h as static initialisers.

#ifndef LN_DESC_RULE_GEN_H
#define LN_DESC_RULE_GEN_H

#include "base/text.h"
#include "desc/rule.h"

LN_CPPSTART

// C that defines `const ln_rule_set ln_rules_<name>` with the rules of all sets in order.
// Failures go to `text->status`.
void ln_rule_print_code(const ln_rule_set *const *sets, size_t set_count, const char *name,
                        ln_text *text);

// The same from files. LN_INVALID when `name` is no C identifier, LN_SYNTAX also when two files
// have a rule of the same name. The caller gives *out_text back with ln_free.
ln_status ln_rule_generate(const char *name, const char *const *paths, size_t path_count,
                           char **out_text);

LN_CPPEND

#endif
