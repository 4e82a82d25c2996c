// SPDX-License-Identifier: Apache-2.0
// Memory that an operator takes for one call of its functions and that no plan has: charged to the
// memory limit of the model with the values of dynamic shape, and kept for the next call.

#ifndef LN_IR_SCRATCH_H
#define LN_IR_SCRATCH_H

#include <stddef.h>

#include <lightnet/context.h>

typedef struct ln_scratch {
    struct ln_scratch *next; // for whoever has it
    size_t byte_count;       // of `bytes`, at least what was asked for
    ln_meter *meter;         // retained; NULL: it is charged to none
    _Alignas(64) unsigned char bytes[];
} ln_scratch;

// What an operator may have uncharged while it is prepared, and keep of that: no more than its own
// structures, which no plan and no limit counts either.
#define LN_SCRATCH_FREE_BYTES 4096

// A block for operators of `ctx` (NULL: of no model) whose first `byte_count` bytes are zero. NULL
// with a recorded failure: LN_LIMIT if the memory limit has not so much left.
ln_scratch *ln_scratch_take(ln_context *ctx, size_t byte_count);

// The same, and never a kept block, which may be longer than needed.
ln_scratch *ln_scratch_take_new(ln_context *ctx, size_t byte_count);

// Gives a block back, which is kept for the next call or freed. NULL is fine.
void ln_scratch_give(ln_context *ctx, ln_scratch *block);

// Frees a block that is not to be kept. NULL is fine.
void ln_scratch_free(ln_scratch *block);

// How much a context keeps at most for its next call, of a memory limit of so many bytes: that of
// workspace, and as much again for values.
size_t ln_scratch_max_kept(size_t limit_byte_count);

// Frees what a context keeps.
void ln_scratch_free_kept(ln_context *ctx);

#endif
