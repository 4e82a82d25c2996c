// SPDX-License-Identifier: Apache-2.0
// The hash table: separate chaining over one array of pairs in the order of insertion.
//
//     buckets:  | 2 | - | 0 | - |          the first pair of each chain
//     pairs:    | a, next - | hole | b, next 0 |     `next` continues the chain
//
// A removed pair leaves a hole, so that removing moves nothing under a walk. Holes go away when the
// array of pairs is full: if they are a quarter of it they are squeezed out, else the array grows.

#include <lightnet/hash.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

#define MAX_CAPACITY    (1 << 30)
#define MAX_PAIRS       (1 << 29)
#define MIN_LOAD_FACTOR 0.0625f
#define FIRST_PAIRS     8

// Values of `next` and of buckets that are no index.
#define NONE UINT32_MAX
#define HOLE (UINT32_MAX - 1)

typedef struct pair {
    void *key;
    void *value;
    uint32_t hash;
    uint32_t next;
} pair;

struct ln_hash {
    ln_hash_func hash_func;
    ln_cmp_func cmp_func;
    ln_free_func free_k_func;
    ln_free_func free_v_func;
    float load_factor;
    size_t size; // pairs that are no holes
    pair *pairs;
    size_t pair_count; // with holes
    size_t pair_capacity;
    uint32_t *buckets;
    size_t capacity; // of the buckets; a power of two
};

// The bucket takes the low bits only, and hash functions of small numbers and aligned addresses
// differ elsewhere, so every bit of the hash has to reach them.
static uint32_t spread(uint32_t hash)
{
    hash ^= hash >> 16;
    hash *= 0x9e3779b1u;
    return hash ^ (hash >> 15);
}

static uint32_t *bucket_of(const ln_hash *hash, uint32_t key_hash)
{
    return &hash->buckets[spread(key_hash) & (hash->capacity - 1)];
}

static void clear_buckets(uint32_t *buckets, size_t capacity)
{
    for (size_t i = 0; i < capacity; i++)
        buckets[i] = NONE;
}

static void chain_all(ln_hash *hash)
{
    clear_buckets(hash->buckets, hash->capacity);
    for (size_t i = 0; i < hash->pair_count; i++) {
        pair *p = &hash->pairs[i];
        if (p->next == HOLE)
            continue;
        uint32_t *bucket = bucket_of(hash, p->hash);
        p->next = *bucket;
        *bucket = (uint32_t)i;
    }
}

static void squeeze_holes(ln_hash *hash)
{
    size_t count = 0;
    for (size_t i = 0; i < hash->pair_count; i++)
        if (hash->pairs[i].next != HOLE)
            hash->pairs[count++] = hash->pairs[i];
    hash->pair_count = count;
    chain_all(hash);
}

// The place that holds the index of the pair with `key`; NULL if there is none.
static uint32_t *link_of(const ln_hash *hash, const void *key, uint32_t key_hash)
{
    for (uint32_t *link = bucket_of(hash, key_hash); *link != NONE;
         link = &hash->pairs[*link].next) {
        const pair *p = &hash->pairs[*link];
        if (p->hash == key_hash && hash->cmp_func(p->key, key) == 0)
            return link;
    }
    return NULL;
}

static pair *pair_of(const ln_hash *hash, const void *key)
{
    if (!hash)
        return NULL;
    const uint32_t *link = link_of(hash, key, hash->hash_func(key));
    return link ? &hash->pairs[*link] : NULL;
}

static ln_status reserve_pairs(ln_hash *hash, size_t extra)
{
    if (hash->pair_count + extra <= hash->pair_capacity)
        return LN_OK;
    if (hash->size + extra <= hash->pair_capacity - hash->pair_capacity / 4) {
        squeeze_holes(hash);
        return LN_OK;
    }
    size_t capacity = hash->pair_capacity ? hash->pair_capacity * 2 : FIRST_PAIRS;
    if (capacity < hash->pair_count + extra)
        capacity = hash->pair_count + extra;
    size_t byte_count;
    if (!ln_size_mul(capacity, sizeof(pair), &byte_count))
        return LN_FAIL(LN_LIMIT, "a hash table cannot hold %zu pairs", capacity);
    pair *pairs = ln_realloc(hash->pairs, byte_count);
    if (!pairs)
        return LN_NO_MEMORY;
    hash->pairs = pairs;
    hash->pair_capacity = capacity;
    return LN_OK;
}

static ln_status reserve_buckets(ln_hash *hash, size_t size)
{
    size_t capacity = hash->capacity;
    while ((double)size > (double)capacity * (double)hash->load_factor && capacity < MAX_CAPACITY)
        capacity *= 2;
    if (capacity == hash->capacity)
        return LN_OK;
    uint32_t *buckets = ln_alloc_array(capacity, sizeof *buckets);
    if (!buckets)
        return LN_NO_MEMORY;
    ln_free(hash->buckets);
    hash->buckets = buckets;
    hash->capacity = capacity;
    chain_all(hash);
    return LN_OK;
}

// Makes room for `extra` more pairs, so that adding them cannot fail.
static ln_status reserve(ln_hash *hash, size_t extra)
{
    // The array of pairs is no longer than 4 * MAX_PAIRS, so that every index is below HOLE.
    if (extra > MAX_PAIRS - hash->size)
        return LN_FAIL(LN_LIMIT, "a hash table cannot hold %zu + %zu pairs", hash->size, extra);
    LN_TRY(reserve_pairs(hash, extra));
    return reserve_buckets(hash, hash->size + extra);
}

static void *without_const(const void *key)
{
    return (void *)(uintptr_t)key;
}

