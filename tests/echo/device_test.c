// SPDX-License-Identifier: Apache-2.0
// Devices that contexts open: their life, their options, several of one arch, several contexts on
// one.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/library.h>
#include <lightnet/plan.h>
#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"

enum { LEN = 64 };

// Two branches, which two devices can have, and the host joins.
static const char model[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                            "create(| dst=w | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"
                            "elew(src1=x, src2=w | dst=a | elew_op=TL_SUM);\n"
                            "func(src=a | dst=b | func=cos);\n"
                            "func(src=b | dst=c | func=atan);\n"
                            "elew(src1=c, src2=x | dst=y | elew_op=TL_SUB);\n"
                            "output(src=y | |);\n";

static ln_arch *open_echo(int device_count)
{
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    return echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = device_count});
}

static void close_echo(ln_arch *echo)
{
    CHECK_EQ(echo_open_count(), 0);
    CHECK_EQ(echo_live_groups(), 0);
    for (int m = LN_MEM_DPU; m < LN_MEM_DPU + 4; m++)
        CHECK_EQ(echo_live_bytes((ln_mem_type)m), 0);
    echo_close(echo);
    ln_arch_cleanup();
}

static void fill(float *x, unsigned seed)
{
    for (int i = 0; i < LEN; i++)
        x[i] = (float)((i * 37 + (int)seed * 11) % 101 - 50) / 25;
}

// As the reference computes the model as it was read.
static void make_expected(unsigned seed, float *y)
{
    float x[LEN];
    ln_context *ctx = load_text(model, "ref");
    fill(x, seed);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    close_context(ctx);
}

static void check_run(ln_context *ctx, unsigned seed)
{
    float x[LEN], y[LEN], expected[LEN];
    make_expected(seed, expected);
    fill(x, seed);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

static void check_session(ln_session *session, unsigned seed)
{
    float x[LEN], y[LEN], expected[LEN];
    make_expected(seed, expected);
    fill(x, seed);
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof x));
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
}

// ---- Life ----

TEST(a_device_is_open_from_compiling_to_the_last_that_was_made_of_the_context)
{
    ln_arch *echo = open_echo(1);
    ln_context *ctx = open_text(model), *clone;
    ln_program *program;
    ln_session *session;
    CHECK_EQ(echo_open_count(), 0);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_EQ(echo_open_count(), 1);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK(ln_program_is_fixed(program));
    CHECK_OK(ln_session_create(program, &session));
    CHECK_EQ(echo_open_count(), 1); // all have the one
    check_run(ctx, 1);
    check_run(clone, 2);
    check_session(session, 3);
    close_context(ctx);
    close_context(clone);
    ln_program_release(program);
    CHECK_EQ(echo_open_count(), 1);
    check_session(session, 4);
    CHECK_FAILS(ln_arch_unregister("echo"), LN_STATE);
    ln_session_free(session);
    CHECK_EQ(echo_open_count(), 0);
    close_echo(echo);
}

TEST(contexts_open_one_device_each_for_itself)
{
    ln_arch *echo = open_echo(1);
    ln_context *a = open_text(model), *b = open_text(model);
    CHECK_OK(ln_context_set_device(a, "echo", &(echo_options){.depth = 7, .mood = 1},
                                   sizeof(echo_options)));
    CHECK_OK(ln_context_compile(a, "echo,ref"));
    CHECK_EQ(echo_last_options().depth, 7);
    CHECK_EQ(echo_last_options().mood, 1);
    CHECK_OK(ln_context_compile(b, "echo,ref"));
    CHECK_EQ(echo_last_options().depth, 4);
    CHECK_EQ(echo_open_count(), 2);
    CHECK_OK(ln_context_load(a, NULL));
    CHECK_OK(ln_context_load(b, NULL));
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU),
             2 * ln_context_peak_bytes(a, (ln_mem_type)ln_mem_type_from_str("LN_MEM_ECHO")));
    check_run(a, 5);
    check_run(b, 6);
    close_context(a);
    CHECK_EQ(echo_open_count(), 1);
    check_run(b, 7);
    close_context(b);
    close_echo(echo);
}

TEST(a_device_that_does_not_open_leaves_the_context_as_it_was)
{
    ln_arch *echo = open_echo(1);
    ln_context *ctx = open_text(model);
    echo_fail(ECHO_OPEN, 0);
    CHECK_FAILS(ln_context_compile(ctx, "echo,ref"), LN_IO);
    CHECK_MESSAGE("device 'echo' cannot be opened: injected failure of open");
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    echo_fail(ECHO_OPEN, 0);
    CHECK_FAILS(ln_context_add_device(ctx, "echo"), LN_IO);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_run(ctx, 1);
    close_context(ctx);
    close_echo(echo);
}

// ---- Several devices of one arch ----

TEST(devices_of_one_arch_have_memory_of_their_own)
{
    ln_arch *echo = open_echo(3);
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo:2,ref"));
    CHECK_EQ(echo_last_index(), 2);
    CHECK_STR_EQ(ln_context_target(ctx), "echo:2,ref");
    ln_mem_type mtype = (ln_mem_type)ln_mem_type_from_str("LN_MEM_ECHO_2");
    CHECK_STR_EQ(ln_mem_type_title(mtype), "memory of echo:2");
    CHECK(ln_context_peak_bytes(ctx, mtype) > 0);
    CHECK_EQ(ln_context_peak_bytes(ctx, (ln_mem_type)ln_mem_type_from_str("LN_MEM_ECHO")), 0);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU + 2), ln_context_peak_bytes(ctx, mtype));
    check_run(ctx, 1);
    CHECK_FAILS(ln_arch_unregister("echo"), LN_STATE); // one of its devices is in use
    CHECK_MESSAGE("echo:2");
    close_context(ctx);
    close_echo(echo);
}

