// SPDX-License-Identifier: Apache-2.0
// Writing pieces of C: literals, and the snippets of a description as statements.

#ifndef LN_DESC_CSNIPPET_H
#define LN_DESC_CSNIPPET_H

#include <stdbool.h>

#include "base/text.h"

LN_CPPSTART

// A string literal of `s`, or NULL.
void ln_c_string(ln_text *text, const char *s);

// `s` in a // comment: control characters and backslashes become '?'.
void ln_c_comment(ln_text *text, const char *s);

// `snippet` at `indent` columns, its own common indentation removed, a final ';' added when it ends
// in neither ';' nor '}'. Nothing for NULL or blanks.
void ln_c_statements(ln_text *text, const char *snippet, int indent);

// `snippet` holds nothing but blanks.
bool ln_c_is_blank(const char *snippet);

// ln_opck_satisfy(...) or ln_opck_satisfy_msg(...): the second when a comma outside of brackets
// and literals is followed by a string literal.
void ln_c_check(ln_text *text, const char *snippet, int indent);

LN_CPPEND

#endif
