// SPDX-License-Identifier: Apache-2.0
// Devices that contexts open: finding and opening them, and their options.

#ifndef LN_ARCH_DEVICE_H
#define LN_ARCH_DEVICE_H

#include <lightnet/arch.h>

// 1 for "echo:1", 0 for a name without number.
int ln_arch_device_index(const ln_arch *arch);

// What the arch says of a device, with defaults where it says nothing. LN_NOT_FOUND if there is no
// such device.
ln_status ln_arch_find_device(const ln_arch *arch, int index, ln_device_info *out_info);

// Opens the device that `arch` is for `ctx`, or the context that it is a graph of, unless it is
// open already. LN_OK for an arch that has nothing to open.
ln_status ln_arch_need_device(const ln_context *ctx, const ln_arch *arch);

// What the functions of `arch` are given for `ctx`: the device that it has opened, or the arch's
// `priv`.
void *ln_arch_device(const ln_context *ctx, const ln_arch *arch);

// ---- Asking ----

// LN_OK if `op`, of arch `none`, may be computed by `arch`: LN_UNSUPPORTED with the reason if
// `describe` refuses it, or it has a parameter that the arch does not know, or groups of the arch
// would compute a constant. Other failures are the device's.
ln_status ln_arch_describe(const ln_context *ctx, const ln_arch *arch, const ln_op *op);

// *out_seconds receives what `evaluate`, which the arch has, says of the operators.
ln_status ln_arch_evaluate(const ln_context *ctx, const ln_arch *arch, const ln_op *const *ops,
                           size_t count, double *out_seconds);

// ---- Options ----

// LN_INVALID if the table of the arch's options is wrong.
ln_status ln_device_options_check(const ln_arch *arch);

// *out_options receives a structure with the arch's defaults, and over them the first `byte_count`
// bytes of `given` (NULL: none). ln_free frees it. LN_INVALID or LN_UNSUPPORTED if that is longer
// than the arch's.
ln_status ln_device_options_create(const ln_arch *arch, const void *given, size_t byte_count,
                                   void **out_options);

// Sets what "delay=5,depth=2" says. LN_INVALID, with what there is, on failure.
ln_status ln_device_options_parse(const ln_arch *arch, const char *text, void *options);

#endif
