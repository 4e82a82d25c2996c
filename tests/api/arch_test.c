// SPDX-License-Identifier: Apache-2.0
// Archs from outside: registration, and the four arrays of optimizer functions.

#include <pthread.h>
#include <stdatomic.h>

#include <lightnet/program.h>

#include "tests/api/model.h"

// ---- Registration ----

static ln_op_arg shout_arg = {.optype = "shout_loud", .arch = "loud"};
static ln_op shout = {.op_arg = &shout_arg};
static ln_op *loud_ops[] = {&shout, NULL};

TEST(an_arch_comes_and_goes_with_its_operators)
{
    CHECK_OK(ln_arch_init());
    size_t arch_count = ln_arch_count(), op_count = ln_op_count();
    ln_arch loud = {.arch_name = "loud", .reg_ops = loud_ops};
    CHECK_OK(ln_arch_register(&loud));
    CHECK_EQ(ln_arch_count(), arch_count + 1);
    CHECK_PTR_EQ(ln_arch_find("loud"), &loud);
    CHECK_PTR_EQ(ln_arch_find_at(arch_count), &loud);
    CHECK_PTR_EQ(ln_op_find("shout_loud"), &shout);
    CHECK_PTR_EQ(ln_hash_find(LN_ARCH.arch_table, "loud"), &loud);
    CHECK_PTR_EQ(ln_hash_find(LN_ARCH.op_proto_table, "shout_loud"), &shout);
    CHECK_FAILS(ln_arch_register(&loud), LN_EXISTS);
    CHECK_FAILS(ln_op_register(&shout), LN_EXISTS);
    CHECK_OK(ln_op_unregister("shout_loud"));
    CHECK_NULL(ln_op_find("shout_loud"));
    CHECK_OK(ln_op_register(&shout));
    CHECK_OK(ln_arch_unregister("loud"));
    CHECK_NULL(ln_op_find("shout_loud"));
    CHECK_NULL(ln_hash_find(LN_ARCH.op_proto_table, "shout_loud"));
    CHECK_EQ(ln_arch_count(), arch_count);
    CHECK_EQ(ln_op_count(), op_count);
    CHECK_FAILS(ln_arch_unregister("loud"), LN_NOT_FOUND);
    ln_arch_cleanup();
}

TEST(a_registration_that_fails_changes_nothing)
{
    CHECK_OK(ln_arch_init());
    size_t arch_count = ln_arch_count(), op_count = ln_op_count();
    ln_op_arg relu_arg = {.optype = "relu", .arch = "loud"};
    ln_op relu = {.op_arg = &relu_arg};
    ln_op *ops[] = {&shout, &relu, NULL};
    ln_arch loud = {.arch_name = "loud", .reg_ops = ops};
    CHECK(ln_arch_register(&loud) != LN_OK);
    CHECK_EQ(ln_arch_count(), arch_count);
    CHECK_EQ(ln_op_count(), op_count);
    CHECK_NOT_NULL(ln_op_find("relu"));
    CHECK_FAILS(ln_arch_register(NULL), LN_INVALID);
    ln_arch nameless = {0};
    CHECK_FAILS(ln_arch_register(&nameless), LN_INVALID);
    CHECK_FAILS(ln_op_register(&shout), LN_NOT_FOUND); // its arch is not there
    CHECK_FAILS(ln_op_register(NULL), LN_INVALID);
    ln_arch_cleanup();
}

TEST(init_counts)
{
    CHECK_OK(ln_arch_init());
    CHECK_OK(ln_arch_init());
    ln_arch_cleanup();
    CHECK_NOT_NULL(ln_arch_find("ref"));
    ln_arch_cleanup();
    CHECK_NULL(ln_arch_find("ref"));
    CHECK_EQ(ln_op_count(), 0);
    CHECK_EQ(ln_serializer_count(), 0);
    ln_arch_cleanup(); // one too many does no harm
}

// ---- The optimizer functions ----

static int expander_calls, combiner_calls, subgraph_calls, schedule_calls;

static ln_list *make_relu(const ln_context *ctx, const char *name, const char *src, const char *dst)
{
    return ln_list_append(NULL,
                          ln_op_create_from_proto(
                              ln_op_find("act_ref"), name, ln_tensor_list_append(NULL, "src", src),
                              ln_tensor_list_append(NULL, "dst", dst),
                              ln_param_list_append_string(NULL, "act", "relu"), ctx->tensor_table));
}

