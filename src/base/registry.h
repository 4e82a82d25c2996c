// SPDX-License-Identifier: Apache-2.0
// A locked, ordered list of named things. The registries of archs, operators and serializers are
// three instances, so that they behave alike: duplicates are refused, order is that of
// registration, and what is registered is borrowed.

#ifndef LN_BASE_REGISTRY_H
#define LN_BASE_REGISTRY_H

#include <pthread.h>
#include <stddef.h>

#include <lightnet/hash.h>
#include <lightnet/status.h>

typedef struct ln_registry {
    const char *kind; // "arch", for messages
    const char *(*name_of)(const void *item);
    pthread_mutex_t lock;
    void **items; // in order of registration
    size_t count;
    size_t capacity;
    ln_hash *by_name; // name -> item; made at the first registration
} ln_registry;

#define LN_REGISTRY_INIT(kind_text, name_function)                                                 \
    {                                                                                              \
        .kind = (kind_text), .name_of = (name_function), .lock = PTHREAD_MUTEX_INITIALIZER         \
    }

// Adds `item` (not NULL) at the end. LN_EXISTS if its name is taken, LN_INVALID if it has none.
ln_status ln_registry_add(ln_registry *registry, void *item);

// Removes an item and returns it in *out_item (may be NULL). LN_NOT_FOUND if there is none.
ln_status ln_registry_remove(ln_registry *registry, const char *name, void **out_item);

void *ln_registry_find(ln_registry *registry, const char *name); // NULL if there is none
void *ln_registry_find_at(ln_registry *registry, size_t index);  // NULL past the end
size_t ln_registry_count(ln_registry *registry);

// Removes and returns the item registered last; NULL when the registry is empty, whose memory is
// then given back.
void *ln_registry_pop(ln_registry *registry);

#endif
