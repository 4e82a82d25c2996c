// SPDX-License-Identifier: Apache-2.0
// What operators cost, and what limits of work and time do with it.

#include "tests/api/model.h"

#include <lightnet/op_info.h>
#include <lightnet/util.h>

TEST(every_operator_that_runs_says_what_it_costs)
{
    CHECK_OK(ln_arch_init());
    size_t count = 0;
    ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_arg *arg = op->op_arg;
        if (!op->run && !op->static_run)
            continue;
        count++;
        if (!arg->info || !arg->info->cost)
            fail_msg("operator type '%s' has no cost", arg->optype);
        if (arg->info->infer && !arg->info->call_cost)
            fail_msg("operator type '%s' has no function for its cost", arg->optype);
        if (strcmp(arg->arch, "ref") == 0 && !(arg->info->step_cost > 0))
            fail_msg("operator type '%s' of ref says nothing of its speed", arg->optype);
    }
    CHECK(count > 300);
    ln_arch_cleanup();
}

// Input `x` of some elements, and one operator whose work is far above them.
static const struct {
    const char *why, *text;
} bombs[] = {
    {"a window of a quantized pool", "input(| dst=x | dtype=TL_UINT8, dims=[1, 400, 400, 1]);"
                                     "ms_NhwcMaxPool(x=x | y=y | kernel_shape=[200, 200]);"},
    {"samples times classes", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 100000]);"
                              "Multinomial(input=x | output=y | sample_size=100000);"},
    {"regions times the image", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 1000, 1000]);"
                                "input(| dst=r | dtype=TL_FLOAT, dims=[10000, 5]);"
                                "MaxRoiPool(X=x, rois=r | Y=y | pooled_shape=[1, 1]);"},
    {"products", "input(| dst=x | dtype=TL_FLOAT, dims=[2000, 2000]);"
                 "MatMul(A=x, B=x | Y=y |);"},
};

TEST(what_is_more_than_its_elements_is_refused_by_the_limit_of_work)
{
    CHECK_OK(ln_arch_init());
    ln_limits limits = ln_limits_default();
    limits.work = 1e8;
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        ln_context *ctx = open_text(bombs[i].text);
        ln_context_set_limits(ctx, &limits);
        if (ln_context_compile(ctx, "ref") != LN_LIMIT || !strstr(ln_error_message(), "--work"))
            fail_msg("%s: %s", bombs[i].why, ln_error_message());
        CHECK_MESSAGE("100 % of it");
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Each takes from ten seconds to minutes on ref.
static const struct {
    const char *optype, *text;
} long_models[] = {
    {"(MatMul_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[3000, 3000]);"
                     "MatMul(A=x, B=x | Y=a |); MatMul(A=a, B=x | Y=y |);"},
    {"(LRN_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2048, 64, 64]);"
                  "LRN(X=x | Y=y | size=2001);"},
    {"(deconv2d_ref)",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 64, 64, 64]);"
     "create(| dst=w | dtype=TL_FLOAT, dims=[64, 64, 31, 31], ran=[-1, 1], data=[0], "
     "from_file=false);"
     "create(| dst=b | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0], from_file=false);"
     "deconv2d(src=x, weight=w, bias=b | dst=y | size=[31, 31], padding=[15, 15, 15, 15]);"},
};

static void check_it_stops(const char *text, const char *optype)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(ln_context_set_timeout(ctx, -1), LN_INVALID);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_timeout(ctx, 0.1));
        double start = ln_clock();
        CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
        CHECK(ln_clock() - start < 5); // on a busy machine
        CHECK_MESSAGE("the limit is 0.1 s (--timeout, ln_context_set_timeout)");
        CHECK_MESSAGE(optype);
        CHECK_EQ(ctx->state, LN_CONTEXT_LOADED);
    }
    close_context(ctx);
}

TEST(operators_of_ref_stop_when_time_is_up_and_run_again)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof long_models / sizeof long_models[0]; i++)
        check_it_stops(long_models[i].text, long_models[i].optype);
    ln_arch_cleanup();
}

TEST(a_run_after_one_without_time_is_right)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]); relu(src=x | dst=y |);");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "x", (float[]){-1, 2}));
    CHECK_OK(ln_context_set_timeout(ctx, 1e-9));
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    CHECK_OK(ln_context_set_timeout(ctx, 0));
    CHECK_OK(ln_context_run(ctx));
    const float *y = ln_context_get_data(ctx, "y", NULL);
    CHECK_NEAR(y[0], 0, 0);
    CHECK_NEAR(y[1], 2, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(tensors_without_elements_take_no_time_whatever_their_other_dimensions)
{
    static const char *const models[] = {
        "input(| dst=x | dtype=TL_FLOAT, dims=[2147483647, 2147483647, 0]);"
        "input(| dst=i | dtype=TL_INT64, dims=[3]);"
        "Gather(data=x, indices=i | output=y | axis=1);",
        "input(| dst=x | dtype=TL_FLOAT, dims=[2147483647, 4000, 0]);"
        "Unique(X=x | Y=y | axis=1);",
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 2; i++) {
        ln_context *ctx = open_text(models[i]);
        CHECK_OK(ln_context_compile(ctx, "ref"));
        CHECK_OK(ln_context_load(ctx, NULL));
        CHECK_OK(ln_context_set_timeout(ctx, 20));
        CHECK_OK(ln_context_run(ctx));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(every_operator_that_runs_says_what_it_costs,
          what_is_more_than_its_elements_is_refused_by_the_limit_of_work,
          operators_of_ref_stop_when_time_is_up_and_run_again,
          a_run_after_one_without_time_is_right,
          tensors_without_elements_take_no_time_whatever_their_other_dimensions)
