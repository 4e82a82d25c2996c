// SPDX-License-Identifier: Apache-2.0
// Charging a meter for bytes that are no object's, and the blocks that it keeps for the next
// objects.

#ifndef LN_TENSOR_METER_H
#define LN_TENSOR_METER_H

#include <stdbool.h>

#include <lightnet/object.h>

// True, and the bytes are counted, unless they go beyond the limit. Records no failure.
bool ln_meter_take(ln_meter *meter, size_t byte_count);
void ln_meter_give_back(ln_meter *meter, size_t byte_count);

// The bytes that a block of `byte_count` takes from an allocator: with its header, rounded as
// usual allocators do. SIZE_MAX if that overflows.
size_t ln_meter_block(size_t byte_count);

// The bytes that the meter still grants; SIZE_MAX for NULL.
size_t ln_meter_left(const ln_meter *meter);

// ---- Kept blocks ----
//
// A model that runs again and again makes the same values again, so a meter may keep blocks of the
// allocator for them. Kept blocks are not in `ln_meter_bytes`; with it they stay within the limit,
// and go first where it is reached. What eight to sixteen runs have not needed is freed.

// The smallest block that may be kept.
#define LN_METER_MIN_KEPT (3 * sizeof(void *))

// Frees what is kept, and keeps at most so many bytes from now on; a new meter keeps none.
void ln_meter_keep_at_most(ln_meter *meter, size_t byte_count);

// To be called when a run begins that takes from the meter.
void ln_meter_begin_run(ln_meter *meter);

// What is kept now.
size_t ln_meter_kept_bytes(const ln_meter *meter);

// True, and the meter has taken over `block` of ln_alloc; false: it is the caller's still.
bool ln_meter_keep(ln_meter *meter, void *block, size_t byte_count);

// A block that was kept, of `least` to `most` bytes, whose content is arbitrary, to be freed by
// ln_free; NULL if none fits. *out_byte_count is its length, or `least` if there is none.
void *ln_meter_reuse(ln_meter *meter, size_t least, size_t most, size_t *out_byte_count);

#endif
