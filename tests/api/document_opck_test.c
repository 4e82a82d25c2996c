// SPDX-License-Identifier: Apache-2.0
// Every ln_opck macro of the data structure document, passing and failing.
//
// The document's macros end the program; here they end pre_run and record the failure.

#include <lightnet/lightnet.h>

#include "tests/test.h"

// What the macros look at, made anew for every check.
static ln_tensor_entry *entry1, *entry2, *no_entry;
static ln_tensor_list_entry *list_entry, *no_list_entry;
static ln_param_entry *number, *array, *no_param;
static ln_list *two;
static int reached;

// A pre_run that consists of one check; `reached` is 1 when the check lets it go on.
#define PRE_RUN(name, check)                                                                       \
    static void name(ln_op_arg *op_arg)                                                            \
    {                                                                                              \
        reached = 0;                                                                               \
        check;                                                                                     \
        (void)op_arg;                                                                              \
        reached = 1;                                                                               \
    }

// Rows: name of the check, the check that passes, the one that fails.
#define EACH_CHECK(ROW)                                                                            \
    ROW(opck, ln_opck(LN_MSG_ERROR, 1 == 1, "no %s %d", "message", 1),                             \
        ln_opck(LN_MSG_ERROR, 1 == 2, "no %s %d", "message", 1))                                   \
    ROW(satisfy_msg, ln_opck_satisfy_msg(1 == 1, "%d is 2", 1),                                    \
        ln_opck_satisfy_msg(1 == 2, "%d is 2", 1))                                                 \
    ROW(satisfy_msg_plain, ln_opck_satisfy_msg(1 == 1, "no arguments"),                            \
        ln_opck_satisfy_msg(1 == 2, "no arguments"))                                               \
    ROW(satisfy, ln_opck_satisfy(1 == 1), ln_opck_satisfy(1 == 2))                                 \
    ROW(param_exist, ln_opck_param_exist(number, "n"), ln_opck_param_exist(no_param, "m"))         \
    ROW(param_type, ln_opck_param_type(number, LN_PARAM_NUMBER),                                   \
        ln_opck_param_type(number, LN_PARAM_STRING))                                               \
    ROW(int_eq, ln_opck_param_int_eq(number, 3), ln_opck_param_int_eq(number, 4))                  \
    ROW(int_gt, ln_opck_param_int_gt(number, 2), ln_opck_param_int_gt(number, 3))                  \
    ROW(int_ge, ln_opck_param_int_ge(number, 3), ln_opck_param_int_ge(number, 4))                  \
    ROW(int_lt, ln_opck_param_int_lt(number, 4), ln_opck_param_int_lt(number, 3))                  \
    ROW(int_le, ln_opck_param_int_le(number, 3), ln_opck_param_int_le(number, 2))                  \
    ROW(int_ne, ln_opck_param_int_ne(number, 4), ln_opck_param_int_ne(number, 3))                  \
    ROW(float_eq, ln_opck_param_float_eq(number, 3), ln_opck_param_float_eq(number, 4))            \
    ROW(float_gt, ln_opck_param_float_gt(number, 2.5), ln_opck_param_float_gt(number, 3))          \
    ROW(float_ge, ln_opck_param_float_ge(number, 3), ln_opck_param_float_ge(number, 3.5))          \
    ROW(float_lt, ln_opck_param_float_lt(number, 3.5), ln_opck_param_float_lt(number, 3))          \
    ROW(float_le, ln_opck_param_float_le(number, 3), ln_opck_param_float_le(number, 2.5))          \
    ROW(float_ne, ln_opck_param_float_ne(number, 4), ln_opck_param_float_ne(number, 3))            \
    ROW(double_eq, ln_opck_param_double_eq(number, 3), ln_opck_param_double_eq(number, 4))         \
    ROW(double_gt, ln_opck_param_double_gt(number, 2.5), ln_opck_param_double_gt(number, 3))       \
    ROW(double_ge, ln_opck_param_double_ge(number, 3), ln_opck_param_double_ge(number, 3.5))       \
    ROW(double_lt, ln_opck_param_double_lt(number, 3.5), ln_opck_param_double_lt(number, 3))       \
    ROW(double_le, ln_opck_param_double_le(number, 3), ln_opck_param_double_le(number, 2.5))       \
    ROW(double_ne, ln_opck_param_double_ne(number, 4), ln_opck_param_double_ne(number, 3))         \
    ROW(len_eq, ln_opck_param_array_len_eq(array, 2), ln_opck_param_array_len_eq(array, 3))        \
    ROW(len_gt, ln_opck_param_array_len_gt(array, 1), ln_opck_param_array_len_gt(array, 2))        \
    ROW(len_ge, ln_opck_param_array_len_ge(array, 2), ln_opck_param_array_len_ge(array, 3))        \
    ROW(len_lt, ln_opck_param_array_len_lt(array, 3), ln_opck_param_array_len_lt(array, 2))        \
    ROW(len_le, ln_opck_param_array_len_le(array, 2), ln_opck_param_array_len_le(array, 1))        \
    ROW(array_int_eq, ln_opck_param_array_int_eq(array, 5), ln_opck_param_array_int_eq(array, 6))  \
    ROW(array_int_gt, ln_opck_param_array_int_gt(array, 4), ln_opck_param_array_int_gt(array, 5))  \
    ROW(array_int_ge, ln_opck_param_array_int_ge(array, 5), ln_opck_param_array_int_ge(array, 6))  \
    ROW(array_int_lt, ln_opck_param_array_int_lt(array, 6), ln_opck_param_array_int_lt(array, 5))  \
    ROW(array_int_le, ln_opck_param_array_int_le(array, 5), ln_opck_param_array_int_le(array, 4))  \
    ROW(array_int_ne, ln_opck_param_array_int_ne(array, 6), ln_opck_param_array_int_ne(array, 5))  \
    ROW(array_float_eq, ln_opck_param_array_float_eq(array, 5),                                    \
        ln_opck_param_array_float_eq(array, 6))                                                    \
    ROW(array_float_gt, ln_opck_param_array_float_gt(array, 4),                                    \
        ln_opck_param_array_float_gt(array, 5))                                                    \
    ROW(array_float_ge, ln_opck_param_array_float_ge(array, 5),                                    \
        ln_opck_param_array_float_ge(array, 6))                                                    \
    ROW(array_float_lt, ln_opck_param_array_float_lt(array, 6),                                    \
        ln_opck_param_array_float_lt(array, 5))                                                    \
    ROW(array_float_le, ln_opck_param_array_float_le(array, 5),                                    \
        ln_opck_param_array_float_le(array, 4))                                                    \
    ROW(array_float_ne, ln_opck_param_array_float_ne(array, 6),                                    \
        ln_opck_param_array_float_ne(array, 5))                                                    \
    ROW(array_double_eq, ln_opck_param_array_double_eq(array, 5),                                  \
        ln_opck_param_array_double_eq(array, 6))                                                   \
    ROW(array_double_gt, ln_opck_param_array_double_gt(array, 4),                                  \
        ln_opck_param_array_double_gt(array, 5))                                                   \
    ROW(array_double_ge, ln_opck_param_array_double_ge(array, 5),                                  \
        ln_opck_param_array_double_ge(array, 6))                                                   \
    ROW(array_double_lt, ln_opck_param_array_double_lt(array, 6),                                  \
        ln_opck_param_array_double_lt(array, 5))                                                   \
    ROW(array_double_le, ln_opck_param_array_double_le(array, 5),                                  \
        ln_opck_param_array_double_le(array, 4))                                                   \
    ROW(array_double_ne, ln_opck_param_array_double_ne(array, 6),                                  \
        ln_opck_param_array_double_ne(array, 5))                                                   \
    ROW(params_eq, ln_opck_params_len_eq(ln_param_list_length(two), 2),                            \
        ln_opck_params_len_eq(ln_param_list_length(two), 3))                                       \
    ROW(params_gt, ln_opck_params_len_gt(ln_param_list_length(two), 1),                            \
        ln_opck_params_len_gt(ln_param_list_length(two), 2))                                       \
    ROW(params_ge, ln_opck_params_len_ge(ln_param_list_length(two), 2),                            \
        ln_opck_params_len_ge(ln_param_list_length(two), 3))                                       \
    ROW(params_lt, ln_opck_params_len_lt(ln_param_list_length(two), 3),                            \
        ln_opck_params_len_lt(ln_param_list_length(two), 2))                                       \
    ROW(params_le, ln_opck_params_len_le(ln_param_list_length(two), 2),                            \
        ln_opck_params_len_le(ln_param_list_length(two), 1))                                       \
    ROW(in_exist, ln_opck_tensor_in_exist(list_entry, "src"),                                      \
        ln_opck_tensor_in_exist(no_list_entry, "src"))                                             \
    ROW(in_eq, ln_opck_tensors_in_len_eq(2, 2), ln_opck_tensors_in_len_eq(2, 3))                   \
    ROW(in_gt, ln_opck_tensors_in_len_gt(2, 1), ln_opck_tensors_in_len_gt(2, 2))                   \
    ROW(in_ge, ln_opck_tensors_in_len_ge(2, 2), ln_opck_tensors_in_len_ge(2, 3))                   \
    ROW(in_lt, ln_opck_tensors_in_len_lt(2, 3), ln_opck_tensors_in_len_lt(2, 2))                   \
    ROW(in_le, ln_opck_tensors_in_len_le(2, 2), ln_opck_tensors_in_len_le(2, 1))                   \
    ROW(out_exist, ln_opck_tensor_out_exist(list_entry, "dst"),                                    \
        ln_opck_tensor_out_exist(no_list_entry, "dst"))                                            \
    ROW(out_eq, ln_opck_tensors_out_len_eq(2, 2), ln_opck_tensors_out_len_eq(2, 3))                \
    ROW(out_gt, ln_opck_tensors_out_len_gt(2, 1), ln_opck_tensors_out_len_gt(2, 2))                \
    ROW(out_ge, ln_opck_tensors_out_len_ge(2, 2), ln_opck_tensors_out_len_ge(2, 3))                \
    ROW(out_lt, ln_opck_tensors_out_len_lt(2, 3), ln_opck_tensors_out_len_lt(2, 2))                \
    ROW(out_le, ln_opck_tensors_out_len_le(2, 2), ln_opck_tensors_out_len_le(2, 1))                \
    ROW(not_defined, ln_opck_tensor_not_defined(no_entry, "t"),                                    \
        ln_opck_tensor_not_defined(entry1, "t"))                                                   \
    ROW(defined, ln_opck_tensor_defined(entry1, "t"), ln_opck_tensor_defined(no_entry, "t"))       \
    ROW(ndim, ln_opck_tensor_ndim(entry1, 2), ln_opck_tensor_ndim(entry1, 3))                      \
    ROW(len, ln_opck_tensor_len(entry1, 6), ln_opck_tensor_len(entry1, 7))                         \
    ROW(issameshape, ln_opck_tensor_issameshape(entry1, entry1),                                   \
        ln_opck_tensor_issameshape(entry1, entry2))                                                \
    ROW(issametype, ln_opck_tensor_issametype(entry1, entry1),                                     \
        ln_opck_tensor_issametype(entry1, entry2))                                                 \
    ROW(isstatic, ln_opck_tensor_isstatic(entry2), ln_opck_tensor_isstatic(entry1))                \
    ROW(isnotstatic, ln_opck_tensor_isnotstatic(entry1), ln_opck_tensor_isnotstatic(entry2))       \
    ROW(mtype_eq, ln_opck_tensor_mtype_eq(entry1, LN_MEM_CPU),                                     \
        ln_opck_tensor_mtype_eq(entry1, LN_MEM_NONE))                                              \
    ROW(dtype_eq, ln_opck_tensor_dtype_eq(entry1, TL_FLOAT),                                       \
        ln_opck_tensor_dtype_eq(entry1, TL_INT8))

