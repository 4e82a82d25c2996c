// SPDX-License-Identifier: Apache-2.0
// Running out of main memory with a device beside the host: whatever was made is given back on both
// sides, and a run that succeeds is right.

#include <lightnet/optimize.h>
#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"
#include "tests/oom.h"

enum { LEN = 16 };

static const char fixed[] = "input(| dst=x | dtype=TL_FLOAT, dims=[16]);\n"
                            "create(| dst=w | dtype=TL_FLOAT, dims=[16], ran=[-1, 1], data=[0]);\n"
                            "func(src=x | dst=a | func=sin);\n"
                            "elew(src1=a, src2=w | dst=b | elew_op=TL_SUM);\n"
                            "func(src=b | dst=y | func=cos);\n"
                            "output(src=y | |);\n";

static const char dynamic[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"N\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4], ran=[-1, 1], data=[0]);\n"
    "linear(src=x, weight=w | dst=a |);\n"
    "func(src=a | dst=y | func=cos);\n"
    "output(src=y | |);\n";

static const char *const on_device[] = {"elew0", "linear0", NULL};

static float expected[LEN];

static ln_arch *open_echo(const char *text)
{
    // Not asynchronous: the allocator of a sweep counts for one thread.
    echo_settings settings = {ECHO_DEFAULTS, .names = on_device};
    settings.is_async = false;
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(&settings);
    ln_context *alone = load_text(text, "ref");
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (const int[]){4, 4}, NULL), *y;
    if (text == fixed) {
        CHECK_OK(ln_context_set_data(alone, "x", ln_object_tensor(x)->data));
    } else {
        CHECK_OK(ln_context_set_object(alone, "x", x));
    }
    CHECK_OK(ln_context_run(alone));
    CHECK_OK(ln_context_get_object(alone, "y", &y));
    memcpy(expected, ln_object_tensor(y)->data, sizeof expected);
    ln_object_release(x);
    ln_object_release(y);
    close_context(alone);
    return echo;
}

static void close_echo(ln_arch *echo)
{
    echo_close(echo);
    ln_arch_cleanup();
}

static ln_status load(ln_context *ctx, const char *text, int fails_over)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.fails_over = fails_over;
    LN_TRY(ln_context_set_threads(ctx, 1));
    LN_TRY(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    LN_TRY(ln_context_compile_with(ctx, "echo,ref", &options));
    return ln_context_load(ctx, NULL);
}

static ln_status run_session(ln_session *session, int is_fixed)
{
    const float zeros[LEN] = {0};
    if (is_fixed) {
        LN_TRY(ln_session_set_data(session, "x", zeros, sizeof zeros));
    } else {
        ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (const int[]){4, 4}, NULL);
        if (!x)
            return LN_NO_MEMORY;
        ln_status status = ln_session_set_object(session, "x", x);
        ln_object_release(x);
        LN_TRY(status);
    }
    LN_TRY(ln_session_run(session));
    const tl_tensor *y;
    LN_TRY(ln_session_borrow_tensor(session, "y", &y));
    CHECK(memcmp(y->data, expected, sizeof expected) == 0);
    return LN_OK;
}

static ln_status run_program(const ln_context *ctx, int is_fixed)
{
    ln_program *program;
    ln_session *session = NULL;
    LN_TRY(ln_program_create(ctx, &program));
    ln_status status = ln_session_create(program, &session);
    if (status == LN_OK)
        status = run_session(session, is_fixed);
    ln_session_free(session);
    ln_program_release(program);
    return status;
}

// All of it in one sweep.
static void sweep(const char *text, int fails_over, echo_call failing)
{
    ln_arch *echo = open_echo(text);
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status = ctx ? load(ctx, text, fails_over) : LN_NO_MEMORY;
        echo_fail(failing, 0);
        if (status == LN_OK)
            status = run_program(ctx, text == fixed);
        echo_fail(ECHO_NOTHING, 0);
        ln_context_free(ctx);
        if (status != LN_OK)
            CHECK_EQ(status, LN_NO_MEMORY);
        CHECK_EQ(echo_live_groups(), 0);
        CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    }
    close_echo(echo);
}

TEST(a_model_on_a_device_may_run_out_of_memory)
{
    sweep(fixed, 0, ECHO_NOTHING);
}

TEST(so_may_one_whose_run_fails_over)
{
    sweep(fixed, 1, ECHO_RUN);
}

TEST(so_may_one_of_dynamic_shape)
{
    sweep(dynamic, 0, ECHO_NOTHING);
}

TEST(so_may_one_of_dynamic_shape_whose_run_fails_over)
{
    sweep(dynamic, 1, ECHO_RUN);
}

TEST(constants_are_set_on_a_device_or_stay)
{
    ln_arch *echo = open_echo(fixed);
    ln_context *ctx = load_text(fixed, "echo,ref");
    const float w[LEN] = {1, 2, 3};
    OOM_SWEEP(n)
    {
        ln_context *clone;
        if (ln_context_clone(ctx, &clone) == LN_OK) {
            ln_status status = ln_context_set_data(clone, "w", w);
            if (status != LN_OK)
                CHECK_EQ(status, LN_NO_MEMORY);
            close_context(clone);
        }
    }
    float y[LEN];
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
    close_context(ctx);
    CHECK_EQ(echo_live_groups(), 0);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    close_echo(echo);
}

TEST(a_copy_within_the_device_that_fails_leaves_the_constants_shared)
{
    ln_arch *echo = open_echo(fixed);
    ln_context *ctx = load_text(fixed, "echo,ref"), *clone;
    const float w[LEN] = {1, 2, 3};
    CHECK_OK(ln_context_clone(ctx, &clone));
    size_t bytes = echo_live_bytes(LN_MEM_DPU);
    echo_fail(ECHO_COPY_WITHIN, 0);
    CHECK_FAILS(ln_context_set_data(clone, "w", w), LN_IO);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), bytes);
    ln_context *const both[] = {ctx, clone};
    for (int i = 0; i < 2; i++) {
        float y[LEN];
        CHECK_OK(ln_context_run(both[i]));
        CHECK_NOT_NULL(ln_context_get_data(both[i], "y", y));
        CHECK(memcmp(y, expected, sizeof y) == 0);
    }
    CHECK_OK(ln_context_set_data(clone, "w", w));
    close_context(ctx);
    close_context(clone);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    close_echo(echo);
}

TEST_LIST(a_model_on_a_device_may_run_out_of_memory, so_may_one_whose_run_fails_over,
          so_may_one_of_dynamic_shape, so_may_one_of_dynamic_shape_whose_run_fails_over,
          constants_are_set_on_a_device_or_stay,
          a_copy_within_the_device_that_fails_leaves_the_constants_shared)
