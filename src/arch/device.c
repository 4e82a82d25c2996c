// SPDX-License-Identifier: Apache-2.0
// Opening devices for contexts.

#include "arch/device.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "arch/core_row.h"
#include "arch/ordered.h"
#include "arch/registry.h"
#include "base/error_state.h"
#include "base/priority.h"
#include "base/sized.h"
#include "ir/context.h"
#include "ir/devices.h"

int ln_run_priority(void)
{
    return ln_priority_get();
}

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
    // An arch may be registered where none of its devices is there; who opens one is told.
    if (index == 0 || status == LN_OK)
        return LN_OK;
    return ln_fail_of_device(status, "device %d of arch '%s' cannot be looked for", index,
                             arch->arch_name);
}

// ---- Opening ----

static ln_devices *devices_of(const ln_context *ctx)
{
    return ln_context_root((ln_context *)(uintptr_t)ctx)->devices;
}

static ln_status check_is_there(const ln_arch *arch)
{
    ln_device_info info = {.byte_count = sizeof info};
    ln_error_clear();
    ln_status status = arch->find_device
                           ? arch->find_device(arch->priv, ln_arch_device_index(arch), &info)
                           : LN_OK;
    if (status == LN_NOT_FOUND)
        return LN_FAIL(LN_NOT_FOUND, "arch '%s' has no devices here", arch->arch_name);
    return status == LN_OK
               ? LN_OK
               : ln_fail_of_device(status, "device '%s' cannot be looked for", arch->arch_name);
}

static ln_status call_open(const ln_arch *arch, ln_device *device)
{
    LN_TRY(check_is_there(arch));
    if (!device->options && arch->options)
        LN_TRY(ln_device_options_create(arch, NULL, 0, &device->options));
    ln_error_clear();
    ln_status status =
        arch->open(arch->priv, ln_arch_device_index(arch), device->options,
                   device->options ? arch->option_byte_count : 0, &device->memory.device);
    if (status == LN_OK)
        return LN_OK;
    return ln_fail_of_device(status, "device '%s' cannot be opened", arch->arch_name);
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

// ---- Asking ----

static bool makes_constant(const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(op->op_arg->tensor_table, out->name);
        if (entry && entry->isstatic)
            return true;
    }
    return false;
}

static ln_status ask(const ln_context *ctx, const ln_arch *arch, const ln_op *op)
{
    ln_op *ordered;
    LN_TRY(ln_op_order(op, &ordered));
    ln_error_clear();
    ln_status status = arch->describe(ln_arch_device(ctx, arch), ordered);
    ln_free(ordered);
    if (status == LN_UNSUPPORTED && ln_error_status() == LN_OK)
        return LN_FAIL(LN_UNSUPPORTED, "it states no reason");
    if (status == LN_OK || status == LN_UNSUPPORTED)
        return status;
    return ln_fail_of_device(status, "arch '%s' cannot say whether it takes '%s'", arch->arch_name,
                             op->op_arg->name);
}

ln_status ln_arch_describe(const ln_context *ctx, const ln_arch *arch, const ln_op *op)
{
    if (ln_arch_runs_groups(arch) && makes_constant(op))
        return LN_FAIL(LN_UNSUPPORTED, "'%s' is computed once, when the model is loaded",
                       op->op_arg->name);
    LN_TRY(ln_core_row_check_op(arch, op));
    return arch->describe ? ask(ctx, arch, op) : LN_OK;
}

ln_status ln_arch_evaluate(const ln_context *ctx, const ln_arch *arch, const ln_op *const *ops,
                           size_t count, double *out_seconds)
{
    ln_op **ordered = ln_alloc_array(count + 1, sizeof *ordered);
    ln_status status = ordered ? LN_OK : LN_NO_MEMORY;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = ln_op_order(ops[i], &ordered[i]);
    double seconds = NAN;
    if (status == LN_OK) {
        ln_error_clear();
        status = arch->evaluate(ln_arch_device(ctx, arch), (const ln_op *const *)ordered, count,
                                &seconds);
        if (status == LN_OK && !(seconds >= 0))
            status = LN_FAIL(LN_INVALID, "`evaluate` returns %g seconds", seconds);
        if (status != LN_OK)
            status =
                ln_fail_of_device(status, "arch '%s': '%s' and what is with it cannot be evaluated",
                                  arch->arch_name, ops[0]->op_arg->name);
    }
    for (size_t i = 0; ordered && i < count; i++)
        ln_free(ordered[i]);
    ln_free(ordered);
    *out_seconds = seconds;
    return status;
}