// relu becomes an operator of ref by hand; others are left to rules.
static ln_list *expand_relu(const ln_context *ctx, const ln_op *op, int *match)
{
    expander_calls++;
    *match = ln_streq(op->op_arg->optype, "relu");
    if (!*match)
        return NULL;
    return make_relu(ctx, op->op_arg->name, ln_tensor_list_find_name(op->op_arg->tensors_in, "src"),
                     ln_tensor_list_find_name(op->op_arg->tensors_out, "dst"));
}

// A relu right behind a relu is one relu.
static ln_list *combine_relus(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                              int *match)
{
    combiner_calls++;
    const ln_op *first = win_ops->data, *second = win_ops->next->data;
    *match = win_size == 2 && ln_streq(first->op_arg->optype, "act_ref") &&
             ln_streq(second->op_arg->optype, "act_ref") &&
             ln_streq(ln_tensor_list_find_name(first->op_arg->tensors_out, "dst"),
                      ln_tensor_list_find_name(second->op_arg->tensors_in, "src"));
    if (!*match)
        return NULL;
    const char *src = ln_tensor_list_find_name(first->op_arg->tensors_in, "src");
    const char *dst = ln_tensor_list_find_name(second->op_arg->tensors_out, "dst");
    return make_relu(ctx, second->op_arg->name, src, dst);
}

static ln_list *no_subgraph(const ln_context *ctx, ln_list **old_ops)
{
    (void)ctx;
    subgraph_calls++;
    *old_ops = NULL;
    return NULL;
}

static ln_list *same_order(const ln_context *ctx)
{
    schedule_calls++;
    return ln_list_copy(ctx->ops);
}

static ln_list *reversed_order(const ln_context *ctx)
{
    return ln_list_reverse(ln_list_copy(ctx->ops));
}

static ln_list *endless(const ln_context *ctx, const ln_list *win_ops, size_t win_size, int *match)
{
    (void)ctx;
    (void)win_size;
    *match = 1;
    ln_list *copies = ln_list_append(NULL, ln_op_copy(win_ops->data));
    return ln_list_append(copies, ln_op_copy(win_ops->next->data));
}

static ln_list *expand_to_itself(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = ln_streq(op->op_arg->optype, "relu");
    return *match ? ln_list_append(NULL, ln_op_table_find(ctx->op_table, op->op_arg->name)) : NULL;
}

