// SPDX-License-Identifier: Apache-2.0
// Counted memory: one block for each memory type, freed with the last holder.
//
// A context holds the memory that it was loaded into; its clones hold the same for the static
// tensors in it, and what shows a tensor to the caller may hold it too. Counting is thread-safe.

#ifndef LN_IR_MEMORY_H
#define LN_IR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/mem.h>
#include <lightnet/status.h>

#include "ir/devices.h"

typedef struct ln_memory ln_memory;

// Allocates zeroed bytes for the planned offsets from begins[m] (NULL: 0) up to ends[m] of each
// memory type m; none where there are none. Those of open devices are of `devices`, which it holds;
// NULL: there are none. The caller holds the result.
ln_status ln_memory_create(ln_devices *devices, const size_t begins[LN_MEM_TYPE_SIZE],
                           const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory);

ln_memory *ln_memory_retain(ln_memory *memory); // returns `memory`; NULL is fine
void ln_memory_release(ln_memory *memory);      // NULL is fine

// The same for offsets from begins[m] on; those below are where `before`, which the result holds,
// has them. `before` NULL: nothing is below.
ln_status ln_memory_create_after(ln_devices *devices, ln_memory *before,
                                 const size_t begins[LN_MEM_TYPE_SIZE],
                                 const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory);

// As ln_memory_create, but the bytes may hold anything.
ln_status ln_memory_create_raw(ln_devices *devices, const size_t begins[LN_MEM_TYPE_SIZE],
                               const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory);

// Nothing is allocated: offset begins[m] is at the start of `block`, which the result holds.
// LN_NO_MEMORY if `block` is shorter than that needs, or memory is gone.
ln_status ln_memory_create_window(ln_memory *block, const size_t begins[LN_MEM_TYPE_SIZE],
                                  const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory);

// True if a window from begins[m] to ends[m] is in `block`; false for NULL.
bool ln_memory_has_room(const ln_memory *block, const size_t begins[LN_MEM_TYPE_SIZE],
                        const size_t ends[LN_MEM_TYPE_SIZE]);

// How many bytes of type `mtype` it has itself; 0 for NULL.
size_t ln_memory_size(const ln_memory *memory, ln_mem_type mtype);

// The address of a planned offset, which is in the memory; NULL if none of the type was asked
// for.
void *ln_memory_at(const ln_memory *memory, ln_mem_type mtype, size_t offset);

// Where the block of type `mtype` starts; NULL if there is none.
void *ln_memory_start(const ln_memory *memory, ln_mem_type mtype);

// Copies the bytes of all offsets that both have, those before `from` too. `to` has them in one
// block, from 0 on. Fails as ln_mem_copy does.
ln_status ln_memory_copy(ln_memory *to, const ln_memory *from);

// How many contexts have their static tensors there. `join` adds the caller's, `leave` takes it
// away; in what is before it as well. A context that is alone may write static tensors in place:
// nobody can join but through it.
void ln_memory_join(ln_memory *memory);
void ln_memory_leave(ln_memory *memory); // NULL is fine
int ln_memory_is_shared(const ln_memory *memory);

#endif
