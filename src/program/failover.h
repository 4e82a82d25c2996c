// SPDX-License-Identifier: Apache-2.0
// Running the model on the host where a device has failed (compile/failover.h).

#ifndef LN_PROGRAM_FAILOVER_H
#define LN_PROGRAM_FAILOVER_H

#include <stddef.h>

#include <lightnet/context.h>

// Gives the inputs of `ctx`, a context in a phase of a run, to its failover, runs that in what is
// left of the limits beside the plan of `used_byte_count` bytes, and gives `ctx` its outputs.
ln_status ln_failover_run(ln_context *ctx, size_t used_byte_count);

#endif
