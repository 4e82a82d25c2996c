// SPDX-License-Identifier: Apache-2.0
// Placing models on a device and the host: what goes where, the same bits, and plans of both
// memories.

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/optimize.h>
#include <lightnet/plan.h>

#include "plan/check.h"
#include "tests/api/model.h"
#include "tests/echo/echo.h"

static ln_arch *open_echo(const echo_settings *settings)
{
    CHECK_OK(ln_arch_init());
    echo_forget();
    return echo_open(settings);
}

static void close_echo(ln_arch *echo)
{
    echo_close(echo);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_EQ(echo_live_groups(), 0);
    ln_arch_cleanup();
}

// The types of the operators, in order, but for `input`, `create` and `output`.
static void list_types(const ln_context *ctx, char *text, size_t size)
{
    text[0] = '\0';
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *type = op->op_arg->optype;
        if (strncmp(type, "input", 5) && strncmp(type, "create", 6) && strncmp(type, "output", 6))
            snprintf(text + strlen(text), size - strlen(text), "%s ", type);
    }
}

#define CHECK_TYPES(ctx, expected)                                                                 \
    do {                                                                                           \
        char types_[4096];                                                                         \
        list_types(ctx, types_, sizeof types_);                                                    \
        CHECK_STR_EQ(types_, expected);                                                            \
    } while (0)

static const char chain[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                            "func(src=x | dst=a | func=atan);\n"
                            "func(src=a | dst=b | func=sin);\n"
                            "func(src=b | dst=c | func=cos);\n"
                            "func(src=c | dst=y | func=sinh);\n"
                            "output(src=y | |);\n";

static void check_values(ln_context *ctx, const float *expected)
{
    float x[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i - 32) / 16;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
        CHECK(memcmp(y, expected, sizeof y) == 0);
    }
}

static void make_expected(const char *text, float *y)
{
    ln_context *ctx = load_text(text, "ref");
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i - 32) / 16;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    close_context(ctx);
}

TEST(a_device_that_takes_all_gets_one_group)
{
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    float expected[64];
    make_expected(chain, expected);
    ln_context *ctx = load_text(chain, "echo,ref");
    CHECK_TYPES(ctx, "copy_ref func_echo func_echo func_echo func_echo copy_ref ");
    CHECK_EQ(echo_groups_of_last_prepare(), 4);
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_device_alone_gets_all)
{
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    float expected[64];
    make_expected(chain, expected);
    ln_context *ctx = load_text(chain, "echo");
    CHECK_TYPES(ctx, "copy_ref func_echo func_echo func_echo func_echo copy_ref ");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(what_no_arch_takes_is_named_completely)
{
    const char *const names[] = {"func0", "func2", NULL};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = names});
    ln_context *ctx = open_text(chain);
    CHECK_FAILS(ln_context_compile(ctx, "echo"), LN_UNSUPPORTED);
    CHECK_MESSAGE("no arch of the target takes 2 operators: 'func1' (func), 'func3' (func)");
    CHECK_OK(ln_context_compile(ctx, "echo,ref")); // the model is as it was
    close_context(ctx);
    close_echo(echo);
}

TEST(a_group_is_convex)
{
    // The device would take func0, func2 and func3, but func1 is between.
    const char *const names[] = {"func0", "func2", "func3", NULL};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = names});
    float expected[64];
    make_expected(chain, expected);
    ln_context *ctx = load_text(chain, "echo,ref");
    CHECK_TYPES(ctx, "copy_ref func_echo copy_ref func_ref copy_ref func_echo func_echo copy_ref ");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_tensor_is_copied_once_for_each_memory)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                               "func(src=x | dst=a | func=atan);\n"
                               "func(src=a | dst=b | func=sin);\n"
                               "func(src=a | dst=c | func=cos);\n"
                               "elew(src1=b, src2=a | dst=d | elew_op=TL_SUM);\n"
                               "elew(src1=c, src2=d | dst=e | elew_op=TL_SUM);\n"
                               "elew(src1=e, src2=x | dst=y | elew_op=TL_SUM);\n"
                               "output(src=a | |); output(src=y | |);\n";
    const char *const names[] = {"func0", "func2", "elew1", "elew2", NULL};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = names});
    float expected[64];
    make_expected(text, expected);
    ln_context *ctx = load_text(text, "echo,ref");
    // x and d to the device; a and y from it, although a has three readers on either side.
    CHECK_TYPES(ctx, "copy_ref func_echo func_echo copy_ref func_ref elew_ref copy_ref elew_echo "
                     "elew_echo copy_ref ");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(devices_in_main_memory_need_no_copies)
{
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .shares_main = true});
    float expected[64];
    make_expected(chain, expected);
    ln_context *ctx = load_text(chain, "echo,ref");
    CHECK_TYPES(ctx, "func_echo func_echo func_echo func_echo ");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(two_devices_pass_tensors_through_main_memory)
{
    const char *const first[] = {"func0", "func2", NULL}, *const second[] = {"func1", "func3",
                                                                             NULL};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = first});
    echo_settings settings = {ECHO_DEFAULTS, .names = second};
    settings.name = "echo2";
    settings.mtype = LN_MEM_CUDA;
    ln_arch *echo2 = echo_open(&settings);
    float expected[64];
    make_expected(chain, expected);
    ln_context *ctx = load_text(chain, "echo,echo2,ref");
    CHECK_TYPES(ctx, "copy_ref func_echo copy_ref copy_ref func_echo2 copy_ref copy_ref func_echo "
                     "copy_ref copy_ref func_echo2 copy_ref ");
    check_values(ctx, expected);
    CHECK(ln_context_peak_bytes(ctx, LN_MEM_DPU) > 0);
    CHECK(ln_context_peak_bytes(ctx, LN_MEM_CUDA) > 0);
    close_context(ctx);
    echo_close(echo2);
    close_echo(echo);
}