static const char relus[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                            "relu(src=x | dst=a |); relu(src=a | dst=b |); relu(src=b | dst=y |);";

TEST(hand_written_functions_work_beside_rules)
{
    CHECK_OK(ln_arch_init());
    ln_expander_func ep_funcs[] = {expand_relu, NULL};
    ln_combiner_func cb_funcs[] = {combine_relus, NULL};
    ln_subgraph_func sg_funcs[] = {no_subgraph, NULL};
    ln_schedule_func sd_funcs[] = {same_order, NULL};
    ln_arch hand = {.arch_name = "hand",
                    .ep_funcs = ep_funcs,
                    .cb_funcs = cb_funcs,
                    .sg_funcs = sg_funcs,
                    .sd_funcs = sd_funcs,
                    .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    ln_context *ctx = open_text(relus);
    CHECK_OK(ln_context_compile(ctx, "hand"));
    CHECK(expander_calls > 0 && combiner_calls > 0 && subgraph_calls > 0 && schedule_calls > 0);
    CHECK_EQ(ln_list_length(ctx->ops), 3); // input, one relu and output
    CHECK_OK(ln_context_load(ctx, NULL));
    const float x[2] = {-1, 3};
    float y[2];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "y", y);
    CHECK_NEAR(y[0], 0, 0);
    CHECK_NEAR(y[1], 3, 0);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

TEST(a_schedule_that_breaks_the_data_flow_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_schedule_func sd_funcs[] = {reversed_order, NULL};
    ln_arch hand = {.arch_name = "hand", .sd_funcs = sd_funcs, .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    ln_context *ctx = open_text(relus);
    CHECK(ln_context_compile(ctx, "hand") != LN_OK);
    CHECK_MESSAGE("data flow");
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

TEST(a_function_that_returns_an_operator_of_the_model_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_expander_func ep_funcs[] = {expand_to_itself, NULL};
    ln_arch hand = {.arch_name = "hand", .ep_funcs = ep_funcs, .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    ln_context *ctx = open_text(relus);
    CHECK_FAILS(ln_context_compile(ctx, "hand"), LN_EXISTS);
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_EQ(ln_context_check(ctx), 1);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

TEST(a_combiner_without_end_is_stopped)
{
    CHECK_OK(ln_arch_init());
    ln_combiner_func cb_funcs[] = {endless, NULL};
    ln_arch hand = {.arch_name = "hand", .cb_funcs = cb_funcs, .fallbacks = "ref"};
    CHECK_OK(ln_arch_register(&hand));
    ln_context *ctx = open_text(relus);
    CHECK_FAILS(ln_context_compile(ctx, "hand"), LN_LIMIT);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("hand"));
    ln_arch_cleanup();
}

// ---- A device: memory of its own, groups that run asynchronously ----

static struct {
    int allocated, freed, copied_in, copied_out, described, prepared, group_size, started, waited,
        released;
} seen;

static void *device_alloc(size_t n)
{
    seen.allocated++;
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

static void device_free(void *p)
{
    seen.freed++;
    ln_free_aligned(p);
}

static void *device_copy_in(void *dst, const void *src, size_t n)
{
    seen.copied_in++;
    return memmove(dst, src, n);
}

static void *device_copy_out(void *dst, const void *src, size_t n)
{
    seen.copied_out++;
    return memmove(dst, src, n);
}

static ln_list *lower_to_device(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    char optype[64];
    snprintf(optype, sizeof optype, "%s_device", op->op_arg->optype);
    *match = ln_op_find(optype) != NULL;
    return *match ? ln_list_append(NULL, ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, optype))
                  : NULL;
}

static ln_status device_describe(void *priv, const ln_op *op)
{
    (void)priv;
    (void)op;
    seen.described++;
    return LN_FAIL(LN_UNSUPPORTED, "only by hand");
}

static ln_status device_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    seen.prepared++;
    seen.group_size = ln_list_length(ops);
    *out_group = ln_list_copy(ops);
    return *out_group ? LN_OK : LN_NO_MEMORY;
}

static ln_status device_start(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)addresses;
    seen.started++;
    ln_op *op;
    LN_LIST_FOREACH (op, (ln_list *)group) {
        if (op->run)
            op->run(op->op_arg);
    }
    return LN_OK;
}

static ln_status device_wait(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)addresses;
    (void)group;
    seen.waited++;
    return LN_OK;
}

static void device_release(void *priv, void *group)
{
    (void)priv;
    seen.released++;
    ln_list_free(group);
}

static void define_like_x(ln_op_arg *op_arg)
{
    int dims[1] = {2};
    ln_op_define_output(op_arg, "dst", 1, dims, TL_FLOAT, LN_MEM_DPU, 0, NULL);
}

static void relu_device_run(ln_op_arg *op_arg)
{
    const ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    const ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    for (int i = 0; i < 2; i++) {
        float x = ((const float *)src->tensor->data)[i];
        ((float *)dst->tensor->data)[i] = x > 0 ? x : 0;
    }
}

TEST(a_device_has_memory_and_groups_of_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_op_arg input_arg = {.optype = "input_device", .arch = "device"};
    ln_op input = {
        .op_arg = &input_arg, .pre_run = define_like_x, .post_run = ln_op_undefine_outputs};
    ln_op_arg relu_arg = {.optype = "relu_device", .arch = "device"};
    ln_op relu = {.op_arg = &relu_arg,
                  .pre_run = define_like_x,
                  .run = relu_device_run,
                  .post_run = ln_op_undefine_outputs};
    ln_op *ops[] = {&input, &relu, NULL};
    ln_expander_func ep_funcs[] = {lower_to_device, NULL};
    const ln_mem_info mem_info = {.alloc_func = device_alloc,
                                  .free_func = device_free,
                                  .memset_func = memset,
                                  .max_size = 1 << 20,
                                  .align_size = LN_MEM_ALIGN};
    ln_arch device = {.arch_name = "device",
                      .reg_ops = ops,
                      .ep_funcs = ep_funcs,
                      .mem_type = LN_MEM_DPU,
                      .mem_info = &mem_info,
                      .copy_in = device_copy_in,
                      .copy_out = device_copy_out,
                      .describe = device_describe,
                      .rules = ln_arch_find("ref")->rules,
                      .prepare = device_prepare,
                      .run_async = device_start,
                      .wait = device_wait,
                      .release = device_release};
    CHECK_OK(ln_arch_register(&device));
    memset(&seen, 0, sizeof seen);
    ln_context *ctx = load_text(relus, "device");
    const float x[2] = {-1, 3};
    float y[2];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_NEAR(y[0], 0, 0);
    CHECK_NEAR(y[1], 3, 0);
    CHECK_EQ(ctx->mem_sizes[LN_MEM_CPU], 0);
    close_context(ctx);
    CHECK_EQ(seen.allocated, 1);
    CHECK_EQ(seen.freed, 1);
    CHECK_EQ(seen.copied_in, 1);
    CHECK_EQ(seen.copied_out, 1);
    CHECK_EQ(seen.prepared, 1);
    CHECK_EQ(seen.group_size, 4); // input and the three relus, as they were read
    CHECK_EQ(seen.started, 2);
    CHECK_EQ(seen.waited, 2);
    CHECK_EQ(seen.released, 1);
    CHECK_EQ(seen.described, 0); // the expander took them all

    ctx = open_text("create(| dst=c | dtype=TL_FLOAT, dims=[2], data=[1]); relu(src=c | dst=y |);");
    CHECK_FAILS(ln_context_compile(ctx, "device"), LN_UNSUPPORTED);
    CHECK_EQ(seen.described, 0); // no rule lowers to it, and constants are computed by the host
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("device"));
    CHECK_NULL(ln_mem_type_info(LN_MEM_DPU).alloc_func);
    CHECK_NULL(ln_mem_type_copy_func(LN_MEM_DPU, LN_MEM_CPU));
    ln_arch_cleanup();
}

// ---- A device that works in main memory: sessions run one group, each with its addresses ----

#define SIDE_LEN 33

// What the device makes of the operators: where their tensors are among the addresses.
typedef struct side_group {
    int relu_count;
    int places[8]; // of each relu's source; the result comes next
} side_group;

static atomic_int side_prepared, side_runs;

static void define_side(ln_op_arg *op_arg)
{
    ln_op_define_output(op_arg, "dst", 1, (int[]){SIDE_LEN}, TL_FLOAT, LN_MEM_CPU, 0, NULL);
}

static void must_not_run(ln_op_arg *op_arg)
{
    op_arg->status = LN_FAIL(LN_INTERNAL, "an operator of a group ran by itself");
}

static ln_status side_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    side_group *group = ln_alloc(sizeof *group);
    *out_group = group;
    if (!group)
        return LN_NO_MEMORY;
    int place = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        if (ln_streq(op->op_arg->optype, "relu_side"))
            group->places[group->relu_count++] = place;
        place += ln_list_length(op->op_arg->tensors_in) + ln_list_length(op->op_arg->tensors_out);
    }
    atomic_fetch_add(&side_prepared, 1);
    return LN_OK;
}

