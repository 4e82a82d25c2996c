// SPDX-License-Identifier: Apache-2.0
// Blocks of scratch memory: one list of kept ones for a model and its graphs, best fit.
//
// Operators run one after another, so that a few blocks serve all of them, and a model that has run
// once allocates no more.

#include "ir/scratch.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "ir/context.h"
#include "tensor/meter.h"

// What is kept at most: so many bytes, and such a fraction of the memory limit.
#define MAX_KEPT_BYTES    ((size_t)64 << 20)
#define MAX_KEPT_FRACTION 16

// What ln_alloc_aligned adds.
#define ALIGN_BYTES (_Alignof(ln_scratch) + sizeof(void *))

static size_t charge_of(size_t byte_count)
{
    return ln_meter_block(byte_count + sizeof(ln_scratch) + ALIGN_BYTES);
}

void ln_scratch_free(ln_scratch *block)
{
    if (!block)
        return;
    if (block->meter)
        ln_meter_give_back(block->meter, charge_of(block->byte_count));
    ln_meter_release(block->meter);
    ln_free_aligned(block);
}

// Takes the smallest kept block that is long enough out of the list; NULL if there is none.
static ln_scratch *take_kept(ln_context *root, size_t byte_count)
{
    ln_scratch **best = NULL;
    for (ln_scratch **at = &root->scratch; *at; at = &(*at)->next)
        if ((*at)->byte_count >= byte_count && (!best || (*at)->byte_count < (*best)->byte_count))
            best = at;
    if (!best)
        return NULL;
    ln_scratch *block = *best;
    *best = block->next;
    root->scratch_byte_count -= charge_of(block->byte_count);
    memset(block->bytes, 0, byte_count);
    return block;
}

static bool charge(ln_context *root, size_t byte_count)
{
    if (!root || !root->meter || ln_meter_take(root->meter, charge_of(byte_count)))
        return true;
    ln_scratch_free_kept(root);
    return ln_meter_take(root->meter, charge_of(byte_count));
}

static ln_scratch *allocate(ln_context *root, size_t byte_count)
{
    size_t total;
    if (!ln_size_add(byte_count, sizeof(ln_scratch) + ALIGN_BYTES + 64, &total)) {
        ln_fail(LN_LIMIT, "%zu bytes of workspace are more than there can be", byte_count);
        return NULL;
    }
    if (!charge(root, byte_count)) {
        ln_fail(
            LN_LIMIT,
            "needs %zu bytes of workspace, over the memory limit of %zu, which leaves %zu; "
            "raise the limit (`--budget=BYTES`, or `ln_limits` in a program), or take a smaller input",
            byte_count, root->limits.memory_byte_count, ln_meter_left(root->meter));
        return NULL;
    }
    ln_meter *meter = root ? root->meter : NULL;
    ln_scratch *block = ln_alloc_aligned(sizeof(ln_scratch) + byte_count, _Alignof(ln_scratch));
    if (!block) {
        if (meter)
            ln_meter_give_back(meter, charge_of(byte_count));
        return NULL;
    }
    block->byte_count = byte_count;
    block->meter = ln_meter_retain(meter);
    return block;
}

ln_scratch *ln_scratch_take(ln_context *ctx, size_t byte_count)
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    ln_scratch *block = root ? take_kept(root, byte_count) : NULL;
    return block ? block : allocate(root, byte_count);
}

ln_scratch *ln_scratch_take_new(ln_context *ctx, size_t byte_count)
{
    return allocate(ctx ? ln_context_root(ctx) : NULL, byte_count);
}

size_t ln_scratch_max_kept(size_t limit_byte_count)
{
    size_t most = limit_byte_count / MAX_KEPT_FRACTION;
    return most < MAX_KEPT_BYTES ? most : MAX_KEPT_BYTES;
}

// Before a model is loaded there is nothing to charge, and no next call soon.
static bool is_worth_keeping(const ln_context *root, const ln_scratch *block)
{
    if (!root || !root->meter || block->meter != root->meter)
        return false;
    size_t most = ln_scratch_max_kept(root->limits.memory_byte_count);
    size_t bytes = charge_of(block->byte_count);
    return bytes <= most && root->scratch_byte_count <= most - bytes;
}

void ln_scratch_give(ln_context *ctx, ln_scratch *block)
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    if (!block)
        return;
    if (!is_worth_keeping(root, block)) {
        ln_scratch_free(block);
        return;
    }
    block->next = root->scratch;
    root->scratch = block;
    root->scratch_byte_count += charge_of(block->byte_count);
}

void ln_scratch_free_kept(ln_context *ctx)
{
    while (ctx->scratch) {
        ln_scratch *next = ctx->scratch->next;
        ln_scratch_free(ctx->scratch);
        ctx->scratch = next;
    }
    ctx->scratch_byte_count = 0;
}
