// SPDX-License-Identifier: Apache-2.0
// Lists of keys with values: those of options, and those that clients make.

#include "compat/ort/ort.h"

#include <string.h>

// ---- Of options ----

void ort_pairs_free(ort_pair *pair)
{
    while (pair) {
        ort_pair *next = pair->next;
        ln_free(pair);
        pair = next;
    }
}

ort_pair *ort_pair_find(ort_pair *pair, const char *key)
{
    while (pair && strcmp(pair->key, key) != 0)
        pair = pair->next;
    return pair;
}

static ort_pair **find_link(ort_pair **list, const char *key)
{
    while (*list && strcmp((*list)->key, key) != 0)
        list = &(*list)->next;
    return list;
}

// A key that is there gets the new value; others follow in their order.
ort_status *ort_pair_add(ort_pair **list, const char *key, const char *value, int64_t number)
{
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    ort_pair *pair = ln_alloc(sizeof *pair + key_size + value_size);
    if (!pair)
        return ort_fail_memory();
    memcpy(pair->key, key, key_size);
    pair->value = memcpy(pair->key + key_size, value, value_size);
    pair->number = number;
    ort_pair **link = find_link(list, key), *old = *link;
    pair->next = old ? old->next : NULL;
    *link = pair;
    ln_free(old);
    return NULL;
}

ort_status *ort_pairs_copy(ort_pair **list, const ort_pair *from)
{
    for (; from; from = from->next)
        TRY(ort_pair_add(list, from->key, from->value, from->number));
    return NULL;
}

// ---- Of clients ----

// The arrays are those of the list, for who asks for all.
struct ort_pairs {
    ort_pair *first;
    size_t count;
    const char **keys, **values;
};

static void ReleaseKeyValuePairs(ort_pairs *pairs)
{
    if (!pairs || pairs == ort_pairs_none())
        return;
    ort_pairs_free(pairs->first);
    ln_free(pairs->keys);
    ln_free(pairs->values);
    ln_free(pairs);
}

// Whether the arrays are as long as the list. They never shrink.
static bool list_pairs(ort_pairs *pairs)
{
    size_t count = 0;
    for (const ort_pair *p = pairs->first; p; p = p->next)
        count++;
    const char **keys = ln_realloc(pairs->keys, (count + 1) * sizeof *keys);
    if (!keys)
        return false;
    pairs->keys = keys;
    const char **values = ln_realloc(pairs->values, (count + 1) * sizeof *values);
    if (!values)
        return false;
    pairs->values = values;
    pairs->count = count;
    count = 0;
    for (const ort_pair *p = pairs->first; p; p = p->next, count++) {
        keys[count] = p->key;
        values[count] = p->value;
    }
    return true;
}

const ort_pairs *ort_pairs_none(void)
{
    static const ort_pairs none;
    return &none;
}

ort_status *ort_pairs_new(const ort_pair *from, ort_pairs **out)
{
    ort_pairs *pairs = ln_alloc(sizeof *pairs);
    if (!pairs)
        return ort_fail_memory();
    ort_status *status = ort_pairs_copy(&pairs->first, from);
    if (!status && !list_pairs(pairs))
        status = ort_fail_memory();
    if (status) {
        ReleaseKeyValuePairs(pairs);
        return status;
    }
    *out = pairs;
    return NULL;
}

static void CreateKeyValuePairs(ort_pairs **out)
{
    if (!out)
        return;
    *out = NULL;
    ort_status_free(ort_pairs_new(NULL, out));
}

// Without memory the pair is left out: the slot has no status.
static void AddKeyValuePair(ort_pairs *pairs, const char *key, const char *value)
{
    if (!pairs || !key || !value || !*key)
        return;
    ort_status_free(ort_pair_add(&pairs->first, key, value, 0));
    if (!list_pairs(pairs))
        pairs->count = 0;
}

static const char *GetKeyValue(const ort_pairs *pairs, const char *key)
{
    const ort_pair *pair = pairs && key ? ort_pair_find(pairs->first, key) : NULL;
    return pair ? pair->value : NULL;
}

static void GetKeyValuePairs(const ort_pairs *pairs, const char *const **out_keys,
                             const char *const **out_values, size_t *out_count)
{
    if (out_keys)
        *out_keys = pairs ? pairs->keys : NULL;
    if (out_values)
        *out_values = pairs ? pairs->values : NULL;
    if (out_count)
        *out_count = pairs ? pairs->count : 0;
}

static void RemoveKeyValuePair(ort_pairs *pairs, const char *key)
{
    ort_pair **link = pairs && key ? find_link(&pairs->first, key) : NULL;
    if (!link || !*link)
        return;
    ort_pair *old = *link;
    *link = old->next;
    ln_free(old);
    if (!list_pairs(pairs))
        pairs->count = 0;
}

const ort_row ort_pair_slots[] = {
    SLOT(CreateKeyValuePairs),
    SLOT(AddKeyValuePair),
    SLOT(GetKeyValue),
    SLOT(GetKeyValuePairs),
    SLOT(RemoveKeyValuePair),
    SLOT(ReleaseKeyValuePairs),
    SLOT_END,
};
