// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...?": how far apart two words are.

#ifndef LN_BASE_SPELLING_H
#define LN_BASE_SPELLING_H

#include <stddef.h>

// Edits (insert, delete, replace one byte) from `a` to `b` (Levenshtein, 1966). Words over 63
// bytes count as far apart: SIZE_MAX.
size_t ln_spelling_distance(const char *a, const char *b);

#endif
