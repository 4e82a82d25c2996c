// SPDX-License-Identifier: Apache-2.0
// The checks: for each macro an operator that passes and one that fails, with its message.

#include <lightnet/opck.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"

// What the checks look at.
static ln_op_arg arg;
static int went_on;

// CK(name, statement): a function as a pre_run would have it.
#define CK(name, ...)                                                                              \
    static void name(ln_op_arg *op_arg)                                                            \
    {                                                                                              \
        (void)op_arg;                                                                              \
        __VA_ARGS__;                                                                               \
        went_on = 1;                                                                               \
    }

#define PARAM(name)  ln_param_list_find(op_arg->params, name)
#define TENSOR(name) ln_tensor_table_find(op_arg->tensor_table, name)

CK(exist_ok, ln_opck_param_exist(PARAM("n"), "n"))
CK(exist_bad, ln_opck_param_exist(PARAM("stride"), "stride"))
CK(type_ok, ln_opck_param_type(PARAM("n"), LN_PARAM_NUMBER))
CK(type_bad, ln_opck_param_type(PARAM("n"), LN_PARAM_STRING))
CK(type_null, ln_opck_param_type(PARAM("none"), LN_PARAM_STRING))
CK(int_all, ln_opck_param_int_eq(PARAM("n"), 5); ln_opck_param_int_gt(PARAM("n"), 4);
   ln_opck_param_int_ge(PARAM("n"), 5); ln_opck_param_int_lt(PARAM("n"), 6);
   ln_opck_param_int_le(PARAM("n"), 5); ln_opck_param_int_ne(PARAM("n"), 4))
CK(int_lt, ln_opck_param_int_lt(PARAM("n"), 2))
CK(int_eq, ln_opck_param_int_eq(PARAM("n"), (size_t)2))
CK(float_all, ln_opck_param_float_eq(PARAM("f"), 0.1); ln_opck_param_float_gt(PARAM("f"), 0);
   ln_opck_param_float_ge(PARAM("f"), 0.1f); ln_opck_param_float_lt(PARAM("f"), 1);
   ln_opck_param_float_le(PARAM("f"), 0.1); ln_opck_param_float_ne(PARAM("f"), 0.2))
CK(float_gt, ln_opck_param_float_gt(PARAM("f"), 0.5))
CK(double_all, ln_opck_param_double_eq(PARAM("f"), 0.1); ln_opck_param_double_gt(PARAM("f"), 0);
   ln_opck_param_double_ge(PARAM("f"), 0.1); ln_opck_param_double_lt(PARAM("f"), 1);
   ln_opck_param_double_le(PARAM("f"), 0.1); ln_opck_param_double_ne(PARAM("f"), 0.1f))
CK(double_ne, ln_opck_param_double_ne(PARAM("f"), 0.1))
CK(len_all, ln_opck_param_array_len_eq(PARAM("a"), 3); ln_opck_param_array_len_gt(PARAM("a"), 2);
   ln_opck_param_array_len_ge(PARAM("a"), 3); ln_opck_param_array_len_lt(PARAM("a"), 4);
   ln_opck_param_array_len_le(PARAM("a"), 3); ln_opck_param_array_len_ne(PARAM("a"), 4))
CK(len_eq, ln_opck_param_array_len_eq(PARAM("a"), 4))
CK(array_all, ln_opck_param_array_int_gt(PARAM("a"), 0); ln_opck_param_array_int_ge(PARAM("a"), 1);
   ln_opck_param_array_int_lt(PARAM("a"), 4); ln_opck_param_array_int_le(PARAM("a"), 3);
   ln_opck_param_array_int_ne(PARAM("a"), 0); ln_opck_param_array_int_eq(PARAM("e"), 9);
   ln_opck_param_array_float_gt(PARAM("a"), 0); ln_opck_param_array_float_ge(PARAM("a"), 1);
   ln_opck_param_array_float_lt(PARAM("a"), 4); ln_opck_param_array_float_le(PARAM("a"), 3);
   ln_opck_param_array_float_ne(PARAM("a"), 0); ln_opck_param_array_float_eq(PARAM("e"), 9);
   ln_opck_param_array_double_gt(PARAM("a"), 0); ln_opck_param_array_double_ge(PARAM("a"), 1);
   ln_opck_param_array_double_lt(PARAM("a"), 4); ln_opck_param_array_double_le(PARAM("a"), 3);
   ln_opck_param_array_double_ne(PARAM("a"), 0); ln_opck_param_array_double_eq(PARAM("e"), 9))
