// SPDX-License-Identifier: Apache-2.0
// Text to rewrite rules. docs/rules.md has the grammar.

#ifndef LN_DESC_RULE_PARSE_H
#define LN_DESC_RULE_PARSE_H

#include "base/value.h"
#include "desc/rule.h"

LN_CPPSTART

// Reads all rules of a text that messages call `file`. *out_set and all it points to live in
// *out_arena, which the caller destroys with ln_document_destroy.
// LN_SYNTAX, LN_LIMIT or LN_NO_MEMORY; both outputs are then NULL, and the message of the first two
// has file, line and column. Operators are not looked up here: ln_rule_set_check in pass does that.
ln_status ln_rule_set_parse(const char *text, size_t len, const char *file, ln_document **out_arena,
                            const ln_rule_set **out_set);

// The same from a file; "-" is standard input.
ln_status ln_rule_set_read(const char *path, ln_document **out_arena, const ln_rule_set **out_set);

LN_CPPEND

#endif
