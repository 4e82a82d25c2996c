// SPDX-License-Identifier: Apache-2.0
// Hashes and comparisons of the keys that hash tables have: strings and bare pointers.

#include <lightnet/util.h>

#include <string.h>

// djb2
uint32_t ln_str_hash(const void *key)
{
    if (!key)
        return 0;
    uint32_t hash = 5381;
    for (const unsigned char *c = key; *c; c++)
        hash = hash * 33 + *c;
    return hash;
}

int ln_str_cmp(const void *a, const void *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

uint32_t ln_direct_hash(const void *key)
{
    uint64_t bits = (uintptr_t)key;
    return (uint32_t)(bits ^ (bits >> 32));
}

int ln_direct_cmp(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)a;
    uintptr_t y = (uintptr_t)b;
    return (x > y) - (x < y);
}
