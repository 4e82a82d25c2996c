// SPDX-License-Identifier: Apache-2.0
// The life of one operator: calling its functions so that the tensor table and `is_checked` are
// right afterwards, whatever the functions do.

#ifndef LN_IR_OP_LIFE_H
#define LN_IR_OP_LIFE_H

#include <lightnet/op.h>

// Every input is in the table; otherwise a failure with the place of the operator. A context asks
// this before it checks an operator; a list of operators on its own leaves it to them.
ln_status ln_op_check_inputs(ln_op *op);

// Checks the operator and defines its outputs. On failure none of its outputs is in the table, and
// the message begins with the place of the operator.
ln_status ln_op_pre_run(ln_op *op);

// The same outside of a context, where nobody minds outputs that are left out.
ln_status ln_op_pre_run_alone(ln_op *op);

// LN_UNSUPPORTED, with what it waits for, if `pre_run` was put off until shapes are bound.
ln_status ln_op_check_waiting(ln_op *op);

// Calls `function`, static_run or run, of the operator.
ln_status ln_op_call(ln_op *op, ln_op_func function);

// 1 if the operator, which is checked, may give other numbers when it runs again on the same
// inputs, as its description says, or a graph that it runs.
int ln_op_is_random(const ln_op_arg *op_arg);

// 1 if the operator, which is checked, reads something and all of it is static and no input of the
// model, and it is not random: one run is enough, and what it makes is static as well. 0 for
// operators of groups, which compute in each run.
int ln_op_is_constant(const ln_op *op);

// `ln_op_cost` of what `op`, which is checked, becomes as `variant` of its type.
double ln_op_cost_as(const ln_op *op, const ln_op *variant);

// The `run` of operators that only groups of their arch compute; it fails.
void ln_op_run_in_group(ln_op_arg *op_arg);

// Computes what stays the same for all runs: static_run, and the run of a constant operator.
ln_status ln_op_run_static(ln_op *op);

// Ends the operator's life: none of its outputs is in the table afterwards.
ln_status ln_op_post_run(ln_op *op);

// Gives an operator, or an operator's tensor, another name, which must come from `ln_alloc` and
// then is its own; the old one is freed. NULL for what is about to be freed.
void ln_op_take_name(ln_op *op, char *name);
void ln_tensor_list_entry_take_name(ln_tensor_list_entry *entry, char *name);

// `ln_tensor_entry_create` with the operator that makes the tensor, in fewer pieces of memory.
ln_tensor_entry *ln_tensor_entry_create_made(const char *name, tl_tensor *tensor,
                                             const char *creater);

// The operator and its parameter, or LN_NOT_FOUND with the names there are.
ln_status ln_op_table_find_param(const ln_hash *table, const char *opname, const char *pname,
                                 ln_op **out_op, ln_param_entry **out_param);

#endif
