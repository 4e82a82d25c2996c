// SPDX-License-Identifier: Apache-2.0
// The virtual memory pool: best fit over an ordered list of blocks.
//
// Invariants: the blocks cover the pool without gaps, in the order of addresses; no two holes are
// neighbours; the first address is 1. Padding in front of an aligned address is a hole of its own
// and joins its neighbours again when they are freed.

#include <lightnet/mem.h>

#include <stdbool.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

typedef struct block {
    struct block *prev;
    struct block *next;
    size_t start;
    size_t end; // exclusive
    bool is_used;
} block;

struct ln_mem_pool {
    block *first;
    size_t align;
};

static block *block_create(size_t start, size_t end, bool is_used)
{
    block *b = ln_alloc(sizeof *b);
    if (!b)
        return NULL;
    b->start = start;
    b->end = end;
    b->is_used = is_used;
    return b;
}

static void insert_before(ln_mem_pool *pool, block *b, block *added)
{
    added->prev = b->prev;
    added->next = b;
    if (b->prev)
        b->prev->next = added;
    else
        pool->first = added;
    b->prev = added;
}

static void insert_after(block *b, block *added)
{
    added->prev = b;
    added->next = b->next;
    if (b->next)
        b->next->prev = added;
    b->next = added;
}

// Lets `b` take over the bytes of the block after it.
static void absorb_next(block *b)
{
    block *next = b->next;
    b->end = next->end;
    b->next = next->next;
    if (next->next)
        next->next->prev = b;
    ln_free(next);
}

static block *find_used(const ln_mem_pool *pool, size_t addr)
{
    for (block *b = pool->first; b && b->start <= addr; b = b->next) {
        if (b->is_used && b->start == addr)
            return b;
    }
    return NULL;
}

// The hole with the fewest bytes after its first aligned address, if they are enough.
static block *find_hole(const ln_mem_pool *pool, size_t size, size_t *out_addr, size_t *out_largest)
{
    block *best = NULL;
    size_t best_usable = 0;
    *out_addr = 0;
    *out_largest = 0;
    for (block *b = pool->first; b; b = b->next) {
        size_t addr;
        if (b->is_used || !ln_size_align(b->start, pool->align, &addr) || addr >= b->end)
            continue;
        size_t usable = b->end - addr;
        if (usable > *out_largest)
            *out_largest = usable;
        if (usable >= size && (!best || usable < best_usable)) {
            best = b;
            best_usable = usable;
            *out_addr = addr;
        }
    }
    return best;
}

// Turns bytes [addr, addr + size) of the hole into a used block; the rest stays holes.
static ln_status use_hole(ln_mem_pool *pool, block *hole, size_t addr, size_t size)
{
    block *padding = NULL, *rest = NULL;
    if (addr > hole->start) {
        padding = block_create(hole->start, addr, false);
        if (!padding)
            return LN_NO_MEMORY;
    }
    if (addr + size < hole->end) {
        rest = block_create(addr + size, hole->end, false);
        if (!rest) {
            ln_free(padding);
            return LN_NO_MEMORY;
        }
    }
    if (padding)
        insert_before(pool, hole, padding);
    if (rest)
        insert_after(hole, rest);
    hole->start = addr;
    hole->end = addr + size;
    hole->is_used = true;
    return LN_OK;
}

ln_mem_pool *ln_mem_pool_create(size_t size, size_t align_size)
{
    size_t end;
    if (size == 0 || !ln_size_add(size, 1, &end)) {
        ln_fail(LN_INVALID, "a memory pool cannot have %zu bytes", size);
        return NULL;
    }
    if (align_size == 0 || (align_size & (align_size - 1)) != 0) {
        ln_fail(LN_INVALID, "the alignment of a memory pool, %zu, is not a power of two",
                align_size);
        return NULL;
    }
    ln_mem_pool *pool = ln_alloc(sizeof *pool);
    if (!pool)
        return NULL;
    pool->align = align_size;
    pool->first = block_create(1, end, false);
    if (!pool->first) {
        ln_free(pool);
        return NULL;
    }
    return pool;
}

void ln_mem_pool_free(ln_mem_pool *mem_pool)
{
    if (!mem_pool)
        return;
    for (block *b = mem_pool->first, *next; b; b = next) {
        next = b->next;
        ln_free(b);
    }
    ln_free(mem_pool);
}

size_t ln_mem_pool_alloc(ln_mem_pool *mem_pool, size_t size)
{
    if (!mem_pool || size == 0) {
        ln_fail(LN_INVALID, "cannot allocate %zu bytes from %s", size,
                mem_pool ? "a memory pool" : "no memory pool");
        return 0;
    }
    size_t addr, largest;
    block *hole = find_hole(mem_pool, size, &addr, &largest);
    if (!hole) {
        ln_fail(LN_LIMIT, "the memory pool has no hole of %zu bytes; the largest has %zu", size,
                largest);
        return 0;
    }
    return use_hole(mem_pool, hole, addr, size) == LN_OK ? addr : 0;
}

ln_status ln_mem_pool_dealloc(ln_mem_pool *mem_pool, size_t addr)
{
    if (!mem_pool)
        return LN_FAIL(LN_INVALID, "cannot give address %zu back to no memory pool", addr);
    block *b = find_used(mem_pool, addr);
    if (!b)
        return LN_FAIL(LN_NOT_FOUND, "address %zu is not allocated in the memory pool", addr);

    b->is_used = false;
    if (b->next && !b->next->is_used)
        absorb_next(b);
    if (b->prev && !b->prev->is_used)
        absorb_next(b->prev);
    return LN_OK;
}

int ln_mem_pool_exist(ln_mem_pool *mem_pool, size_t addr)
{
    return mem_pool && find_used(mem_pool, addr);
}

ln_status ln_mem_pool_dump(ln_mem_pool *mem_pool, FILE *fp)
{
    if (!mem_pool || !fp)
        return LN_FAIL(LN_INVALID, "dumping a memory pool needs a pool and a stream");
    bool is_written = fprintf(fp, "======= Lightnet Memory Plan Map: =======\n") >= 0;
    for (const block *b = mem_pool->first; b; b = b->next) {
        if (fprintf(fp, "0x%012zx-0x%012zx %c\n", b->start, b->end, b->is_used ? 'S' : 'H') < 0)
            is_written = false;
    }
    return is_written ? LN_OK : LN_FAIL(LN_IO, "cannot write the map of the memory pool");
}

static void free_pool(void *pool)
{
    ln_mem_pool_free(pool);
}

ln_hash *ln_mem_pool_table_create(void)
{
    ln_hash *table = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, free_pool);
    if (!table)
        return NULL;
    for (int mtype = LN_MEM_NONE + 1; mtype < LN_MEM_TYPE_SIZE; mtype++) {
        ln_mem_info info = ln_mem_type_info((ln_mem_type)mtype);
        if (info.max_size == 0)
            continue; // the number is free
        ln_mem_pool *pool = ln_mem_pool_create(info.max_size, info.align_size);
        if (!pool || ln_hash_insert(table, (void *)(intptr_t)mtype, pool) < 0) {
            ln_mem_pool_free(pool);
            ln_hash_free(table);
            return NULL;
        }
    }
    return table;
}

void ln_mem_pool_table_free(ln_hash *mpt)
{
    ln_hash_free(mpt);
}
