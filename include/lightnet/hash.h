/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from pointers to pointers, which remembers the order of insertion.
 *
 *     ln_hash *table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free);
 *     ln_hash_insert(table, entry->name, entry);
 *     entry = ln_hash_find(table, "conv1.x");
 *
 * Keys and values belong to the table from the moment they are inserted if it has free functions
 * for them, else to the caller. A key may be inside its value: it is not looked at after the
 * value has been freed. A NULL key is a key like others if hash and comparison take it.
 * Reading from several threads is fine while none changes the table.
 */

#ifndef LIGHTNET_HASH_H
#define LIGHTNET_HASH_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/util.h>

LN_CPPSTART

typedef struct ln_hash ln_hash;

struct ln_hash_init_entry {
    void *key;
    void *value;
};
typedef struct ln_hash_init_entry ln_hash_init_entry;

/* Ends an array of ln_hash_init_entry. */
#define LN_HASH_INIT_ENTRY_NULL                                                                    \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

#define LN_HASH_DEFAULT_CAPACITY    16
#define LN_HASH_DEFAULT_LOAD_FACTOR 0.75f

/* A table with room for `init_capacity` buckets (rounded up to a power of two), which grows when
 * the number of pairs exceeds capacity * `load_factor`. A NULL free function frees nothing.
 * NULL with a recorded failure if `hash_func` or `cmp_func` is NULL, the capacity is outside
 * 0..2^30, the load factor is below 1/16 or not finite (LN_INVALID), or memory is gone. */
LN_API ln_hash *ln_hash_create_full(ln_hash_func hash_func, ln_cmp_func cmp_func,
                                    ln_free_func free_k_func, ln_free_func free_v_func,
                                    int init_capacity, float load_factor);

/* The same with LN_HASH_DEFAULT_CAPACITY and LN_HASH_DEFAULT_LOAD_FACTOR. */
LN_API ln_hash *ln_hash_create(ln_hash_func hash_func, ln_cmp_func cmp_func,
                               ln_free_func free_k_func, ln_free_func free_v_func);

/* Frees the table, and its keys and values where it has functions for that. NULL is fine. */
LN_API void ln_hash_free(ln_hash *hash);

/* Inserts the pairs of `init_array`, which ends with LN_HASH_INIT_ENTRY_NULL. Inserts all, or on
 * failure none. */
LN_API ln_status ln_hash_init(ln_hash *hash, const ln_hash_init_entry *init_array);

/* Inserts a pair. Returns
 *     1   if the key was not in the table, or had the very pointer `value` as its value, which is
 *         then not freed;
 *     0   if the key had another value, which is replaced (freed if there is a function for it);
 *    -1   on failure (LN_NO_MEMORY, LN_LIMIT, LN_INVALID): the table is as it was, and `key` and
 *         `value` stay with the caller.
 * Where the key was in the table, `key` takes the place of the old key pointer, which is freed if
 * there is a function for it and the pointers differ. The pair keeps its place in the order. */
LN_API int ln_hash_insert(ln_hash *hash, const void *key, void *value);

/* The value of `key`; NULL if there is none. Where NULL is a legal value, use
 * ln_hash_find_extended. */
LN_API void *ln_hash_find(const ln_hash *hash, const void *key);

/* Returns 1 and the key and the value in the table if `key` is in it, else 0 and leaves both as
 * they were. `found_key` and `found_value` may be NULL. */
LN_API int ln_hash_find_extended(const ln_hash *hash, const void *key, void **found_key,
                                 void **found_value);

/* Removes a pair, and frees key and value where the table has functions for that. Returns 1, or 0
 * if the key was not in the table. */
LN_API int ln_hash_remove(ln_hash *hash, const void *key);

/* The number of pairs; 0 for NULL. */
LN_API int ln_hash_size(const ln_hash *hash);

/* The number of buckets; 0 for NULL. */
LN_API int ln_hash_capacity(const ln_hash *hash);

/* Walks the pairs in the order of their insertion:
 *
 *     size_t cursor = 0;
 *     const void *key;
 *     void *value;
 *     while (ln_hash_next(table, &cursor, &key, &value))
 *         ...
 *
 * Returns 0 at the end. `key` and `value` may be NULL. Pairs may be removed on the way, but not
 * inserted. */
LN_API int ln_hash_next(const ln_hash *hash, size_t *cursor, const void **key, void **value);

LN_CPPEND

#endif
