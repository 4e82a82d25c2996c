// SPDX-License-Identifier: Apache-2.0
// Operators for tests, written by hand as anyone outside the library would write them.
//
//     make    no input -> dst, of the shape in param "dims"
//     copy    src -> dst of the same shape; param "fail" not 0 makes its pre_run fail late
//     add     src1, src2 -> dst; the shapes must be the same

#ifndef LN_IR_TEST_OPS_H
#define LN_IR_TEST_OPS_H

#include <stdio.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>

typedef struct test_priv {
    ln_tensor_entry *dst;
} test_priv;

static inline void test_define(ln_op_arg *op_arg, int ndim, const int *dims)
{
    test_priv *priv = ln_alloc(sizeof *priv);
    if (!priv) {
        ln_op_fail(op_arg, LN_NO_MEMORY, "out of memory");
        return;
    }
    priv->dst = ln_op_define_output(op_arg, "dst", ndim, dims, TL_FLOAT, LN_MEM_CPU, 0, NULL);
    if (!priv->dst) {
        ln_free(priv);
        return;
    }
    op_arg->priv = priv;
}

static inline void test_post_run(ln_op_arg *op_arg)
{
    ln_free(op_arg->priv);
    op_arg->priv = NULL;
    ln_op_undefine_outputs(op_arg);
}

static inline void test_make_pre_run(ln_op_arg *op_arg)
{
    const ln_param_entry *dims = ln_param_list_find(op_arg->params, "dims");
    ln_opck_param_exist(dims, "dims");
    ln_opck_param_type(dims, LN_PARAM_ARRAY_NUMBER);
    ln_opck_param_array_int_gt(dims, 0);
    test_define(op_arg, dims->array_len, dims->value_array_int);
}

static inline ln_tensor_entry *test_input(const ln_op_arg *op_arg, const char *arg_name)
{
    return ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, arg_name);
}

static inline void test_copy_pre_run(ln_op_arg *op_arg)
{
    const ln_tensor_entry *src = test_input(op_arg, "src");
    ln_opck_tensor_defined(src, "src");
    test_define(op_arg, src->tensor->ndim, src->tensor->dims);
    const ln_param_entry *fail = ln_param_list_find(op_arg->params, "fail");
    if (op_arg->status == LN_OK && fail && fail->value_int) {
        test_post_run(op_arg);
        ln_op_fail(op_arg, LN_INVALID, "fails on purpose");
    }
}

static inline double test_copy_macs(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    return priv->dst->tensor->len;
}

static inline void test_add_pre_run(ln_op_arg *op_arg)
{
    const ln_tensor_entry *src1 = test_input(op_arg, "src1"), *src2 = test_input(op_arg, "src2");
    ln_opck_tensor_defined(src1, "src1");
    ln_opck_tensor_defined(src2, "src2");
    ln_opck_tensor_issameshape(src1, src2);
    test_define(op_arg, src1->tensor->ndim, src1->tensor->dims);
}

static const char *test_no_names[] = {NULL};
static const char *test_src_names[] = {"src", NULL};
static const char *test_src12_names[] = {"src1", "src2", NULL};
static const char *test_dst_names[] = {"dst", NULL};
static const char *test_dims_names[] = {"dims", NULL};
static const char *test_fail_names[] = {"fail", NULL};
static const ln_param_type test_dims_types[] = {LN_PARAM_ARRAY_NUMBER};
static const ln_param_type test_fail_types[] = {LN_PARAM_NUMBER};
static const ln_op_info test_copy_info = {
    .byte_count = sizeof(ln_op_info), .check = NULL, .macs = test_copy_macs};

#define TEST_OP(type, type_arch, pre, ins, par_names, par_types, op_info)                          \
    static char test_##type##_optype[] = #type;                                                    \
    static char test_##type##_arch[] = type_arch;                                                  \
    static ln_op_arg test_##type##_arg = {                                                         \
        .optype = test_##type##_optype,                                                            \
        .arch = test_##type##_arch,                                                                \
        .in_arg_names = ins,                                                                       \
        .out_arg_names = test_dst_names,                                                           \
        .param_arg_names = par_names,                                                              \
        .param_ptypes = par_types,                                                                 \
        .info = op_info,                                                                           \
    };                                                                                             \
    static const ln_op test_##type = {                                                             \
        .op_arg = &test_##type##_arg,                                                              \
        .pre_run = pre,                                                                            \
        .post_run = test_post_run,                                                                 \
    };

TEST_OP(make, "none", test_make_pre_run, test_no_names, test_dims_names, test_dims_types, NULL)
TEST_OP(copy, "none", test_copy_pre_run, test_src_names, test_fail_names, test_fail_types,
        &test_copy_info)
TEST_OP(add, "none", test_add_pre_run, test_src12_names, test_no_names, NULL, NULL)
TEST_OP(copy_cpu, "cpu", test_copy_pre_run, test_src_names, test_fail_names, test_fail_types,
        &test_copy_info)

// An operator named `name`, which makes tensor `dst` from those at `srcs` (NULL: none). NULL when
// memory is gone.
static inline ln_op *test_op(const ln_op *proto, const char *name, const char *src1,
                             const char *src2, const char *dst)
{
    ln_op *op = ln_op_create_from_proto(proto, name, NULL, NULL, NULL, NULL);
    if (!op)
        return NULL;
    ln_op_arg *arg = op->op_arg;
    ln_status status = ln_tensor_list_push(&arg->tensors_out, "dst", dst);
    if (status == LN_OK && src1)
        status = ln_tensor_list_push(&arg->tensors_in, src2 ? "src1" : "src", src1);
    if (status == LN_OK && src2)
        status = ln_tensor_list_push(&arg->tensors_in, "src2", src2);
    if (status == LN_OK && proto == &test_make) {
        arg->params = ln_param_list_append_array_int(NULL, "dims", 2, (const int[]){2, 3});
        status = arg->params ? LN_OK : LN_NO_MEMORY;
    }
    if (status == LN_OK && proto->pre_run == test_copy_pre_run) {
        arg->params = ln_param_list_append_int(NULL, "fail", 0);
        status = arg->params ? LN_OK : LN_NO_MEMORY;
    }
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

static inline ln_op *test_failing_copy(const char *name, const char *src, const char *dst)
{
    ln_op *op = test_op(&test_copy, name, src, NULL, dst);
    if (op)
        ln_param_set_satu_number(ln_param_list_find(op->op_arg->params, "fail"), 1);
    return op;
}

// Appends to the context what `test_op` makes; the context or nobody owns it afterwards.
static inline ln_status test_append(ln_context *ctx, ln_op *op)
{
    if (!op)
        return ln_error_status();
    ln_status status = ln_context_append_op(ctx, op);
    if (status != LN_OK)
        ln_op_free_lists_too(op);
    return status;
}

#endif
