/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for `pre_run`, with uniform messages.
 *
 *     ln_tensor_list_entry *src_list_entry =
 *         ln_tensor_list_find_by_arg_name(op_arg->tensors_in, "src");
 *     ln_opck_tensor_in_exist(src_list_entry, "src");
 *     ln_tensor_entry *src_entry =
 *         ln_tensor_table_find(op_arg->tensor_table, src_list_entry->name);
 *     ln_opck_tensor_defined(src_entry, src_list_entry->name);
 *
 * A check that fails records the reason in `op_arg` and RETURNS from the function it stands in,
 * which is void and has an `ln_op_arg *op_arg`. So give back before a check what its failure
 * would leave behind. The message reads "conv2d: `conv2d0` needs a `stride` param"; the status is
 * LN_INVALID. An entry that is NULL fails every check but those for being there.
 *
 * Each argument is evaluated once.
 */

#ifndef LIGHTNET_OPCK_H
#define LIGHTNET_OPCK_H

#include <lightnet/export.h>
#include <lightnet/mem.h>
#include <lightnet/msg.h>
#include <lightnet/op.h>
#include <lightnet/param.h>
#include <lightnet/status.h>
#include <lightnet/tensor_entry.h>

LN_CPPSTART

/* The one list of relations: X(name, operator). */
#define LN_OPCK_RELATION_LIST(X)                                                                   \
    X(eq, ==)                                                                                      \
    X(gt, >)                                                                                       \
    X(ge, >=)                                                                                      \
    X(lt, <)                                                                                       \
    X(le, <=)                                                                                      \
    X(ne, !=)

typedef enum ln_opck_relation {
#define LN_OPCK_RELATION_ENUM(name, operator) ln_opck_##name,
    LN_OPCK_RELATION_LIST(LN_OPCK_RELATION_ENUM)
#undef LN_OPCK_RELATION_ENUM
} ln_opck_relation;

/* In which type numbers are compared. */
typedef enum ln_opck_number { LN_OPCK_int, LN_OPCK_float, LN_OPCK_double } ln_opck_number;

/* What is counted. */
typedef enum ln_opck_count {
    LN_OPCK_PARAMS,
    LN_OPCK_TENSORS_IN,
    LN_OPCK_TENSORS_OUT
} ln_opck_count;

/* ---- What the macros call: LN_OK, or the failure that was recorded ---- */

LN_API ln_status ln_opck_report(ln_op_arg *op_arg, ln_msg_level level, const char *fmt, ...)
    LN_PRINTF(3, 4);
LN_API ln_status ln_opck_check_there(ln_op_arg *op_arg, const void *entry, const char *arg_name,
                                     const char *what);
LN_API ln_status ln_opck_check_type(ln_op_arg *op_arg, const ln_param_entry *entry,
                                    ln_param_type type);
LN_API ln_status ln_opck_check_number(ln_op_arg *op_arg, const ln_param_entry *entry,
                                      ln_opck_number number, ln_opck_relation relation,
                                      double expect);
LN_API ln_status ln_opck_check_array(ln_op_arg *op_arg, const ln_param_entry *entry,
                                     ln_opck_number number, ln_opck_relation relation,
                                     double expect);
LN_API ln_status ln_opck_check_array_len(ln_op_arg *op_arg, const ln_param_entry *entry,
                                         ln_opck_relation relation, long long expect);
LN_API ln_status ln_opck_check_count(ln_op_arg *op_arg, ln_opck_count what, long long count,
                                     ln_opck_relation relation, long long expect);
LN_API ln_status ln_opck_check_defined(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                       const char *name, int is_expected);
LN_API ln_status ln_opck_check_ndim(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                    long long expect);
LN_API ln_status ln_opck_check_len(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                   long long expect);
LN_API ln_status ln_opck_check_same_shape(ln_op_arg *op_arg, const ln_tensor_entry *entry1,
                                          const ln_tensor_entry *entry2);
LN_API ln_status ln_opck_check_same_type(ln_op_arg *op_arg, const ln_tensor_entry *entry1,
                                         const ln_tensor_entry *entry2);
LN_API ln_status ln_opck_check_static(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                      int is_expected);
LN_API ln_status ln_opck_check_mtype(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                     ln_mem_type expect);
LN_API ln_status ln_opck_check_dtype(ln_op_arg *op_arg, const ln_tensor_entry *entry,
                                     tl_dtype expect);

