/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the known name that a mistyped one is near to.
 *
 *     ln_nearest nearest = ln_nearest_to("inpsect");
 *     for (size_t i = 0; i < count; i++)
 *         ln_nearest_try(&nearest, names[i]);
 *     if (nearest.name)
 *         printf("did you mean '%s'?\n", nearest.name);
 */

#ifndef LIGHTNET_SPELLING_H
#define LIGHTNET_SPELLING_H

#include <stddef.h>

#include <lightnet/export.h>

LN_CPPSTART

/* Edits from `a` to `b`: insert, delete or replace one byte, or swap two neighbours. Words over 63
 * bytes count as far apart: SIZE_MAX. */
LN_API size_t ln_spelling_distance(const char *a, const char *b);

/* A search for the nearest name. */
typedef struct ln_nearest {
    const char *word;    /* borrowed: what was written */
    const char *name;    /* borrowed: the nearest name so far; NULL: none is near */
    size_t distance;     /* of `name`; before: what is too far */
    int differs_in_case; /* `name` does, beside its distance */
} ln_nearest;

/* Names count as near up to one edit for words of 3 to 5 bytes, two up to 9, and three beyond;
 * capital and small letters are alike. Of names that are equally near the first is kept, one that
 * agrees in capitals before others. */
LN_API ln_nearest ln_nearest_to(const char *word);
LN_API void ln_nearest_try(ln_nearest *nearest, const char *name);

LN_CPPEND

#endif
