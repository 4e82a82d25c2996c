// SPDX-License-Identifier: Apache-2.0
// Contexts as the data structure document writes their calls, on the example of the IR document.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#define SOURCE_FILE LN_BUILD_DIR "/lightnet_document_%ld.json"
#define EXAMPLE                                                                                    \
    "{\n"                                                                                          \
    "    \"ops\": [\n"                                                                             \
    "        {\n"                                                                                  \
    "            \"name\": \"create1\",\n"                                                         \
    "            \"optype\": \"create\",\n"                                                        \
    "            \"tensors_in\": [\n"                                                              \
    "            ],\n"                                                                             \
    "            \"tensors_out\": [\n"                                                             \
    "                {\"arg_name\": \"dst\", \"name\": \"tensor1\"}\n"                             \
    "            ],\n"                                                                             \
    "            \"params\": [\n"                                                                  \
    "                {\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"},\n"                        \
    "                {\"arg_name\": \"dims\", \"value\": [2, 4]},\n"                               \
    "                {\"arg_name\": \"data\", \"value\": [1, 2, 3, 4, 5, 6, 7, 8]},\n"             \
    "                {\"arg_name\": \"ran\", \"value\": [0, 0]},\n"                                \
    "                {\"arg_name\": \"from_file\", \"value\": false}\n"                            \
    "            ]\n"                                                                              \
    "        },\n"                                                                                 \
    "        {\n"                                                                                  \
    "            \"name\": \"slice1\",\n"                                                          \
    "            \"optype\": \"slice\",\n"                                                         \
    "            \"tensors_in\": [\n"                                                              \
    "                {\"arg_name\": \"src\", \"name\": \"tensor1\"}\n"                             \
    "            ],\n"                                                                             \
    "            \"tensors_out\": [\n"                                                             \
    "                {\"arg_name\": \"dst\", \"name\": \"tensor2\"}\n"                             \
    "            ],\n"                                                                             \
    "            \"params\": [\n"                                                                  \
    "                {\"arg_name\": \"axis\", \"value\": 1},\n"                                    \
    "                {\"arg_name\": \"start\", \"value\": 1},\n"                                   \
    "                {\"arg_name\": \"len\", \"value\": 3}\n"                                      \
    "            ]\n"                                                                              \
    "        },\n"                                                                                 \
    "        {\n"                                                                                  \
    "            \"name\": \"lrelu1\",\n"                                                          \
    "            \"optype\": \"lrelu\",\n"                                                         \
    "            \"tensors_in\": [{\"arg_name\": \"src\", \"name\": \"tensor2\"}],\n"              \
    "            \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"tensor3\"}],\n"             \
    "            \"params\": [{\"arg_name\": \"negslope\", \"value\": -0.5}]\n"                    \
    "        }\n"                                                                                  \
    "    ]\n"                                                                                      \
    "}\n"

static char source[512], outfile[512];

static void write_example(void)
{
    snprintf(source, sizeof source, SOURCE_FILE, (long)getpid());
    snprintf(outfile, sizeof outfile, LN_BUILD_DIR "/lightnet_document_out_%ld.json",
             (long)getpid());
    FILE *fp = fopen(source, "w");
    fputs(EXAMPLE, fp);
    fclose(fp);
}

static void remove_files(void)
{
    remove(source);
    remove(outfile);
}

static void run_and_check(ln_context *ctx)
{
    static const float expected[6] = {2, 3, 4, 6, 7, 8};
    float out[6];
    ln_context_run(ctx);
    CHECK_EQ(ln_context_data_size(ctx, "tensor3"), sizeof out);
    CHECK_NOT_NULL(ln_context_get_data(ctx, "tensor3", out));
    CHECK_MEM_EQ(out, expected, sizeof out);
}

TEST(the_documented_order_runs_a_model)
{
    write_example();
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    CHECK_NULL(ctx->ops);
    ln_context_init(ctx, source);
    CHECK_EQ(ln_list_length(ctx->ops), 3);
    CHECK_NOT_NULL(ln_tensor_table_find(ctx->tensor_table, "tensor2"));
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "slice1"));
    CHECK_NOT_NULL(ctx->dfg);
    CHECK(ln_context_check(ctx));
    ln_context_compile(ctx, "cpu");
    CHECK(ctx->mem_sizes[LN_MEM_CPU] > 0);
    ln_context_print(ctx, outfile);
    ln_context_load(ctx, NULL);
    CHECK_NOT_NULL(ctx->mem_starts[LN_MEM_CPU]);
    run_and_check(ctx);
    ln_context_unload(ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);

    ctx = ln_context_create();
    ln_context_init(ctx, outfile);
    ln_context_load(ctx, NULL);
    run_and_check(ctx);
    ln_context_unload(ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    remove_files();
}