LN_CPPEND

#define LN_OPCK_TRY(check)                                                                         \
    do {                                                                                           \
        if ((check) != LN_OK)                                                                      \
            return;                                                                                \
    } while (0)

/* ---- Anything ---- */

/* If `condition` does not hold: for the error levels of msg.h fails with the printf-made message,
 * for the others emits the message and goes on. */
#define ln_opck(level, condition, ...)                                                             \
    LN_OPCK_TRY((condition) ? LN_OK : ln_opck_report(op_arg, (level), __VA_ARGS__))

/* `condition` holds; else fails with the printf-made message, or with the text of the condition. */
#define ln_opck_satisfy_msg(condition, ...) ln_opck(LN_MSG_ERROR, condition, __VA_ARGS__)
#define ln_opck_satisfy(condition)                                                                 \
    ln_opck(LN_MSG_ERROR, condition, "should satisfy: %s", #condition)

/* ---- Parameters; `entry` is a ln_param_entry * ---- */

/* The parameter is there: `entry` is what ln_param_list_find(op_arg->params, arg_name) returned. */
#define ln_opck_param_exist(entry, arg_name)                                                       \
    LN_OPCK_TRY(ln_opck_check_there(op_arg, (entry), (arg_name), "param"))

/* Its type is `param_type`. */
#define ln_opck_param_type(entry, param_type)                                                      \
    LN_OPCK_TRY(ln_opck_check_type(op_arg, (entry), (param_type)))

/* Its number, compared as that type, is equal to, greater than, ... `expect`. */
#define LN_OPCK_NUMBER(type, relation, entry, expect)                                              \
    LN_OPCK_TRY(ln_opck_check_number(op_arg, (entry), LN_OPCK_##type, ln_opck_##relation,          \
                                     (double)(expect)))
#define ln_opck_param_int_eq(entry, expect)    LN_OPCK_NUMBER(int, eq, entry, expect)
#define ln_opck_param_int_gt(entry, expect)    LN_OPCK_NUMBER(int, gt, entry, expect)
#define ln_opck_param_int_ge(entry, expect)    LN_OPCK_NUMBER(int, ge, entry, expect)
#define ln_opck_param_int_lt(entry, expect)    LN_OPCK_NUMBER(int, lt, entry, expect)
#define ln_opck_param_int_le(entry, expect)    LN_OPCK_NUMBER(int, le, entry, expect)
#define ln_opck_param_int_ne(entry, expect)    LN_OPCK_NUMBER(int, ne, entry, expect)
#define ln_opck_param_float_eq(entry, expect)  LN_OPCK_NUMBER(float, eq, entry, expect)
#define ln_opck_param_float_gt(entry, expect)  LN_OPCK_NUMBER(float, gt, entry, expect)
#define ln_opck_param_float_ge(entry, expect)  LN_OPCK_NUMBER(float, ge, entry, expect)
#define ln_opck_param_float_lt(entry, expect)  LN_OPCK_NUMBER(float, lt, entry, expect)
#define ln_opck_param_float_le(entry, expect)  LN_OPCK_NUMBER(float, le, entry, expect)
#define ln_opck_param_float_ne(entry, expect)  LN_OPCK_NUMBER(float, ne, entry, expect)
#define ln_opck_param_double_eq(entry, expect) LN_OPCK_NUMBER(double, eq, entry, expect)
#define ln_opck_param_double_gt(entry, expect) LN_OPCK_NUMBER(double, gt, entry, expect)
#define ln_opck_param_double_ge(entry, expect) LN_OPCK_NUMBER(double, ge, entry, expect)
#define ln_opck_param_double_lt(entry, expect) LN_OPCK_NUMBER(double, lt, entry, expect)
#define ln_opck_param_double_le(entry, expect) LN_OPCK_NUMBER(double, le, entry, expect)
#define ln_opck_param_double_ne(entry, expect) LN_OPCK_NUMBER(double, ne, entry, expect)

/* Its array has a length equal to, greater than, ... `expect_len`. */
#define LN_OPCK_ARRAY_LEN(relation, entry, expect_len)                                             \
    LN_OPCK_TRY(                                                                                   \
        ln_opck_check_array_len(op_arg, (entry), ln_opck_##relation, (long long)(expect_len)))
#define ln_opck_param_array_len_eq(entry, expect_len) LN_OPCK_ARRAY_LEN(eq, entry, expect_len)
#define ln_opck_param_array_len_gt(entry, expect_len) LN_OPCK_ARRAY_LEN(gt, entry, expect_len)
#define ln_opck_param_array_len_ge(entry, expect_len) LN_OPCK_ARRAY_LEN(ge, entry, expect_len)
#define ln_opck_param_array_len_lt(entry, expect_len) LN_OPCK_ARRAY_LEN(lt, entry, expect_len)
#define ln_opck_param_array_len_le(entry, expect_len) LN_OPCK_ARRAY_LEN(le, entry, expect_len)
#define ln_opck_param_array_len_ne(entry, expect_len) LN_OPCK_ARRAY_LEN(ne, entry, expect_len)

/* All numbers of its array are. */
#define LN_OPCK_ARRAY(type, relation, entry, expect)                                               \
    LN_OPCK_TRY(ln_opck_check_array(op_arg, (entry), LN_OPCK_##type, ln_opck_##relation,           \
                                    (double)(expect)))
#define ln_opck_param_array_int_eq(entry, expect)    LN_OPCK_ARRAY(int, eq, entry, expect)
#define ln_opck_param_array_int_gt(entry, expect)    LN_OPCK_ARRAY(int, gt, entry, expect)
#define ln_opck_param_array_int_ge(entry, expect)    LN_OPCK_ARRAY(int, ge, entry, expect)
#define ln_opck_param_array_int_lt(entry, expect)    LN_OPCK_ARRAY(int, lt, entry, expect)
#define ln_opck_param_array_int_le(entry, expect)    LN_OPCK_ARRAY(int, le, entry, expect)
#define ln_opck_param_array_int_ne(entry, expect)    LN_OPCK_ARRAY(int, ne, entry, expect)
#define ln_opck_param_array_float_eq(entry, expect)  LN_OPCK_ARRAY(float, eq, entry, expect)
#define ln_opck_param_array_float_gt(entry, expect)  LN_OPCK_ARRAY(float, gt, entry, expect)
#define ln_opck_param_array_float_ge(entry, expect)  LN_OPCK_ARRAY(float, ge, entry, expect)
#define ln_opck_param_array_float_lt(entry, expect)  LN_OPCK_ARRAY(float, lt, entry, expect)
#define ln_opck_param_array_float_le(entry, expect)  LN_OPCK_ARRAY(float, le, entry, expect)
#define ln_opck_param_array_float_ne(entry, expect)  LN_OPCK_ARRAY(float, ne, entry, expect)
#define ln_opck_param_array_double_eq(entry, expect) LN_OPCK_ARRAY(double, eq, entry, expect)
#define ln_opck_param_array_double_gt(entry, expect) LN_OPCK_ARRAY(double, gt, entry, expect)
#define ln_opck_param_array_double_ge(entry, expect) LN_OPCK_ARRAY(double, ge, entry, expect)
#define ln_opck_param_array_double_lt(entry, expect) LN_OPCK_ARRAY(double, lt, entry, expect)
#define ln_opck_param_array_double_le(entry, expect) LN_OPCK_ARRAY(double, le, entry, expect)
#define ln_opck_param_array_double_ne(entry, expect) LN_OPCK_ARRAY(double, ne, entry, expect)

/* `list_len`, from ln_param_list_length(op_arg->params), is. */
#define LN_OPCK_COUNT(what, relation, list_len, expect_len)                                        \
    LN_OPCK_TRY(ln_opck_check_count(op_arg, LN_OPCK_##what, (long long)(list_len),                 \
                                    ln_opck_##relation, (long long)(expect_len)))
#define ln_opck_params_len_eq(list_len, expect_len) LN_OPCK_COUNT(PARAMS, eq, list_len, expect_len)
#define ln_opck_params_len_gt(list_len, expect_len) LN_OPCK_COUNT(PARAMS, gt, list_len, expect_len)
#define ln_opck_params_len_ge(list_len, expect_len) LN_OPCK_COUNT(PARAMS, ge, list_len, expect_len)
#define ln_opck_params_len_lt(list_len, expect_len) LN_OPCK_COUNT(PARAMS, lt, list_len, expect_len)
#define ln_opck_params_len_le(list_len, expect_len) LN_OPCK_COUNT(PARAMS, le, list_len, expect_len)
#define ln_opck_params_len_ne(list_len, expect_len) LN_OPCK_COUNT(PARAMS, ne, list_len, expect_len)

/* ---- Input and output lists ---- */

/* The input is there: `entry` is what ln_tensor_list_find_by_arg_name(op_arg->tensors_in, arg_name)
 * returned. The same for an output and op_arg->tensors_out. */
#define ln_opck_tensor_in_exist(entry, arg_name)                                                   \
    LN_OPCK_TRY(ln_opck_check_there(op_arg, (entry), (arg_name), "input tensor"))
#define ln_opck_tensor_out_exist(entry, arg_name)                                                  \
    LN_OPCK_TRY(ln_opck_check_there(op_arg, (entry), (arg_name), "output tensor"))

/* `list_len`, from ln_tensor_list_length(op_arg->tensors_in) or (op_arg->tensors_out), is equal to,
 * greater than, ... `expect_len`. */
#define ln_opck_tensors_in_len_eq(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, eq, list_len, expect_len)
#define ln_opck_tensors_in_len_gt(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, gt, list_len, expect_len)
#define ln_opck_tensors_in_len_ge(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, ge, list_len, expect_len)
#define ln_opck_tensors_in_len_lt(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, lt, list_len, expect_len)
#define ln_opck_tensors_in_len_le(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, le, list_len, expect_len)
#define ln_opck_tensors_in_len_ne(list_len, expect_len)                                            \
    LN_OPCK_COUNT(TENSORS_IN, ne, list_len, expect_len)
#define ln_opck_tensors_out_len_eq(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, eq, list_len, expect_len)
#define ln_opck_tensors_out_len_gt(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, gt, list_len, expect_len)
#define ln_opck_tensors_out_len_ge(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, ge, list_len, expect_len)
#define ln_opck_tensors_out_len_lt(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, lt, list_len, expect_len)
#define ln_opck_tensors_out_len_le(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, le, list_len, expect_len)
#define ln_opck_tensors_out_len_ne(list_len, expect_len)                                           \
    LN_OPCK_COUNT(TENSORS_OUT, ne, list_len, expect_len)

/* ---- Tensors; `entry` is a ln_tensor_entry * ---- */

/* No operator, or some operator, has defined the tensor so far: `entry` is what
 * ln_tensor_table_find(op_arg->tensor_table, entry_name) returned. */
#define ln_opck_tensor_not_defined(entry, entry_name)                                              \
    LN_OPCK_TRY(ln_opck_check_defined(op_arg, (entry), (entry_name), 0))
#define ln_opck_tensor_defined(entry, entry_name)                                                  \
    LN_OPCK_TRY(ln_opck_check_defined(op_arg, (entry), (entry_name), 1))

/* The number of dimensions, or of elements. */
#define ln_opck_tensor_ndim(entry, expect_ndim)                                                    \
    LN_OPCK_TRY(ln_opck_check_ndim(op_arg, (entry), (long long)(expect_ndim)))
#define ln_opck_tensor_len(entry, expect_len)                                                      \
    LN_OPCK_TRY(ln_opck_check_len(op_arg, (entry), (long long)(expect_len)))

/* Both have the same shape, or the same element type. */
#define ln_opck_tensor_issameshape(entry1, entry2)                                                 \
    LN_OPCK_TRY(ln_opck_check_same_shape(op_arg, (entry1), (entry2)))
#define ln_opck_tensor_issametype(entry1, entry2)                                                  \
    LN_OPCK_TRY(ln_opck_check_same_type(op_arg, (entry1), (entry2)))

/* The tensor is static, or is not. */
#define ln_opck_tensor_isstatic(entry)    LN_OPCK_TRY(ln_opck_check_static(op_arg, (entry), 1))
#define ln_opck_tensor_isnotstatic(entry) LN_OPCK_TRY(ln_opck_check_static(op_arg, (entry), 0))

/* Its memory type, or its element type. */
#define ln_opck_tensor_mtype_eq(entry, mem_type)                                                   \
    LN_OPCK_TRY(ln_opck_check_mtype(op_arg, (entry), (mem_type)))
#define ln_opck_tensor_dtype_eq(entry, data_type)                                                  \
    LN_OPCK_TRY(ln_opck_check_dtype(op_arg, (entry), (data_type)))

#endif