CK(array_lt, ln_opck_param_array_int_lt(PARAM("a"), 3))
CK(array_not, ln_opck_param_array_float_lt(PARAM("broken"), 3))
CK(counts, int n = 2; ln_opck_params_len_eq(n, 2); ln_opck_params_len_gt(n, 1);
   ln_opck_params_len_ge(n, 2); ln_opck_params_len_lt(n, 3); ln_opck_params_len_le(n, 2);
   ln_opck_tensors_in_len_eq(n, 2); ln_opck_tensors_in_len_gt(n, 1);
   ln_opck_tensors_in_len_ge(n, 2); ln_opck_tensors_in_len_lt(n, 3);
   ln_opck_tensors_in_len_le(n, 2); ln_opck_tensors_out_len_eq(n, 2);
   ln_opck_tensors_out_len_gt(n, 1); ln_opck_tensors_out_len_ge(n, 2);
   ln_opck_tensors_out_len_lt(n, 3); ln_opck_tensors_out_len_le(n, 2); ln_opck_params_len_ne(n, 1);
   ln_opck_tensors_in_len_ne(n, 1); ln_opck_tensors_out_len_ne(n, 1))
CK(params_eq, ln_opck_params_len_eq(3, 5))
CK(ins_ge, ln_opck_tensors_in_len_ge(0, 1))
CK(outs_eq, ln_opck_tensors_out_len_eq(1, 2))
CK(in_exist, ln_opck_tensor_in_exist(NULL, "src"))
CK(out_exist, ln_opck_tensor_out_exist(NULL, "dst"))
CK(defined_ok, ln_opck_tensor_defined(TENSOR("x"), "x");
   ln_opck_tensor_not_defined(TENSOR("q"), "q"))
CK(defined_bad, ln_opck_tensor_defined(TENSOR("q"), "q"))
CK(not_defined_bad, ln_opck_tensor_not_defined(TENSOR("x"), "x"))
CK(tensor_ok, ln_opck_tensor_ndim(TENSOR("x"), 2); ln_opck_tensor_len(TENSOR("x"), 6);
   ln_opck_tensor_issameshape(TENSOR("x"), TENSOR("x"));
   ln_opck_tensor_issametype(TENSOR("x"), TENSOR("x")); ln_opck_tensor_isstatic(TENSOR("x"));
   ln_opck_tensor_isnotstatic(TENSOR("y")); ln_opck_tensor_mtype_eq(TENSOR("x"), LN_MEM_CPU);
   ln_opck_tensor_dtype_eq(TENSOR("x"), TL_FLOAT))
CK(ndim_bad, ln_opck_tensor_ndim(TENSOR("x"), 4))
CK(len_bad, ln_opck_tensor_len(TENSOR("x"), 7))
CK(shape_bad, ln_opck_tensor_issameshape(TENSOR("x"), TENSOR("y")))
CK(dtype_bad, ln_opck_tensor_issametype(TENSOR("x"), TENSOR("y")))
CK(static_bad, ln_opck_tensor_isstatic(TENSOR("y")))
CK(not_static_bad, ln_opck_tensor_isnotstatic(TENSOR("x")))
CK(mtype_bad, ln_opck_tensor_mtype_eq(TENSOR("y"), LN_MEM_CPU))
CK(dtype_eq_bad, ln_opck_tensor_dtype_eq(TENSOR("x"), TL_INT8))
CK(null_tensor, ln_opck_tensor_ndim(TENSOR("q"), 1))
CK(satisfy_ok, ln_opck_satisfy(1 < 2); ln_opck_satisfy_msg(1, "unused"))
CK(satisfy_bad, int axis = 7; ln_opck_satisfy(axis % 4 == 0))
CK(satisfy_msg_bad, ln_opck_satisfy_msg(0, "axis %d is outside rank %d", 5, 4))
CK(inter, ln_opck(LN_MSG_INTER_ERROR, 0, "is odd"))
CK(warns, ln_opck(LN_MSG_WARN, 0, "is slow for %d", 3))
// Nested uses neither shadow nor dangle.
CK(nested, if (op_arg) ln_opck_satisfy(1); else ln_opck_satisfy(0);
   for (int i = 0; i < 2; i++) ln_opck_satisfy_msg(i < 2, "%d", i))

