// SPDX-License-Identifier: Apache-2.0
// The template of an arch: it has every function of the interface, and takes no operator.
//
// To add a device, copy this folder to src/arch/<name>, rename `null` to <name> throughout, and
// fill in from the top; the build finds the folder. CONTRIBUTING.md has the recipe, and the header
// lightnet/arch.h the contract of each function; docs/devices.md shows a whole device, as a
// plug-in. A function that a device does not need is left out of the struct: all but `arch_name`
// may be NULL.

#include <lightnet/arch.h>

#include <stdatomic.h>

#include <lightnet/allocator.h>

// What the device keeps between open and close. Sessions of several threads prepare and release
// groups at once.
typedef struct null_device {
    atomic_size_t group_count; // prepared and not released
} null_device;

// ---- Life ----

// Each context that uses the device opens it. `index` is 0 without a function `find_device`, and
// `options` NULL without a table of options.
static ln_status null_open(void *priv, int index, const void *options, size_t byte_count,
                           void **out_device)
{
    (void)priv;
    (void)index;
    (void)options;
    (void)byte_count;
    null_device *device = ln_alloc(sizeof *device);
    if (!device)
        return LN_NO_MEMORY;
    atomic_init(&device->group_count, 0);
    *out_device = device;
    return LN_OK;
}

static void null_close(void *device)
{
    ln_free(device);
}

// ---- Operators ----

// `priv` is the device, here and below.
static ln_status null_describe(void *priv, const ln_op *op)
{
    (void)priv;
    return LN_FAIL(LN_UNSUPPORTED, "arch 'null' is a template and does not run %s",
                   op->op_arg->optype);
}

// ---- Running groups ----

static ln_status null_prepare(void *priv, const ln_list *ops, void **out_group)
{
    null_device *device = priv;
    (void)ops;
    *out_group = NULL;
    atomic_fetch_add(&device->group_count, 1);
    *out_group = device;
    return LN_OK;
}

static ln_status null_run(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)group;
    (void)addresses;
    return LN_OK;
}

static void null_release(void *priv, void *group)
{
    null_device *device = priv;
    if (group)
        atomic_fetch_sub(&device->group_count, 1);
}

ln_arch ln_arch_null = {
    .arch_name = "null",
    .doc = "a template to copy; it takes no operator",
    .mem_type = LN_MEM_CPU, // a device with memory of its own: alloc, free and the three copies
    .open = null_open,
    .close = null_close,
    .core_ops = NULL, // the types of the core that its groups compute, such as "conv"
    .describe = null_describe,
    .prepare = null_prepare,
    .run = null_run, // a device that only starts work: run_async and wait
    .release = null_release,
};
