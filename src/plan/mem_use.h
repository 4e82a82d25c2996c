// SPDX-License-Identifier: Apache-2.0
// Who uses a memory type: blocks that were allocated in it, and archs whose operators are there.

#ifndef LN_PLAN_MEM_USE_H
#define LN_PLAN_MEM_USE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/mem.h>

// Whether the number is that of a memory type, LN_MEM_NONE included.
bool ln_mem_type_is_used(ln_mem_type mtype);

// What offsets of tensors in this memory are multiples of, at least LN_MEM_ALIGN: also of a type
// that is not registered.
size_t ln_mem_type_align(ln_mem_type mtype);

// Keeps a memory type registered until it is dropped. Thread-safe, as are all.
void ln_mem_type_hold(ln_mem_type mtype);
void ln_mem_type_drop(ln_mem_type mtype);
size_t ln_mem_type_use_count(ln_mem_type mtype);

// Takes back what was registered or added, with its copies, whoever holds it: at the end of the
// library.
void ln_mem_type_forget(ln_mem_type mtype);

#endif
