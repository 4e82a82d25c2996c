// SPDX-License-Identifier: Apache-2.0
// Models of the old system that name archs which are not here.

#include <lightnet/serializer.h>

#include "tests/api/model.h"

#define INPUT "input(| dst=x | dtype=TL_FLOAT, dims=[2, 8]);\n"

// The status of reading `model`; the message stays.
static ln_status read_status(const char *model)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status status = ln_context_init_mem(ctx, model, strlen(model), NULL);
    ln_context_free(ctx);
    return status;
}

TEST(operators_of_an_arch_mean_the_abstract_ones_where_that_arch_has_none_here)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        load_text("create_cuda(| dst=x | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[-1, 2, -3], "
                  "from_file=false);\n"
                  "relu_cudnn(src=x | dst=r |);\n"
                  "slice_cpu(src=r | dst=y | axis=0, start=1, len=2);\n",
                  "cpu");
    CHECK_OK(ln_context_run(ctx));
    const float *y = ln_context_get_data(ctx, "y", NULL);
    CHECK_NOT_NULL(y);
    CHECK(y[0] == 2 && y[1] == 0);
    close_context(ctx);
    ln_arch_cleanup();
}

static ln_status refuse(ln_serializer *serializer, ln_context *ctx, const ln_op_source *source,
                        void *user)
{
    (void)serializer, (void)ctx, (void)user;
    return LN_FAIL(LN_INVALID, "the loader of '%s' was asked", source->optype);
}

TEST(a_loader_for_such_a_name_comes_first)
{
    CHECK_OK(ln_arch_init());
    ln_serializer *il = ln_serializer_find("il");
    if (!il) {
        ln_arch_cleanup();
        SKIP("the library was built without this format");
    }
    CHECK_OK(ln_serializer_register_op_loader(il, "relu_cuda", 0, refuse, NULL));
    CHECK_FAILS(read_status(INPUT "relu_cuda(src=x | dst=y |);\n"), LN_INVALID);
    CHECK_MESSAGE("the loader of 'relu_cuda' was asked");
    CHECK_OK(ln_serializer_unregister_op_loader(il, "relu_cuda", 0));
    CHECK_OK(read_status(INPUT "relu_cuda(src=x | dst=y |);\n"));
    ln_arch_cleanup();
}

// The type of the operator that makes tensor `name`.
static const char *type_of(const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
    CHECK_NOT_NULL(entry);
    return ln_op_list_find_by_name(ctx->ops, entry->creater)->op_arg->optype;
}

TEST(an_operator_of_an_arch_without_its_workspace_is_the_abstract_one)
{
    static const char model[] =
        INPUT "reshape(src=x | dst=image | dims=[1, 1, 2, 8]);\n"
              "maxpool2d_cpu(src=image | dst=old | size=[2, 2], stride=[2, 2]);\n"
              "pool_cpu(src=image | dst=shaped | size=[2, 2], stride=[2, 2]);\n"
              "pool_cpu(src=image | dst=new, workspace=room | size=[2, 2], stride=[2, 2]);\n"
              "act_cpu(src=new | dst=last | act=relu);\n";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init_mem(ctx, model, strlen(model), NULL));
    CHECK_STR_EQ(type_of(ctx, "old"), "maxpool2d");
    CHECK_STR_EQ(type_of(ctx, "shaped"), "pool");
    CHECK_STR_EQ(type_of(ctx, "new"), "pool_cpu");
    CHECK_STR_EQ(type_of(ctx, "last"), "act_cpu");
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(a_model_for_another_device_is_told_all_that_it_cannot_run)
{
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(read_status(INPUT "ldmr_dpu(src=x | dst=a |);\n"
                                  "conv1x1_dpu(src=a, weight=x, bias=x | dst=b | stride=1);\n"
                                  "conv1x1_dpu(src=b, weight=x, bias=x | dst=c | stride=1);\n"
                                  "relu(src=c | dst=d |);\n"
                                  "tensorrt(src1=d | dst1=e | batch_size=1);\n"),
                LN_UNSUPPORTED);
    CHECK_MESSAGE("4 operators have types that nothing here can run");
    CHECK_MESSAGE("ldmr_dpu (1), conv1x1_dpu (2), tensorrt (1); the first");
    CHECK_MESSAGE("'ldmr_dpu' is not registered");
    ln_arch_cleanup();
}

TEST(an_operator_of_one_arch_is_told_with_its_arch)
{
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(read_status(INPUT "linear_pack(weight=x | dst=y |);\n"), LN_UNSUPPORTED);
    CHECK_MESSAGE("type 'linear_pack' is of arch 'cpu' alone, as 'linear_pack_cpu'");
    CHECK_MESSAGE("compile the model that it came from again");
    ln_arch_cleanup();
}

TEST(one_unknown_operator_is_told_alone)
{
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(read_status(INPUT "sofmax(src=x | dst=y |);\n"), LN_UNSUPPORTED);
    CHECK_NULL(strstr(ln_error_message(), "operators have types"));
    CHECK_MESSAGE("did you mean 'softmax'");
    ln_arch_cleanup();
}

TEST(many_unknown_types_are_told_in_part)
{
    char model[8192] = INPUT;
    for (int i = 0; i < 20; i++) {
        size_t len = strlen(model);
        snprintf(model + len, sizeof model - len, "unheard_of_%d(src=x | dst=y%d |);\n", i, i);
    }
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(read_status(model), LN_UNSUPPORTED);
    CHECK_MESSAGE("20 operators have types");
    CHECK_MESSAGE("and others");
    ln_arch_cleanup();
}

TEST_LIST(operators_of_an_arch_mean_the_abstract_ones_where_that_arch_has_none_here,
          a_loader_for_such_a_name_comes_first,
          an_operator_of_an_arch_without_its_workspace_is_the_abstract_one,
          a_model_for_another_device_is_told_all_that_it_cannot_run,
          an_operator_of_one_arch_is_told_with_its_arch, one_unknown_operator_is_told_alone,
          many_unknown_types_are_told_in_part)
