// SPDX-License-Identifier: Apache-2.0
// Structures of programs that were compiled for an older or a newer version of the library.

#include "tests/api/model.h"

#include <stdlib.h>

#include "tests/oom.h"

#define UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

// The first `byte_count` bytes of a structure, and nothing after them; or all of it, and a tail.
static void *cut(const void *whole, size_t whole_size, size_t byte_count, unsigned char tail)
{
    unsigned char *made = malloc(byte_count);
    CHECK_NOT_NULL(made);
    memset(made, 0, byte_count);
    memcpy(made, whole, byte_count < whole_size ? byte_count : whole_size);
    if (byte_count > whole_size)
        made[byte_count - 1] = tail;
    return made;
}

// ---- Archs ----

static char toy_name[] = "toy";
static int opened;

static void open_toy(void **priv)
{
    opened++;
    *priv = &opened;
}

static void close_toy(void **priv)
{
    opened -= *priv == &opened;
}

static const ln_arch toy = {
    .arch_name = toy_name, .init_func = open_toy, .cleanup_func = close_toy, .doc = "a toy"};

TEST(an_arch_of_an_older_program_has_zeros_beyond)
{
    CHECK_OK(ln_arch_init());
    size_t byte_count = UP_TO(ln_arch, arch_name); // as documented
    ln_arch *old = cut(&toy, sizeof toy, byte_count, 0);
    CHECK_OK(ln_arch_register_sized(old, byte_count));
    const ln_arch *found = ln_arch_find("toy");
    CHECK_NOT_NULL(found);
    CHECK(found != old && !found->doc && !found->choices && opened == 1);
    CHECK_FAILS(ln_arch_register_sized(old, byte_count), LN_EXISTS);
    CHECK_OK(ln_arch_unregister("toy"));
    CHECK(!ln_arch_find("toy") && opened == 0);
    CHECK_OK(ln_arch_register_sized(old, byte_count)); // again, and left to the end
    free(old);
    ln_arch_cleanup();
    CHECK_EQ(opened, 0);
}

TEST(an_arch_of_a_newer_program_says_nothing_new_or_is_refused)
{
    CHECK_OK(ln_arch_init());
    size_t byte_count = sizeof toy + 16;
    ln_arch *new = cut(&toy, sizeof toy, byte_count, 0);
    CHECK_OK(ln_arch_register_sized(new, byte_count));
    CHECK_PTR_EQ(ln_arch_find("toy"), new);
    CHECK_OK(ln_arch_unregister("toy"));
    ((unsigned char *)new)[byte_count - 1] = 1;
    CHECK_FAILS(ln_arch_register_sized(new, byte_count), LN_UNSUPPORTED);
    CHECK_MESSAGE("ln_arch has");
    CHECK_MESSAGE("the program needs a newer LightNet");
    CHECK(!ln_arch_find("toy") && opened == 0);
    free(new);
    CHECK_FAILS(ln_arch_register_sized((ln_arch *)(uintptr_t)&toy, 8), LN_INVALID);
    CHECK_FAILS(ln_arch_register_sized(NULL, sizeof toy), LN_INVALID);
    ln_arch_cleanup();
}

