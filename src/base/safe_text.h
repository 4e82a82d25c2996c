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

#endif
