// SPDX-License-Identifier: Apache-2.0
// Counted memory: one block for each memory type, freed with the last holder.
//
// A context holds the memory that it was loaded into; its clones hold the same for the static
// tensors in it, and what shows a tensor to the caller may hold it too. Counting is thread-safe.

#ifndef LN_IR_MEMORY_H
#define LN_IR_MEMORY_H

#include <stddef.h>

#include <lightnet/mem.h>
#include <lightnet/status.h>

typedef struct ln_memory ln_memory;

// Allocates zeroed bytes for the planned offsets from begins[m] (NULL: 0) up to ends[m] of each
// memory type m; none where there are none. The caller holds the result.
ln_status ln_memory_create(const size_t begins[LN_MEM_TYPE_SIZE],
                           const size_t ends[LN_MEM_TYPE_SIZE], ln_memory **out_memory);

ln_memory *ln_memory_retain(ln_memory *memory); // returns `memory`; NULL is fine
void ln_memory_release(ln_memory *memory);      // NULL is fine

// The address of a planned offset, which is in the memory; NULL if none of the type was asked
// for.
void *ln_memory_at(const ln_memory *memory, ln_mem_type mtype, size_t offset);

// Where the block of type `mtype` starts; NULL if there is none.
void *ln_memory_start(const ln_memory *memory, ln_mem_type mtype);

// How many contexts have their static tensors there. `join` adds the caller's, `leave` takes it
// away. A context that is alone may write static tensors in place: nobody can join but through it.
void ln_memory_join(ln_memory *memory);
void ln_memory_leave(ln_memory *memory); // NULL is fine
int ln_memory_is_shared(const ln_memory *memory);

#endif
