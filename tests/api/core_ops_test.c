// SPDX-License-Identifier: Apache-2.0
// Operators that a device derives from core types, which groups of it compute.

#include "tests/api/model.h"

// ---- A device for five types ----

typedef struct box_op {
    char type; // the first letter of its core type
    const ln_op *op;
    int at; // of its first tensor among the addresses
} box_op;

typedef struct box_group {
    int count;
    box_op ops[16];
} box_group;

static int group_runs, ops_run, allocated_bytes;

static ln_status box_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    box_group *group = ln_alloc(sizeof *group);
    *out_group = group;
    if (!group)
        return LN_NO_MEMORY;
    int at = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        CHECK(group->count < 16);
        group->ops[group->count++] = (box_op){op->op_arg->optype[0], op, at};
        at += ln_list_length(op->op_arg->tensors_in) + ln_list_length(op->op_arg->tensors_out);
    }
    return LN_OK;
}

static void box_release(void *priv, void *group)
{
    (void)priv;
    ln_free(group);
}

static float activate(const ln_op *op, float x)
{
    const ln_param_entry *act = ln_param_list_find(op->op_arg->params, "act");
    return act && ln_streq(act->value_string, "relu") && x < 0 ? 0 : x;
}

// 3 x 3 over a border of zeros, 1 group.
static void box_conv(const ln_op *op, tl_tensor *const *t)
{
    const float *x = t[0]->data, *w = t[1]->data;
    int channels = t[0]->dims[1], rows = t[0]->dims[2], columns = t[0]->dims[3];
    int in_count = ln_list_length(op->op_arg->tensors_in), outs = t[1]->dims[0];
    float *y = t[in_count]->data;
    CHECK_EQ(in_count, 2);
    for (int i = 0; i < outs * rows * columns; i++) {
        int o = i / (rows * columns), row = i / columns % rows, column = i % columns;
        float sum = 0;
        for (int k = 0; k < channels * 9; k++) {
            int r = row + k / 3 % 3 - 1, c = column + k % 3 - 1;
            if (r >= 0 && r < rows && c >= 0 && c < columns)
                sum += w[o * channels * 9 + k] * x[(k / 9 * rows + r) * columns + c];
        }
        y[i] = activate(op, sum);
    }
}

// 2 x 2 by steps of 2.
static void box_pool(const ln_op *op, tl_tensor *const *t)
{
    (void)op;
    const float *x = t[0]->data;
    float *y = t[1]->data;
    int rows = t[1]->dims[2], columns = t[1]->dims[3];
    for (int i = 0; i < t[1]->len; i++) {
        const float *at = x + i / columns * 4 * columns + 2 * (i % columns);
        float a = at[0] > at[1] ? at[0] : at[1];
        float b = at[2 * columns] > at[2 * columns + 1] ? at[2 * columns] : at[2 * columns + 1];
        y[i] = a > b ? a : b;
    }
    CHECK_EQ(t[0]->dims[2], 2 * rows);
}

static void box_each(const ln_op *op, tl_tensor *const *t)
{
    int in_count = ln_list_length(op->op_arg->tensors_in);
    float *y = t[in_count]->data;
    for (int i = 0; i < t[in_count]->len; i++) {
        float sum = 0;
        for (int k = 0; k < in_count; k++)
            sum += ((const float *)t[k]->data)[i];
        y[i] = activate(op, sum);
    }
}

static ln_status box_run(void *priv, void *prepared, tl_tensor *const *addresses)
{
    (void)priv;
    const box_group *group = prepared;
    group_runs++;
    for (int i = 0; i < group->count; i++) {
        const box_op *b = &group->ops[i];
        ops_run++;
        switch (b->type) {
        case 'c': box_conv(b->op, addresses + b->at); break;
        case 'p': box_pool(b->op, addresses + b->at); break;
        case 'a':
        case 'e': box_each(b->op, addresses + b->at); break;
        default: // input and reshape: nothing to do
            CHECK(b->type == 'r' ? addresses[b->at]->data == addresses[b->at + 1]->data
                                 : b->type == 'i');
        }
    }
    return LN_OK;
}

static const char *const five[] = {"conv", "act", "elew", "pool", "reshape", NULL};
static const char *const five_alone[] = {"input", "act", "elew", "pool", "reshape", NULL};

static ln_list *lower_to_box(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    char type[LN_MAX_NAME_LEN];
    snprintf(type, sizeof type, "%.50s_box", op->op_arg->optype);
    *match = ln_streq(op->op_arg->arch, "none") && ln_op_find(type) &&
             ln_streq(ln_op_find(type)->op_arg->arch, "box");
    return *match ? ln_list_append(NULL, ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, type))
                  : NULL;
}

static ln_expander_func ep_funcs[] = {lower_to_box, NULL};

static ln_arch box_of(const char *const *core_ops)
{
    return (ln_arch){.arch_name = "box",
                     .ep_funcs = ep_funcs,
                     .fallbacks = "ref",
                     .prepare = box_prepare,
                     .run = box_run,
                     .release = box_release,
                     .core_ops = core_ops};
}

// ---- Tests ----

#define AFTER_CONV                                                                                 \
    "act(src=c | dst=a | act=relu);\n"                                                             \
    "elew(src1=a, src2=c, src3=a | dst=e | elew_op=TL_SUM);\n"                                     \
    "pool(src=e | dst=p | size=[2, 2], stride=[2, 2]);\n"                                          \
    "reshape(src=p | dst=y | dims=[3, 4]);\n"

static const char box_text[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 4, 4]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2, 3, 3], data=[1, -2, 3, 0, 5, -1, 2, 2, -3, 4, "
    "-4, 1, 0, 2, 1, -1, 3, 2, 1, 1, -2, 2, 0, 1, -1, 1, 1, 2, -2, 3, 1, 0, 1, -1, 2, 4, 1, 2, 3, "
    "-5, 1, 2, 0, 0, 1, -1, 2, 2, 1, 3, -3, 1, 2, 1]);\n"
    "conv(src=x, weight=w | dst=c | padding=[1, 1, 1, 1]);\n" AFTER_CONV;

static const char box_text_alone[] =
    "input(| dst=c | dtype=TL_FLOAT, dims=[1, 3, 4, 4]);\n" AFTER_CONV;

static void run_once(ln_context *ctx, const char *input, float y[12])
{
    float x[48];
    for (int i = 0; i < 48; i++)
        x[i] = (float)(i * 29 % 23 - 11);
    CHECK_OK(ln_context_set_data(ctx, input, x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
}

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

static void *box_alloc(size_t n)
{
    allocated_bytes += (int)n;
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

TEST(derived_operators_are_in_the_memory_of_their_device)
{
    float expected[12], y[12];
    CHECK_OK(ln_arch_init());
    const ln_mem_info mem_info = {.alloc_func = box_alloc,
                                  .free_func = ln_free_aligned,
                                  .memset_func = memset,
                                  .max_size = 1 << 20,
                                  .align_size = LN_MEM_ALIGN};
    ln_arch box = box_of(five_alone);
    box.mem_type = LN_MEM_DPU;
    box.mem_info = &mem_info;
    box.copy_in = box.copy_out = box.copy_within = memmove;
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
