// SPDX-License-Identifier: Apache-2.0
// Lists of keys with values.

#include "compat/ort/ort.h"

#include <string.h>

void ort_pairs_free(ort_pair *pair)
{
    while (pair) {
        ort_pair *next = pair->next;
        free(pair);
        pair = next;
    }
}

ort_pair *ort_pair_find(ort_pair *pair, const char *key)
{
    while (pair && strcmp(pair->key, key) != 0)
        pair = pair->next;
    return pair;
}

ort_status *ort_pair_add(ort_pair **list, const char *key, const char *value, int64_t number)
{
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    ort_pair *pair = malloc(sizeof *pair + key_size + value_size);
    if (!pair)
        return ort_fail_memory();
    memcpy(pair->key, key, key_size);
    pair->value = memcpy(pair->key + key_size, value, value_size);
    pair->number = number;
    pair->next = *list; // the newest is found first
    *list = pair;
    return NULL;
}

static void CreateKeyValuePairs(void **out)
{
    if (out)
        *out = NULL;
}

static void GetKeyValuePairs(const void *pairs, const char *const **out_keys,
                             const char *const **out_values, size_t *out_count)
{
    (void)pairs;
    if (out_keys)
        *out_keys = NULL;
    if (out_values)
        *out_values = NULL;
    if (out_count)
        *out_count = 0;
}

const ort_row ort_pair_slots[] = {
    SLOT(CreateKeyValuePairs),
    SLOT(GetKeyValuePairs),
    SLOT_END,
};