// x + w on the first device, cos and atan on the second: from one to the other by way of main
// memory.
TEST(two_devices_of_one_arch_meet_in_main_memory)
{
    static const char *const on_first[] = {"elew0", NULL};
    static const char *const on_second[] = {"func0", "func1", NULL};
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    ln_arch *echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 2, .names = on_first,
                                               .names_of_1 = on_second});
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo,echo:1,ref"));
    CHECK_EQ(echo_open_count(), 2);
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = 0; i < 2; i++) {
        ln_mem_type mtype =
            (ln_mem_type)ln_mem_type_from_str(i == 0 ? "LN_MEM_ECHO" : "LN_MEM_ECHO_1");
        CHECK(ln_context_peak_bytes(ctx, mtype) > 0);
        CHECK_EQ(echo_live_bytes(LN_MEM_DPU + i), ln_context_peak_bytes(ctx, mtype));
    }
    echo_forget();
    check_run(ctx, 3);
    CHECK_EQ(echo_copied_in(), 2 * LEN * sizeof(float));  // x, and a
    CHECK_EQ(echo_copied_out(), 2 * LEN * sizeof(float)); // a, and c
    close_context(ctx);
    close_echo(echo);
}

TEST(device_0_has_the_name_of_the_arch)
{
    ln_arch *echo = open_echo(2);
    ln_context *ctx = load_text(model, "echo:0,ref");
    CHECK_EQ(echo_last_index(), 0);
    CHECK(ln_arch_find("echo:0") == ln_arch_find("echo"));
    CHECK_FAILS(ln_arch_unregister("echo"), LN_STATE);
    check_run(ctx, 1);
    close_context(ctx);
    close_echo(echo);
}

// Text names operators of a device that nothing has named before.
TEST(printed_models_name_the_operators_of_a_numbered_device)
{
    ln_arch *echo = open_echo(2);
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo:1,ref"));
    CHECK_OK(ln_context_print(ctx, "echo_device.net"));
    close_context(ctx);
    echo_close(echo);
    echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 2});
    ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, "echo_device.net"));
    CHECK_OK(ln_context_compile(ctx, "echo:1,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_run(ctx, 2);
    close_context(ctx);
    CHECK_NULL(ln_op_find("act_echo:2"));
    CHECK_NULL(ln_op_find("act_moon:1"));
    CHECK_NULL(ln_op_find("act:1"));
    remove("echo_device.net");
    close_echo(echo);
}

TEST(devices_that_are_not_there_are_named)
{
    // clang-format off
    static const struct {
        const char *target;
        ln_status status;
        const char *message;
    } cases[] = {
        {"echo:2,ref", LN_NOT_FOUND, "arch 'echo' has no device 2: it has 2, counted from 0"},
        {"echo:01,ref", LN_INVALID, "write 'echo:1' for the second of 'echo'"},
        {"echo:,ref", LN_INVALID, "is not a device"},
        {"echo:-1,ref", LN_INVALID, "is not a device"},
        {"cpu:1", LN_UNSUPPORTED, "arch 'cpu' has no devices with numbers"},
        {"moon:1", LN_NOT_FOUND, "target 'moon:1' is not an arch of this library"},
    };
    // clang-format on
    ln_arch *echo = open_echo(2);
    ln_context *ctx = open_text(model);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_FAILS(ln_context_compile(ctx, cases[i].target), cases[i].status);
        CHECK_MESSAGE(cases[i].message);
    }
    CHECK_FAILS(ln_context_add_device(ctx, "cpu"), LN_UNSUPPORTED);
    CHECK_FAILS(ln_context_add_device(ctx, "moon"), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_add_device(ctx, ""), LN_INVALID);
    CHECK_FAILS(ln_context_add_device(NULL, "echo"), LN_INVALID);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_context_compiles_for_the_devices_that_it_was_given)
{
    ln_arch *echo = open_echo(2);
    ln_context *ctx = open_text(model);
    CHECK_FAILS(ln_context_compile(ctx, NULL), LN_INVALID); // none yet
    CHECK_OK(ln_context_add_device(ctx, "echo:1"));
    CHECK_OK(ln_context_add_device(ctx, "echo"));
    CHECK_OK(ln_context_add_device(ctx, "echo:1")); // again is no other
    CHECK_EQ(echo_open_count(), 2);
    CHECK_OK(ln_context_compile(ctx, NULL));
    CHECK_STR_EQ(ln_context_target(ctx), "echo:1,echo,cpu");
    CHECK_EQ(echo_open_count(), 2);
    close_context(ctx);
    close_echo(echo);
}

TEST(compiled_files_keep_the_number_of_the_device)
{
    ln_arch *echo = open_echo(2);
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo:1,ref"));
    CHECK_OK(ln_context_print(ctx, "echo_device.json"));
    close_context(ctx);
    echo_close(echo); // another process would begin without the second device
    echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 2});
    CHECK_NULL(ln_arch_find("echo:1"));
    ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, "echo_device.json"));
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_EQ(echo_open_count(), 0); // to be looked at, it need not be there
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(echo_open_count(), 1);
    CHECK_EQ(echo_last_index(), 1);
    check_run(ctx, 2);
    close_context(ctx);
    echo_close(echo);
    echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 1});
    ctx = ln_context_create();
    CHECK_FAILS(ln_context_init(ctx, "echo_device.json"), LN_NOT_FOUND);
    CHECK_MESSAGE("arch 'echo' has no device 1: it has 1");
    ln_context_free(ctx);
    remove("echo_device.json");
    close_echo(echo);
}

// ---- Dynamic shapes ----

