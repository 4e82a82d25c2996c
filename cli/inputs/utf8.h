// SPDX-License-Identifier: Apache-2.0
// UTF-8 and code points, one at a time.

#ifndef LN_CLI_INPUTS_UTF8_H
#define LN_CLI_INPUTS_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu // stands for what is no character

// Writes the code point to `out`, at most 4 bytes; how many. 0 for what is none.
size_t utf8_encode(uint32_t code, char out[4]);

// The code point at *text, which ends with a NUL and is moved past it; UTF8_REPLACEMENT, and one
// byte further, where there is none. Not at the end.
uint32_t utf8_decode(const char **text);

#endif