TEST(functions_without_a_size_are_there_for_linked_programs)
{
    CHECK_OK(ln_arch_init());
    ln_arch arch = toy;
    CHECK_OK((ln_arch_register)(&arch));
    CHECK_NOT_NULL(ln_arch_find("toy")); // a copy: the structure has grown since
    CHECK_OK(ln_arch_unregister("toy"));
    CHECK_NEAR((ln_limits_default)().work, ln_limits_default().work, 0);
    CHECK_EQ((ln_optimize_options_default)().firing_limit, SIZE_MAX);
    ln_limits limits = ln_limits_default();
    limits.op_count = 7;
    ln_context *ctx = ln_context_create();
    (ln_context_set_limits)(ctx, &limits);
    ln_limits got;
    ln_context_get_limits(ctx, &got);
    CHECK_EQ(got.op_count, 7);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(memory_that_runs_out_leaves_no_arch_observer_or_request)
{
    CHECK_OK(ln_arch_init());
    size_t byte_count = UP_TO(ln_arch, arch_name);
    ln_arch *old = cut(&toy, sizeof toy, byte_count, 0);
    CHECK_OK(ln_arch_register_sized(old, byte_count)); // the registry has capacity from now on
    CHECK_OK(ln_arch_unregister("toy"));
    const ln_observer observer = {.user = old};
    OOM_SWEEP(n)
    {
        ln_status status = ln_arch_register_sized(old, byte_count);
        CHECK_EQ(opened, status == LN_OK);
        if (status == LN_OK)
            CHECK_OK(ln_arch_unregister("toy"));
        ln_context *ctx = ln_context_create();
        ln_cancel *cancel = ln_cancel_create();
        if (ctx && cancel) {
            ln_status set = ln_context_set_observer(ctx, &observer);
            CHECK(set == LN_OK || set == LN_NO_MEMORY);
            CHECK_OK(ln_context_set_cancel(ctx, cancel));
        }
        ln_cancel_release(cancel);
        ln_context_free(ctx);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
    free(old);
    ln_arch_cleanup();
}

// ---- Operators ----

static const ln_arg_info no_args[] = {{.arg_name = NULL}};

static int info_is(const char *optype, const void *info)
{
    const ln_op *op = ln_op_find(optype);
    return op && op->op_arg->info == info;
}

TEST(what_is_known_about_an_operator_says_its_size)
{
    CHECK_OK(ln_arch_init());
    static char optype[] = "nothing_cpu", arch[] = "cpu";
    ln_op_arg arg = {.optype = optype, .arch = arch};
    ln_op op = {.op_arg = &arg};
    ln_op_info whole = {.ins = no_args, .outs = no_args, .rtol = 0.5};
    arg.info = &whole;
    CHECK_FAILS(ln_op_register(&op), LN_INVALID);
    CHECK_MESSAGE("operator 'nothing_cpu': info->byte_count is 0");
    CHECK_NULL(ln_op_find(optype));

    whole.byte_count = sizeof whole;
    CHECK_OK(ln_op_register(&op));
    CHECK(info_is(optype, &whole));
    CHECK_OK(ln_op_unregister(optype));

    whole.byte_count = UP_TO(ln_op_info, params);
    ln_op_info *old = cut(&whole, sizeof whole, whole.byte_count, 0);
    arg.info = old;
    CHECK_OK(ln_op_register(&op));
    CHECK(ln_op_find(optype)->op_arg->info->ins == no_args);
    CHECK_NEAR(ln_op_find(optype)->op_arg->info->rtol, 0, 0);
    CHECK_OK(ln_op_unregister(optype));
    CHECK_PTR_EQ(arg.info, old);
    free(old);

    whole.byte_count = sizeof whole + 8;
    ln_op_info *new = cut(&whole, sizeof whole, whole.byte_count, 1);
    arg.info = new;
    CHECK_FAILS(ln_op_register(&op), LN_UNSUPPORTED);
    CHECK_MESSAGE("ln_op_info has");
    CHECK_NULL(ln_op_find(optype));
    free(new);
    ln_arch_cleanup();
}

// ---- Formats ----

static int probe_toy(const ln_serializer *serializer, const char *path, const char *bytes,
                     size_t byte_count)
{
    (void)serializer, (void)path;
    return byte_count >= 3 && memcmp(bytes, "toy", 3) == 0 ? 100 : 0;
}

static ln_status load_toy(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                          size_t byte_count, const char *name)
{
    (void)bytes, (void)byte_count, (void)name;
    ln_op_source source = {.name = "one", .optype = "toy_type"};
    source.version = 1;
    // As an older reader, which knows no place.
    return ln_serializer_add_op(serializer, ctx, &source);
}

static ln_status make_input(ln_serializer *serializer, ln_context *ctx, const ln_op_source *source,
                            void *user)
{
    ++*(int *)user;
    ln_list *outs = ln_tensor_list_append(NULL, "dst", "x");
    ln_list *params = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    params = ln_param_list_append_array_int(params, "dims", 1, (int[]){3});
    ln_op_source input = {
        .name = source->name, .optype = "input", .tensors_out = outs, .params = params};
    ln_status status = ln_serializer_add_op(serializer, ctx, &input);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return status;
}

TEST(a_format_of_an_older_program_reads)
{
    CHECK_OK(ln_arch_init());
    const ln_serializer whole = {
        .name = "toy", .probe = probe_toy, .load_mem = load_toy, .writes_plan = 1};
    size_t byte_count = UP_TO(ln_serializer, load_mem);
    ln_serializer *old = cut(&whole, sizeof whole, byte_count, 0);
    CHECK_OK(ln_serializer_register_sized(old, byte_count));
    CHECK(!ln_serializer_find("toy")->writes_plan);
    int count = 0;
    CHECK_OK(ln_serializer_register_op_loader(old, "toy_type", 1, make_input, &count));
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, "toy", 3, NULL));
    CHECK_EQ(count, 1);
    CHECK_STR_EQ(ln_context_input_name(ctx, 0), "x");
    ln_context_free(ctx);
    CHECK_OK(ln_serializer_unregister_op_loader(old, "toy_type", 1));
    CHECK_OK(ln_serializer_unregister("toy"));
    free(old);

    ln_serializer *new = cut(&whole, sizeof whole, sizeof whole + 8, 1);
    CHECK_FAILS(ln_serializer_register_sized(new, sizeof whole + 8), LN_UNSUPPORTED);
    CHECK_NULL(ln_serializer_find("toy"));
    free(new);
    ln_op_source *source = cut(&(ln_op_source){.name = "a", .optype = "relu"}, sizeof(ln_op_source),
                               sizeof(ln_op_source) + 8, 1);
    ctx = ln_context_create();
    CHECK_FAILS(ln_serializer_add_op_sized(NULL, ctx, source, sizeof *source + 8), LN_UNSUPPORTED);
    free(source);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

// ---- What a program says to a context ----

TEST(limits_of_another_version_keep_the_defaults_or_are_refused)
{
    ln_context *ctx = ln_context_create();
    ln_limits limits = ln_limits_default(), got;
    limits.source_byte_count = 10;
    limits.op_count = 3;
    ln_limits *old = cut(&limits, sizeof limits, sizeof(size_t), 0);
    CHECK_OK(ln_context_set_limits_sized(ctx, old, sizeof(size_t)));
    ln_context_get_limits(ctx, &got);
    CHECK_EQ(got.source_byte_count, 10);
    CHECK_EQ(got.op_count, ln_limits_default().op_count);
    size_t *first = (size_t *)old;
    *first = 0;
    ln_context_get_limits_sized(ctx, old, sizeof(size_t)); // no byte beyond
    CHECK_EQ(*first, 10);
    ln_limits_init(old, sizeof(size_t));
    CHECK_EQ(*first, ln_limits_default().source_byte_count);
    free(old);

    ln_limits *new = cut(&limits, sizeof limits, sizeof limits + 8, 1);
    CHECK_FAILS(ln_context_set_limits_sized(ctx, new, sizeof limits + 8), LN_UNSUPPORTED);
    CHECK_MESSAGE("ln_limits has");
    ln_context_get_limits(ctx, &got);
    CHECK_EQ(got.source_byte_count, 10);
    ln_limits_init(new, sizeof limits + 8);
    CHECK_EQ(((unsigned char *)new)[sizeof limits + 7], 0);
    CHECK_OK(ln_context_set_limits_sized(ctx, new, sizeof limits + 8));
    CHECK_OK(ln_context_set_limits(ctx, NULL));
    free(new);
    CHECK_FAILS(ln_context_set_limits(NULL, &limits), LN_INVALID);
    ln_context_free(ctx);
}

TEST(options_of_another_version_keep_the_defaults_or_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    ln_optimize_options options = ln_optimize_options_default();
    ln_optimize_options *new = cut(&options, sizeof options, sizeof options + 8, 1);
    CHECK_FAILS(ln_context_compile_with_sized(ctx, "cpu", new, sizeof options + 8), LN_UNSUPPORTED);
    CHECK_MESSAGE("ln_optimize_options has");
    CHECK_FAILS(ln_context_optimize_with_sized(ctx, "cpu", new, sizeof options + 8),
                LN_UNSUPPORTED);
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_READY);
    free(new);
    options.firing_limit = 0; // is not read: nothing would be lowered
    ln_optimize_options *old = cut(&options, sizeof options, sizeof(char *), 0);
    CHECK_OK(ln_context_compile_with_sized(ctx, "cpu", old, sizeof(char *)));
    free(old);
    close_context(ctx);
    ln_arch_cleanup();
}

