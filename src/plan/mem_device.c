// SPDX-License-Identifier: Apache-2.0
// The list of blocks that open devices have allocated. They are few: one for each workspace and
// each static part of a model, so that the copies of a run, which move whole tensors, walk the
// list.

#include "plan/mem_device.h"

#include <pthread.h>
#include <stdint.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"

typedef struct block {
    struct block *next;
    uintptr_t start;
    size_t byte_count;
    const ln_mem_device *device;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;

static ln_status fail_alloc(ln_mem_type mtype, size_t byte_count, ln_status status)
{
    return ln_fail_of_device(status, "%zu bytes of %s cannot be allocated", byte_count,
                             ln_mem_type_title(mtype));
}

ln_status ln_mem_device_alloc(ln_mem_type mtype, const ln_mem_device *device, size_t byte_count,
                              void **out_start)
{
    *out_start = NULL;
    block *b = ln_alloc(sizeof *b);
    if (!b)
        return LN_NO_MEMORY;
    void *start = NULL;
    ln_error_clear();
    ln_status status = device->alloc(device->device, byte_count, &start);
    if (status == LN_OK && !start)
        status = LN_FAIL(LN_INTERNAL, "`alloc` returns LN_OK and no address");
    if (status != LN_OK) {
        ln_free(b);
        return fail_alloc(mtype, byte_count, status);
    }
    size_t align = ln_mem_type_info(mtype).align_size;
    if (align > 0 && (uintptr_t)start % align != 0) {
        device->free(device->device, start);
        ln_free(b);
        ln_fail(LN_INTERNAL, "`alloc` returns %p, which is no multiple of %zu (align_byte_count)",
                start, align);
        return fail_alloc(mtype, byte_count, LN_INTERNAL);
    }
    *b = (block){.start = (uintptr_t)start, .byte_count = byte_count, .device = device};
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
    *out_start = start;
    return LN_OK;
}

void ln_mem_device_free(void *start)
{
    pthread_mutex_lock(&lock);
    block **at = &blocks;
    while (*at && (*at)->start != (uintptr_t)start)
        at = &(*at)->next;
    block *b = *at;
    if (b)
        *at = b->next;
    pthread_mutex_unlock(&lock);
    if (b)
        b->device->free(b->device->device, start);
    ln_free(b);
}

const ln_mem_device *ln_mem_device_at(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    const ln_mem_device *device = NULL;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b && !device; b = b->next)
        if (at - b->start < b->byte_count)
            device = b->device;
    pthread_mutex_unlock(&lock);
    return device;
}
