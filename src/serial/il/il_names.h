// SPDX-License-Identifier: Apache-2.0
// A map from names to what is known about them: macros, operator names, counters.
//
// A crit-bit tree: finding costs the length of the name and no choice of names makes it slower,
// which a hash table cannot promise for names that somebody else chose.

#ifndef LN_SERIAL_IL_IL_NAMES_H
#define LN_SERIAL_IL_IL_NAMES_H

#include <stddef.h>

#include "base/value.h"

LN_CPPSTART

typedef struct ln_il_name {
    const char *text; // borrowed from whoever added it
    size_t len;
    size_t number; // 0 at first; for the caller
    void *item;    // NULL at first; for the caller
} ln_il_name;

// Start with {0}; everything lives in the arena.
typedef struct ln_il_names {
    struct ln_il_names_node *root;
} ln_il_names;

// The entry of a name without NUL bytes, or NULL.
ln_il_name *ln_il_names_find(const ln_il_names *names, const char *text, size_t len);

// The entry of a name, added when it is new; NULL when memory is gone. `text` outlives the map.
ln_il_name *ln_il_names_add(ln_il_names *names, ln_document *arena, const char *text, size_t len);

LN_CPPEND

#endif
