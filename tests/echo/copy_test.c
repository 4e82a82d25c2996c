// SPDX-License-Identifier: Apache-2.0
// Copies between memories, in models that name the operators of a device themselves.

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/plan.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"

static ln_arch *open_echo(void)
{
    CHECK_OK(ln_arch_init());
    return echo_open(&(echo_settings){ECHO_DEFAULTS, .fallback = "ref"});
}

static void close_echo(ln_arch *echo)
{
    echo_close(echo);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_EQ(echo_live_groups(), 0);
    ln_arch_cleanup();
}

// y = relu(x + w) by the device; w is a constant.
static const char by_hand[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 3], data=[1, 2, 3, 4, 5, 6]);\n"
    "copy(src=x | dst=x_dpu | mtype=LN_MEM_DPU);\n"
    "copy(src=w | dst=w_dpu | mtype=LN_MEM_DPU);\n"
    "elew_echo(src1=x_dpu, src2=w_dpu | dst=s | elew_op=TL_SUM);\n"
    "act_echo(src=s | dst=r | act=relu);\n"
    "copy(src=r | dst=y | mtype=LN_MEM_CPU);\n"
    "output(src=y | |);\n";

static void check_run(ln_context *ctx)
{
    const float x[6] = {-1, -2, -4, -8, -4, 1}, expected[6] = {0, 0, 0, 0, 1, 7};
    float y[6];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(y[i], expected[i], 0);
    }
}

TEST(copies_are_the_only_way_into_a_device_and_out)
{
    ln_arch *echo = open_echo();
    echo_forget();
    ln_context *ctx = load_text(by_hand, "echo");
    CHECK_EQ(echo_copied_in(), 24); // the constant, once
    check_run(ctx);
    CHECK_EQ(echo_copied_in(), 24 + 2 * 24);
    CHECK_EQ(echo_copied_out(), 2 * 24);
    close_context(ctx);
    close_echo(echo);
}

TEST(constants_are_copied_at_load_and_leave_main_memory)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(by_hand, "echo");
    // 64 bytes are nobody's; each tensor is aligned to 64.
    CHECK_EQ(ln_context_static_bytes(ctx, LN_MEM_DPU), 64 + 64);
    CHECK_EQ(ln_context_static_bytes(ctx, LN_MEM_CPU), 64); // nobody's
    CHECK_EQ(ln_context_load_bytes(ctx, LN_MEM_CPU), 64 + 64);
    CHECK_EQ(ln_context_workspace_bytes(ctx, LN_MEM_DPU), 2 * 64); // r is where x_dpu was
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), ln_context_peak_bytes(ctx, LN_MEM_DPU));
    close_context(ctx);
    close_echo(echo);
}

TEST(a_constant_that_is_set_reaches_the_device)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(by_hand, "echo");
    const float w[6] = {10, 10, 10, 10, 10, 10}, x[6] = {-1, -2, -4, -8, -4, 1};
    float y[6];
    CHECK_OK(ln_context_set_data(ctx, "w", w));
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(y[i], x[i] + 10, 0);
    close_context(ctx);
    close_echo(echo);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK_NOT_NULL(file);
    char *text = calloc(1, 1 << 16);
    CHECK_NOT_NULL(text);
    CHECK(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

// The text of a compiled model, in which the first `from` after `after` is `to`.
static char *compile_and_edit(const char *path, const char *after, const char *from, const char *to)
{
    ln_context *ctx = open_text(by_hand);
    CHECK_OK(ln_context_compile(ctx, "echo"));
    CHECK_OK(ln_context_print(ctx, path));
    close_context(ctx);
    char *text = read_file(path), *edited = calloc(1, strlen(text) + 64);
    CHECK_NOT_NULL(edited);
    const char *at = from ? strstr(strstr(text, after), from) : text + strlen(text);
    CHECK_NOT_NULL(at);
    sprintf(edited, "%.*s%s%s", (int)(at - text), text, from ? to : "",
            from ? at + strlen(from) : "");
    free(text);
    remove(path);
    return edited;
}

TEST(compiled_files_keep_copies_and_memories)
{
    ln_arch *echo = open_echo();
    char *text = compile_and_edit("echo_copy.json", NULL, NULL, NULL);
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "compiled.json"));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_EQ(ln_context_static_bytes(ctx, LN_MEM_DPU), 64 + 64);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_run(ctx);
    close_context(ctx);
    free(text);
    close_echo(echo);
}

