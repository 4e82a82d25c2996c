// SPDX-License-Identifier: Apache-2.0
// Code points of UTF-8 strings, and the case of letters.

#ifndef LN_OP_ONNX_UTF8_H
#define LN_OP_ONNX_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LN_UTF8_MOST = 4, LN_UTF8_BAD = 0xFFFD };

// *out_code = the code point that starts at `s`, which does not end there; returns its bytes. A
// byte that starts nothing valid is LN_UTF8_BAD.
size_t ln_utf8_get(const char *s, uint32_t *out_code);

// Writes a code point; returns its bytes, at most LN_UTF8_MOST.
size_t ln_utf8_put(uint32_t code, char *out);

// White space in the sense of Unicode.
bool ln_utf8_is_space(uint32_t code);

// The letter in lower or upper case, one for one, as in all languages but Turkish: Latin, Greek,
// Cyrillic, Armenian and full-width letters. Others are as they were.
uint32_t ln_utf8_lower(uint32_t code);
uint32_t ln_utf8_upper(uint32_t code);

#endif
