// SPDX-License-Identifier: Apache-2.0
// Failover: the model on the host, for runs in which a device fails.
//
// It is a context of its own beside the one that has devices: compiled from the same operators,
// loaded from the same data, and run with the same inputs.

#ifndef LN_COMPILE_FAILOVER_H
#define LN_COMPILE_FAILOVER_H

#include <stdbool.h>

#include <lightnet/context.h>
#include <lightnet/optimize.h>

#include "base/error_state.h"

#define LN_NOT_WRITTEN_WITH_FAILOVER                                                               \
    "a compiled model of fixed shapes cannot be written with its failover, as a file has one "     \
    "plan; write it as it was read, or compile it without failover (--failover, "                  \
    "ln_optimize_options.fails_over)"

// Compiles the model of `ctx`, READY, for the archs of `target` that are no devices, if `options`
// ask for it. *out_failover, the caller's, is NULL if they do not, or no device is in the target.
ln_status ln_failover_compile(const ln_context *ctx, const char *target,
                              const ln_optimize_options *options, ln_context **out_failover);

// Gives it to `ctx`, PLANNED, if a device computes anything there; else it is freed. LN_LIMIT,
// with both sizes, if together they are over the limit of memory: it is freed then, too.
ln_status ln_failover_attach(ln_context *ctx, ln_context *failover);

// Whether the run of `ctx` that has just failed is to be done again on the host
// (program/failover.h).
bool ln_failover_is_due(const ln_context *ctx);

// Before that. A message says why: the failure that was recorded last, which *out_reason receives.
void ln_failover_begin(ln_error_state *out_reason);

// Takes what is in use from `limits`.
void ln_failover_limit(ln_limits *limits, double work_left, size_t used_byte_count);

// Returns `status`; a failure names the device's, too.
ln_status ln_failover_end(const ln_error_state *reason, ln_status status);

// Before a constant or parameter of `ctx` is set: sets it there first, so that both stay one model.
ln_status ln_failover_set_data(ln_context *ctx, const char *tname, const void *data);

#endif
