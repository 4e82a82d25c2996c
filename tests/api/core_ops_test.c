// SPDX-License-Identifier: Apache-2.0
// Operators that a device derives from core types, which groups of it compute.

#include "ir/context.h"
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
    static const char *const constant[] = {"conv", "create(*)", NULL};
    static const char *const too_long[] = {"conv", NULL};
    static const char *const open_row[] = {"conv", "softmax(axis", NULL};
    static const char *const nameless[] = {"(axis)", NULL};
    static const char *const trailing[] = {"softmax(axis) log", NULL};
    static const char *const misspelt[] = {"softmax(axis, lag)", NULL};
    static const char *const bare[] = {"transpose", NULL};
    static const struct {
        const char *const *core_ops;
        ln_status status;
        const char *message, *why;
    } rows[] = {
        {unknown, LN_NOT_FOUND, "no_such_type", "arch none does not have it"},
        {of_ref, LN_NOT_FOUND, "conv_ref", "of another arch"},
        {twice, LN_INVALID, "'conv' and 'conv' in core_ops", "a type is registered once"},
        {constant, LN_INVALID, "create", "constants are copied to a device"},
        {too_long, LN_LIMIT, "bytes", "the name of the type is too long"},
        {open_row, LN_INVALID, "such as \"softmax(axis)\"", "no end"},
        {nameless, LN_INVALID, "'(axis)' in core_ops", "no type"},
        {trailing, LN_INVALID, "'softmax(axis) log'", "more after the end"},
        {misspelt, LN_INVALID, "'softmax' has no parameter 'lag'", "a parameter that is none"},
        {bare, LN_INVALID, "write \"transpose(axes)\"", "a parameter that none lacks"},
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

// ---- Arguments and parameters ----

static ln_status worth_it(void *priv, const ln_op *const *ops, size_t count, double *out_seconds)
{
    (void)priv;
    CHECK(count > 0 && ops[0]->op_arg->tensors_in != NULL);
    *out_seconds = 0;
    return LN_OK;
}

typedef struct order_op {
    char type;
    int at, out; // of its first tensor, and of its output after it
} order_op;

static order_op seen[8];
static int seen_count;

static ln_status order_describe(void *priv, const ln_op *op)
{
    (void)priv;
    const ln_tensor_list_entry *first = op->op_arg->tensors_in->data;
    CHECK_STR_EQ(first->arg_name, op->op_arg->optype[0] == 'e' ? "src1" : "src");
    return LN_OK;
}

static ln_status order_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    *out_group = seen;
    seen_count = 0;
    int at = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        int in_count = ln_list_length(op->op_arg->tensors_in);
        seen[seen_count++] = (order_op){.type = op->op_arg->optype[0], .at = at, .out = in_count};
        at += in_count + ln_list_length(op->op_arg->tensors_out);
    }
    return LN_OK;
}

static float at_of(const tl_tensor *t, int i)
{
    return t ? ((const float *)t->data)[i] : 0;
}

// src, weight, bias, addend: always these positions.
static float linear_at(tl_tensor *const *t, int i)
{
    int columns = t[1]->dims[1], inner = t[1]->dims[0];
    float sum = at_of(t[2], i % columns) + at_of(t[3], i);
    for (int m = 0; m < inner; m++)
        sum += at_of(t[0], i / columns * inner + m) * at_of(t[1], m * columns + i % columns);
    return sum;
}

static ln_status order_run(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)group;
    for (int k = 0; k < seen_count; k++) {
        tl_tensor *const *t = addresses + seen[k].at;
        tl_tensor *dst = t[seen[k].out];
        CHECK_EQ(seen[k].out, seen[k].type == 'l' ? 4 : 2);
        for (int i = 0; i < dst->len; i++)
            ((float *)dst->data)[i] =
                seen[k].type == 'l' ? linear_at(t, i) : at_of(t[0], i) - at_of(t[1], i);
    }
    return LN_OK;
}

static void release_nothing(void *priv, void *group)
{
    (void)priv;
    (void)group;
}

static ln_arch order_of(const char *const *core_ops)
{
    return (ln_arch){.arch_name = "box",
                     .describe = order_describe,
                     .evaluate = worth_it,
                     .prepare = order_prepare,
                     .run = order_run,
                     .release = release_nothing,
                     .core_ops = core_ops};
}