static const char dynamic[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256], names=[\"N\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 512], ran=[-1, 1], "
    "data=[0]);\n"
    "matmul(src1=x, src2=w | dst=y |);\n"
    "output(src=y | |);\n";

TEST(instances_for_other_shapes_share_the_device)
{
    ln_arch *echo = open_echo(1);
    ln_context *ctx = load_text(dynamic, "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK_OK(ln_session_create(program, &session));
    for (int n = 1; n < 4; n++) {
        tl_tensor *x = tl_tensor_zeros(2, (int[]){n, 256}, TL_FLOAT);
        ln_object *object = ln_object_copy_tensor(x, NULL);
        CHECK_OK(ln_session_set_object(session, "x", object));
        CHECK_OK(ln_session_run(session));
        const tl_tensor *y;
        CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
        CHECK_EQ(y->dims[0], n);
        ln_object_release(object);
        tl_tensor_free_data_too(x);
        CHECK(echo_open_count() <= 1);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

static ln_status run_rows(ln_session *session, int rows, int columns)
{
    tl_tensor *x = tl_tensor_zeros(2, (int[]){rows, columns}, TL_FLOAT);
    ln_object *object = ln_object_copy_tensor(x, NULL);
    CHECK_OK(ln_session_set_object(session, "x", object));
    ln_status status = ln_session_run(session);
    ln_object_release(object);
    tl_tensor_free_data_too(x);
    return status;
}

static const char wide[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 256], names=[\"N\", \"\"]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 512], ran=[-1, 1], data=[0]);\n"
    "matmul(src1=x, src2=w | dst=m |);\nact(src=m | dst=y | act=\"relu\");\n"
    "output(src=y | |);\n";

static size_t bytes_for(int rows)
{
    ln_context *ctx = open_text(wide);
    CHECK_OK(ln_context_set_symbol(ctx, "N", rows));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    size_t byte_count = echo_live_bytes(LN_MEM_DPU);
    close_context(ctx);
    return byte_count;
}

static ln_object *filled_rows(int rows)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, (int[]){rows, 256}, NULL);
    CHECK_NOT_NULL(x);
    for (int i = 0; i < rows * 256; i++)
        ((float *)ln_object_tensor(x)->data)[i] = (float)((i * 7 + rows) % 13) - 6;
    return x;
}

// What the host alone computes.
static void check_wide(const tl_tensor *y, int rows)
{
    ln_object *x = filled_rows(rows), *expected;
    ln_context *alone = load_text(wide, "ref");
    CHECK_OK(ln_context_set_object(alone, "x", x));
    CHECK_OK(ln_context_run(alone));
    CHECK_OK(ln_context_get_object(alone, "y", &expected));
    CHECK_EQ(y->len, rows * 512);
    CHECK_MEM_EQ(y->data, ln_object_tensor(expected)->data, tl_tensor_size(y));
    ln_object_release(x);
    ln_object_release(expected);
    close_context(alone);
}

static void run_wide_context(ln_context *ctx, int rows)
{
    ln_object *x = filled_rows(rows), *y;
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    check_wide(ln_object_tensor(y), rows);
    ln_object_release(x);
    ln_object_release(y);
}

static ln_status run_wide(ln_session *session, int rows)
{
    ln_object *x = filled_rows(rows);
    const tl_tensor *y;
    CHECK_OK(ln_session_set_object(session, "x", x));
    ln_object_release(x);
    LN_TRY(ln_session_run(session));
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
    check_wide(y, rows);
    return LN_OK;
}

static void use_wide_sessions(ln_context *ctx, size_t limit)
{
    ln_program *program;
    ln_session *session;
    const tl_tensor *y;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(run_wide(session, 30));
    echo_limit(limit);
    CHECK_OK(run_wide(session, 40));
    CHECK_OK(run_wide(session, 30));
    CHECK_FAILS(run_wide(session, 60), LN_NO_MEMORY);
    CHECK_FAILS(ln_session_borrow_tensor(session, "y", &y), LN_STATE);
    CHECK_OK(run_wide(session, 40));
    echo_limit(SIZE_MAX);
    ln_session_free(session);
    ln_program_release(program);
}

// The memory of a device is enough for the constants and a workspace for 40 rows, and not for two:
// sessions, and contexts that were never bound, leave the old one.
TEST(a_workspace_that_grows_leaves_the_old_one)
{
    ln_arch *echo = open_echo(1);
    size_t least = bytes_for(40);
    CHECK(bytes_for(30) < least);
    ln_context *ctx = load_text(wide, "echo,ref");
    echo_limit(least);
    for (int k = 0; k < 6; k++)
        run_wide_context(ctx, k % 2 ? 40 : 30);
    echo_limit(SIZE_MAX);
    use_wide_sessions(ctx, least);
    ctx = open_text(wide);
    CHECK_OK(ln_context_set_symbol(ctx, "N", 30));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    use_wide_sessions(ctx, least);
    close_echo(echo);
}

// A bound context has inputs and results in its workspace, and keeps both where the next one has no
// room.
TEST(a_bound_context_keeps_its_values_when_memory_is_short)
{
    ln_arch *echo = open_echo(1);
    size_t least = bytes_for(40);
    ln_context *ctx = open_text(wide);
    ln_object *y;
    CHECK_OK(ln_context_set_symbol(ctx, "N", 30));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    run_wide_context(ctx, 30);
    echo_limit(least);
    const ln_input_shape shape = {"x", 2, (int[]){40, 256}};
    CHECK_FAILS(ln_context_reshape(ctx, 1, &shape), LN_NO_MEMORY);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(ln_context_get_object(ctx, "y", &y));
        check_wide(ln_object_tensor(y), 30);
        ln_object_release(y);
        CHECK_OK(ln_context_run(ctx)); // with the input that it had
    }
    echo_limit(SIZE_MAX);
    CHECK_OK(ln_context_reshape(ctx, 1, &shape));
    run_wide_context(ctx, 40);
    close_context(ctx);
    close_echo(echo);
}

// The host alone would run it with no plan for each shape.
TEST(small_models_of_dynamic_shape_use_the_device_too)
{
    ln_arch *echo = open_echo(1);
    ln_context *ctx =
        load_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"N\", \"\"]);"
                  "func(src=x | dst=y | func=cos); output(src=y | |);",
                  "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK_OK(ln_session_create(program, &session));
    for (int rows = 1; rows < 4; rows++) {
        echo_fail(ECHO_NOTHING, 0);
        CHECK_OK(run_rows(session, rows, 4));
        CHECK_EQ(echo_calls(ECHO_RUN), 1);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_echo(echo);
}

// A model that refuses shapes runs as it was read; a device that fails ends the run.
TEST(a_device_that_fails_for_other_shapes_ends_the_run)
{
    // clang-format off
    static const struct {
        echo_call call;
        int skip;
        ln_status status;
        const char *message;
    } cases[] = {
        {ECHO_PREPARE, 0, LN_IO, "arch 'echo': `prepare` of the group of 'matmul0'"},
        {ECHO_ALLOC, 0, LN_NO_MEMORY, "injected failure of alloc"},
        {ECHO_COPY_IN, 0, LN_IO, "injected failure of copy_to"},
        {ECHO_COPY_IN, 1, LN_IO, "injected failure of copy_to"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_arch *echo = open_echo(1);
        ln_context *ctx = load_text(dynamic, "echo,ref");
        ln_program *program;
        ln_session *session;
        CHECK_OK(ln_program_create(ctx, &program));
        close_context(ctx);
        CHECK_OK(ln_session_create(program, &session));
        for (int rows = 1; rows < 4; rows++) {
            echo_fail(cases[i].call, cases[i].skip);
            echo_limit(cases[i].call == ECHO_ALLOC ? 0 : SIZE_MAX); // the session asks twice
            CHECK_FAILS(run_rows(session, rows, 256), cases[i].status);
            CHECK_MESSAGE(cases[i].message);
            echo_fail(ECHO_NOTHING, 0);
            echo_limit(SIZE_MAX);
            CHECK_OK(run_rows(session, rows, 256));
            CHECK(echo_calls(ECHO_RUN) > 0);
        }
        ln_session_free(session);
        ln_program_release(program);
        close_echo(echo);
    }
}

// ---- Options ----

TEST(options_are_text_or_a_structure_that_may_be_shorter)
{
    ln_arch *echo = open_echo(2);
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_set_device_text(ctx, "echo:1", "depth=9,loud=true"));
    CHECK_OK(ln_context_set_device_text(ctx, "echo:1", "mood=cross")); // and the others stay
    CHECK_OK(ln_context_add_device(ctx, "echo:1"));
    CHECK_EQ(echo_last_options().depth, 9);
    CHECK_EQ(echo_last_options().is_loud, 1);
    CHECK_EQ(echo_last_options().mood, 1);
    CHECK_FAILS(ln_context_set_device_text(ctx, "echo:1", "depth=1"), LN_STATE);
    CHECK_MESSAGE("device 'echo:1' is open in this context");
    CHECK_OK(ln_context_set_device(ctx, "echo", &(echo_options){.delay = 1.5}, sizeof(double)));
    CHECK_OK(ln_context_add_device(ctx, "echo"));
    CHECK_NEAR(echo_last_options().delay, 1.5, 0);
    CHECK_EQ(echo_last_options().depth, 4); // the default, as the structure was shorter
    close_context(ctx);
    close_echo(echo);
}

TEST(wrong_options_are_refused_and_change_nothing)
{
    // clang-format off
    static const struct {
        const char *text;
        ln_status status;
        const char *message;
    } cases[] = {
        {"dept=1", LN_INVALID, "device 'echo' has no option 'dept'; there are: delay, depth, loud, mood"},
        {"depth", LN_INVALID, "'depth' is not an option: write NAME=VALUE"},
        {"depth=1.5", LN_INVALID, "option 'depth': '1.5' is not a whole number"},
        {"depth=", LN_INVALID, "is not a whole number"},
        {"delay=inf", LN_INVALID, "is not a finite number"},
        {"loud=1", LN_INVALID, "is not one of false, true"},
        {"depth=5,mood=sad", LN_INVALID, "is not one of calm, cross"},
    };
    // clang-format on
    ln_arch *echo = open_echo(1);
    ln_context *ctx = open_text(model);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_FAILS(ln_context_set_device_text(ctx, "echo", cases[i].text), cases[i].status);
        CHECK_MESSAGE(cases[i].message);
    }
    // clang-format off
    const struct {
        echo_options options;
        const char *message;
    } values[] = {
        {{.mood = 2}, "device 'echo': option 'mood': 2 is not from 0 to 1"},
        {{.mood = -1}, "option 'mood': -1 is not from 0 to 1"},
        {{.is_loud = 2}, "option 'loud': 2 is not from 0 to 1"},
        {{.delay = NAN}, "option 'delay': nan is not a finite number"},
        {{.delay = -INFINITY}, "option 'delay': -inf is not a finite number"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const echo_options *wrong = &values[i].options;
        CHECK_FAILS(ln_context_set_device(ctx, "echo", wrong, sizeof *wrong), LN_INVALID);
        CHECK_MESSAGE(values[i].message);
    }
    char longer[sizeof(echo_options) + 8] = {0};
    longer[sizeof longer - 1] = 1;
    CHECK_FAILS(ln_context_set_device(ctx, "echo", longer, sizeof longer), LN_UNSUPPORTED);
    CHECK_FAILS(ln_context_set_device(ctx, "cpu", longer, 8), LN_UNSUPPORTED);
    CHECK_OK(ln_context_add_device(ctx, "echo"));
    CHECK_EQ(echo_last_options().depth, 4);
    close_context(ctx);
    close_echo(echo);
}

// What is wrong with an arch whose devices are opened, and what is said of it.
typedef struct wrong_arch {
    void (*spoil)(ln_arch *arch);
    const char *message;
} wrong_arch;

static ln_status run_nothing(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)group;
    (void)addresses;
    return LN_OK;
}

static ln_status wait_for_nothing(void *priv, void *group, tl_tensor *const *addresses,
                                  double seconds, int *out_is_over)
{
    (void)seconds;
    *out_is_over = 1;
    return run_nothing(priv, group, addresses);
}

#define WRONG(name, ...)                                                                           \
    static void name(ln_arch *arch)                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define WRONG_OPTIONS(name, ...)                                                                   \
    static void name(ln_arch *arch)                                                                \
    {                                                                                              \
        static const ln_device_option table[] = {__VA_ARGS__, {0}};                                \
        arch->options = table;                                                                     \
        arch->option_byte_count = 16;                                                              \
    }

// clang-format off
WRONG(no_close, arch->close = NULL;)
WRONG(no_open, arch->open = NULL;)
WRONG(no_copy_inside, arch->copy_inside = NULL;)
WRONG(comma, arch->arch_name = "b,ad";)
WRONG(space, arch->arch_name = "b ad";)
WRONG(colon, arch->arch_name = "bad:1";)
WRONG(two_runs, arch->run = run_nothing;)
WRONG(nothing_to_wait_for, arch->run = run_nothing; arch->run_async = NULL; arch->wait = NULL; arch->wait_for = wait_for_nothing;)
WRONG(nothing_to_release, arch->prepare = NULL; arch->core_ops = NULL;)
WRONG(type_twice, static const char *const types[] = {"act(*)", "elew(*)", "act(act)", NULL}; arch->core_ops = types;)
WRONG_OPTIONS(outside, {"late", LN_DEVICE_INT, 16, "0", NULL, "begins past the structure"})
WRONG_OPTIONS(too_long, {"late", LN_DEVICE_INT, 9, "0", NULL, "ends past the structure"})
WRONG_OPTIONS(bad_first, {"depth", LN_DEVICE_INT, 0, "many", NULL, "has no number to begin with"})
WRONG_OPTIONS(twice, {"a", LN_DEVICE_INT, 0, "0", NULL, "one"}, {"a", LN_DEVICE_INT, 8, "0", NULL, "another"})
WRONG_OPTIONS(over, {"a", LN_DEVICE_INT, 0, "0", NULL, "one"}, {"b", LN_DEVICE_BOOL, 4, "false", NULL, "within it"})
WRONG_OPTIONS(odd, {"a", LN_DEVICE_FLOAT, 4, "0", NULL, "between two"})
WRONG_OPTIONS(no_kind, {"a", (ln_device_option_kind)77, 0, "0", NULL, "what?"})
WRONG_OPTIONS(no_name, {"", LN_DEVICE_INT, 0, "0", NULL, "nameless"})
WRONG_OPTIONS(equals, {"a=b", LN_DEVICE_INT, 0, "0", NULL, "cannot be set"})

static const wrong_arch wrong_archs[] = {
    {no_close, "so it needs `close`"},
    {no_open, "and no `open`"},
    {no_copy_inside, "needs all of `alloc`"},
    {comma, "no target can name arch 'b,ad'"},
    {space, "no target can name arch 'b ad'"},
    {colon, "arch 'bad:1': a colon is before the number of a device"},
    {two_runs, "arch 'bad' has `run` and `run_async`: give one of them"},
    {nothing_to_wait_for, "arch 'bad' has `wait_for`, and no `run_async` to wait for"},
    {nothing_to_release, "arch 'bad' has `release`, and no `prepare`"},
    {type_twice, "arch 'bad' lists 'act(*)' and 'act(act)' in core_ops, which are of one type"},
    {outside, "not inside of the 16 bytes"},
    {too_long, "option 'late' is at 9, which is no multiple of its 8 bytes"},
    {bad_first, "'many' is not a whole number"},
    {twice, "two options are called 'a'"},
    {over, "options 'a' and 'b' are at the same bytes"},
    {odd, "option 'a' is at 4, which is no multiple of its 8 bytes"},
    {no_kind, "option 'a' is of kind 77"},
    {no_name, "no text can set option ''"},
    {equals, "no text can set option 'a=b'"},
};
// clang-format on

TEST(an_arch_whose_devices_are_incomplete_is_refused)
{
    ln_arch *echo = open_echo(1);
    size_t count = ln_arch_count(), op_count = ln_op_count();
    for (size_t i = 0; i < sizeof wrong_archs / sizeof wrong_archs[0]; i++) {
        ln_arch bad = *echo;
        bad.arch_name = "bad";
        bad.mem_type = LN_MEM_NONE;
        wrong_archs[i].spoil(&bad);
        CHECK_FAILS(ln_arch_register(&bad), LN_INVALID);
        CHECK_MESSAGE(wrong_archs[i].message);
        CHECK_NULL(ln_arch_find("bad"));
        CHECK_EQ(ln_arch_count(), count);
        CHECK_EQ(ln_op_count(), op_count);
    }
    CHECK_FAILS(ln_arch_register(echo), LN_EXISTS); // whose memory type is filled in by now
    close_echo(echo);
}

TEST(an_arch_that_has_gone_may_come_again)
{
    ln_arch *echo = open_echo(2);
    for (int i = 0; i < 3; i++) {
        ln_context *ctx = load_text(model, i == 1 ? "echo:1,ref" : "echo,ref");
        check_run(ctx, 1);
        close_context(ctx);
        CHECK_OK(ln_arch_unregister("echo"));
        CHECK_NULL(ln_arch_find("echo:1"));
        CHECK_OK(ln_arch_register(echo));
    }
    close_echo(echo);
}

static ln_status take_no_address(void *device, size_t byte_count, void **out_start)
{
    (void)device;
    (void)byte_count;
    *out_start = NULL;
    return LN_OK;
}

static ln_status say_and_return_99(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    (void)ops;
    *out_group = NULL;
    ln_fail(LN_IO, "the cable is loose");
    return (ln_status)99;
}

static ln_status return_internal(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    (void)ops;
    *out_group = NULL;
    return LN_INTERNAL;
}

static ln_status prepare_something(void *priv, const ln_list *ops, void **out_group)
{
    static int something;
    (void)priv;
    (void)ops;
    *out_group = &something;
    return LN_OK;
}

WRONG(no_address, arch->alloc = take_no_address;)
WRONG(strange_status, arch->prepare = say_and_return_99;)
WRONG(mute, arch->prepare = return_internal;)
WRONG(no_release, arch->prepare = prepare_something; arch->release = NULL;)

TEST(what_a_device_does_wrong_is_named)
{
    // clang-format off
    static const wrong_arch rows[] = {
        {no_address, "bytes of memory of bad cannot be allocated: `alloc` returns LN_OK and no address"},
        {strange_status, "arch 'bad': `prepare` of the group of 'elew0': the cable is loose (it returns 99, which is not its to say)"},
        {mute, "arch 'bad': `prepare` of the group of 'elew0': it returns LN_INTERNAL, and no reason"},
        {no_release, "arch 'bad': `prepare` of the group of 'elew0': it returns a group, and the arch has no `release`"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_arch *echo = open_echo(1);
        ln_arch bad = *echo;
        bad.arch_name = "bad";
        bad.mem_type = LN_MEM_NONE;
        rows[i].spoil(&bad);
        CHECK_OK(ln_arch_register(&bad));
        ln_context *ctx = open_text(model);
        CHECK_OK(ln_context_compile(ctx, "bad,ref"));
        CHECK_FAILS(ln_context_load(ctx, NULL), LN_INTERNAL);
        CHECK_MESSAGE(rows[i].message);
        close_context(ctx);
        CHECK_OK(ln_arch_unregister("bad"));
        close_echo(echo);
    }
}

// ---- Failures ----

TEST(each_call_may_fail_and_the_session_runs_again)
{
    // clang-format off
    static const struct {
        echo_call call;
        ln_status status;
        const char *message;
    } cases[] = {
        {ECHO_COPY_IN, LN_IO, "from main memory to memory of echo: injected failure of copy_to"},
        {ECHO_COPY_OUT, LN_IO, "from memory of echo to main memory: injected failure of copy_from"},
        {ECHO_RUN, LN_IO, "arch 'echo': `run_async` of the group of 'elew0'"},
        {ECHO_WAIT, LN_IO, "arch 'echo': `wait` of the group of 'elew0'"},
    };
    // clang-format on
    ln_arch *echo = open_echo(1);
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    echo_fail(ECHO_ALLOC, 0);
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_NO_MEMORY);
    CHECK_MESSAGE("bytes of memory of echo cannot be allocated: injected failure of alloc");
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        echo_fail(cases[i].call, 0);
        CHECK_FAILS(ln_session_run(session), cases[i].status);
        CHECK_MESSAGE(cases[i].message);
        check_session(session, 3);
        echo_fail(cases[i].call, 0);
        CHECK_FAILS(ln_context_run(ctx), cases[i].status);
        check_run(ctx, 4);
    }
    echo_fail(ECHO_ALLOC, 0);
    ln_session *second;
    CHECK_FAILS(ln_session_create(program, &second), LN_NO_MEMORY);
    CHECK_OK(ln_session_create(program, &second));
    check_session(second, 5);
    ln_session_free(second);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_clone_that_sets_a_constant_copies_within_the_device)
{
    ln_arch *echo = open_echo(1);
    ln_context *ctx = load_text(model, "echo,ref"), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    float w[LEN] = {0}, x[LEN], y[LEN];
    echo_fail(ECHO_COPY_WITHIN, 0);
    CHECK_FAILS(ln_context_set_data(clone, "w", w), LN_IO);
    CHECK_MESSAGE("injected failure of copy_inside");
    CHECK_OK(ln_context_set_data(clone, "w", w));
    fill(x, 1);
    CHECK_OK(ln_context_set_data(clone, "x", x));
    CHECK_OK(ln_context_run(clone));
    CHECK_NOT_NULL(ln_context_get_data(clone, "y", y));
    for (int i = 0; i < LEN; i++)
        CHECK_NEAR(y[i], atanf(cosf(x[i])) - x[i], 1e-6);
    check_run(ctx, 1);
    close_context(clone);
    close_context(ctx);
    close_echo(echo);
}

// ---- Time ----

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ln_session *open_slow(ln_arch **out_echo, bool has_wait_for)
{
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    *out_echo =
        echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 1, .has_wait_for = has_wait_for});
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_set_device_text(ctx, "echo", "delay=400"));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    close_context(ctx);
    ln_program_release(program);
    return session;
}

