// SPDX-License-Identifier: Apache-2.0
// The only file that calls the C library's allocator.

#include <lightnet/allocator.h>

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/status.h>

#include "base/checked.h"

static void *libc_resize(void *user, void *p, size_t size)
{
    (void)user;
    return realloc(p, size);
}

static void libc_release(void *user, void *p)
{
    (void)user;
    free(p);
}

static const ln_allocator libc_allocator = {.resize = libc_resize, .release = libc_release};
static ln_allocator current = {.resize = libc_resize, .release = libc_release};

void ln_allocator_set(const ln_allocator *allocator)
{
    current = allocator ? *allocator : libc_allocator;
}

void *ln_realloc(void *p, size_t size)
{
    void *resized = current.resize(current.user, p, size ? size : 1);
    if (!resized)
        ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes were refused", size);
    return resized;
}

// The C library knows which of its memory is fresh from the system and thus zeros already, so that
// large blocks are not touched before they are used.
static void *alloc_fresh(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes were refused", size);
    return p;
}

void *ln_alloc(size_t size)
{
    if (current.resize == libc_resize)
        return alloc_fresh(size);
    void *p = ln_realloc(NULL, size);
    if (p)
        memset(p, 0, size ? size : 1);
    return p;
}

void *ln_alloc_array(size_t count, size_t size)
{
    size_t byte_count;
    if (!ln_size_mul(count, size, &byte_count)) {
        ln_fail(LN_NO_MEMORY, "out of memory: %zu elements of %zu bytes overflow", count, size);
        return NULL;
    }
    return ln_alloc(byte_count);
}

// Layout:   | start of block ... | address of the block | aligned bytes ... |
static void *alloc_aligned(size_t size, size_t align, bool is_raw)
{
    assert(align >= sizeof(void *) && (align & (align - 1)) == 0);

    size_t byte_count;
    if (!ln_size_add(size, align + sizeof(void *), &byte_count)) {
        ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes aligned to %zu overflow", size, align);
        return NULL;
    }
    char *block = is_raw ? ln_realloc(NULL, byte_count) : ln_alloc(byte_count);
    if (!block)
        return NULL;

    uintptr_t first = (uintptr_t)block + sizeof(void *);
    size_t shift = (size_t)(-first & (align - 1)) + sizeof(void *);
    memcpy(block + shift - sizeof(void *), &block, sizeof block);
    return block + shift;
}

void *ln_alloc_aligned(size_t size, size_t align)
{
    return alloc_aligned(size, align, false);
}

void *ln_alloc_aligned_raw(size_t size, size_t align)
{
    return alloc_aligned(size, align, true);
}

void ln_free_aligned(void *p)
{
    if (!p)
        return;
    void *block;
    memcpy(&block, (char *)p - sizeof(void *), sizeof block);
    ln_free(block);
}

char *ln_strdup(const char *s)
{
    if (!s)
        return NULL;
    size_t byte_count = strlen(s) + 1;
    char *copy = ln_alloc(byte_count);
    if (copy)
        memcpy(copy, s, byte_count);
    return copy;
}

char *ln_strdup_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len < 0) {
        ln_fail(LN_INTERNAL, "bad format '%s'", fmt);
        return NULL;
    }
    char *text = ln_alloc((size_t)len + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return text;
}

void ln_free(void *p)
{
    if (p)
        current.release(current.user, p);
}
