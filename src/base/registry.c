// SPDX-License-Identifier: Apache-2.0
// A vector for the order, a hash for the names, one lock around both.

#include "base/registry.h"

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/name_hash.h"

#define FIRST_CAPACITY 16

static ln_status reserve_one(ln_registry *registry)
{
    if (!registry->by_name) {
        registry->by_name = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
        if (!registry->by_name)
            return LN_NO_MEMORY;
    }
    if (registry->count < registry->capacity)
        return LN_OK;
    size_t capacity = registry->capacity ? 2 * registry->capacity : FIRST_CAPACITY;
    void **items = ln_realloc(registry->items, capacity * sizeof *items);
    if (!items)
        return LN_NO_MEMORY;
    registry->items = items;
    registry->capacity = capacity;
    return LN_OK;
}

static ln_status add_locked(ln_registry *registry, void *item)
{
    const char *name = registry->name_of(item);
    if (!name || !name[0])
        return LN_FAIL(LN_INVALID, "%s has no name", registry->kind);

    LN_TRY(reserve_one(registry));
    if (ln_hash_find(registry->by_name, name))
        return LN_FAIL(LN_EXISTS, "%s '%s' is registered already", registry->kind, name);
    if (ln_hash_insert(registry->by_name, name, item) < 0)
        return LN_NO_MEMORY;
    registry->items[registry->count++] = item;
    return LN_OK;
}

static void remove_at(ln_registry *registry, size_t index)
{
    ln_hash_remove(registry->by_name, registry->name_of(registry->items[index]));
    registry->count--;
    for (size_t i = index; i < registry->count; i++)
        registry->items[i] = registry->items[i + 1];
}

ln_status ln_registry_add(ln_registry *registry, void *item)
{
    if (!item)
        return LN_FAIL(LN_INVALID, "cannot register a NULL %s", registry->kind);

    pthread_mutex_lock(&registry->lock);
    ln_status status = add_locked(registry, item);
    pthread_mutex_unlock(&registry->lock);
    return status;
}

ln_status ln_registry_remove(ln_registry *registry, const char *name, void **out_item)
{
    if (out_item)
        *out_item = NULL;
    if (!name)
        return LN_FAIL(LN_INVALID, "the name of the %s to remove is NULL", registry->kind);

    pthread_mutex_lock(&registry->lock);
    void *item = registry->by_name ? ln_hash_find(registry->by_name, name) : NULL;
    if (item) {
        size_t index = 0;
        while (registry->items[index] != item)
            index++;
        remove_at(registry, index);
    }
    pthread_mutex_unlock(&registry->lock);

    if (!item)
        return LN_FAIL(LN_NOT_FOUND, "no %s '%s' is registered", registry->kind, name);
    if (out_item)
        *out_item = item;
    return LN_OK;
}

void *ln_registry_find(ln_registry *registry, const char *name)
{
    if (!name)
        return NULL;
    pthread_mutex_lock(&registry->lock);
    void *item = registry->by_name ? ln_hash_find(registry->by_name, name) : NULL;
    pthread_mutex_unlock(&registry->lock);
    return item;
}

void *ln_registry_find_at(ln_registry *registry, size_t index)
{
    pthread_mutex_lock(&registry->lock);
    void *item = index < registry->count ? registry->items[index] : NULL;
    pthread_mutex_unlock(&registry->lock);
    return item;
}

size_t ln_registry_count(ln_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    size_t count = registry->count;
    pthread_mutex_unlock(&registry->lock);
    return count;
}

void *ln_registry_pop(ln_registry *registry)
{
    void *item = NULL;
    pthread_mutex_lock(&registry->lock);
    if (registry->count > 0) {
        item = registry->items[registry->count - 1];
        remove_at(registry, registry->count - 1);
    } else {
        ln_free(registry->items);
        if (registry->by_name)
            ln_hash_free(registry->by_name);
        registry->items = NULL;
        registry->by_name = NULL;
        registry->capacity = 0;
    }
    pthread_mutex_unlock(&registry->lock);
    return item;
}
