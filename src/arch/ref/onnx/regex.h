// SPDX-License-Identifier: Apache-2.0
// Regular expressions in the syntax of RE2, matched in time linear in the text.
//
// Without Unicode classes (\pL), \C and what RE2 has not either: references back, looking around.
// At most 16,384 steps after {m,n} are written out, and 1,000 nested groups.

#ifndef LN_ARCH_REF_ONNX_REGEX_H
#define LN_ARCH_REF_ONNX_REGEX_H

#include <stdbool.h>

#include <lightnet/call.h>

typedef struct ln_regex ln_regex;

// Lives in the scratch memory of `call`. LN_INVALID with the place in the pattern.
ln_status ln_regex_compile(ln_call *call, const char *pattern, ln_regex **out_regex);

// Whether the whole of `text` is in the language.
bool ln_regex_matches(ln_regex *regex, const char *text);

#endif
