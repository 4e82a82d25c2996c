// SPDX-License-Identifier: Apache-2.0
// Counted names. The table is of what is registered; a count of 1 is the table's own.

#include "ir/use.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/hash.h>
#include <lightnet/util.h>

#include "base/name_hash.h"

struct ln_use {
    atomic_size_t count;
    char name[];
};

struct ln_uses {
    size_t count;
    ln_use *items[];
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; // of those who hold; before `lock`
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the tables
static ln_hash *tables[LN_USE_KIND_COUNT];               // name -> ln_use; NULL: empty

static ln_status insert_locked(ln_use_kind kind, ln_use *use)
{
    if (!tables[kind])
        tables[kind] = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!tables[kind] || ln_hash_insert(tables[kind], use->name, use) < 0)
        return LN_NO_MEMORY;
    return LN_OK;
}

static void free_if_empty(ln_use_kind kind)
{
    if (!tables[kind] || ln_hash_size(tables[kind]) > 0)
        return;
    ln_hash_free(tables[kind]);
    tables[kind] = NULL;
}

ln_status ln_use_add(ln_use_kind kind, const char *name)
{
    size_t byte_count = strlen(name) + 1;
    ln_use *use = ln_alloc(sizeof *use + byte_count);
    if (!use)
        return LN_NO_MEMORY;
    atomic_init(&use->count, 1);
    memcpy(use->name, name, byte_count);
    pthread_mutex_lock(&lock);
    ln_status status = insert_locked(kind, use);
    free_if_empty(kind);
    pthread_mutex_unlock(&lock);
    if (status != LN_OK)
        ln_free(use);
    return status;
}

static ln_use *find_locked(ln_use_kind kind, const char *name)
{
    return tables[kind] ? ln_hash_find(tables[kind], name) : NULL;
}

size_t ln_use_count(ln_use_kind kind, const char *name)
{
    pthread_mutex_lock(&lock);
    ln_use *use = find_locked(kind, name);
    size_t count = use ? atomic_load(&use->count) - 1 : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

void ln_use_end(ln_use_kind kind, const char *name)
{
    pthread_mutex_lock(&lock);
    ln_use *use = find_locked(kind, name);
    if (use) {
        ln_hash_remove(tables[kind], name);
        free_if_empty(kind);
    }
    pthread_mutex_unlock(&lock);
    ln_use_drop(use);
}

const char *ln_device_plain_name(const char *name, char *buffer, size_t size)
{
    size_t len = name ? strlen(name) : 0;
    if (len < 3 || strcmp(name + len - 2, ":0") != 0 || len - 2 >= size)
        return name;
    memcpy(buffer, name, len - 2);
    buffer[len - 2] = '\0';
    return buffer;
}

ln_use *ln_use_hold(ln_use_kind kind, const char *name)
{
    char plain[LN_MAX_NAME_LEN];
    name = ln_device_plain_name(name, plain, sizeof plain);
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&lock);
    ln_use *use = find_locked(kind, name);
    if (use)
        atomic_fetch_add(&use->count, 1);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&gate);
    return use;
}

void ln_uses_freeze(void)
{
    pthread_mutex_lock(&gate);
}

void ln_uses_thaw(void)
{
    pthread_mutex_unlock(&gate);
}

void ln_use_drop(ln_use *use)
{
    if (use && atomic_fetch_sub(&use->count, 1) == 1)
        ln_free(use);
}

// ---- The archs of a target ----

static size_t count_names(const char *target)
{
    size_t count = 1;
    for (; *target; target++)
        count += *target == ',';
    return count;
}

ln_status ln_uses_hold(const char *target, ln_uses **out_uses)
{
    ln_uses *uses = *out_uses =
        ln_alloc(sizeof *uses + (target ? count_names(target) : 0) * sizeof(ln_use *));
    if (!uses)
        return LN_NO_MEMORY;
    uses->count = 0;
    for (const char *name = target; name && *name;) {
        size_t len = strcspn(name, ",");
        char buffer[LN_MAX_NAME_LEN];
        if (len < sizeof buffer) {
            memcpy(buffer, name, len);
            buffer[len] = '\0';
            uses->items[uses->count++] = ln_use_hold(LN_USE_ARCH, buffer);
        }
        name += len + (name[len] == ',');
    }
    return LN_OK;
}

void ln_uses_drop(ln_uses *uses)
{
    for (size_t i = 0; uses && i < uses->count; i++)
        ln_use_drop(uses->items[i]);
    ln_free(uses);
}