// The device goes on for 400 ms, and the run is over long before; the next one waits for it.
TEST(a_run_does_not_wait_for_a_device_when_its_time_is_over)
{
    ln_arch *echo;
    ln_session *session = open_slow(&echo, true);
    CHECK_OK(ln_session_set_timeout(session, 0.02));
    double start = seconds_now();
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    CHECK_MESSAGE("arch 'echo' still computes what an earlier run began: the run was stopped");
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_session_set_timeout(session, 0));
    CHECK_OK(ln_session_set_cancel(session, cancel));
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_session_wait(session), LN_CANCELLED);
    CHECK(seconds_now() - start < 0.3);
    CHECK_OK(ln_session_set_cancel(session, NULL));
    ln_cancel_release(cancel);
    check_session(session, 2);
    cancel = ln_cancel_create();
    CHECK_OK(ln_session_set_cancel(session, cancel));
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_session_run(session), LN_CANCELLED);
    CHECK_OK(ln_session_set_cancel(session, NULL));
    ln_cancel_release(cancel);
    CHECK_OK(ln_session_set_timeout(session, 0.02));
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    ln_session_free(session); // while the device computes: it is waited for
    close_echo(echo);
}

// The thread of the device is the parent's, and so is the run that it goes on with.
TEST(a_child_process_does_not_wait_for_what_its_parent_left)
{
    ln_arch *echo;
    ln_session_free(open_slow(&echo, true));
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_set_device_text(ctx, "echo", "delay=400"));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_session *session, *keeper;
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &keeper)); // the child closes no device
    CHECK_OK(ln_session_create(program, &session));
    CHECK_OK(ln_session_set_timeout(session, 0.02));
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(20); // it would wait for ever
        ln_session_free(session);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(ln_session_set_timeout(session, 0));
    check_session(session, 7);
    ln_session_free(session);
    ln_session_free(keeper);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