TEST(a_position_always_means_the_same_argument)
{
    static const char *const types[] = {"elew(elew_op)", "linear", NULL};
    static const char *const models[] = {
        "elew(src2=w, src1=x | dst=d | elew_op=TL_SUB);"
        "linear(addend=d, weight=v, src=x | dst=y |);",
        "elew(src1=x, src2=w | dst=d | elew_op=TL_SUB);"
        "linear(bias=b, src=d, weight=v | dst=y |);",
        "elew(src1=w, src2=x | dst=d | elew_op=TL_SUB);"
        "linear(weight=v, addend=x, bias=b, src=d | dst=y |);",
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]);"
                 "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2], data=[1, 2, 3, 5, 8, 13]);"
                 "create(| dst=v | dtype=TL_FLOAT, dims=[2, 2], data=[1, -2, 3, 4]);"
                 "create(| dst=b | dtype=TL_FLOAT, dims=[2], data=[100, 200]); %s"
                 "output(src=y | |);",
                 models[i]);
        float x[6] = {1, -1, 2, 0, 4, -3}, y[6], expected[6];
        CHECK_OK(ln_arch_init());
        ln_arch box = order_of(types);
        CHECK_OK(ln_arch_register(&box));
        for (size_t side = 0; side < 2; side++) {
            ln_context *ctx = load_text(text, side == 0 ? AS_READ : "box,ref");
            CHECK_EQ(ctx->runner->group_count, side);
            CHECK_OK(ln_context_set_data(ctx, "x", x));
            CHECK_OK(ln_context_run(ctx));
            CHECK_NOT_NULL(ln_context_get_data(ctx, "y", side == 0 ? expected : y));
            close_context(ctx);
        }
        CHECK_MEM_EQ(y, expected, sizeof y);
        CHECK_OK(ln_arch_unregister("box"));
        ln_arch_cleanup();
    }
}

TEST(parameters_that_a_device_does_not_know_keep_operators_from_it)
{
    static const char *const types[] = {"softmax(axis)", "elew(elew_op, act)", "transpose(*)",
                                        NULL};
    // clang-format off
    static const struct {
        const char *op;
        size_t group_count;
        const char *why;
    } rows[] = {
        {"softmax(src=x | dst=y | axis=1);", 1, "known"},
        {"softmax(src=x | dst=y | axis=0, log=false, flat=false);", 1, "at their defaults"},
        {"softmax(src=x | dst=y | axis=1, log=true);", 0, "log"},
        {"softmax(src=x | dst=y | axis=0, flat=true);", 0, "flat"},
        {"softmax(src=x | dst=y | axis=1, flat=true);", 1, "flat says nothing on the last axis"},
        {"elew(src1=x, src2=x | dst=y | elew_op=TL_MUL, act=relu);", 1, "both known"},
        {"elew(src1=x, src2=x | dst=y | elew_op=TL_MUL, act=elu, alpha=2);", 0, "alpha"},
        {"transpose(src=x | dst=y | axes=[1, 0]);", 1, "any"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]); %s output(src=y | |);", rows[i].op);
        CHECK_OK(ln_arch_init());
        ln_arch box = order_of(types);
        box.describe = NULL;
        CHECK_OK(ln_arch_register(&box));
        ln_context *ctx = load_text(text, "box,ref");
        if (ctx->runner->group_count != rows[i].group_count)
            fail_msg("%s: %zu groups", rows[i].why, ctx->runner->group_count);
        close_context(ctx);
        CHECK_OK(ln_arch_unregister("box"));
        ln_arch_cleanup();
    }
    // A text, or a compiled file, may name the device's type.
    CHECK_OK(ln_arch_init());
    ln_arch box = order_of(types);
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]);"
                  "softmax_box(src=x | dst=y | axis=1, log=true); output(src=y | |);");
    CHECK_OK(ln_context_compile(ctx, "box,ref"));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("box does not know parameter 'log' of softmax");
    close_context(ctx);
    ln_arch_cleanup();
}

// Chance has one sequence, which is the host's; an attribute is a constant that is found by name.
TEST(chance_and_attributes_stay_on_the_host)
{
    static const char *const types[] = {"act(*)", "Bernoulli(*)", "ml_LabelEncoder(*)", NULL};
    CHECK_OK(ln_arch_init());
    ln_arch box = order_of(types);
    box.describe = NULL;
    CHECK_OK(ln_arch_register(&box));
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                  "create(| dst=k | dtype=TL_FLOAT, dims=[2], data=[0, 1], from_file=false);\n"
                  "create(| dst=v | dtype=TL_INT64, dims=[2], data=[5, 6], from_file=false);\n"
                  "act(src=x | dst=a | act=relu);\n"
                  "Bernoulli(input=a | output=b |);\n"
                  "ml_LabelEncoder(X=b, keys_tensor=k, values_tensor=v | Y=y |);\n"
                  "output(src=y | |);\n");
    CHECK_OK(ln_context_compile(ctx, "box,ref"));
    int count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_streq(op->op_arg->arch, "box")) {
            CHECK_STR_EQ(op->op_arg->optype, "act_box");
            count++;
        }
    CHECK_EQ(count, 1);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("box"));
    ln_arch_cleanup();
}

TEST_LIST(chance_and_attributes_stay_on_the_host, a_position_always_means_the_same_argument,
          parameters_that_a_device_does_not_know_keep_operators_from_it,
          groups_compute_types_that_a_device_lists,
          derived_operators_are_in_the_memory_of_their_device,
          derived_types_have_the_arguments_parameters_and_shapes_of_their_core_type,
          texts_with_derived_types_are_read_again, lists_that_cannot_be_derived_change_nothing)