TEST(compiled_files_that_mix_memories_are_refused)
{
    // clang-format off
    static const struct {
        const char *why, *after, *from, *to, *message;
    } cases[] = {
        {"the copy goes elsewhere", "copy_ref", "\"LN_MEM_DPU\"}\n            ]", "\"LN_MEM_CPU\"}\n            ]", "put a 'copy' between"},
        {"the tensor is said to be elsewhere", "\"x_dpu\"", "\"mtype\": \"LN_MEM_DPU\"", "\"mtype\": \"LN_MEM_CPU\"", "is stated as"},
        {"the device reads main memory", "elew_echo", "\"x_dpu\"", "\"x\"", "put a 'copy' between"},
        {"too little memory of the device", "\"LN_MEM_DPU\", \"static\"", "\"workspace\": 128", "\"workspace\": 64", "DPU"},
        {"unknown memory", "copy_ref", "\"LN_MEM_DPU\"}\n", "\"LN_MEM_MOON\"}\n", "'LN_MEM_MOON' is not a memory type"},
    };
    // clang-format on
    ln_arch *echo = open_echo();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text =
            compile_and_edit("echo_edited.json", cases[i].after, cases[i].from, cases[i].to);
        ln_context *ctx = ln_context_create();
        if (ln_context_init_mem(ctx, text, strlen(text), "compiled.json") == LN_OK)
            fail_msg("%s: accepted", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].message))
            fail_msg("%s: %s", cases[i].why, ln_error_message());
        ln_context_free(ctx);
        free(text);
    }
    close_echo(echo);
}

TEST(what_has_no_copy_between_is_refused)
{
    // clang-format off
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); copy_ref(src=x | dst=d | mtype=LN_MEM_DPU); act_ref(src=d | dst=y | act=relu);", "is in DPU memory; put a 'copy' between them"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); copy(src=x | dst=y | mtype=LN_MEM_CUDA);", "no device provides memory of type CUDA memory"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[2]); copy(src=x | dst=y | mtype=DPU);", "'DPU' is not a memory type; main memory is LN_MEM_CPU"},
    };
    // clang-format on
    ln_arch *echo = open_echo();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ln_context_init_mem(ctx, cases[i].text, strlen(cases[i].text), "model.net");
        if (status == LN_OK)
            status = ln_context_compile(ctx, "echo");
        if (status == LN_OK)
            status = ln_context_load(ctx, NULL);
        if (status == LN_OK || !strstr(ln_error_message(), cases[i].message))
            fail_msg("%s\n%s", cases[i].text, status == LN_OK ? "accepted" : ln_error_message());
        ln_context_free(ctx);
    }
    close_echo(echo);
}

TEST(copies_that_fail_say_so)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = open_text(by_hand);
    CHECK_OK(ln_context_compile(ctx, "echo"));
    echo_fail(ECHO_ALLOC, 0);
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_NO_MEMORY);
    CHECK_MESSAGE("DPU memory");
    echo_fail(ECHO_COPY_IN, 0); // of the constant
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_IO);
    CHECK_MESSAGE("tensor 'w': 24 bytes could not be copied from main memory to DPU memory");
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_OK(ln_context_load(ctx, NULL));
    echo_fail(ECHO_COPY_OUT, 0);
    CHECK_FAILS(ln_context_run(ctx), LN_IO);
    CHECK_MESSAGE("could not be copied from DPU memory to main memory");
    check_run(ctx);
    close_context(ctx);
    close_echo(echo);
}

// The clone shares the constants until it sets one.
TEST(a_copy_within_the_device_that_fails_says_so)
{
    ln_arch *echo = open_echo();
    ln_context *ctx = load_text(by_hand, "echo"), *clone;
    const float w[6] = {10, 10, 10, 10, 10, 10};
    CHECK_OK(ln_context_clone(ctx, &clone));
    echo_fail(ECHO_COPY_WITHIN, 0);
    CHECK_FAILS(ln_context_set_data(clone, "w", w), LN_IO);
    CHECK_MESSAGE("could not be copied from DPU memory to DPU memory");
    check_run(ctx);
    check_run(clone);
    CHECK_OK(ln_context_set_data(clone, "w", w));
    check_run(ctx);
    close_context(clone);
    close_context(ctx);
    close_echo(echo);
}

TEST_LIST(copies_are_the_only_way_into_a_device_and_out,
          constants_are_copied_at_load_and_leave_main_memory,
          a_constant_that_is_set_reaches_the_device, compiled_files_keep_copies_and_memories,
          compiled_files_that_mix_memories_are_refused, what_has_no_copy_between_is_refused,
          copies_that_fail_say_so, a_copy_within_the_device_that_fails_says_so)