// Both of one group; the first one's is over, and the second one's is not.
TEST(a_session_waits_for_what_it_left_itself)
{
    ln_arch *echo;
    ln_session_free(open_slow(&echo, true));
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_set_device_text(ctx, "echo", "delay=300"));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    ln_session *sessions[2];
    CHECK_OK(ln_program_create(ctx, &program));
    echo_forget();
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_session_create(program, &sessions[i]));
        CHECK_OK(ln_session_set_timeout(sessions[i], 0.02));
        CHECK_FAILS(ln_session_run(sessions[i]), LN_TIMEOUT);
        CHECK(!strstr(ln_error_message(), "still computes"));
    }
    while (echo_said_count("end") < 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK_FAILS(ln_session_run(sessions[0]), LN_TIMEOUT);
    CHECK(!strstr(ln_error_message(), "still computes"));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_session_set_timeout(sessions[i], 0));
        check_session(sessions[i], 4 + (unsigned)i);
        ln_session_free(sessions[i]);
    }
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

// Wherever the run is when its time is over: between the start of a group and its wait, at either.
TEST(a_run_may_end_at_any_step)
{
    static const char branches[] = "input(| dst=x | dtype=TL_FLOAT, dims=[20000]);\n"
                                   "func(src=x | dst=a | func=cos);\n"
                                   "func(src=x | dst=b | func=sin);\n"
                                   "elew(src1=a, src2=b | dst=y | elew_op=TL_SUM);\n"
                                   "output(src=y | |);\n";
    static const char *const first[] = {"func0", NULL};
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    ln_arch *echo = echo_open(
        &(echo_settings){ECHO_DEFAULTS, .device_count = 1, .names = first, .has_wait_for = true});
    ln_context *ctx = open_text(branches);
    CHECK_OK(ln_context_set_device_text(ctx, "echo", "delay=4"));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    int late_count = 0;
    for (double limit = 1e-5; limit < 8e-3; limit *= 1.12) {
        CHECK_OK(ln_session_set_timeout(session, limit));
        ln_status status = ln_session_run(session);
        CHECK(status == LN_OK || status == LN_TIMEOUT);
        late_count += status == LN_TIMEOUT;
        CHECK_OK(ln_session_set_timeout(session, 0));
        CHECK_OK(ln_session_run(session));
    }
    CHECK(late_count > 0);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo); // which has nothing in flight, and was waited for once for each start
}

