// SPDX-License-Identifier: Apache-2.0
// Levenshtein distance, one row of the table at a time.

#include "base/spelling.h"

#include <stdint.h>
#include <string.h>

#define MAX_WORD 63

size_t ln_spelling_distance(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > MAX_WORD || b_len > MAX_WORD)
        return SIZE_MAX;

    size_t row[MAX_WORD + 1]; // row[j]: distance of a[0..i) and b[0..j)
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_len];
}
