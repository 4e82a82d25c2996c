// SPDX-License-Identifier: Apache-2.0
// One spelling of operators that are the same: see normal.c.

#ifndef LN_PASS_NORMAL_H
#define LN_PASS_NORMAL_H

#include <stdbool.h>

#include <lightnet/context.h>
#include <lightnet/op.h>

// The parameter has the value that the description gives where it is absent.
bool ln_op_param_is_default(const ln_op_arg *arg, const ln_param_entry *param);

// Rewrites the parameters of an operator of the core whose inputs are checked; others stay as they
// are. It computes the same, and is no numbered rewrite. Fails: no memory.
ln_status ln_op_write_normal(const ln_context *ctx, ln_op *op);

// The same for each operator of the model.
ln_status ln_ops_write_normal(const ln_context *ctx);

#endif