TEST(a_device_that_cannot_be_asked_is_waited_for)
{
    ln_arch *echo;
    ln_session *session = open_slow(&echo, false);
    CHECK_OK(ln_session_set_timeout(session, 0.02));
    double start = seconds_now();
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    CHECK(seconds_now() - start >= 0.3);
    ln_session_free(session);
    close_echo(echo);
}

TEST(a_run_beside_its_caller_is_cancelled_while_the_device_computes)
{
    ln_arch *echo;
    ln_session *session = open_slow(&echo, true);
    ln_cancel *cancel = ln_cancel_create();
    CHECK_OK(ln_session_set_cancel(session, cancel));
    CHECK_OK(ln_session_set_timeout(session, 100)); // which is far
    CHECK_OK(ln_session_run_async(session, NULL, NULL));
    int has_ended;
    CHECK_OK(ln_session_poll(session, 0.05, &has_ended));
    double done = -1, total = -1;
    CHECK_OK(ln_session_progress(session, &done, &total));
    CHECK(!has_ended && done >= 0 && done < total);
    double start = seconds_now();
    ln_cancel_request(cancel);
    CHECK_FAILS(ln_session_wait(session), LN_CANCELLED);
    CHECK(seconds_now() - start < 0.2);
    CHECK_OK(ln_session_set_cancel(session, NULL));
    check_session(session, 3);
    CHECK_OK(ln_session_progress(session, &done, &total));
    CHECK(total > 0);
    CHECK_NEAR(done, total, 1e-9 * total);
    CHECK_FAILS(ln_session_progress(NULL, &done, &total), LN_INVALID);
    ln_cancel_release(cancel);
    ln_session_free(session);
    close_echo(echo);
}