#define DEFINE_ROW(name, passing, failing)                                                         \
    PRE_RUN(passing_##name, passing) PRE_RUN(failing_##name, failing)
EACH_CHECK(DEFINE_ROW)

#define TABLE_ROW(name, passing, failing) {#name, passing_##name, failing_##name},
static const struct {
    const char *name;
    ln_op_func passes;
    ln_op_func fails;
} rows[] = {EACH_CHECK(TABLE_ROW)};

static ln_status check_once(ln_op_func pre_run)
{
    static const char *no_names[] = {NULL};
    ln_op_arg op_arg = {
        .optype = "foo_cpu",
        .arch = "cpu",
        .in_arg_names = no_names,
        .out_arg_names = no_names,
        .param_arg_names = no_names,
    };
    ln_op proto = {.op_arg = &op_arg, .pre_run = pre_run};
    ln_hash *table = ln_tensor_table_create();
    ln_op *op = ln_op_create_from_proto(&proto, "foo1", NULL, NULL, NULL, table);
    ln_list *ops = ln_list_append(NULL, op);
    ln_status status = ln_op_list_do_pre_run(ops);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
    return status;
}

TEST(every_check_passes_and_fails)
{
    entry1 = ln_tensor_entry_create("t", tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_FLOAT));
    entry1->mtype = LN_MEM_CPU;
    entry2 = ln_tensor_entry_create("u", tl_tensor_create(NULL, 1, (int[]){6}, TL_INT8));
    entry2->mtype = LN_MEM_CPU;
    entry2->isstatic = 1;
    list_entry = ln_tensor_list_entry_create("src", "t");
    number = ln_param_entry_create("n", LN_PARAM_NUMBER);
    ln_param_set_satu_number(number, 3);
    array = ln_param_entry_create("a", LN_PARAM_ARRAY_NUMBER);
    ln_param_set_satu_array_int(array, 2, (int[]){5, 5});
    two = ln_param_list_append_int(ln_param_list_append_int(NULL, "a", 1), "b", 2);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ln_status status = check_once(rows[i].passes);
        if (status != LN_OK || !reached)
            fail_msg("%s does not pass: %s", rows[i].name, ln_error_message());
        status = check_once(rows[i].fails);
        if (status == LN_OK || reached)
            fail_msg("%s does not fail", rows[i].name);
        if (!strstr(ln_error_message(), "foo1"))
            fail_msg("%s does not name the operator: %s", rows[i].name, ln_error_message());
    }
    ln_param_list_free(two);
    ln_param_entry_free(array);
    ln_param_entry_free(number);
    ln_tensor_list_entry_free(list_entry);
    ln_tensor_entry_free_tensor_too(entry1);
    ln_tensor_entry_free_tensor_too(entry2);
}

TEST_LIST(every_check_passes_and_fails)
