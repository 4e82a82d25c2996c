// SPDX-License-Identifier: Apache-2.0
// White space and the case of letters, by code point.

#ifndef LN_OP_ONNX_LETTERS_H
#define LN_OP_ONNX_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

// White space in the sense of Unicode.
bool ln_is_space(uint32_t code);

// The letter in lower or upper case, one for one, as in all languages but Turkish: Latin, Greek,
// Cyrillic, Armenian and full-width letters. Others are as they were.
uint32_t ln_letter_lower(uint32_t code);
uint32_t ln_letter_upper(uint32_t code);

#endif
