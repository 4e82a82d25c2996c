// SPDX-License-Identifier: Apache-2.0
// Architectures as the data structure document writes them.

#include <lightnet/lightnet.h>

#include "tests/test.h"

static void init_mine(void **priv_p)
{
    static int private_data;
    *priv_p = &private_data;
}

static void cleanup_mine(void **priv_p)
{
    *priv_p = NULL;
}

static ln_list *expand_nothing(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    (void)op;
    *match = 0;
    return NULL;
}

static ln_list *combine_nothing(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                                int *match)
{
    (void)ctx;
    (void)win_ops;
    (void)win_size;
    *match = 0;
    return NULL;
}

static ln_list *no_subgraph(const ln_context *ctx, ln_list **old_ops)
{
    (void)ctx;
    *old_ops = NULL;
    return NULL;
}

static ln_list *same_order(const ln_context *ctx)
{
    return ln_list_copy(ctx->ops);
}

static void identity_run(ln_op_arg *op_arg)
{
    (void)op_arg;
}

static const char *in_arg_names[] = {"src", NULL};
static const char *out_arg_names[] = {"dst", NULL};
static const char *param_arg_names[] = {NULL};
static const ln_param_type param_ptypes[] = {LN_PARAM_NULL};

static ln_op_arg op_arg_identity = {
    .optype = "identity_mine",
    .arch = "mine",
    .in_arg_names = in_arg_names,
    .out_arg_names = out_arg_names,
    .param_arg_names = param_arg_names,
    .param_ptypes = param_ptypes,
};

static ln_op ln_opimpl_identity_mine = {
    .op_arg = &op_arg_identity,
    .run = identity_run,
};

static ln_op *ops_mine[] = {&ln_opimpl_identity_mine, NULL};

static ln_expander_func ep_funcs_mine[] = {expand_nothing, NULL};

static ln_combiner_func cb_funcs_mine[] = {combine_nothing, NULL};

static ln_subgraph_func sg_funcs_mine[] = {no_subgraph, NULL};

static ln_schedule_func sd_funcs_mine[] = {same_order, NULL};

static ln_arch ln_archimpl_mine = {
    .init_func = init_mine,
    .cleanup_func = cleanup_mine,
    .priv = NULL,
    .reg_ops = ops_mine,
    .ep_funcs = ep_funcs_mine,
    .cb_funcs = cb_funcs_mine,
    .sg_funcs = sg_funcs_mine,
    .sd_funcs = sd_funcs_mine,
    .arch_name = "mine",
};

TEST(archs_and_operators_are_found_in_the_global_tables)
{
    ln_arch_init();
    CHECK_PTR_EQ(&LN_ARCH, &ln_global_arch_info);
    ln_arch *cpu = ln_hash_find(LN_ARCH.arch_table, "cpu");
    CHECK_NOT_NULL(cpu);
    CHECK_STR_EQ(cpu->arch_name, "cpu");
    CHECK_NULL(ln_hash_find(LN_ARCH.arch_table, "nowhere"));
    ln_op *op_proto = ln_hash_find(LN_ARCH.op_proto_table, "conv2d");
    CHECK_NOT_NULL(op_proto);
    CHECK_STR_EQ(op_proto->op_arg->optype, "conv2d");
    CHECK_NOT_NULL(ln_hash_find(LN_ARCH.op_proto_table, "conv_cpu"));

    struct ln_arch_info *info = &LN_ARCH;
    for (int i = 0; cpu->reg_ops && cpu->reg_ops[i]; i++)
        CHECK_STR_EQ(cpu->reg_ops[i]->op_arg->arch, "cpu");
    CHECK(ln_hash_size(info->arch_table) > 0);
    ln_arch_cleanup();
    ln_arch_init();
    CHECK_NOT_NULL(ln_hash_find(LN_ARCH.arch_table, "cpu"));
    ln_arch_cleanup();
}

TEST(an_arch_registers_its_operators)
{
    ln_arch_init();
    CHECK_OK(ln_arch_register(&ln_archimpl_mine));
    CHECK_PTR_EQ(ln_hash_find(LN_ARCH.arch_table, "mine"), &ln_archimpl_mine);
    CHECK_PTR_EQ(ln_hash_find(LN_ARCH.op_proto_table, "identity_mine"), &ln_opimpl_identity_mine);
    CHECK_NOT_NULL(ln_archimpl_mine.priv);
    ln_arch_cleanup();
    CHECK_NULL(ln_archimpl_mine.priv);
}

TEST_LIST(archs_and_operators_are_found_in_the_global_tables, an_arch_registers_its_operators)
