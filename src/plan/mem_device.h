// SPDX-License-Identifier: Apache-2.0
// Memory of open devices. The functions of a memory type know addresses only; the memory of a
// device that was opened belongs to that device, so each of its blocks is noted with the device,
// and a copy finds it by the address. All functions are thread-safe.

#ifndef LN_PLAN_MEM_DEVICE_H
#define LN_PLAN_MEM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/mem.h>
#include <lightnet/status.h>

// A device that is open, as far as memory is concerned; see `ln_arch`.
typedef struct ln_mem_device {
    void *device;
    ln_status (*alloc)(void *device, size_t byte_count, void **out_start);
    void (*free)(void *device, void *start);
    ln_status (*copy_in)(void *device, void *dst, const void *src, size_t byte_count);
    ln_status (*copy_out)(void *device, void *dst, const void *src, size_t byte_count);
    ln_status (*copy_within)(void *device, void *dst, const void *src, size_t byte_count);
} ln_mem_device;

// As ln_mem_type_add, for memory that open devices allocate: its ln_mem_info has no functions.
ln_status ln_mem_type_add_of_devices(const char *name, const char *title, size_t max_size,
                                     size_t align_size, ln_mem_type *out_mtype);
bool ln_mem_type_is_of_devices(ln_mem_type mtype);

// A block of `byte_count` bytes, in memory of type `mtype`, of an open device, which must outlive
// it. Fails as the device does.
ln_status ln_mem_device_alloc(ln_mem_type mtype, const ln_mem_device *device, size_t byte_count,
                              void **out_start);
void ln_mem_device_free(void *start);

// The device whose block has the address; NULL: none.
const ln_mem_device *ln_mem_device_at(const void *address);

#endif
