// SPDX-License-Identifier: Apache-2.0
// Arguments of operators as their types describe them: names by position, defaults of parameters.
//
// All functions take the `op_arg` of a prototype or of an operator made from it.

#ifndef LN_PASS_OP_ARGS_H
#define LN_PASS_OP_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/op.h>
#include <lightnet/op_info.h>

// The argument name of input or output `index`, from 0; NULL if the type has not so many. The name
// of a variadic one is written to `buffer`.
const char *ln_op_in_name(const ln_op_arg *op_arg, size_t index, char buffer[LN_MAX_NAME_LEN]);
const char *ln_op_out_name(const ln_op_arg *op_arg, size_t index, char buffer[LN_MAX_NAME_LEN]);

bool ln_op_has_in(const ln_op_arg *op_arg, const char *arg_name);

// What operators of the type make is static if all that they read is: they run once, when the model
// is loaded. Not so where a device runs groups of operators that have no function of their own.
bool ln_op_may_be_constant(const ln_op *proto);

// The type of a parameter; LN_PARAM_INVALID if there is no such parameter.
ln_param_type ln_op_param_type(const ln_op_arg *op_arg, const char *arg_name);

// The default value that the description gives; NULL if it gives none. That of `since`, the newest
// version, is written to *version; others are the description's.
const ln_param_entry *ln_op_param_default(const ln_op_arg *op_arg, const char *arg_name,
                                          ln_param_entry *version);

// The operator computes something in each run: an output is not static.
bool ln_op_runs(const ln_op *op);

#endif
