// SPDX-License-Identifier: Apache-2.0
// A crit-bit tree (Bernstein). Inner nodes hold the first bit in which their two sides differ;
// a name counts as followed by NUL bytes without end.

#include "serial/il/il_names.h"

#include <stdbool.h>
#include <string.h>

typedef struct ln_il_names_node {
    struct ln_il_names_node *child[2];
    size_t byte;
    unsigned char bit;
    ln_il_name *name; // of a leaf, else NULL
} node;

static unsigned char byte_at(const char *text, size_t len, size_t i)
{
    return i < len ? (unsigned char)text[i] : 0;
}

static bool side(const node *inner, const char *text, size_t len)
{
    return (byte_at(text, len, inner->byte) & inner->bit) != 0;
}

// The only leaf that can hold the name.
static node *find_leaf(const ln_il_names *names, const char *text, size_t len)
{
    node *n = names->root;
    while (n && !n->name)
        n = n->child[side(n, text, len)];
    return n;
}

static bool is_equal(const ln_il_name *name, const char *text, size_t len)
{
    return name->len == len && memcmp(name->text, text, len) == 0;
}

ln_il_name *ln_il_names_find(const ln_il_names *names, const char *text, size_t len)
{
    const node *leaf = find_leaf(names, text, len);
    return leaf && is_equal(leaf->name, text, len) ? leaf->name : NULL;
}

static node *new_leaf(ln_document *arena, const char *text, size_t len)
{
    node *leaf = ln_document_alloc(arena, sizeof *leaf);
    ln_il_name *name = ln_document_alloc(arena, sizeof *name);
    if (!leaf || !name)
        return NULL;
    *name = (ln_il_name){.text = text, .len = len};
    *leaf = (node){.name = name};
    return leaf;
}

// Fills in the first place where both names differ.
static void find_difference(node *inner, const ln_il_name *a, const ln_il_name *b)
{
    size_t i = 0;
    while (byte_at(a->text, a->len, i) == byte_at(b->text, b->len, i))
        i++;
    unsigned differing = byte_at(a->text, a->len, i) ^ byte_at(b->text, b->len, i);
    unsigned bit = 0x80;
    while (!(differing & bit))
        bit >>= 1;
    inner->byte = i;
    inner->bit = (unsigned char)bit;
}

static bool is_before(const node *a, const node *b)
{
    return a->byte < b->byte || (a->byte == b->byte && a->bit > b->bit);
}

ln_il_name *ln_il_names_add(ln_il_names *names, ln_document *arena, const char *text, size_t len)
{
    node *nearest = find_leaf(names, text, len);
    if (nearest && is_equal(nearest->name, text, len))
        return nearest->name;
    node *leaf = new_leaf(arena, text, len);
    if (!leaf)
        return NULL;
    if (!nearest) {
        names->root = leaf;
        return leaf->name;
    }
    node *inner = ln_document_alloc(arena, sizeof *inner);
    if (!inner)
        return NULL;
    *inner = (node){0};
    find_difference(inner, leaf->name, nearest->name);

    node **link = &names->root;
    while (!(*link)->name && is_before(*link, inner))
        link = &(*link)->child[side(*link, text, len)];
    bool right = side(inner, text, len);
    inner->child[right] = leaf;
    inner->child[!right] = *link;
    *link = inner;
    return leaf->name;
}