// Relus that add 1.
static ln_status side_run(void *priv, void *prepared, tl_tensor *const *addresses)
{
    const side_group *group = prepared;
    (void)priv;
    atomic_fetch_add(&side_runs, 1);
    for (int k = 0; k < group->relu_count; k++) {
        const tl_tensor *src = addresses[group->places[k]], *dst = addresses[group->places[k] + 1];
        for (int i = 0; i < SIDE_LEN; i++) {
            float x = ((const float *)src->data)[i];
            ((float *)dst->data)[i] = (x > 0 ? x : 0) + 1;
        }
    }
    return LN_OK;
}

static ln_status side_wait(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)group;
    return addresses[0] ? LN_OK : LN_FAIL(LN_INTERNAL, "no addresses to wait for");
}

static void side_release(void *priv, void *group)
{
    (void)priv;
    ln_free(group);
}

static ln_list *lower_to_side(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    *match = ln_streq(op->op_arg->optype, "relu");
    return *match
               ? ln_list_append(NULL, ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, "relu_side"))
               : NULL;
}

// -x by the host, three relus by the device, -y by the host.
static const char side_text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[33]);\n"
                                "Neg(X=x | Y=n |);\nrelu(src=n | dst=p |);\n"
                                "relu(src=p | dst=q |);\nrelu(src=q | dst=r |);\n"
                                "Neg(X=r | Y=y |);\noutput(src=y | |);\n";

