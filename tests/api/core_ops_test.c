// SPDX-License-Identifier: Apache-2.0
// Operators that a device derives from core types, which groups of it compute.

#include "tests/api/box_device.h"
static void run_as_read(const char *text, const char *input, float y[12])
{
    ln_context *ctx = load_text(text, AS_READ);
    run_once(ctx, input, y);
    close_context(ctx);
}

TEST(groups_compute_types_that_a_device_lists)
{
    float expected[12], y[12];
    CHECK_OK(ln_arch_init());
    size_t op_count = ln_op_count();
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    CHECK_EQ(ln_op_count(), op_count + 5);
    run_as_read(box_text, "x", expected);
    ln_context *ctx = load_text(box_text, "box");
    group_runs = ops_run = 0;
    run_once(ctx, "x", y);
    CHECK_MEM_EQ(y, expected, sizeof y);
    CHECK_EQ(group_runs, 1);
    CHECK_EQ(ops_run, 5);
    CHECK(ln_context_macs(ctx) >= 3 * 16 * 18);
    CHECK(ln_context_cost(ctx) > 5 * LN_CALL_COST);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("box"));
    CHECK_EQ(ln_op_count(), op_count);
    CHECK_NULL(ln_op_find("conv_box"));
    ln_arch_cleanup();
}

TEST(derived_operators_are_in_the_memory_of_their_device)
{
    float expected[12], y[12];
    CHECK_OK(ln_arch_init());
    ln_arch box = box_with_memory();
    CHECK_OK(ln_arch_register(&box));
    run_as_read(box_text_alone, "c", expected);
    ln_context *ctx = load_text(box_text_alone, "box");
    CHECK_EQ(ctx->mem_sizes[LN_MEM_CPU], 0);
    CHECK(ctx->mem_sizes[LN_MEM_DPU] > 0);
    CHECK(allocated_bytes > 0);
    run_once(ctx, "c", y);
    CHECK_MEM_EQ(y, expected, sizeof y);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(derived_types_have_the_arguments_parameters_and_shapes_of_their_core_type)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    const ln_op *base = ln_op_find("conv"), *derived = ln_op_find("conv_box");
    CHECK_STR_EQ(derived->op_arg->arch, "box");
    CHECK_PTR_EQ(derived->op_arg->param_arg_names, base->op_arg->param_arg_names);
    CHECK_PTR_EQ(derived->op_arg->info->params, base->op_arg->info->params);
    for (int i = 0; base->op_arg->info->ins[i].arg_name; i++)
        CHECK_STR_EQ(derived->op_arg->info->ins[i].arg_name, base->op_arg->info->ins[i].arg_name);
    CHECK_EQ(derived->op_arg->info->outs[0].mtype, LN_MEM_CPU);
    CHECK_NULL(ln_op_find("elew_box")->op_arg->info->places); // in place is not asked for
    CHECK_NOT_NULL(ln_op_find("reshape_box")->op_arg->info->places);

    static const struct {
        const char *text, *message;
    } refused[] = {
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); act_box(src=x | dst=y | acts=relu);", "acts"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); act_box(src=x | dst=y |);", "act"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); reshape_box(src=x | dst=y | dims=[3]);", "3"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); softmax_box(src=x | dst=y |);", "softmax_box"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ln_context *ctx = ln_context_create();
        CHECK(ln_context_init_mem(ctx, refused[i].text, strlen(refused[i].text), "m.net") != LN_OK);
        CHECK_MESSAGE(refused[i].message);
        ln_context_free(ctx);
    }
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

// What a context of `box` prints is the same model when it is read again.
static void check_read_back(const char *format, const char *path)
{
    float expected[12], y[12];
    char *text;
    size_t byte_count;
    ln_context *ctx = load_text(box_text, "box");
    run_once(ctx, "x", expected);
    CHECK_OK(ln_context_write(ctx, format, &text, &byte_count));
    close_context(ctx);

    ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, byte_count, path));
    ln_free(text);
    int derived_count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        derived_count += ln_streq(op->op_arg->arch, "box");
    CHECK_EQ(derived_count, 5);
    if (ctx->state == LN_CONTEXT_READY)
        CHECK_OK(ln_context_compile(ctx, "box"));
    CHECK_OK(ln_context_load(ctx, NULL));
    group_runs = 0;
    run_once(ctx, "x", y);
    CHECK_EQ(group_runs, 1);
    CHECK_MEM_EQ(y, expected, sizeof y);
    close_context(ctx);
}

TEST(texts_with_derived_types_are_read_again)
{
    CHECK_OK(ln_arch_init());
    ln_arch box = box_of(five);
    CHECK_OK(ln_arch_register(&box));
    check_read_back("il", "core_ops_test.net");
    check_read_back("ir", "core_ops_test.json");
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST(lists_that_cannot_be_derived_change_nothing)
{
    static const char *const unknown[] = {"conv", "no_such_type", NULL};
    static const char *const of_ref[] = {"conv_ref", NULL};
    static const char *const twice[] = {"conv", "conv", NULL};
    static const char *const constant[] = {"conv", "create", NULL};
    static const char *const too_long[] = {"conv", NULL};
    static const struct {
        const char *const *core_ops;
        ln_status status;
        const char *message, *why;
    } rows[] = {
        {unknown, LN_NOT_FOUND, "no_such_type", "arch none does not have it"},
        {of_ref, LN_NOT_FOUND, "conv_ref", "of another arch"},
        {twice, LN_EXISTS, "conv_box", "a type is registered once"},
        {constant, LN_INVALID, "create", "constants are copied to a device"},
        {too_long, LN_LIMIT, "bytes", "the name of the type is too long"},
    };
    CHECK_OK(ln_arch_init());
    size_t arch_count = ln_arch_count(), op_count = ln_op_count();
    char long_name[LN_MAX_NAME_LEN];
    memset(long_name, 'b', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_arch box = box_of(rows[i].core_ops);
        if (rows[i].core_ops == too_long)
            box.arch_name = long_name;
        CHECK_FAILS(ln_arch_register(&box), rows[i].status);
        CHECK_MESSAGE(rows[i].message);
        CHECK_EQ(ln_arch_count(), arch_count);
        CHECK_EQ(ln_op_count(), op_count);
    }
    ln_arch box = box_of(five);
    box.run = NULL;
    CHECK_FAILS(ln_arch_register(&box), LN_INVALID);
    CHECK_MESSAGE("run_async");
    ln_arch_cleanup();
}

TEST_LIST(groups_compute_types_that_a_device_lists,
          derived_operators_are_in_the_memory_of_their_device,
          derived_types_have_the_arguments_parameters_and_shapes_of_their_core_type,
          texts_with_derived_types_are_read_again, lists_that_cannot_be_derived_change_nothing)
