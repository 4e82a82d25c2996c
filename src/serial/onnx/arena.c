// SPDX-License-Identifier: Apache-2.0
// A list of chunks that double in size, the newest first.

#include "serial/onnx/arena.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

#define FIRST_CHUNK ((size_t)1 << 10)
#define LAST_CHUNK  ((size_t)1 << 18)
#define ALIGN       _Alignof(max_align_t)

struct ln_onnx_chunk {
    ln_onnx_chunk *next;
    size_t capacity, used; // of bytes
    max_align_t bytes[];
};

// Of each byte of a file: an int64 of one byte takes 8, with what is needed besides.
#define BYTES_A_BYTE ((size_t)32)
#define FIRST_BYTES  ((size_t)16 << 20)

ln_onnx_budget ln_onnx_budget_of(size_t byte_count, size_t most)
{
    size_t first = most < FIRST_BYTES ? most : FIRST_BYTES;
    ln_onnx_budget budget = {.left = first, .limit = first, .most = most};
    ln_onnx_budget_raise(&budget, byte_count);
    return budget;
}

void ln_onnx_budget_raise(ln_onnx_budget *budget, size_t byte_count)
{
    size_t room = budget->most > budget->limit ? budget->most - budget->limit : 0;
    size_t more = byte_count < room / BYTES_A_BYTE ? byte_count * BYTES_A_BYTE : room;
    budget->limit += more;
    budget->left += more;
}

ln_status ln_onnx_charge(ln_onnx_budget *budget, size_t byte_count)
{
    if (!budget)
        return LN_OK;
    if (byte_count > budget->left)
        return LN_FAIL(
            LN_LIMIT,
            "reading takes %zu more bytes, which is over the limit of %zu in all for "
            "a file of its size (at most memory_byte_count of `ln_limits`, which `--budget=BYTES` sets)",
            byte_count, budget->limit);
    budget->left -= byte_count;
    return LN_OK;
}

static ln_onnx_chunk *add_chunk(ln_onnx_arena *arena, size_t byte_count)
{
    size_t capacity = arena->chunks ? arena->chunks->capacity * 2 : FIRST_CHUNK;
    if (capacity > LAST_CHUNK)
        capacity = LAST_CHUNK;
    if (capacity < byte_count)
        capacity = byte_count;
    size_t size;
    if (!ln_size_add(capacity, sizeof(ln_onnx_chunk), &size)) {
        ln_fail(LN_LIMIT, "%zu bytes are too many", byte_count);
        return NULL;
    }
    if (ln_onnx_charge(arena->budget, capacity) != LN_OK)
        return NULL;
    ln_onnx_chunk *chunk = ln_alloc(size);
    if (!chunk) {
        if (arena->budget)
            arena->budget->left += capacity;
        return NULL;
    }
    chunk->capacity = capacity;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *ln_onnx_arena_take(ln_onnx_arena *arena, size_t count, size_t size)
{
    size_t byte_count;
    if (!ln_size_mul(count, size, &byte_count) ||
        !ln_size_align(byte_count ? byte_count : 1, ALIGN, &byte_count)) {
        ln_fail(LN_LIMIT, "%zu elements of %zu bytes are too many", count, size);
        return NULL;
    }
    ln_onnx_chunk *chunk = arena->chunks;
    if (!chunk || chunk->capacity - chunk->used < byte_count)
        chunk = add_chunk(arena, byte_count);
    if (!chunk)
        return NULL;
    char *bytes = (char *)chunk->bytes + chunk->used;
    chunk->used += byte_count;
    return memset(bytes, 0, byte_count); // a reset arena's bytes are old
}

char *ln_onnx_arena_text(ln_onnx_arena *arena, const void *bytes, size_t len)
{
    size_t size;
    if (!ln_size_add(len, 1, &size)) {
        ln_fail(LN_LIMIT, "a text of %zu bytes is too long", len);
        return NULL;
    }
    char *text = ln_onnx_arena_take(arena, size, 1);
    if (text && len > 0)
        memcpy(text, bytes, len);
    return text;
}

static void free_chunks(ln_onnx_arena *arena, ln_onnx_chunk *chunk)
{
    while (chunk) {
        ln_onnx_chunk *next = chunk->next;
        if (arena->budget)
            arena->budget->left += chunk->capacity;
        ln_free(chunk);
        chunk = next;
    }
}

void ln_onnx_arena_reset(ln_onnx_arena *arena)
{
    if (!arena->chunks)
        return;
    free_chunks(arena, arena->chunks->next);
    arena->chunks->next = NULL;
    arena->chunks->used = 0;
}

void ln_onnx_arena_deinit(ln_onnx_arena *arena)
{
    free_chunks(arena, arena->chunks);
    arena->chunks = NULL;
}
