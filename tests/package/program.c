// SPDX-License-Identifier: Apache-2.0
// A program outside the project: an operator of its own, written as the operator document shows
// it, registered with the installed library and run in a model.

#include <stdio.h>
#include <string.h>

#include <lightnet/lightnet.h>

// ---- The operator foo_cpu: dst = src with the bytes of "param" added up ----

static void foo_pre_run(ln_op_arg *op_arg)
{
    ln_opck_tensors_in_len_eq(ln_tensor_list_length(op_arg->tensors_in), 1);
    ln_tensor_list_entry *src_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_in, "src");
    ln_opck_tensor_in_exist(src_list_entry, "src");
    ln_tensor_entry *src_entry = ln_tensor_table_find(op_arg->tensor_table, src_list_entry->name);
    ln_opck_tensor_defined(src_entry, src_list_entry->name);
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_tensor_dtype_eq(src_entry, TL_FLOAT);

    ln_opck_tensors_out_len_eq(ln_tensor_list_length(op_arg->tensors_out), 1);
    ln_tensor_list_entry *dst_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "dst");
    ln_opck_tensor_out_exist(dst_list_entry, "dst");
    ln_tensor_entry *dst_entry = ln_tensor_table_find(op_arg->tensor_table, dst_list_entry->name);
    ln_opck_tensor_not_defined(dst_entry, dst_list_entry->name);

    ln_opck_params_len_eq(ln_param_list_length(op_arg->params), 1);
    ln_param_entry *param_entry = ln_param_list_find(op_arg->params, "param");
    ln_opck_param_exist(param_entry, "param");
    ln_opck_param_type(param_entry, LN_PARAM_STRING);

    const tl_tensor *src = src_entry->tensor;
    tl_tensor *dst = tl_tensor_create(NULL, src->ndim, src->dims, src->dtype);
    dst_entry = ln_tensor_entry_create(dst_list_entry->name, dst);
    ln_tensor_entry_set_creater(dst_entry, op_arg->name);
    dst_entry->mtype = LN_MEM_CPU;
    dst_entry->offset = dst_list_entry->offset;
    ln_tensor_table_insert(op_arg->tensor_table, dst_entry);
}

static void foo_run(ln_op_arg *op_arg)
{
    ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    const char *param = ln_param_list_find(op_arg->params, "param")->value_string;
    float sum = 0;
    for (; *param; param++)
        sum += (float)*param;
    for (int i = 0; i < src->tensor->len; i++)
        ((float *)dst->tensor->data)[i] = ((float *)src->tensor->data)[i] + sum;
}

static void foo_post_run(ln_op_arg *op_arg)
{
    ln_tensor_table_remove(op_arg->tensor_table,
                           ln_tensor_list_find_name(op_arg->tensors_out, "dst"));
}

static const char *in_arg_names[] = {"src", NULL};
static const char *out_arg_names[] = {"dst", NULL};
static const char *param_arg_names[] = {"param", NULL};
static const ln_param_type param_ptypes[] = {LN_PARAM_STRING};

static ln_op_arg op_arg_foo = {
    .optype = "foo_cpu",
    .arch = "cpu",
    .in_arg_names = in_arg_names,
    .out_arg_names = out_arg_names,
    .param_arg_names = param_arg_names,
    .param_ptypes = param_ptypes,
};

static ln_op ln_opimpl_foo_cpu = {
    .op_arg = &op_arg_foo,
    .pre_run = foo_pre_run,
    .static_run = NULL,
    .run = foo_run,
    .post_run = foo_post_run,
    .calc_offset = NULL,
};

static const char model[] =
    "create(| dst=x | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[1, 2, 3], from_file=false);"
    "foo_cpu(src=x | dst=y | param=\"ab\");"
    "relu(src=y | dst=z |);";

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, ln_error_message());
    return 1;
}

static int run(ln_context *ctx)
{
    if (ln_context_init_mem(ctx, model, strlen(model), "model.net") != LN_OK)
        return fail("init");
    if (ln_context_compile(ctx, "cpu") != LN_OK)
        return fail("compile");
    if (ln_context_load(ctx, NULL) != LN_OK)
        return fail("load");
    if (ln_context_run(ctx) != LN_OK)
        return fail("run");
    float z[3];
    if (!ln_context_get_data(ctx, "z", z))
        return fail("get_data");
    for (int i = 0; i < 3; i++) {
        if (z[i] != (float)(i + 1 + 'a' + 'b')) {
            fprintf(stderr, "z[%d] = %g\n", i, (double)z[i]);
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    if (ln_arch_init() != LN_OK)
        return fail("ln_arch_init");
    if (ln_op_register(&ln_opimpl_foo_cpu) != LN_OK)
        return fail("ln_op_register");
    ln_context *ctx = ln_context_create();
    int failed = run(ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    return failed;
}
