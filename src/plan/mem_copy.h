// SPDX-License-Identifier: Apache-2.0
// Copies between memory types, which devices may refuse. All functions are thread-safe.

#ifndef LN_PLAN_MEM_COPY_H
#define LN_PLAN_MEM_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/mem.h>
#include <lightnet/status.h>

// Whether there is a copy from `src_mtype` to `dst_mtype`.
bool ln_mem_can_copy(ln_mem_type dst_mtype, ln_mem_type src_mtype);

// Copies `byte_count` bytes. Fails: LN_UNSUPPORTED if there is no such copy; LN_IO, or as an
// open device does, if the copy fails.
ln_status ln_mem_copy(ln_mem_type dst_mtype, void *dst, ln_mem_type src_mtype, const void *src,
                      size_t byte_count);

// Writes zeros. A memory type without a function for that gets them from main memory, which needs
// as many bytes. Fails as ln_mem_copy does, and LN_NO_MEMORY.
ln_status ln_mem_clear(ln_mem_type mtype, void *start, size_t byte_count);

#endif
