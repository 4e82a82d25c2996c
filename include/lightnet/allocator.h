/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of the library comes from one replaceable allocator.
 *
 * Replace it before the first other call of the library; it is shared by all threads and must be
 * thread-safe. Memory that the library hands to the caller is given back with `ln_free`.
 */

#ifndef LIGHTNET_ALLOCATOR_H
#define LIGHTNET_ALLOCATOR_H

#include <stddef.h>

#include <lightnet/export.h>

LN_CPPSTART

typedef struct ln_allocator {
    /* Like realloc: `p` NULL allocates, never called with `size` 0. Returns NULL on failure and
     * leaves `p` valid. The result is aligned for any C type. */
    void *(*resize)(void *user, void *p, size_t size);
    void (*release)(void *user, void *p); /* like free; `p` is never NULL */
    void *user;
} ln_allocator;

/* Replaces the allocator; NULL brings back the C library's. Not thread-safe. */
LN_API void ln_allocator_set(const ln_allocator *allocator);

/* Memory of `size` bytes, all zero; NULL and a recorded LN_NO_MEMORY on failure.
 * A size of 0 gives a valid pointer. The caller gives it back with `ln_free`. */
LN_API void *ln_alloc(size_t size);

/* `count` elements of `size` bytes, all zero; fails when the product overflows. */
LN_API void *ln_alloc_array(size_t count, size_t size);

/* Resizes `p` (NULL allocates); new bytes are not zeroed. On failure returns NULL, and `p` stays
 * valid. */
LN_API void *ln_realloc(void *p, size_t size);

/* Memory of `size` bytes, all zero, whose address is a multiple of `align` (a power of two).
 * Given back with `ln_free_aligned`. */
LN_API void *ln_alloc_aligned(size_t size, size_t align);
LN_API void ln_free_aligned(void *p);

/* The same, but the bytes may hold anything. */
LN_API void *ln_alloc_aligned_raw(size_t size, size_t align);

/* A copy of the string; NULL for NULL and on failure. Given back with `ln_free`. */
LN_API char *ln_strdup(const char *s);

/* A printf-made string; NULL on failure. Given back with `ln_free`. */
LN_API char *ln_strdup_printf(const char *fmt, ...) LN_PRINTF(1, 2);

/* Gives memory back; NULL is fine. */
LN_API void ln_free(void *p);

LN_CPPEND

#endif