// The device is waited for all the same.
TEST(a_device_that_cannot_tell_whether_it_has_ended_ends_the_run)
{
    ln_arch *echo;
    ln_session *session = open_slow(&echo, true);
    CHECK_OK(ln_session_set_timeout(session, 100));
    echo_fail(ECHO_ASK, 0);
    double start = seconds_now();
    CHECK_FAILS(ln_session_run(session), LN_IO);
    CHECK_MESSAGE("group of 'elew0': injected failure of wait_for");
    CHECK(seconds_now() - start >= 0.3);
    check_session(session, 3);
    CHECK_OK(ln_session_set_timeout(session, 0.02));
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    CHECK_OK(ln_session_set_timeout(session, 100));
    echo_fail(ECHO_ASK, 0);
    check_session(session, 4); // that is how it went with a run that was given up
    ln_session_free(session);
    close_echo(echo);
}

TEST(what_cannot_end_early_is_waited_for_once)
{
    ln_arch *echo;
    ln_session *session = open_slow(&echo, true);
    echo_fail(ECHO_ASK, 1000);
    CHECK_OK(ln_session_run(session));
    CHECK_EQ(echo_calls(ECHO_ASK), 0);
    CHECK_OK(ln_session_set_timeout(session, 100));
    CHECK_OK(ln_session_run(session));
    CHECK_EQ(echo_calls(ECHO_ASK), 1);
    ln_session_free(session);
    close_echo(echo);
}

// A context, not a session.
TEST(a_context_leaves_the_device_as_well)
{
    ln_arch *echo;
    ln_session_free(open_slow(&echo, true));
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_set_device_text(ctx, "echo", "delay=400"));
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_timeout(ctx, 0.02));
    double start = seconds_now();
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    CHECK(seconds_now() - start < 0.3);
    CHECK_OK(ln_context_set_timeout(ctx, 0));
    check_run(ctx, 6);
    CHECK_OK(ln_context_set_timeout(ctx, 0.02));
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    float bytes[LEN];
    echo_forget();
    CHECK_NULL(ln_context_get_data(ctx, "a", NULL));
    CHECK_EQ(ln_error_status(), LN_UNSUPPORTED);
    CHECK_MESSAGE("tensor 'a' is in memory of echo");
    CHECK_NOT_NULL(ln_context_get_data(ctx, "a", bytes));
    CHECK_EQ(echo_said_count("end"), 1); // before it was copied
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    close_context(ctx);
    close_echo(echo);
}

static ln_status alloc_askew(void *device, size_t byte_count, void **out_start)
{
    (void)device;
    *out_start = (char *)ln_alloc_aligned(byte_count + 64, 64) + 8;
    return LN_OK;
}

static void free_askew(void *device, void *start)
{
    (void)device;
    ln_free_aligned((char *)start - 8);
}

TEST(blocks_begin_where_the_device_says)
{
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    ln_arch *echo = echo_create(&(echo_settings){ECHO_DEFAULTS, .device_count = 1});
    echo->alloc = alloc_askew;
    echo->free = free_askew;
    CHECK_OK(ln_arch_register(echo));
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "echo,ref"));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_INTERNAL);
    CHECK_MESSAGE("no multiple of 64 (align_byte_count)");
    close_context(ctx);
    close_echo(echo);
}

static ln_arch *open_aligned(size_t align)
{
    CHECK_OK(ln_arch_init());
    echo_fail(ECHO_NOTHING, 0);
    return echo_open(&(echo_settings){ECHO_DEFAULTS, .device_count = 1, .align = align});
}

// All that the device computed with since `echo_forget` was aligned.
static void check_addresses(size_t align)
{
    CHECK(echo_address_bits() != 0);
    CHECK_EQ(echo_address_bits() % align, 0);
    echo_forget();
}

// The plan is right, and one that has a tensor between two multiples is not.
static void check_aligned_plan(const ln_context *ctx, size_t align)
{
    ln_plan *plan;
    size_t count = 0;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    for (size_t i = 0; i < plan->value_count; i++) {
        ln_plan_value *value = (ln_plan_value *)(uintptr_t)&plan->values[i];
        if (value->mtype == LN_MEM_CPU || value->owner)
            continue;
        count++;
        CHECK_EQ(value->offset % align, 0);
        value->offset += align / 2;
        CHECK_FAILS(ln_plan_check(plan), LN_INVALID);
        CHECK_MESSAGE("is not aligned to");
        value->offset -= align / 2;
    }
    CHECK(count > 3);
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
}