TEST(a_target_without_what_it_takes_is_as_before)
{
    static const char *const none[] = {NULL};
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = none});
    const char *const targets[] = {"cpu", "null,cpu", "echo,cpu"};
    static char texts[3][1 << 16];
    for (int i = 0; i < 3; i++) {
        ln_context *ctx = open_text(CONV_MODEL);
        CHECK_OK(ln_context_compile(ctx, targets[i]));
        CHECK_OK(ln_context_print(ctx, "echo_same.net"));
        close_context(ctx);
        FILE *file = fopen("echo_same.net", "rb");
        CHECK_NOT_NULL(file);
        CHECK(fread(texts[i], 1, sizeof texts[i] - 1, file) > 0);
        fclose(file);
        remove("echo_same.net");
        if (strcmp(texts[i], texts[0]) != 0)
            fail_msg("%s:\n%s\n%s:\n%s", targets[0], texts[0], targets[i], texts[i]);
    }
    close_echo(echo);
}

TEST(shapes_follow_from_constants_that_are_on_a_device)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 4, 4]);\n"
                               "create(| dst=s | dtype=TL_FLOAT, dims=[4], data=[1, 1, 2, 2]);\n"
                               "resize(src=x, scales=s | dst=y | mode=nearest);\n"
                               "output(src=y | |);\n";
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    float expected[64];
    make_expected(text, expected);
    ln_context *ctx = load_text(text, "echo,ref");
    CHECK_TYPES(ctx, "copy_ref copy_ref resize_echo copy_ref ");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(constants_that_shapes_on_a_device_follow_from_stay_as_they_are)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 4, 4]);\n"
                               "create(| dst=s | dtype=TL_FLOAT, dims=[4], data=[1, 1, 2, 2]);\n"
                               "resize(src=x, scales=s | dst=y | mode=nearest);\n"
                               "output(src=y | |);\n";
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    float expected[64];
    make_expected(text, expected);
    ln_context *ctx = load_text(text, "echo,ref");
    const float other[] = {1, 1, 1, 4};
    CHECK_FAILS(ln_context_set_data(ctx, "s", other), LN_UNSUPPORTED);
    CHECK_MESSAGE("'resize0' (resize_echo) is computed by device 'echo'");
    check_values(ctx, expected);
    CHECK_FAILS(ln_context_set_param(ctx, "resize0", "mode", "linear"), LN_UNSUPPORTED);
    CHECK_MESSAGE("set its parameters before compiling");
    check_values(ctx, expected);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_device_sees_constants_that_are_set)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                               "create(| dst=w | dtype=TL_FLOAT, dims=[64], data=[0]);\n"
                               "elew(src1=x, src2=w | dst=y | elew_op=TL_SUM);\n"
                               "output(src=y | |);\n";
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    ln_context *ctx = load_text(text, "echo,ref");
    int groups = echo_live_groups();
    float w[64], expected[64];
    for (int i = 0; i < 64; i++)
        w[i] = (float)(i - 32);
    ln_context *alone = load_text(text, "ref");
    CHECK_OK(ln_context_set_data(alone, "w", w));
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)i / 8;
    CHECK_OK(ln_context_set_data(alone, "x", x));
    CHECK_OK(ln_context_run(alone));
    CHECK_NOT_NULL(ln_context_get_data(alone, "y", expected));
    close_context(alone);
    echo_fail(ECHO_PREPARE, 1000);
    CHECK_OK(ln_context_set_data(ctx, "w", w));
    CHECK_EQ(echo_calls(ECHO_PREPARE), 1); // which has looked at the constant before
    echo_fail(ECHO_NOTHING, 0);
    CHECK_EQ(echo_live_groups(), groups);
    float y[64];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK(memcmp(y, expected, sizeof y) == 0);
    close_context(ctx);
    close_echo(echo);
}

