// SPDX-License-Identifier: Apache-2.0
// What text of files may show: `ln_sprint_safe` of util.h, character by character.

#ifndef LN_BASE_SAFE_TEXT_H
#define LN_BASE_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of one character when it is shown, the final zero included.
#define LN_SAFE_BYTES 8

// False for control characters (C0 but for \n and \t, DEL, C1) and for those that change the
// direction of text.
bool ln_is_safe_code(uint32_t code);

// Writes to `out` how the character at `text`, which does not end there, is shown; returns how many
// bytes of `text` it is.
size_t ln_safe_step(const char *text, char out[LN_SAFE_BYTES], size_t *out_len);

#endif
