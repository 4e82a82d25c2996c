// SPDX-License-Identifier: Apache-2.0
// Memory for what is known while a model is read: taken piece by piece, given back in one go, and
// charged to a budget before it is taken.

#ifndef LN_SERIAL_ONNX_ARENA_H
#define LN_SERIAL_ONNX_ARENA_H

#include <stddef.h>

#include <lightnet/status.h>

// Bytes that reading one model may still take.
typedef struct ln_onnx_budget {
    size_t left;
    size_t limit; // what it began with, for messages
    size_t most;  // to which files beside the model may raise it
} ln_onnx_budget;

// What reading a file of `byte_count` bytes may take: many times as much, but a small one that
// would take gigabytes (functions that bring the same weights again and again) is not meant well.
ln_onnx_budget ln_onnx_budget_of(size_t byte_count, size_t most);

// A file of `byte_count` bytes beside the model has been opened.
void ln_onnx_budget_raise(ln_onnx_budget *budget, size_t byte_count);

// LN_LIMIT if so many are not left. NULL: no limit.
ln_status ln_onnx_charge(ln_onnx_budget *budget, size_t byte_count);

typedef struct ln_onnx_chunk ln_onnx_chunk;

// Start with {.budget = ...}; the budget is borrowed.
typedef struct ln_onnx_arena {
    ln_onnx_chunk *chunks;
    ln_onnx_budget *budget;
} ln_onnx_arena;

// `count` elements of `size` bytes, zeroed, aligned for any type; NULL with a recorded failure.
void *ln_onnx_arena_take(ln_onnx_arena *arena, size_t count, size_t size);

// A copy with a 0 byte after it.
char *ln_onnx_arena_text(ln_onnx_arena *arena, const void *bytes, size_t len);

// Forgets all that was taken and keeps one chunk for more.
void ln_onnx_arena_reset(ln_onnx_arena *arena);

// Frees all; {0} is fine. What was charged is given back.
void ln_onnx_arena_deinit(ln_onnx_arena *arena);

#endif
