// SPDX-License-Identifier: Apache-2.0
// The target that a context compiles for where the caller names none.

#ifndef LN_COMPILE_CONTEXT_DEVICE_H
#define LN_COMPILE_CONTEXT_DEVICE_H

#include <lightnet/context.h>

// "echo:1,cpu" for a context that devices were added to; NULL for others. ln_free frees it.
ln_status ln_context_target_of_devices(const ln_context *ctx, char **out_target);

#endif
