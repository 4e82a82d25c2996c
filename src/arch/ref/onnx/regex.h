// SPDX-License-Identifier: Apache-2.0
// Regular expressions in the syntax of RE2, matched in time linear in the text.
//
// Without Unicode classes (\pL), \C and what RE2 has not either: references back, looking around.
// At most 16,384 steps after {m,n} are written out, and 1,000 nested groups.

#ifndef LN_ARCH_REF_ONNX_REGEX_H
#define LN_ARCH_REF_ONNX_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/call.h>

typedef struct ln_regex ln_regex;
typedef struct ln_regex_search ln_regex_search;

// In `prepare`, which keeps it. LN_INVALID with the place in the pattern.
ln_status ln_regex_compile(ln_call *call, const char *pattern, const ln_regex **out_regex);

// What the functions below work with, in the scratch memory of `call`.
ln_status ln_regex_begin(ln_call *call, const ln_regex *regex, ln_regex_search **out_search);

// Whether the whole of `text` is in the language.
ln_status ln_regex_matches(ln_call *call, ln_regex_search *search, const char *text,
                           bool *out_matches);

// The leftmost match in text[0, len) that does not start before `from`, and of those from there the
// longest; *out_is_found is false if there is none. `from` is at a character. Time may grow with
// the square of the text, and is charged to `call`.
ln_status ln_regex_find(ln_call *call, ln_regex_search *search, const char *text, size_t len,
                        size_t from, bool *out_is_found, size_t *out_start, size_t *out_len);

#endif
