// SPDX-License-Identifier: Apache-2.0
// The counted list of a context's devices.

#include "ir/devices.h"

#include <stdatomic.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

struct ln_devices {
    atomic_size_t holder_count;
    pthread_mutex_t lock;
    ln_device *first;
    size_t target_count;
};

ln_devices *ln_devices_create(void)
{
    ln_devices *devices = ln_alloc(sizeof *devices);
    if (!devices)
        return NULL;
    atomic_init(&devices->holder_count, 1);
    if (pthread_mutex_init(&devices->lock, NULL) == 0)
        return devices;
    ln_free(devices);
    ln_fail(LN_NO_MEMORY, "the system gives no lock for devices");
    return NULL;
}

ln_devices *ln_devices_retain(ln_devices *devices)
{
    if (devices)
        atomic_fetch_add_explicit(&devices->holder_count, 1, memory_order_relaxed);
    return devices;
}

static void device_free(ln_device *device)
{
    if (device->is_open)
        device->close(device->memory.device);
    ln_use_drop(device->use);
    ln_free(device->options);
    ln_free(device->name);
    ln_free(device);
}

// The one that was opened last is closed first.
static void close_all(ln_device *device)
{
    if (!device)
        return;
    close_all(device->next);
    device_free(device);
}

void ln_devices_release(ln_devices *devices)
{
    if (!devices || atomic_fetch_sub_explicit(&devices->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    close_all(devices->first);
    pthread_mutex_destroy(&devices->lock);
    ln_free(devices);
}

void ln_devices_lock(ln_devices *devices)
{
    pthread_mutex_lock(&devices->lock);
}

void ln_devices_unlock(ln_devices *devices)
{
    pthread_mutex_unlock(&devices->lock);
}

ln_device *ln_devices_first(ln_devices *devices)
{
    return devices->first;
}

void ln_devices_add_target(ln_devices *devices, const char *name)
{
    ln_device *device = ln_devices_find(devices, name);
    if (device->target_number == 0)
        device->target_number = ++devices->target_count;
}

size_t ln_devices_target_count(const ln_devices *devices)
{
    return devices->target_count;
}

ln_device *ln_devices_find(ln_devices *devices, const char *name)
{
    ln_device *device = devices->first;
    while (device && strcmp(device->name, name) != 0)
        device = device->next;
    return device;
}

ln_device *ln_devices_need(ln_devices *devices, const char *name)
{
    ln_device **at = &devices->first;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at)
        return *at;
    ln_device *device = ln_alloc(sizeof *device);
    char *copy = ln_strdup(name);
    if (!device || !copy) {
        ln_free(device);
        ln_free(copy);
        return NULL;
    }
    device->name = copy;
    *at = device;
    return device;
}

const ln_mem_device *ln_devices_of_memory(ln_devices *devices, ln_mem_type mtype)
{
    const ln_mem_device *memory = NULL;
    if (!devices)
        return NULL;
    ln_devices_lock(devices);
    for (const ln_device *d = devices->first; d && !memory; d = d->next)
        if (d->is_open && d->mtype == mtype)
            memory = &d->memory;
    ln_devices_unlock(devices);
    return memory;
}
