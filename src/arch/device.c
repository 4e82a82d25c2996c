// SPDX-License-Identifier: Apache-2.0
// Opening devices for contexts.

#include "arch/device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/sized.h"
#include "ir/context.h"
#include "ir/devices.h"

int ln_arch_device_index(const ln_arch *arch)
{
    const char *colon = strchr(arch->arch_name, ':');
    return colon ? atoi(colon + 1) : 0;
}

static size_t count_devices(const ln_arch *arch)
{
    ln_device_info info = {.byte_count = sizeof info};
    int count = 0;
    while (count < 1000 && arch->find_device(arch->priv, count, &info) == LN_OK)
        count++;
    return (size_t)count;
}

ln_status ln_arch_find_device(const ln_arch *arch, int index, ln_device_info *out_info)
{
    *out_info = (ln_device_info){.byte_count = sizeof *out_info};
    ln_status status = index == 0 ? LN_OK : LN_NOT_FOUND;
    if (arch->find_device)
        status = arch->find_device(arch->priv, index, out_info);
    if (status == LN_NOT_FOUND && index > 0) {
        const char *colon = strchr(arch->arch_name, ':');
        int len = colon ? (int)(colon - arch->arch_name) : (int)strlen(arch->arch_name);
        size_t count = arch->find_device ? count_devices(arch) : 1;
        return LN_FAIL(LN_NOT_FOUND, "arch '%.*s' has no device %d: it has %zu, counted from 0",
                       len, arch->arch_name, index, count);
    }
    out_info->title[sizeof out_info->title - 1] = '\0';
    if (out_info->memory_byte_count == 0 || out_info->memory_byte_count > PTRDIFF_MAX)
        out_info->memory_byte_count = PTRDIFF_MAX;
    if (out_info->align_byte_count == 0)
        out_info->align_byte_count = LN_MEM_ALIGN;
    // An arch may be registered where none of its devices is there, as long as it says so when one
    // is opened.
    return status == LN_NOT_FOUND ? LN_OK : status;
}

// ---- Opening ----

static ln_devices *devices_of(const ln_context *ctx)
{
    return ln_context_root((ln_context *)(uintptr_t)ctx)->devices;
}

static ln_status call_open(const ln_arch *arch, ln_device *device)
{
    if (!device->options && arch->options)
        LN_TRY(ln_device_options_create(arch, NULL, 0, &device->options));
    ln_error_clear();
    ln_status status =
        arch->open(arch->priv, ln_arch_device_index(arch), device->options,
                   device->options ? arch->option_byte_count : 0, &device->memory.device);
    if (status == LN_OK)
        return LN_OK;
    if (ln_error_status() == LN_OK)
        return LN_FAIL(status, "device '%s' cannot be opened", arch->arch_name);
    (void)ln_fail_prefix("device '%s' cannot be opened", arch->arch_name);
    return status;
}

static ln_status open_locked(const ln_arch *arch, ln_device *device)
{
    if (device->is_open)
        return LN_OK;
    ln_use *use = ln_use_hold(LN_USE_DEVICE, arch->arch_name);
    ln_status status = call_open(arch, device);
    if (status != LN_OK) {
        ln_use_drop(use);
        return status;
    }
    device->use = use;
    device->close = arch->close;
    device->mtype = arch->alloc ? arch->mem_type : LN_MEM_NONE;
    device->memory.alloc = arch->alloc;
    device->memory.free = arch->free;
    device->memory.copy_in = arch->copy_to;
    device->memory.copy_out = arch->copy_from;
    device->memory.copy_within = arch->copy_inside;
    device->is_open = true;
    return LN_OK;
}

ln_status ln_arch_need_device(const ln_context *ctx, const ln_arch *arch)
{
    if (!arch->open)
        return LN_OK;
    ln_devices *devices = devices_of(ctx);
    ln_devices_lock(devices);
    ln_device *device = ln_devices_need(devices, arch->arch_name);
    ln_status status = device ? open_locked(arch, device) : LN_NO_MEMORY;
    ln_devices_unlock(devices);
    return status;
}

void *ln_arch_device(const ln_context *ctx, const ln_arch *arch)
{
    if (!arch->open)
        return arch->priv;
    ln_devices *devices = devices_of(ctx);
    ln_devices_lock(devices);
    const ln_device *device = ln_devices_find(devices, arch->arch_name);
    void *state = device && device->is_open ? device->memory.device : NULL;
    ln_devices_unlock(devices);
    return state;
}
