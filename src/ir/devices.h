// SPDX-License-Identifier: Apache-2.0
// The devices of a context: what it sets for them, and those that it has opened.
//
// They are counted: a context shares them with its clones, and with programs, sessions and memory
// that were made of it. The last holder closes them.

#ifndef LN_IR_DEVICES_H
#define LN_IR_DEVICES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <lightnet/status.h>

#include "ir/use.h"
#include "plan/mem_device.h"

typedef struct ln_device {
    struct ln_device *next;
    char *name;           // as in a target, such as "echo:1"
    void *options;        // the arch's structure, all of it; NULL: the defaults
    size_t target_number; // which of those that the context compiles for by default, from 1 on; 0:
                          // none of them
    bool is_open;
    ln_use *use;          // of the arch, while it is open
    ln_mem_type mtype;    // LN_MEM_NONE: its memory is none of its own
    ln_mem_device memory; // `device` is what `open` returned
    void (*close)(void *device);
} ln_device;

typedef struct ln_devices ln_devices;

// NULL: out of memory.
ln_devices *ln_devices_create(void);
ln_devices *ln_devices_retain(ln_devices *devices); // returns `devices`; NULL is fine
void ln_devices_release(ln_devices *devices);       // NULL is fine

// One thread at a time finds, sets and opens devices; what is open stays as it is.
void ln_devices_lock(ln_devices *devices);
void ln_devices_unlock(ln_devices *devices);

// With the lock held. The device of that name; NULL: there is none.
ln_device *ln_devices_find(ln_devices *devices, const char *name);
// The same, which is added at the end if there is none. NULL: out of memory.
ln_device *ln_devices_need(ln_devices *devices, const char *name);
ln_device *ln_devices_first(ln_devices *devices);

// With the lock held. The device, which is there, is one of those that the context compiles for.
void ln_devices_add_target(ln_devices *devices, const char *name);
size_t ln_devices_target_count(const ln_devices *devices);

// The open device with memory of this type; NULL: none.
const ln_mem_device *ln_devices_of_memory(ln_devices *devices, ln_mem_type mtype);

#endif