TEST(data_and_parameters_are_set)
{
    static const char model[] =
        "{\"ops\": [{\"name\": \"create1\", \"optype\": \"create\", \"tensors_in\": [],"
        " \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": ["
        "{\"arg_name\": \"dims\", \"value\": [2]}, {\"arg_name\": \"dtype\", \"value\":"
        " \"TL_FLOAT\"}, {\"arg_name\": \"data\", \"value\": [0]}, {\"arg_name\": \"ran\", \"value\":"
        " [0, 0]}, {\"arg_name\": \"from_file\", \"value\": false}]}, {\"name\": \"lrelu1\", \"optype\": \"lrelu\", \"tensors_in\":"
        " [{\"arg_name\": \"src\", \"name\": \"x\"}], \"tensors_out\": [{\"arg_name\": \"dst\","
        " \"name\": \"y\"}], \"params\": [{\"arg_name\": \"negslope\", \"value\": 0.5}]}]}";
    write_example();
    FILE *fp = fopen(source, "w");
    fputs(model, fp);
    fclose(fp);
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_context_init(ctx, source);
    ln_context_set_param(ctx, "lrelu1", "negslope", 0.25);
    CHECK(ln_param_list_find(ln_op_table_find(ctx->op_table, "lrelu1")->op_arg->params, "negslope")
              ->value_float == 0.25f);
    ln_context_compile(ctx, "cpu");
    ln_context_load(ctx, NULL);
    const float x[2] = {-8, 8};
    float y[2];
    ln_context_set_data(ctx, "x", x);
    ln_context_run(ctx);
    ln_context_get_data(ctx, "y", y);
    CHECK_NEAR(y[0], -2, 0);
    CHECK_NEAR(y[1], 8, 0);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    remove_files();
}

static ln_op *copy_of(ln_context *ctx, const char *optype, const char *name, const char *src,
                      const char *dst)
{
    ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, optype);
    ln_list *tensors_in = ln_tensor_list_append(NULL, "src", src);
    ln_list *tensors_out = ln_tensor_list_append(NULL, "dst", dst);
    return ln_op_create_from_proto(proto, name, tensors_in, tensors_out, NULL, ctx->tensor_table);
}

static ln_list *position_of(ln_context *ctx, const char *name)
{
    ln_list *l;
    for (l = ctx->ops; l; l = l->next) {
        ln_op *op = l->data;
        if (strcmp(op->op_arg->name, name) == 0)
            return l;
    }
    return NULL;
}