TEST(a_list_that_mixes_memories_is_refused_with_what_helps)
{
    static const struct {
        const char *text, *target, *message;
    } cases[] = {
        {"input(| dst=x | dtype=TL_FLOAT, dims=[64]); func_echo(src=x | dst=a | func=sin);\n"
         "func(src=a | dst=y | func=cos); output(src=y | |);\n",
         "ref",
         "no arch of the target takes 1 operator: 'func0' (func); tensor 'a' is in DPU memory: add "
         "arch 'echo' to the target, or put a 'copy' after 'func_echo0'"},
        {"input_ref(| dst=x | dtype=TL_FLOAT, dims=[64]); func_echo(src=x | dst=y | func=sin);\n"
         "output_ref(src=y | |);\n",
         "echo,ref",
         "reads input 'src' in DPU memory, but tensor 'x' is in main memory; put a 'copy' between"},
    };
    ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        ln_status status =
            ln_context_init_mem(ctx, cases[i].text, strlen(cases[i].text), "model.net");
        bool is_read = status == LN_OK;
        if (is_read)
            status = ln_context_compile(ctx, cases[i].target);
        CHECK(status != LN_OK);
        CHECK_MESSAGE(cases[i].message);
        if (is_read) { // it is as it was, and the first remedy helps
            CHECK_EQ(ctx->state, LN_CONTEXT_READY);
            CHECK_OK(ln_context_compile(ctx, "echo,ref"));
        }
        close_context(ctx);
    }
    close_echo(echo);
}

// ---- Random subsets ----

static void check_plan(const ln_context *ctx)
{
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
}

TEST(random_subsets_give_the_same_bits)
{
    for (unsigned seed = 0; seed < 12; seed++) {
        ln_arch *echo =
            open_echo(&(echo_settings){ECHO_DEFAULTS, .seed = seed, .left_out = seed * 7});
        ln_context *ctx = load_text(CONV_MODEL, "echo,ref");
        ln_context *alone = load_text(CONV_MODEL, "ref");
        float x[192], y[256], z[256];
        for (int i = 0; i < 192; i++)
            x[i] = (float)(i % 17 - 8) / 8;
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_set_data(alone, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_run(alone));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
        CHECK_NOT_NULL(ln_context_get_data(alone, "y", z));
        CHECK(memcmp(y, z, sizeof y) == 0);
        check_plan(ctx);
        close_context(alone);
        close_context(ctx);
        close_echo(echo);
    }
}

// The device's result is copied by the model itself, whatever else reads it by its name.
TEST(copies_of_the_model_read_what_a_device_makes)
{
    static const char *const tails[] = {"", "output(src=b | |);\n",
                                        "func(src=b | dst=z | func=sinh);\n"};
    float x[64], expected[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i - 32) / 16;
    for (int i = 0; i < 3; i++) {
        char text[1024];
        static const char *const on_device[] = {"func0", NULL};
        ln_arch *echo = open_echo(&(echo_settings){ECHO_DEFAULTS, .names = on_device});
        snprintf(text, sizeof text, "%s%s",
                 "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                 "func(src=x | dst=b | func=sin);\n"
                 "copy(src=b | dst=c | mtype=LN_MEM_DPU);\n"
                 "copy(src=c | dst=y | mtype=LN_MEM_CPU);\n"
                 "output(src=y | |);\n",
                 tails[i]);
        ln_context *ctx = load_text(text, "echo,ref");
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
        close_context(ctx);
        ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                        "func(src=x | dst=y | func=sin);\n",
                        "ref");
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", expected));
        close_context(ctx);
        CHECK(memcmp(y, expected, sizeof y) == 0);
        close_echo(echo);
    }
}

TEST_LIST(copies_of_the_model_read_what_a_device_makes, a_device_that_takes_all_gets_one_group,
          a_device_alone_gets_all, what_no_arch_takes_is_named_completely, a_group_is_convex,
          a_tensor_is_copied_once_for_each_memory, devices_in_main_memory_need_no_copies,
          two_devices_pass_tensors_through_main_memory, a_target_without_what_it_takes_is_as_before,
          shapes_follow_from_constants_that_are_on_a_device,
          constants_that_shapes_on_a_device_follow_from_stay_as_they_are,
          a_device_sees_constants_that_are_set,
          a_list_that_mixes_memories_is_refused_with_what_helps, random_subsets_give_the_same_bits)