static void check_fixed(size_t align)
{
    ln_arch *echo = open_aligned(align);
    ln_context *ctx = load_text(model, "echo,ref"), *clone;
    ln_program *program;
    ln_session *session;
    check_aligned_plan(ctx, align);
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    echo_forget();
    check_run(ctx, 1);
    check_addresses(align);
    check_run(clone, 2);
    check_addresses(align);
    check_session(session, 3);
    check_addresses(align);
    ln_session_free(session);
    ln_program_release(program);
    close_context(clone);
    close_context(ctx);
    close_echo(echo);
}

static void check_dynamic(size_t align)
{
    ln_arch *echo = open_aligned(align);
    ln_context *ctx = load_text(dynamic, "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    for (int rows = 1; rows < 12; rows += 3) {
        echo_forget();
        CHECK_OK(run_rows(session, rows, 256));
        check_addresses(align);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    close_echo(echo);
}

TEST(tensors_begin_where_the_device_says)
{
    static const size_t aligns[] = {LN_MEM_ALIGN, 256, 4096};
    for (int i = 0; i < 3; i++) {
        check_fixed(aligns[i]);
        check_dynamic(aligns[i]);
    }
}

// ---- What statuses mean ----

static ln_status odd_status;
static bool is_mute;

static ln_status describe_oddly(void *priv, const ln_op *op)
{
    (void)priv;
    (void)op;
    if (!is_mute)
        ln_fail(LN_IO, "the wire is cut");
    return odd_status;
}

static ln_status find_oddly(void *priv, int index, ln_device_info *out_info)
{
    (void)priv;
    (void)index;
    (void)out_info;
    return odd_status;
}

TEST(a_device_that_cannot_say_what_it_takes_ends_the_compilation)
{
    // clang-format off
    static const struct {
        ln_status returned, status;
        bool is_mute;
        const char *message, *why;
    } rows[] = {
        {LN_IO, LN_IO, false, "whether it takes 'elew0': the wire is cut", "a broken device"},
        {LN_IO, LN_IO, true, "whether it takes 'elew0': input or output failed", "without a word"},
        {(ln_status)4711, LN_INTERNAL, true, "it returns 4711", "no status"},
        {LN_CANCELLED, LN_INTERNAL, true, "it returns 12", "the program cancels, not the device"},
        {LN_TIMEOUT, LN_INTERNAL, false, "the wire is cut", "nor has it limits"},
    };
    // clang-format on
    static const char *const targets[] = {"echo,ref", "echo"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(ln_arch_init());
        echo_fail(ECHO_NOTHING, 0);
        ln_arch *echo = echo_create(&(echo_settings){ECHO_DEFAULTS, .device_count = 1});
        echo->describe = describe_oddly;
        CHECK_OK(ln_arch_register(echo));
        odd_status = rows[i].returned;
        is_mute = rows[i].is_mute;
        ln_context *ctx = open_text(model);
        CHECK_FAILS(ln_context_compile(ctx, targets[i % 2]), rows[i].status);
        CHECK_MESSAGE(rows[i].message);
        close_context(ctx);
        close_echo(echo);
    }
}

TEST(an_arch_without_devices_says_so_when_one_is_opened)
{
    static const ln_status statuses[] = {LN_NOT_FOUND, LN_IO};
    static const char *const messages[] = {"arch 'echo' has no devices here",
                                           "device 'echo' cannot be looked for"};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_arch_init());
        echo_fail(ECHO_NOTHING, 0);
        ln_arch *echo = echo_create(&(echo_settings){ECHO_DEFAULTS, .device_count = 1});
        echo->find_device = find_oddly;
        odd_status = statuses[i];
        CHECK_OK(ln_arch_register(echo));
        ln_context *ctx = open_text(model);
        CHECK_FAILS(ln_context_compile(ctx, "echo,ref"), statuses[i]);
        CHECK_MESSAGE(messages[i]);
        CHECK_EQ(echo_open_count(), 0);
        CHECK_OK(ln_context_compile(ctx, "ref"));
        close_context(ctx);
        close_echo(echo);
    }
}

TEST_LIST(a_device_is_open_from_compiling_to_the_last_that_was_made_of_the_context,
          contexts_open_one_device_each_for_itself,
          a_device_that_does_not_open_leaves_the_context_as_it_was,
          devices_of_one_arch_have_memory_of_their_own, two_devices_of_one_arch_meet_in_main_memory,
          device_0_has_the_name_of_the_arch, printed_models_name_the_operators_of_a_numbered_device,
          devices_that_are_not_there_are_named,
          a_context_compiles_for_the_devices_that_it_was_given,
          compiled_files_keep_the_number_of_the_device, instances_for_other_shapes_share_the_device,
          a_workspace_that_grows_leaves_the_old_one,
          a_bound_context_keeps_its_values_when_memory_is_short,
          small_models_of_dynamic_shape_use_the_device_too,
          a_device_that_fails_for_other_shapes_ends_the_run,
          options_are_text_or_a_structure_that_may_be_shorter,
          wrong_options_are_refused_and_change_nothing,
          an_arch_whose_devices_are_incomplete_is_refused, an_arch_that_has_gone_may_come_again,
          what_a_device_does_wrong_is_named, each_call_may_fail_and_the_session_runs_again,
          a_clone_that_sets_a_constant_copies_within_the_device,
          a_run_does_not_wait_for_a_device_when_its_time_is_over,
          a_child_process_does_not_wait_for_what_its_parent_left,
          a_session_waits_for_what_it_left_itself, a_run_may_end_at_any_step,
          a_device_that_cannot_be_asked_is_waited_for,
          a_run_beside_its_caller_is_cancelled_while_the_device_computes,
          a_device_that_cannot_tell_whether_it_has_ended_ends_the_run,
          what_cannot_end_early_is_waited_for_once, a_context_leaves_the_device_as_well,
          blocks_begin_where_the_device_says, tensors_begin_where_the_device_says,
          a_device_that_cannot_say_what_it_takes_ends_the_compilation,
          an_arch_without_devices_says_so_when_one_is_opened)