// The parts of a context's preparation, and the changes of its operators.
TEST(operators_are_added_replaced_and_removed)
{
    write_example();
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_context_init(ctx, source);

    ln_list *position = position_of(ctx, "lrelu1");
    ln_op *relu = copy_of(ctx, "relu", "relu1", "tensor3", "tensor4");
    ln_context_add_op(ctx, &position, relu);
    CHECK_EQ(ln_list_length(ctx->ops), 4);
    CHECK_NOT_NULL(position_of(ctx, "relu1"));
    CHECK_PTR_EQ(ln_op_table_find(ctx->op_table, "relu1"), relu);

    position = position_of(ctx, "relu1");
    ln_context_remove_op(ctx, &position);
    CHECK_EQ(ln_list_length(ctx->ops), 3);
    CHECK_NULL(position_of(ctx, "relu1"));
    CHECK_NULL(ln_op_table_find(ctx->op_table, "relu1"));

    position = position_of(ctx, "lrelu1");
    ln_list *new_ops = ln_list_append(NULL, copy_of(ctx, "relu", "relu2", "tensor2", "tensor3"));
    ln_context_replace_ops(ctx, &position, 1, new_ops);
    CHECK_NULL(ln_op_table_find(ctx->op_table, "lrelu1"));
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "relu2"));
    CHECK_STR_EQ(
        ln_dfg_prev(ctx->dfg, ln_op_table_find(ctx->op_table, "relu2"), "tensor2")->op_arg->name,
        "slice1");
    CHECK(ln_context_check(ctx));

    ln_list *old_ops = ln_list_append(NULL, ln_op_table_find(ctx->op_table, "relu2"));
    new_ops = ln_list_append(NULL, copy_of(ctx, "sigmoid", "sigmoid1", "tensor2", "tensor3"));
    ln_context_subgraph(ctx, old_ops, new_ops);
    ln_list_free(old_ops);
    ln_list_free(new_ops);
    CHECK_EQ(ln_list_length(ctx->ops), 3);
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "sigmoid1"));
    CHECK(ln_context_check(ctx));

    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    remove_files();
}

TEST(memory_and_operators_come_and_go)
{
    write_example();
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_context_init(ctx, source);
    ln_context_compile(ctx, "cpu");
    ln_context_alloc_mem(ctx);
    CHECK_NOT_NULL(ctx->mem_starts[LN_MEM_CPU]);
    ln_context_dealloc_mem(ctx);
    CHECK_NULL(ctx->mem_starts[LN_MEM_CPU]);
    ln_context_load(ctx, NULL);
    run_and_check(ctx);
    ln_context_dealloc_mem(ctx);
    CHECK_FAILS(ln_context_run(ctx), LN_STATE);
    ln_context_load(ctx, NULL);
    run_and_check(ctx);
    ln_context_cleanup_ops(ctx);
    CHECK_EQ(ln_hash_size(ctx->op_table), 0);
    CHECK_NULL(ln_tensor_table_find(ctx->tensor_table, "tensor1"));
    CHECK_FAILS(ln_context_run(ctx), LN_STATE);
    ln_context_init_ops(ctx);
    CHECK_NOT_NULL(ln_tensor_table_find(ctx->tensor_table, "tensor1"));
    ln_context_compile(ctx, "cpu");
    ln_context_load(ctx, NULL);
    run_and_check(ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    remove_files();
}

TEST(operators_made_by_a_program_are_initialised)
{
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    ln_op *zeros_proto = ln_hash_find(LN_ARCH.op_proto_table, "zeros");
    ln_list *params = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    params = ln_param_list_append_array_int(params, "dims", 2, (int[]){2, 3});
    ln_op *zeros =
        ln_op_create_from_proto(zeros_proto, "zeros1", NULL,
                                ln_tensor_list_append(NULL, "dst", "x"), params, ctx->tensor_table);
    ctx->ops = ln_list_append(ctx->ops, zeros);
    ctx->ops = ln_list_append(ctx->ops, copy_of(ctx, "relu", "relu1", "x", "y"));
    ln_context_init_ops(ctx);
    CHECK_PTR_EQ(ln_op_table_find(ctx->op_table, "zeros1"), zeros);
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, 6);
    CHECK(ln_context_check(ctx));
    ln_context_compile(ctx, "cpu");
    ln_context_load(ctx, NULL);
    ln_context_run(ctx);
    float y[6] = {1};
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_NEAR(y[0], 0, 0);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
    remove_files();
}

TEST_LIST(the_documented_order_runs_a_model, data_and_parameters_are_set,
          operators_are_added_replaced_and_removed, memory_and_operators_come_and_go,
          operators_made_by_a_program_are_initialised)