static int replace(const ln_hash *hash, pair *p, const void *key, void *value)
{
    void *old_key = p->key;
    void *old_value = p->value;
    p->key = without_const(key);
    p->value = value;
    if (old_key != key && hash->free_k_func)
        hash->free_k_func(old_key);
    if (old_value == value)
        return 1;
    if (hash->free_v_func)
        hash->free_v_func(old_value);
    return 0;
}

ln_hash *ln_hash_create_full(ln_hash_func hash_func, ln_cmp_func cmp_func, ln_free_func free_k_func,
                             ln_free_func free_v_func, int init_capacity, float load_factor)
{
    if (!hash_func || !cmp_func) {
        ln_fail(LN_INVALID, "a hash table needs a hash and a comparison function");
        return NULL;
    }
    if (init_capacity < 0 || init_capacity > MAX_CAPACITY) {
        ln_fail(LN_INVALID, "capacity %d of a hash table is outside 0..%d", init_capacity,
                MAX_CAPACITY);
        return NULL;
    }
    if (!(load_factor >= MIN_LOAD_FACTOR) || isinf(load_factor)) {
        ln_fail(LN_INVALID, "load factor %g of a hash table is below %g or not finite",
                (double)load_factor, (double)MIN_LOAD_FACTOR);
        return NULL;
    }

    size_t capacity = 1;
    while (capacity < (size_t)init_capacity)
        capacity *= 2;
    ln_hash *hash = ln_alloc(sizeof *hash);
    uint32_t *buckets = ln_alloc_array(capacity, sizeof *buckets);
    if (!hash || !buckets) {
        ln_free(hash);
        ln_free(buckets);
        return NULL;
    }
    clear_buckets(buckets, capacity);
    *hash = (ln_hash){
        .hash_func = hash_func,
        .cmp_func = cmp_func,
        .free_k_func = free_k_func,
        .free_v_func = free_v_func,
        .load_factor = load_factor,
        .buckets = buckets,
        .capacity = capacity,
    };
    return hash;
}

ln_hash *ln_hash_create(ln_hash_func hash_func, ln_cmp_func cmp_func, ln_free_func free_k_func,
                        ln_free_func free_v_func)
{
    return ln_hash_create_full(hash_func, cmp_func, free_k_func, free_v_func,
                               LN_HASH_DEFAULT_CAPACITY, LN_HASH_DEFAULT_LOAD_FACTOR);
}

static void free_pair(const ln_hash *hash, const pair *p)
{
    if (hash->free_k_func)
        hash->free_k_func(p->key);
    if (hash->free_v_func)
        hash->free_v_func(p->value);
}

void ln_hash_free(ln_hash *hash)
{
    if (!hash)
        return;
    for (size_t i = 0; i < hash->pair_count; i++)
        if (hash->pairs[i].next != HOLE)
            free_pair(hash, &hash->pairs[i]);
    ln_free(hash->pairs);
    ln_free(hash->buckets);
    ln_free(hash);
}

ln_status ln_hash_init(ln_hash *hash, const ln_hash_init_entry *init_array)
{
    if (!hash || !init_array)
        return LN_FAIL(LN_INVALID, "no hash table or no array to fill it with");
    size_t count = 0;
    while (init_array[count].key || init_array[count].value)
        count++;
    LN_TRY(reserve(hash, count));
    for (size_t i = 0; i < count; i++)
        ln_hash_insert(hash, init_array[i].key, init_array[i].value);
    return LN_OK;
}

int ln_hash_insert(ln_hash *hash, const void *key, void *value)
{
    if (!hash) {
        ln_fail(LN_INVALID, "no hash table to insert into");
        return -1;
    }
    uint32_t key_hash = hash->hash_func(key);
    const uint32_t *link = link_of(hash, key, key_hash);
    if (link)
        return replace(hash, &hash->pairs[*link], key, value);
    if (reserve(hash, 1) != LN_OK)
        return -1;

    uint32_t *bucket = bucket_of(hash, key_hash);
    hash->pairs[hash->pair_count] =
        (pair){.key = without_const(key), .value = value, .hash = key_hash, .next = *bucket};
    *bucket = (uint32_t)hash->pair_count;
    hash->pair_count++;
    hash->size++;
    return 1;
}

void *ln_hash_find(const ln_hash *hash, const void *key)
{
    const pair *p = pair_of(hash, key);
    return p ? p->value : NULL;
}

int ln_hash_find_extended(const ln_hash *hash, const void *key, void **found_key,
                          void **found_value)
{
    const pair *p = pair_of(hash, key);
    if (!p)
        return 0;
    if (found_key)
        *found_key = p->key;
    if (found_value)
        *found_value = p->value;
    return 1;
}

int ln_hash_remove(ln_hash *hash, const void *key)
{
    if (!hash)
        return 0;
    uint32_t *link = link_of(hash, key, hash->hash_func(key));
    if (!link)
        return 0;
    pair *p = &hash->pairs[*link];
    pair removed = *p;
    *link = p->next;
    p->next = HOLE;
    hash->size--;
    free_pair(hash, &removed);
    return 1;
}

int ln_hash_size(const ln_hash *hash)
{
    return hash ? (int)hash->size : 0;
}

int ln_hash_capacity(const ln_hash *hash)
{
    return hash ? (int)hash->capacity : 0;
}

int ln_hash_next(const ln_hash *hash, size_t *cursor, const void **key, void **value)
{
    if (!hash || !cursor)
        return 0;
    while (*cursor < hash->pair_count) {
        const pair *p = &hash->pairs[(*cursor)++];
        if (p->next == HOLE)
            continue;
        if (key)
            *key = p->key;
        if (value)
            *value = p->value;
        return 1;
    }
    return 0;
}
