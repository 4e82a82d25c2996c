// SPDX-License-Identifier: Apache-2.0
// Names in C text: what is an identifier, and whether a snippet mentions one.

#ifndef LN_DESC_CIDENT_H
#define LN_DESC_CIDENT_H

#include <stdbool.h>

#include <lightnet/export.h>

LN_CPPSTART

// An identifier that is no C keyword, at most 128 bytes.
bool ln_is_identifier(const char *s);

// An identifier, "int", or "unsigned": a type written as one word.
bool ln_is_identifier_or_int(const char *s);

// `snippet` mentions the variable `name`: as a whole word, not as a member (a.name, a->name), not
// in a string, character or comment. NULL mentions nothing.
bool ln_snippet_mentions(const char *snippet, const char *name);

LN_CPPEND

#endif
