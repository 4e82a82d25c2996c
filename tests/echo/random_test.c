// SPDX-License-Identifier: Apache-2.0
// Random models over random subsets of a device or two: the reference's bits, plans that the
// checker proves, one copy for each tensor and memory, groups in one piece.

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/plan.h>

#include "plan/check.h"
#include "tests/api/model.h"
#include "tests/echo/echo.h"
#include "tests/random.h"

enum { MAX_TEXT = 1 << 14, LEN = 24, MAX_OPS = 24 };

// Tensors t0, t1, ... of 24 elements, in shapes that operators agree on: [4, 6].
static void make_model(test_random *random, char *text)
{
    size_t at = (size_t)sprintf(
        text, "input(| dst=t0 | dtype=TL_FLOAT, dims=[4, 6]);\n"
              "input(| dst=t1 | dtype=TL_FLOAT, dims=[4, 6]);\n"
              "create(| dst=t2 | dtype=TL_FLOAT, dims=[4, 6], ran=[-1, 1], data=[0]);\n");
    size_t count = 4 + test_random_below(random, MAX_OPS - 4);
    for (size_t i = 3; i < count + 3; i++) {
        size_t a = test_random_below(random, i), b = test_random_below(random, i);
        switch (test_random_below(random, 7)) {
        case 0:
            at += (size_t)sprintf(text + at, "func(src=t%zu | dst=t%zu | func=sin);\n", a, i);
            break;
        case 1:
            at += (size_t)sprintf(text + at, "act(src=t%zu | dst=t%zu | act=relu);\n", a, i);
            break;
        case 2:
            at += (size_t)sprintf(text + at,
                                  "concat(src1=t%zu, src2=t%zu | dst=c%zu | axis=0);\n"
                                  "slice(src=c%zu | dst=t%zu | axis=0, start=2, len=4);\n",
                                  a, b, i, i, i);
            break;
        case 3:
            at += (size_t)sprintf(text + at,
                                  "reshape(src=t%zu | dst=r%zu | dims=[6, 4]);\n"
                                  "transpose(src=r%zu | dst=t%zu | axes=[1, 0]);\n",
                                  a, i, i, i);
            break;
        case 4:
            at += (size_t)sprintf(text + at, "softmax(src=t%zu | dst=t%zu | axis=1);\n", a, i);
            break;
        default:
            at += (size_t)sprintf(
                text + at, "elew(src1=t%zu, src2=t%zu | dst=t%zu | elew_op=TL_SUM);\n", a, b, i);
        }
    }
    at += (size_t)sprintf(text + at, "output(src=t%zu | |);\n", count + 2);
    sprintf(text + at, "output(src=t%zu | |);\n", 3 + test_random_below(random, count - 1));
}

// The outputs of the model, one after the other.
static size_t run(ln_context *ctx, const float *x, float *y)
{
    size_t count = 0;
    for (size_t i = 0; i < ln_context_input_count(ctx); i++)
        CHECK_OK(ln_context_set_data(ctx, ln_context_input_name(ctx, i), x + i));
    CHECK_OK(ln_context_run(ctx));
    for (; count < ln_context_output_count(ctx); count++)
        CHECK_NOT_NULL(
            ln_context_get_data(ctx, ln_context_output_name(ctx, count), y + count * LEN));
    return count;
}

static void check_plan(const ln_context *ctx)
{
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
}

static const char *param_of(const ln_op *op, const char *name)
{
    return ln_param_list_find(op->op_arg->params, name)->value_string;
}

// No tensor has two copies in one memory, and none goes where it is already.
static void check_copies(const ln_context *ctx)
{
    const ln_op *a, *b;
    LN_LIST_FOREACH (a, ctx->ops) {
        if (strcmp(a->op_arg->optype, "copy_ref") != 0)
            continue;
        const char *from = ln_tensor_list_find_name(a->op_arg->tensors_in, "src");
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, from);
        CHECK(strcmp(ln_mem_type_name(entry->mtype), param_of(a, "mtype")) != 0);
        LN_LIST_FOREACH (b, ctx->ops) {
            if (a == b || strcmp(b->op_arg->optype, "copy_ref") != 0)
                continue;
            bool is_same =
                strcmp(from, ln_tensor_list_find_name(b->op_arg->tensors_in, "src")) == 0 &&
                strcmp(param_of(a, "mtype"), param_of(b, "mtype")) == 0;
            CHECK(!is_same);
        }
    }
}

// What is planned is what is allocated, in either memory.
static void check_sizes(const ln_context *ctx)
{
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), ln_context_peak_bytes(ctx, LN_MEM_DPU));
    CHECK_EQ(echo_live_bytes(LN_MEM_CUDA), ln_context_peak_bytes(ctx, LN_MEM_CUDA));
}

static void check_model(const char *text, const char *target)
{
    float x[LEN + 2], expected[2 * LEN], y[2 * LEN];
    for (int i = 0; i < LEN + 2; i++)
        x[i] = (float)(i * 7 % 23 - 11) / 8;
    ln_context *alone = load_text(text, "ref"), *ctx = load_text(text, target);
    size_t count = run(alone, x, expected);
    CHECK_EQ(run(ctx, x, y), count);
    if (memcmp(y, expected, count * LEN * sizeof *y) != 0)
        fail_msg("%s: other bits\n%s", target, text);
    check_plan(ctx);
    check_copies(ctx);
    check_sizes(ctx);
    close_context(ctx);
    close_context(alone);
}

TEST(random_models_have_the_bits_of_the_reference)
{
    static char text[MAX_TEXT];
    test_random random = test_random_start();
    for (unsigned round = 0; round < 10; round++) {
        CHECK_OK(ln_arch_init());
        echo_settings settings = {ECHO_DEFAULTS, .seed = round, .shares_main = round % 6 == 5,
                                  .left_out = (unsigned)test_random_below(&random, 90)};
        settings.is_async = round % 2 == 0;
        ln_arch *echo = echo_open(&settings);
        settings.name = "echo2";
        settings.mtype = LN_MEM_CUDA;
        settings.seed += 1000;
        ln_arch *echo2 = echo_open(&settings);
        for (int i = 0; i < 2; i++) {
            make_model(&random, text);
            check_model(text, "echo,ref");
            check_model(text, "echo,echo2,ref");
            check_model(text, "echo2,echo,ref");
        }
        echo_close(echo2);
        echo_close(echo);
        CHECK_EQ(echo_live_bytes(LN_MEM_DPU) + echo_live_bytes(LN_MEM_CUDA), 0);
        CHECK_EQ(echo_live_groups(), 0);
        ln_arch_cleanup();
    }
}

TEST_LIST(random_models_have_the_bits_of_the_reference)