static float side_expected(float x)
{
    float y = -x;
    for (int k = 0; k < 3; k++)
        y = (y > 0 ? y : 0) + 1;
    return -y;
}

static void *run_beside(void *program)
{
    ln_session *session;
    float x[SIDE_LEN], y[SIDE_LEN];
    bool is_right = ln_session_create(program, &session) == LN_OK;
    for (int round = 0; round < 200 && is_right; round++) {
        for (int i = 0; i < SIDE_LEN; i++)
            x[i] = (float)((i * 7 + round + (int)((uintptr_t)session >> 6) % 97) % 31) - 15;
        is_right = ln_session_set_data(session, "x", x, sizeof x) == LN_OK &&
                   ln_session_run(session) == LN_OK &&
                   ln_session_get_data(session, "y", y, sizeof y) == LN_OK;
        for (int i = 0; i < SIDE_LEN && is_right; i++)
            is_right = y[i] == side_expected(x[i]);
    }
    ln_session_free(session);
    return is_right ? program : NULL;
}

static void check_side(bool is_async)
{
    enum { THREADS = 4 };
    CHECK_OK(ln_arch_init());
    ln_op_arg relu_arg = {.optype = "relu_side", .arch = "side"};
    ln_op relu = {.op_arg = &relu_arg,
                  .pre_run = define_side,
                  .run = must_not_run,
                  .post_run = ln_op_undefine_outputs};
    ln_op *ops[] = {&relu, NULL};
    ln_expander_func ep_funcs[] = {lower_to_side, NULL};
    ln_arch side = {.arch_name = "side",
                    .reg_ops = ops,
                    .ep_funcs = ep_funcs,
                    .fallbacks = "ref",
                    .prepare = side_prepare,
                    .run = is_async ? NULL : side_run,
                    .run_async = is_async ? side_run : NULL,
                    .wait = is_async ? side_wait : NULL,
                    .release = side_release};
    CHECK_OK(ln_arch_register(&side));
    atomic_store(&side_prepared, 0);
    atomic_store(&side_runs, 0);
    ln_context *ctx = load_text(side_text, "side");
    float x[SIDE_LEN] = {-3, 5}, y[SIDE_LEN];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int i = 0; i < SIDE_LEN; i++)
        CHECK_NEAR(y[i], side_expected(x[i]), 0);
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK(ln_program_is_fixed(program));
    CHECK_EQ(side_prepared, 2); // for the context, and once for all sessions
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_beside, program), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK_NOT_NULL(result);
    }
    CHECK_EQ(side_prepared, 2);
    CHECK_EQ(side_runs, 1 + THREADS * 200);
    ln_program_release(program);
    CHECK_OK(ln_arch_unregister("side"));
    ln_arch_cleanup();
}

TEST(sessions_run_one_group_with_addresses_of_their_own)
{
    check_side(false);
    check_side(true);
}

// ---- Serializers ----

static ln_status load_double_relu(ln_serializer *serializer, ln_context *ctx,
                                  const ln_op_source *source, void *user)
{
    (*(int *)user)++;
    ln_op_source relu = *source;
    relu.optype = "relu";
    return ln_serializer_add_op(serializer, ctx, &relu);
}

TEST(an_operator_loader_reads_what_the_library_does_not_know)
{
    CHECK_OK(ln_arch_init());
    ln_serializer *il = ln_serializer_find("il");
    CHECK_NOT_NULL(il);
    int calls = 0;
    CHECK_OK(ln_serializer_register_op_loader(il, "my_relu", 0, load_double_relu, &calls));
    CHECK_FAILS(ln_serializer_register_op_loader(il, "my_relu", 0, load_double_relu, &calls),
                LN_EXISTS);
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "my_relu(src=x | dst=y |);");
    CHECK_EQ(calls, 1);
    close_context(ctx);
    CHECK_OK(ln_serializer_unregister_op_loader(il, "my_relu", 0));
    CHECK_FAILS(ln_serializer_unregister_op_loader(il, "my_relu", 0), LN_NOT_FOUND);
    ln_arch_cleanup();
}

