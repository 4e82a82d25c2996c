// SPDX-License-Identifier: Apache-2.0
// Counted memory: the blocks of a context, and how many look at them.

#define _DEFAULT_SOURCE // madvise

#include "ir/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "plan/mem_copy.h"
#include "plan/mem_use.h"

struct ln_memory {
    atomic_size_t holder_count;
    atomic_size_t context_count; // whose static tensors are here
    void *starts[LN_MEM_TYPE_SIZE];
    size_t begins[LN_MEM_TYPE_SIZE]; // the offset that is at the start
    size_t ends[LN_MEM_TYPE_SIZE];   // the offset after the last
    void (*free_funcs[LN_MEM_TYPE_SIZE])(void *);
    ln_devices *devices; // that have some of the blocks; held
    ln_memory *before;   // where the offsets below `begins` are; NULL: nowhere
    ln_memory *block;    // of a window: whose bytes these are; NULL: its own
};

#define LARGE_PAGE ((uintptr_t)2 << 20)

// Large blocks in large pages, where the system grants them: the first touch of each small page
// costs more than what is then written there.
static void ask_for_large_pages(void *start, size_t byte_count)
{
#ifdef MADV_HUGEPAGE
    uintptr_t begin = ((uintptr_t)start + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    uintptr_t end = ((uintptr_t)start + byte_count) / LARGE_PAGE * LARGE_PAGE;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)start;
    (void)byte_count;
#endif
}

// Zeroed where the memory type can, unless `is_raw`.
static ln_status alloc_type(ln_memory *memory, ln_mem_type mtype, size_t byte_count, bool is_raw)
{
    ln_mem_info info = ln_mem_type_info(mtype);
    const ln_mem_device *device =
        ln_mem_type_is_of_devices(mtype) ? ln_devices_of_memory(memory->devices, mtype) : NULL;
    if (!device && (!info.alloc_func || !info.free_func))
        return LN_FAIL(LN_UNSUPPORTED, "no device provides memory of type %s",
                       ln_mem_type_title(mtype));
    if (byte_count > info.max_size)
        return LN_FAIL(LN_LIMIT, "%zu bytes of %s are planned, but there are only %zu", byte_count,
                       ln_mem_type_title(mtype), info.max_size);
    if (device) {
        LN_TRY(ln_mem_device_alloc(mtype, device, byte_count, &memory->starts[mtype]));
        memory->free_funcs[mtype] = ln_mem_device_free;
        ln_mem_type_hold(mtype);
        return is_raw ? LN_OK : ln_mem_clear(mtype, memory->starts[mtype], byte_count);
    }
    memory->starts[mtype] = info.alloc_func(byte_count);
    memory->free_funcs[mtype] = info.free_func;
    if (!memory->starts[mtype]) {
        ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes of %s were refused", byte_count,
                ln_mem_type_title(mtype));
        return mtype == LN_MEM_CPU ? LN_NO_MEMORY : ln_error_note_device(LN_NO_MEMORY);
    }
    ln_mem_type_hold(mtype);
    if (mtype == LN_MEM_CPU)
        ask_for_large_pages(memory->starts[mtype], byte_count);
    if (info.memset_func && mtype != LN_MEM_CPU &&
        !is_raw) // which is zeroed, maybe without being touched
        info.memset_func(memory->starts[mtype], 0, byte_count);
    return LN_OK;
}

// Main memory stays anyway, and is not always held.
static void free_type(const ln_memory *memory, ln_mem_type mtype)
{
    memory->free_funcs[mtype](memory->starts[mtype]);
    if (mtype != LN_MEM_CPU)
        ln_mem_type_drop(mtype);
}

static ln_memory *create(ln_devices *devices, const size_t *begins, const size_t *ends)
{
    ln_memory *memory = ln_alloc(sizeof *memory);
    if (!memory)
        return NULL;
    atomic_init(&memory->holder_count, 1);
    atomic_init(&memory->context_count, 0);
    memory->devices = ln_devices_retain(devices);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        memory->begins[m] = begins ? begins[m] : 0;
        memory->ends[m] = ends[m] > memory->begins[m] ? ends[m] : memory->begins[m];
    }
    return memory;
}

ln_status ln_memory_create_after(ln_devices *devices, ln_memory *before,
                                 const size_t begins[LN_MEM_TYPE_SIZE],
                                 const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory)
{
    *out_memory = NULL;
    ln_memory *memory = create(devices, begins, ends);
    if (!memory)
        return LN_NO_MEMORY;
    memory->before = ln_memory_retain(before);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        size_t byte_count = memory->ends[m] - memory->begins[m];
        ln_status status =
            byte_count ? alloc_type(memory, (ln_mem_type)m, byte_count, false) : LN_OK;
        if (status != LN_OK) {
            ln_memory_release(memory);
            return status;
        }
    }
    *out_memory = memory;
    return LN_OK;
}