static const struct {
    const char *why;
    void (*check)(ln_op_arg *op_arg);
    const char *message; // NULL: passes
} rows[] = {
    {"exist", exist_ok, NULL},
    {"exist", exist_bad, "needs a `stride` param"},
    {"type", type_ok, NULL},
    {"type", type_bad, "`n` param should be a text, but is a number"},
    {"a NULL entry", type_null, "lacks a param that it checks"},
    {"int", int_all, NULL},
    {"int", int_lt, "`n` param's value should be < 2, but gets a 5"},
    {"int against a size", int_eq, "`n` param's value should be == 2, but gets a 5"},
    {"float", float_all, NULL},
    {"float", float_gt, "`f` param's value should be > 0.5, but gets a 0.100000001"},
    {"double", double_all, NULL},
    {"double", double_ne, "`f` param's value should be != 0.1, but gets a 0.1"},
    {"array length", len_all, NULL},
    {"array length", len_eq, "`a` param's array length should be == 4, but gets a 3"},
    {"array", array_all, NULL},
    {"array", array_lt, "`a` param's elements should be < 3, but element 2 is a 3"},
    {"no array", array_not, "`broken` param should be an array of numbers"},
    {"counts", counts, NULL},
    {"counts", params_eq, "needs 5 params, but gets 3 params"},
    {"counts", ins_ge, "needs >= 1 input tensors, but gets 0 input tensors"},
    {"counts", outs_eq, "needs 2 output tensors, but gets 1 output tensors"},
    {"tensor list", in_exist, "needs a `src` input tensor"},
    {"tensor list", out_exist, "needs a `dst` output tensor"},
    {"defined", defined_ok, NULL},
    {"defined", defined_bad, "tensor `q` should have been defined before"},
    {"not defined", not_defined_bad, "tensor `x` shouldn't have been defined before"},
    {"tensor", tensor_ok, NULL},
    {"ndim", ndim_bad, "tensor `x`'s ndim should be 4, but gets a 2"},
    {"len", len_bad, "tensor `x`'s length should be 7, but gets a 6"},
    {"shape", shape_bad,
     "tensors `x` and `y` should have the same shape, but get [2, 3] and [3, 2]"},
    {"type", dtype_bad,
     "tensors `x` and `y` should have the same dtype, but get TL_FLOAT and TL_INT32"},
    {"static", static_bad, "tensor `y` should be static"},
    {"not static", not_static_bad, "tensor `x` shouldn't be static"},
    {"mtype", mtype_bad, "tensor `y`'s mtype should be LN_MEM_CPU, but gets LN_MEM_CUDA"},
    {"dtype", dtype_eq_bad, "tensor `x`'s dtype should be TL_INT8, but gets TL_FLOAT"},
    {"a NULL tensor", null_tensor, "lacks a tensor that it checks"},
    {"satisfy", satisfy_ok, NULL},
    {"satisfy with a % in it", satisfy_bad, "should satisfy: axis % 4 == 0"},
    {"satisfy_msg", satisfy_msg_bad, "axis 5 is outside rank 4"},
    {"internal error", inter, "is odd"},
    {"warning", warns, NULL},
    {"nested", nested, NULL},
};

static void insert(ln_hash *table, const char *name, const int *dims, tl_dtype dtype,
                   ln_mem_type mtype, int is_static)
{
    ln_tensor_entry *entry = ln_tensor_entry_create(name, tl_tensor_create(NULL, 2, dims, dtype));
    entry->mtype = mtype;
    entry->isstatic = is_static;
    ln_tensor_table_insert(table, entry);
}

static void set_up(void)
{
    static char optype[] = "conv2d", name[] = "conv2d0";
    arg = (ln_op_arg){.optype = optype, .name = name};
    arg.params = ln_param_list_append_int(arg.params, "n", 5);
    arg.params = ln_param_list_append_double(arg.params, "f", 0.1);
    arg.params = ln_param_list_append_array_int(arg.params, "a", 3, (const int[]){1, 2, 3});
    arg.params = ln_param_list_append_array_int(arg.params, "e", 0, NULL);
    arg.params = ln_param_list_append_empty(arg.params, "broken", LN_PARAM_ARRAY_NUMBER);
    ln_param_list_find(arg.params, "broken")->array_len = 2;
    arg.tensor_table = ln_tensor_table_create();
    insert(arg.tensor_table, "x", (const int[]){2, 3}, TL_FLOAT, LN_MEM_CPU, 1);
    insert(arg.tensor_table, "y", (const int[]){3, 2}, TL_INT32, LN_MEM_CUDA, 0);
}

static void tear_down(void)
{
    ln_param_list_free(arg.params);
    ln_tensor_table_free(arg.tensor_table);
}

static int warning_count;

static void count_warning(const ln_msg *msg, void *user)
{
    (void)user;
    warning_count++;
    CHECK_EQ(msg->level, LN_MSG_WARN);
    CHECK_STR_EQ(msg->text, "conv2d: `conv2d0` is slow for 3");
}

TEST(every_check_passes_or_says_why_not)
{
    set_up();
    warning_count = 0;
    ln_msg_set_handler(count_warning, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        arg.status = LN_OK;
        went_on = 0;
        ln_error_clear();
        rows[i].check(&arg);
        char expected[512] = "";
        if (rows[i].message)
            snprintf(expected, sizeof expected, "conv2d: `conv2d0` %s", rows[i].message);
        if (strcmp(ln_error_message(), expected) != 0 || went_on != !rows[i].message ||
            (arg.status == LN_OK) != !rows[i].message)
            fail_msg("%s (row %zu): \"%s\" instead of \"%s\"", rows[i].why, i, ln_error_message(),
                     expected);
    }
    ln_msg_set_handler(NULL, NULL);
    CHECK_EQ(warning_count, 1);
    tear_down();
}

TEST_LIST(every_check_passes_or_says_why_not)
