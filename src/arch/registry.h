// SPDX-License-Identifier: Apache-2.0
// What the layers above need of the registry of archs, besides arch.h.

#ifndef LN_ARCH_REGISTRY_H
#define LN_ARCH_REGISTRY_H

#include <stdbool.h>

#include <lightnet/arch.h>

struct ln_rule_set;

// True if operators of the arch run as groups. NULL: false.
bool ln_arch_runs_groups(const ln_arch *arch);

// The same, and the arch only starts them.
bool ln_arch_runs_async(const ln_arch *arch);

// Registers the device that a name such as "echo:1" is of, if that is not there yet. LN_OK where
// there is no such arch, or no number. Fails: LN_INVALID for a number that is none, LN_UNSUPPORTED
// if the arch has none, LN_NOT_FOUND if there is no such device.
ln_status ln_arch_need_numbered(const char *name);

// LN_STATE, with who uses the arch or the operator type, if `unregister` would refuse;
// LN_NOT_FOUND.
ln_status ln_arch_check_unused(const char *arch_name);
ln_status ln_op_check_unused(const char *optype);

// Gives a registered arch rules, which go with it. LN_NOT_FOUND, LN_EXISTS if it has some, LN_STATE
// while it is in use; the set then stays the caller's.
ln_status ln_arch_take_rules(const char *arch_name, struct ln_rule_set *rules);

// Takes back what the above gave. LN_STATE while the arch is in use.
ln_status ln_arch_drop_rules(const char *arch_name);

#endif
