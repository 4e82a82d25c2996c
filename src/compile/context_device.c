// SPDX-License-Identifier: Apache-2.0
// What a context says of its devices before they are open, and opening them early.

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "arch/registry.h"
#include "compile/context_device.h"
#include "ir/context.h"
#include "ir/devices.h"

static ln_status find_arch(const ln_context *ctx, const char *name, const ln_arch **out_arch)
{
    *out_arch = NULL;
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (!name || !*name)
        return LN_FAIL(LN_INVALID, "the name of the device is empty");
    LN_TRY(ln_arch_need_numbered(name));
    const ln_arch *arch = ln_arch_find(name);
    if (!arch)
        return LN_FAIL(LN_NOT_FOUND,
                       "there is no arch '%s': register it, or load its plug-in, first", name);
    if (!arch->open)
        return LN_FAIL(LN_UNSUPPORTED,
                       "arch '%s' has no devices to open; name it in the target alone", name);
    *out_arch = arch;
    return LN_OK;
}

static ln_devices *lock_devices(const ln_context *ctx)
{
    ln_devices *devices = ln_context_root((ln_context *)(uintptr_t)ctx)->devices;
    ln_devices_lock(devices);
    return devices;
}

ln_status ln_context_add_device(ln_context *ctx, const char *name)
{
    const ln_arch *arch;
    LN_TRY(find_arch(ctx, name, &arch));
    LN_TRY(ln_arch_need_device(ctx, arch));
    ln_devices *devices = lock_devices(ctx);
    ln_devices_add_target(devices, arch->arch_name);
    ln_devices_unlock(devices);
    return LN_OK;
}

// Takes *options, where it succeeds.
static ln_status put_options(ln_devices *devices, const ln_arch *arch, void **options)
{
    ln_device *device = ln_devices_need(devices, arch->arch_name);
    if (!device)
        return LN_NO_MEMORY;
    if (device->is_open)
        return LN_FAIL(LN_STATE,
                       "device '%s' is open in this context; set its options before the context "
                       "compiles or loads, or in a context of its own",
                       arch->arch_name);
    ln_free(device->options);
    device->options = *options;
    *options = NULL;
    return LN_OK;
}

static ln_status set_options(const ln_context *ctx, const ln_arch *arch, void *options)
{
    ln_devices *devices = lock_devices(ctx);
    ln_status status = put_options(devices, arch, &options);
    ln_devices_unlock(devices);
    ln_free(options);
    return status;
}

ln_status ln_context_set_device(ln_context *ctx, const char *name, const void *options,
                                size_t byte_count)
{
    const ln_arch *arch;
    void *whole;
    LN_TRY(find_arch(ctx, name, &arch));
    LN_TRY(ln_device_options_create(arch, options, byte_count, &whole));
    return set_options(ctx, arch, whole);
}

// What was set before stays.
static ln_status copy_options(const ln_context *ctx, const ln_arch *arch, void **out_options)
{
    ln_devices *devices = lock_devices(ctx);
    const ln_device *device = ln_devices_find(devices, arch->arch_name);
    ln_status status = ln_device_options_create(arch, device ? device->options : NULL,
                                                arch->option_byte_count, out_options);
    ln_devices_unlock(devices);
    return status;
}

ln_status ln_context_set_device_text(ln_context *ctx, const char *name, const char *text)
{
    const ln_arch *arch;
    void *options;
    LN_TRY(find_arch(ctx, name, &arch));
    if (!text)
        return LN_FAIL(LN_INVALID, "device '%s': the options are NULL", name);
    LN_TRY(copy_options(ctx, arch, &options));
    ln_status status = ln_device_options_parse(arch, text, options);
    if (status == LN_OK)
        return set_options(ctx, arch, options);
    ln_free(options);
    return status;
}

// ---- The target of a context ----

ln_status ln_context_target_of_devices(const ln_context *ctx, char **out_target)
{
    *out_target = NULL;
    ln_devices *devices = lock_devices(ctx);
    size_t byte_count = sizeof "cpu";
    for (const ln_device *d = ln_devices_first(devices); d; d = d->next)
        byte_count += strlen(d->name) + 1;
    char *target = ln_alloc(byte_count);
    bool is_any = false;
    for (size_t number = 1; target && number <= ln_devices_target_count(devices); number++)
        for (const ln_device *d = ln_devices_first(devices); d; d = d->next)
            if (d->target_number == number) {
                strcat(strcat(target, d->name), ",");
                is_any = true;
            }
    ln_devices_unlock(devices);
    if (!target)
        return LN_NO_MEMORY;
    strcat(target, "cpu");
    if (is_any)
        *out_target = target;
    else
        ln_free(target);
    return LN_OK;
}
