// SPDX-License-Identifier: Apache-2.0
// Who uses what is registered: operators hold their type, contexts and programs the archs of their
// target, contexts the devices that they have opened. What is held cannot be unregistered.
//
// A registry adds a name while it registers, and ends it when it unregisters. A use that is held
// outlives the name where everything is released at once, at the end of the library.

#ifndef LN_IR_USE_H
#define LN_IR_USE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/status.h>

typedef enum ln_use_kind { LN_USE_OP, LN_USE_ARCH, LN_USE_DEVICE, LN_USE_KIND_COUNT } ln_use_kind;

typedef struct ln_use ln_use;
typedef struct ln_uses ln_uses; // of all archs of a target

// A name that can be held from now on; it must be new. The text is copied.
ln_status ln_use_add(ln_use_kind kind, const char *name);

// How many hold it; 0 for a name that was not added.
size_t ln_use_count(ln_use_kind kind, const char *name);

// Nothing can hold it any more. Nothing happens for a name that was not added.
void ln_use_end(ln_use_kind kind, const char *name);

// NULL for a name that was not added, which `drop` takes.
ln_use *ln_use_hold(ln_use_kind kind, const char *name);
void ln_use_drop(ln_use *use);

// Holds the archs of "echo,cpu" that are registered. *out_uses is NULL on failure: LN_NO_MEMORY.
ln_status ln_uses_hold(const char *target, ln_uses **out_uses);
void ln_uses_drop(ln_uses *uses); // accepts NULL

// "echo" for "echo:0", in the buffer; other names are as they are.
const char *ln_device_plain_name(const char *name, char *buffer, size_t size);

// Between the two nothing is held by other threads, which wait: what is unused stays unused until
// it is ended. A thread that freezes holds nothing itself until it thaws.
void ln_uses_freeze(void);
void ln_uses_thaw(void);

#endif