static int told;

static void tell(void *user, const ln_op *op)
{
    (void)op;
    told += user == NULL;
}

static void run_here(void *user, size_t count, ln_pool_task *task, void *job)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        task(job, i);
}

TEST(observers_and_pools_of_another_version_work_or_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "cpu");
    const ln_observer observer = {.before = tell, .after = tell, .user = &told};
    size_t byte_count = UP_TO(ln_observer, before);
    ln_observer *old = cut(&observer, sizeof observer, byte_count, 0);
    CHECK_OK(ln_context_set_observer_sized(ctx, old, byte_count));
    free(old); // it was copied
    CHECK_OK(ln_context_run(ctx));
    CHECK(told > 0);
    int before = told;
    ln_observer *new = cut(&observer, sizeof observer, sizeof observer + 8, 1);
    CHECK_FAILS(ln_context_set_observer_sized(ctx, new, sizeof observer + 8), LN_UNSUPPORTED);
    free(new);
    CHECK_OK(ln_context_run(ctx)); // who was told before still is
    CHECK_EQ(told, 2 * before);
    CHECK_OK(ln_context_set_observer(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(told, 2 * before);

    const ln_thread_pool pool = {
        .thread_count = 2, .run = run_here, .begin = (void (*)(void *))abort};
    size_t pool_size = UP_TO(ln_thread_pool, run);
    ln_thread_pool *old_pool = cut(&pool, sizeof pool, pool_size, 0);
    CHECK_OK(ln_context_set_pool_sized(ctx, old_pool, pool_size));
    free(old_pool);
    CHECK_EQ(ln_context_thread_count(ctx), 2);
    CHECK_OK(ln_context_run(ctx));
    ln_thread_pool *new_pool = cut(&pool, sizeof pool, sizeof pool + 8, 1);
    CHECK_FAILS(ln_context_set_pool_sized(ctx, new_pool, sizeof pool + 8), LN_UNSUPPORTED);
    free(new_pool);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(an_arch_of_an_older_program_has_zeros_beyond,
          an_arch_of_a_newer_program_says_nothing_new_or_is_refused,
          functions_without_a_size_are_there_for_linked_programs,
          memory_that_runs_out_leaves_no_arch_observer_or_request,
          what_is_known_about_an_operator_says_its_size, a_format_of_an_older_program_reads,
          limits_of_another_version_keep_the_defaults_or_are_refused,
          options_of_another_version_keep_the_defaults_or_are_refused,
          observers_and_pools_of_another_version_work_or_are_refused)
