/* SPDX-License-Identifier: Apache-2.0 */
/* What code made from operator descriptions calls. Nothing else needs it.
 *
 * All functions record a failure in `op_arg->status` (the first one stays) and in the thread's
 * message, with operator, argument and values, and return that status. `op_arg` is never NULL.
 */

#ifndef LIGHTNET_OP_SUPPORT_H
#define LIGHTNET_OP_SUPPORT_H

#include <lightnet/export.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/status.h>

LN_CPPSTART

/* The most tensors one variadic argument takes. */
#define LN_OP_MAX_VARIADIC 256

/* Every entry of the operator's list is one of those described, and none is there twice. That
 * none is missing is checked argument by argument. `ln_op_check_ins` also refuses inputs that C
 * cannot compute with (see TL_DTYPE_STORED_LIST), `ln_op_check_ins_any` takes all. */
LN_API ln_status ln_op_check_ins_any(ln_op_arg *op_arg, const ln_arg_info *ins);
LN_API ln_status ln_op_check_ins(ln_op_arg *op_arg, const ln_arg_info *ins);
LN_API ln_status ln_op_check_outs(ln_op_arg *op_arg, const ln_arg_info *outs);
LN_API ln_status ln_op_check_params(ln_op_arg *op_arg, const ln_param_info *params);

/* The next ones name an argument by its place in the lists of `op_arg->info`.
 *
 * The table entry of an input, which is there, defined and in the memory described; NULL when it is
 * not. An optional input that is not there is LN_OK, and *out_entry is NULL. */
LN_API ln_tensor_entry *ln_op_in(ln_op_arg *op_arg, int index);
LN_API ln_status ln_op_optional_in(ln_op_arg *op_arg, int index, ln_tensor_entry **out_entry);

/* A parameter of the type described, with a value: the given one, or the default. NULL when it is
 * missing or wrong; `whole` also when its numbers do not fit an int. */
LN_API const ln_param_entry *ln_op_param(ln_op_arg *op_arg, int index);
LN_API const ln_param_entry *ln_op_param_whole(ln_op_arg *op_arg, int index);

/* Those with what is mostly asked of them. An input of a dtype, unless it is TL_DTYPE_INVALID, and
 * a number of dimensions, unless it is below 0; a whole parameter that is at least `least`; and an
 * array of `len` of them. */
LN_API ln_tensor_entry *ln_op_in_of(ln_op_arg *op_arg, int index, tl_dtype dtype, int ndim);
LN_API const ln_param_entry *ln_op_param_from(ln_op_arg *op_arg, int index, int least);
LN_API const ln_param_entry *ln_op_param_array(ln_op_arg *op_arg, int index, int len, int least);

/* `number` is what the string of a parameter stands for: it is kept in the given entry, and below 0
 * says that the string is not known. */
LN_API ln_status ln_op_param_number(ln_op_arg *op_arg, int index, int number);

/* `ln_op_define_output` in the memory described. */
LN_API ln_tensor_entry *ln_op_out(ln_op_arg *op_arg, int index, int ndim, const int *dims,
                                  tl_dtype dtype, const char *owner_name);

/* Zeroed memory for `op_arg->priv`; and what undoes it and the outputs. */
LN_API void *ln_op_priv(ln_op_arg *op_arg, size_t byte_count);
LN_API void ln_op_undo(ln_op_arg *op_arg);

/* Fills in the table entries of <arg_name>1, <arg_name>2, ... and returns their number. Fails with
 * -1 if there is none, a number is left out, a tensor is not defined or not in the memory
 * described, or there are more than LN_OP_MAX_VARIADIC. */
LN_API int ln_op_find_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry **entries);

/* How many outputs <arg_name>1, <arg_name>2, ... the operator lists; -1 as above. */
LN_API int ln_op_count_variadic_outs(ln_op_arg *op_arg, const char *arg_name);

/* Defines all `count` of them, alike, with `ln_op_define_output`; their entries go to `entries`. */
LN_API ln_status ln_op_define_variadic(ln_op_arg *op_arg, const char *arg_name, int count, int ndim,
                                       const int *dims, tl_dtype dtype, ln_mem_type mtype,
                                       int is_static, const char *owner_name,
                                       ln_tensor_entry **entries);

/* Copies of the first `count` entries and of their tensors; the caller frees both with `ln_free`.
 * LN_NO_MEMORY, and nothing to free, on failure. Does not touch any operator. */
LN_API ln_status ln_op_keep_variadic(ln_tensor_entry *const *entries, int count,
                                     ln_tensor_entry ***out_entries, tl_tensor ***out_tensors);

/* The parameter has a value: a string is not NULL, an array of some length has elements. */
LN_API ln_status ln_op_check_param_value(ln_op_arg *op_arg, const ln_param_entry *entry);

/* The number, or each number of the array, is whole and fits an int. */
LN_API ln_status ln_op_check_whole(ln_op_arg *op_arg, const ln_param_entry *entry);

/* 1 if `path` cannot lead out of a folder by its words: it is not absolute, and none of its parts
 * is empty, has more than 255 bytes or starts with a dot, but for a "./" in front. 0 else, and for
 * NULL. */
LN_API int ln_op_is_inner_path(const char *path);

/* "param 'dtype': 'TL_FOO' is not known". */
LN_API ln_status ln_op_fail_unknown(ln_op_arg *op_arg, const char *arg_name, const char *text);

/* Hands the thread's last failure to the operator; LN_INVALID if there is none. */
LN_API ln_status ln_op_fail_recorded(ln_op_arg *op_arg);

/* ---- Operators in call form: the functions of all of them ---- */

LN_API void ln_call_pre_run(ln_op_arg *op_arg);
LN_API void ln_call_run(ln_op_arg *op_arg);
LN_API void ln_call_post_run(ln_op_arg *op_arg);
LN_API void ln_call_check(ln_op_arg *op_arg);
LN_API double ln_call_macs(ln_op_arg *op_arg);
LN_API double ln_call_cost(ln_op_arg *op_arg);

/* ---- Estimates, for `cost` of a description ---- */

/* Multiply-accumulates and elements of all inputs and outputs of an operator that is checked. */
LN_API double ln_op_steps(ln_op_arg *op_arg);

/* Steps to sort `count` elements: n log n. */
LN_API double ln_cost_sort(double count);

LN_CPPEND

#endif
