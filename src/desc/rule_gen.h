// SPDX-License-Identifier: Apache-2.0
// Files of rewrite rules as C: their text, without comments, once it has been parsed.

#ifndef LN_DESC_RULE_GEN_H
#define LN_DESC_RULE_GEN_H

#include "base/text.h"
#include "desc/rule.h"

LN_CPPSTART

// C that defines `const ln_rule_set ln_rules_<name>` with the texts, which end with NULL, and an
// index of their rules. Lines keep their numbers. Failures, also of parsing, go to `text->status`.
void ln_rule_print_code(const ln_rule_text *texts, const char *name, ln_text *text);

// The same from files. LN_INVALID when `name` is no C identifier, LN_SYNTAX also when two files
// have a rule of the same name. The caller gives *out_text back with ln_free.
ln_status ln_rule_generate(const char *name, const char *const *paths, size_t path_count,
                           char **out_text);

LN_CPPEND

#endif
