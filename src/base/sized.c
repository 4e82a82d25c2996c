// SPDX-License-Identifier: Apache-2.0
// Structures of other versions.

#include "base/sized.h"

#include <pthread.h>
#include <string.h>

#include <lightnet/allocator.h>

static ln_status check(const void *given, size_t given_size, size_t size, size_t least,
                       const char *type)
{
    if (given_size < least)
        return LN_FAIL(LN_INVALID, "%s has %zu bytes, at least %zu are needed", type, given_size,
                       least);
    const unsigned char *bytes = given;
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return LN_FAIL(LN_UNSUPPORTED,
                           "%s has %zu bytes in this program and %zu in this library, and says "
                           "something at byte %zu: the program needs a newer LightNet",
                           type, given_size, size, i);
    return LN_OK;
}

ln_status ln_sized_read(void *out, size_t size, const void *given, size_t given_size, size_t least,
                        const char *type)
{
    LN_TRY(check(given, given_size, size, least, type));
    memcpy(out, given, given_size < size ? given_size : size);
    return LN_OK;
}

void ln_sized_write(void *given, size_t given_size, const void *whole, size_t size)
{
    if (!given)
        return;
    memset(given, 0, given_size);
    memcpy(given, whole, given_size < size ? given_size : size);
}

// ---- Copies ----

typedef struct sized_copy {
    struct sized_copy *next;
    void *given;
    void *whole;
} sized_copy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sized_copy *copies;

ln_status ln_sized_adopt(void *given, size_t given_size, size_t size, size_t least,
                         const char *type, void **out_whole)
{
    *out_whole = NULL;
    LN_TRY(check(given, given_size, size, least, type));
    if (given_size >= size) {
        *out_whole = given;
        return LN_OK;
    }
    sized_copy *copy = ln_alloc(sizeof *copy);
    void *whole = copy ? ln_alloc(size) : NULL;
    if (!whole) {
        ln_free(copy);
        return LN_NO_MEMORY;
    }
    memcpy(whole, given, given_size);
    pthread_mutex_lock(&lock);
    *copy = (sized_copy){.next = copies, .given = given, .whole = whole};
    copies = copy;
    pthread_mutex_unlock(&lock);
    *out_whole = whole;
    return LN_OK;
}

void *ln_sized_whole(void *given)
{
    pthread_mutex_lock(&lock);
    const sized_copy *copy = copies;
    while (copy && copy->given != given)
        copy = copy->next;
    void *whole = copy ? copy->whole : given;
    pthread_mutex_unlock(&lock);
    return whole;
}

void *ln_sized_give_back(void *whole)
{
    pthread_mutex_lock(&lock);
    sized_copy **at = &copies;
    while (*at && (*at)->whole != whole)
        at = &(*at)->next;
    sized_copy *copy = *at;
    if (copy)
        *at = copy->next;
    pthread_mutex_unlock(&lock);
    if (!copy)
        return whole;
    void *given = copy->given;
    ln_free(copy->whole);
    ln_free(copy);
    return given;
}
