// SPDX-License-Identifier: Apache-2.0
// The same from C++: containers, parameters, an operator of its own with checks, and a model.

#include <cstdio>
#include <cstring>

#include <lightnet/lightnet.h>

// ---- The operator negate_cpu: dst = -src ----

static void negate_pre_run(ln_op_arg *op_arg)
{
    ln_opck_tensors_in_len_eq(ln_tensor_list_length(op_arg->tensors_in), 1);
    ln_tensor_list_entry *src_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_in, "src");
    ln_opck_tensor_in_exist(src_list_entry, "src");
    ln_tensor_entry *src_entry = ln_tensor_table_find(op_arg->tensor_table, src_list_entry->name);
    ln_opck_tensor_defined(src_entry, src_list_entry->name);
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_tensor_dtype_eq(src_entry, TL_FLOAT);
    ln_opck_tensor_ndim(src_entry, 1);
    ln_opck_tensors_out_len_eq(ln_tensor_list_length(op_arg->tensors_out), 1);
    ln_tensor_list_entry *dst_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "dst");
    ln_opck_tensor_out_exist(dst_list_entry, "dst");
    ln_opck_params_len_eq(ln_param_list_length(op_arg->params), 2);
    ln_param_entry *scale_entry = ln_param_list_find(op_arg->params, "scale");
    ln_opck_param_exist(scale_entry, "scale");
    ln_opck_param_type(scale_entry, LN_PARAM_NUMBER);
    ln_opck_param_float_gt(scale_entry, 0);
    ln_param_entry *sizes_entry = ln_param_list_find(op_arg->params, "sizes");
    ln_opck_param_exist(sizes_entry, "sizes");
    ln_opck_param_array_len_eq(sizes_entry, 2);
    ln_opck_param_array_int_ge(sizes_entry, 0);
    ln_opck_satisfy(src_entry->tensor->len > 0);
    ln_opck_satisfy_msg(src_entry->tensor->len < 100, "%d are too many", src_entry->tensor->len);

    const tl_tensor *src = src_entry->tensor;
    tl_tensor *dst = tl_tensor_create(nullptr, src->ndim, src->dims, src->dtype);
    ln_tensor_entry *dst_entry = ln_tensor_entry_create(dst_list_entry->name, dst);
    dst_entry->mtype = LN_MEM_CPU;
    ln_tensor_table_insert(op_arg->tensor_table, dst_entry);
}

static void negate_run(ln_op_arg *op_arg)
{
    ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    tl_tensor_elew_param(src->tensor, -1, dst->tensor, TL_MUL);
}

static const char *in_arg_names[] = {"src", nullptr};
static const char *out_arg_names[] = {"dst", nullptr};
static const char *param_arg_names[] = {"scale", "sizes", nullptr};
static const ln_param_type param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_ARRAY_NUMBER};

// ---- The parts ----

static int fail(const char *what)
{
    std::fprintf(stderr, "%s: %s\n", what, ln_error_message());
    return 1;
}

static int use_containers()
{
    int numbers[] = {1, 2, 3};
    ln_list *list = nullptr;
    for (int &number : numbers)
        list = ln_list_append(list, &number);
    int sum = 0;
    int *number;
    LN_LIST_FOREACH (number, list) {
        sum += *number;
    }
    ln_list_free(list);

    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, nullptr, nullptr);
    ln_hash_insert(hash, "one", &numbers[0]);
    sum += *static_cast<int *>(ln_hash_find(hash, "one"));
    ln_hash_free(hash);

    ln_stack *stack = ln_stack_push(ln_stack_create(), &numbers[2]);
    sum += *static_cast<int *>(ln_stack_pop(stack));
    ln_stack_free(stack);
    ln_queue *queue = ln_queue_enqueue(nullptr, &numbers[1]);
    sum += *static_cast<int *>(ln_queue_dequeue(queue));
    ln_queue_free(queue);
    return sum == 12 ? 0 : fail("containers");
}

static int use_params()
{
    const int sizes[] = {3, 4};
    ln_list *params = ln_param_list_append_float(nullptr, "scale", 0.5f);
    params = ln_param_list_append_array_int(params, "sizes", 2, sizes);
    params = ln_param_list_append_string(params, "mode", "TL_NEAREST");
    bool good = ln_param_list_length(params) == 3 &&
                ln_param_list_find(params, "sizes")->value_array_double[1] == 4 &&
                !std::strcmp(ln_param_list_find(params, "mode")->value_string, "TL_NEAREST");
    ln_param_list_free(params);
    return good ? 0 : fail("params");
}

static int run_model(const char *model, float *out)
{
    ln_context *ctx = ln_context_create();
    int failed = 0;
    if (ln_context_init_mem(ctx, model, std::strlen(model), "model.net") != LN_OK ||
        ln_context_compile(ctx, "cpu") != LN_OK || ln_context_load(ctx, nullptr) != LN_OK ||
        ln_context_run(ctx) != LN_OK || !ln_context_get_data(ctx, "y", out))
        failed = 1;
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    return failed;
}

static int use_operator()
{
    // The registry borrows them.
    static char optype[] = "negate_cpu", arch[] = "cpu";
    static ln_op_arg op_arg = {};
    op_arg.optype = optype;
    op_arg.arch = arch;
    op_arg.in_arg_names = in_arg_names;
    op_arg.out_arg_names = out_arg_names;
    op_arg.param_arg_names = param_arg_names;
    op_arg.param_ptypes = param_ptypes;
    static ln_op negate = {};
    negate.op_arg = &op_arg;
    negate.pre_run = negate_pre_run;
    negate.run = negate_run;
    if (ln_op_register(&negate) != LN_OK)
        return fail("ln_op_register");

    float y[3];
    if (run_model("create(| dst=x | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[1, 2, 3], "
                  "from_file=false);"
                  "negate_cpu(src=x | dst=y | scale=1, sizes=[1, 2]);",
                  y))
        return fail("model");
    if (y[0] != -1 || y[2] != -3)
        return fail("result");
    if (!run_model("create(| dst=x | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[1, 2, 3], "
                   "from_file=false);"
                   "negate_cpu(src=x | dst=y | scale=-1, sizes=[1, 2]);",
                   y))
        return fail("a scale of -1 passed");
    return std::strstr(ln_error_message(), "scale") ? 0 : fail("message");
}

int main()
{
    if (ln_arch_init() != LN_OK)
        return fail("ln_arch_init");
    int failed = use_containers() || use_params() || use_operator();
    if (!ln_hash_find(LN_ARCH.arch_table, "cpu"))
        failed = fail("LN_ARCH");
    ln_arch_cleanup();
    return failed;
}