static ln_status load_slope(ln_serializer *serializer, ln_context *ctx, const ln_op_source *source,
                            void *user)
{
    ln_op_source lrelu = *source;
    lrelu.optype = "lrelu";
    lrelu.params = user;
    return ln_serializer_add_op(serializer, ctx, &lrelu);
}

TEST(a_loader_gives_parameters_of_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_serializer *il = ln_serializer_find("il");
    ln_list *params = ln_param_list_append_number(NULL, "negslope", 0.25);
    CHECK_OK(ln_serializer_register_op_loader(il, "my_lrelu", 0, load_slope, params));
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "my_lrelu(src=x | dst=y | percent=50);");
    const ln_op *op = ctx->ops->next->data;
    CHECK_NEAR(ln_param_list_find(op->op_arg->params, "negslope")->value_double, 0.25, 0);
    CHECK_NULL(ln_param_list_find(op->op_arg->params, "percent"));
    close_context(ctx);
    CHECK_OK(ln_serializer_unregister_op_loader(il, "my_lrelu", 0));
    ln_param_list_free(params);
    ln_arch_cleanup();
}

TEST(parameters_change_hands_where_the_operator_is_made)
{
    CHECK_OK(ln_arch_init());
    ln_list *params = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT"), *given;
    ln_list *outs = ln_tensor_list_append(NULL, "dst", "x");
    params = given = ln_param_list_append_array_int(params, "dims", 1, (int[]){3});
    ln_op_source source = {
        .name = "x", .optype = "no_such_type", .tensors_out = outs, .own_params = &params};
    ln_context *ctx = ln_context_create();
    CHECK_FAILS(ln_serializer_add_op(ln_serializer_find("il"), ctx, &source), LN_UNSUPPORTED);
    CHECK_PTR_EQ(params, given);
    source.optype = "input";
    CHECK_OK(ln_serializer_add_op(ln_serializer_find("il"), ctx, &source));
    CHECK_NULL(params);
    CHECK_PTR_EQ(((const ln_op *)ctx->ops->data)->op_arg->params, given);
    ln_tensor_list_free(outs);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(formats_are_told_apart_by_content)
{
    CHECK_OK(ln_arch_init());
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"{\"ops\": []}", "ir"},
        {"  // a comment\n /* and another */ {", "ir"},
        {"relu(src=x | dst=y |);", "il"},
        {"// IL\n#define A 1\nrelu(src=x | dst=y |);", "il"},
        {"\x89PNG\r\n", NULL},
        {"", NULL},
    };
    const char json[] = "{\"ops\": []}";
    CHECK_STR_EQ(ln_serializer_probe("json.net", json, sizeof json - 1)->name, "ir");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ln_serializer *found =
            ln_serializer_probe(NULL, cases[i].text, strlen(cases[i].text));
        if (cases[i].name)
            CHECK_STR_EQ(found ? found->name : "(none)", cases[i].name);
        else
            CHECK_NULL(found);
    }
    CHECK_STR_EQ(ln_serializer_for_path("a/b.net")->name, "il");
    CHECK_STR_EQ(ln_serializer_for_path("b.json")->name, "ir");
    CHECK_NULL(ln_serializer_for_path("b.txt"));
    CHECK_NULL(ln_serializer_for_path(NULL));
    ln_arch_cleanup();
}

TEST_LIST(a_function_that_returns_an_operator_of_the_model_is_refused,
          an_arch_comes_and_goes_with_its_operators, a_registration_that_fails_changes_nothing,
          init_counts, hand_written_functions_work_beside_rules,
          a_schedule_that_breaks_the_data_flow_is_refused, a_combiner_without_end_is_stopped,
          a_device_has_memory_and_groups_of_its_own,
          sessions_run_one_group_with_addresses_of_their_own,
          an_operator_loader_reads_what_the_library_does_not_know,
          a_loader_gives_parameters_of_its_own, parameters_change_hands_where_the_operator_is_made,
          formats_are_told_apart_by_content)