ln_status ln_memory_create(ln_devices *devices, const size_t begins[LN_MEM_TYPE_SIZE],
                           const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory)
{
    return ln_memory_create_after(devices, NULL, begins, ends, out_memory);
}

static ln_status alloc_raw(ln_memory *memory, size_t byte_count)
{
    memory->free_funcs[LN_MEM_CPU] = ln_free_aligned;
    memory->starts[LN_MEM_CPU] = ln_alloc_aligned_raw(byte_count, LN_MEM_ALIGN);
    if (!memory->starts[LN_MEM_CPU])
        return LN_NO_MEMORY;
    ask_for_large_pages(memory->starts[LN_MEM_CPU], byte_count);
    return LN_OK;
}

ln_status ln_memory_create_raw(ln_devices *devices, const size_t begins[LN_MEM_TYPE_SIZE],
                               const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory)
{
    *out_memory = NULL;
    ln_memory *memory = create(devices, begins, ends);
    if (!memory)
        return LN_NO_MEMORY;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        size_t byte_count = memory->ends[m] - memory->begins[m];
        ln_status status = LN_OK;
        if (byte_count > 0)
            status = m == LN_MEM_CPU ? alloc_raw(memory, byte_count)
                                     : alloc_type(memory, (ln_mem_type)m, byte_count, true);
        if (status != LN_OK) {
            ln_memory_release(memory);
            return status;
        }
    }
    *out_memory = memory;
    return LN_OK;
}

// ---- Windows ----

bool ln_memory_has_room(const ln_memory *block, const size_t begins[LN_MEM_TYPE_SIZE],
                        const size_t ends[LN_MEM_TYPE_SIZE])
{
    for (int m = LN_MEM_NONE + 1; block && m < LN_MEM_TYPE_SIZE; m++)
        if (ends[m] > begins[m] && ends[m] - begins[m] > block->ends[m] - block->begins[m])
            return false;
    return block != NULL;
}

ln_status ln_memory_create_window(ln_memory *block, const size_t begins[LN_MEM_TYPE_SIZE],
                                  const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory)
{
    *out_memory = NULL;
    if (!ln_memory_has_room(block, begins, ends))
        return LN_FAIL(LN_INTERNAL, "the workspace is too small for a plan that was made");
    *out_memory = create(NULL, begins, ends);
    if (!*out_memory)
        return LN_NO_MEMORY;
    (*out_memory)->block = ln_memory_retain(block);
    memcpy((*out_memory)->starts, block->starts, sizeof block->starts);
    return LN_OK;
}

size_t ln_memory_size(const ln_memory *memory, ln_mem_type mtype)
{
    return memory ? memory->ends[mtype] - memory->begins[mtype] : 0;
}

// ---- Holding ----

ln_memory *ln_memory_retain(ln_memory *memory)
{
    if (memory)
        atomic_fetch_add_explicit(&memory->holder_count, 1, memory_order_relaxed);
    return memory;
}

void ln_memory_release(ln_memory *memory)
{
    if (!memory || atomic_fetch_sub_explicit(&memory->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        if (memory->starts[m] && !memory->block)
            free_type(memory, (ln_mem_type)m);
    }
    ln_memory_release(memory->before);
    ln_memory_release(memory->block);
    ln_devices_release(memory->devices);
    ln_free(memory);
}

// ---- Addresses ----

void *ln_memory_at(const ln_memory *memory, ln_mem_type mtype, size_t offset)
{
    while (memory && offset < memory->begins[mtype])
        memory = memory->before;
    char *start = memory ? memory->starts[mtype] : NULL;
    return start ? start + (offset - memory->begins[mtype]) : NULL;
}

void *ln_memory_start(const ln_memory *memory, ln_mem_type mtype)
{
    return memory->starts[mtype];
}

ln_status ln_memory_copy(ln_memory *to, const ln_memory *from)
{
    for (; from; from = from->before) {
        for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
            size_t begin = from->begins[m];
            size_t end = from->ends[m] < to->ends[m] ? from->ends[m] : to->ends[m];
            if (end <= begin)
                continue;
            ln_mem_type mtype = (ln_mem_type)m;
            LN_TRY(ln_mem_copy(mtype, ln_memory_at(to, mtype, begin), mtype, from->starts[m],
                               end - begin));
        }
    }
    return LN_OK;
}

// ---- Sharing ----

void ln_memory_join(ln_memory *memory)
{
    for (; memory; memory = memory->before)
        atomic_fetch_add_explicit(&memory->context_count, 1, memory_order_relaxed);
}

// What a context read before it left happens before another, alone now, writes there.
void ln_memory_leave(ln_memory *memory)
{
    for (; memory; memory = memory->before)
        atomic_fetch_sub_explicit(&memory->context_count, 1, memory_order_release);
}

int ln_memory_is_shared(const ln_memory *memory)
{
    for (; memory; memory = memory->before)
        if (atomic_load_explicit(&memory->context_count, memory_order_acquire) > 1)
            return 1;
    return 0;
}
