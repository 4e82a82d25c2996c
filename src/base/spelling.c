// SPDX-License-Identifier: Apache-2.0
// Distances between words: optimal string alignment (Levenshtein's edits and swaps of neighbours),
// three rows of the table at a time.

#include <lightnet/spelling.h>

#include <stdint.h>
#include <string.h>

#define MAX_WORD 63

typedef unsigned char fold(unsigned char c);

static unsigned char as_is(unsigned char c)
{
    return c;
}

// Not tolower: names are ASCII in every locale.
static unsigned char small(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static size_t distance(const char *a, const char *b, fold *f)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > MAX_WORD || b_len > MAX_WORD)
        return SIZE_MAX;

    // row[j]: distance of a[0..i) and b[0..j)
    size_t rows[3][MAX_WORD + 1], *older = rows[0], *old = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *spare = older;
        older = old;
        old = row;
        row = spare;
        row[0] = i;
        unsigned char x = f((unsigned char)a[i - 1]);
        for (size_t j = 1; j <= b_len; j++) {
            unsigned char y = f((unsigned char)b[j - 1]);
            size_t best = old[j - 1] + (x != y);
            if (old[j] + 1 < best)
                best = old[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && x == f((unsigned char)b[j - 2]) &&
                f((unsigned char)a[i - 2]) == y && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[b_len];
}

size_t ln_spelling_distance(const char *a, const char *b)
{
    return distance(a, b, as_is);
}

ln_nearest ln_nearest_to(const char *word)
{
    size_t len = strlen(word), too_far = len < 3 ? 1 : len < 6 ? 2 : len < 10 ? 3 : 4;
    return (ln_nearest){.word = word, .distance = too_far};
}

void ln_nearest_try(ln_nearest *nearest, const char *name)
{
    size_t d = distance(nearest->word, name, small);
    // A name that is all edits has nothing of the word.
    if (d > nearest->distance || d >= strlen(name))
        return;
    int differs = d != ln_spelling_distance(nearest->word, name);
    if (d == nearest->distance && !(nearest->name && nearest->differs_in_case && !differs))
        return;
    nearest->name = name;
    nearest->distance = d;
    nearest->differs_in_case = differs;
}
