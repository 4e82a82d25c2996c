// SPDX-License-Identifier: Apache-2.0
// Code points of UTF-8 strings, read and written (RFC 3629).

#ifndef LN_BASE_UTF8_H
#define LN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { LN_UTF8_MAX_LEN = 4, LN_UTF8_BAD = 0xFFFD };

// *out_code = the code point that starts at `s`, which does not end there; returns its bytes. A
// byte that starts nothing valid is LN_UTF8_BAD.
size_t ln_utf8_get(const char *s, uint32_t *out_code);

// Writes a code point; returns its bytes, at most LN_UTF8_MAX_LEN.
size_t ln_utf8_put(uint32_t code, char *out);

#endif
