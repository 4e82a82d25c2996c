// SPDX-License-Identifier: Apache-2.0
// What operators cost, and what limits of work and time do with it.

#include "tests/api/model.h"

#include <stdlib.h>
#include <unistd.h>

#include <lightnet/call.h>
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
    {"(matmul_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[3000, 3000]);"
                     "MatMul(A=x, B=x | Y=a |); MatMul(A=a, B=x | Y=y |);"},
    {"(LRN_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2048, 64, 64]);"
                  "LRN(X=x | Y=y | size=2001);"},
    {"(deconv_ref)",
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

// One operator each of families with loops of their own, on about a million elements: whose time is
// over before it begins must end at its first look at the clock.
#define MILLION "input(| dst=x | dtype=TL_FLOAT, dims=[1000, 1000]);"
static const struct {
    const char *why, *text;
} families[] = {
    {"functions", MILLION "Erf(input=x | output=y |);"},
    {"two operands", MILLION "Pow(X=x, Y=x | Z=y |);"},
    {"broadcast rows", MILLION "input(| dst=b | dtype=TL_FLOAT, dims=[1000, 1]);"
                               "Pow(X=x, Y=b | Z=y |);"},
    {"sums", MILLION "ReduceLogSumExp(data=x | reduced=y |);"},
    {"lines", MILLION "Softmax(input=x | output=y | axis=0);"},
    {"running sums", MILLION "create(| dst=a | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0], "
                             "from_file=false); CumSum(x=x, axis=a | y=y |);"},
    {"sorting", "input(| dst=x | dtype=TL_FLOAT, dims=[1000000]);"
                "sort1d(src_key=x | dst_key=y | dir=TL_SORT_DIR_ASCENDING);"},
    {"the largest", "input(| dst=x | dtype=TL_FLOAT, dims=[1000000]);"
                    "create(| dst=k | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[9], "
                    "from_file=false); TopK(X=x, K=k | Values=v, Indices=i |);"},
    {"casts", MILLION "Cast(input=x | output=y | to=10);"},
    {"quantization", MILLION "create(| dst=s | dtype=TL_FLOAT, dims=[], ran=[1, 1], data=[0], "
                             "from_file=false); QuantizeLinear(x=x, y_scale=s | y=y |);"},
    {"chosen elements", MILLION "input(| dst=i | dtype=TL_INT64, dims=[1000, 1000]);"
                                "GatherElements(data=x, indices=i | output=y |);"},
    {"normalization", MILLION "input(| dst=s | dtype=TL_FLOAT, dims=[1000]);"
                              "LayerNormalization(X=x, Scale=s | Y=y |);"},
    {"random numbers", "RandomNormal(| output=y | shape=[1000, 1000]);"},
    {"attention", "input(| dst=q | dtype=TL_FLOAT, dims=[1, 1, 1000, 32]);"
                  "Attention(Q=q, K=q, V=q | Y=y |);"},
    {"recurrence", "input(| dst=x | dtype=TL_FLOAT, dims=[1000, 1, 64]);"
                   "input(| dst=w | dtype=TL_FLOAT, dims=[1, 256, 64]);"
                   "LSTM(X=x, W=w, R=w | Y=y | hidden_size=64);"},
    {"pictures", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 500, 500]);"
                 "resize(src=x | dst=y | dims=[1, 1, 1000, 1000], mode=TL_LINEAR);"},
};

static double seconds_of_a_run(ln_context *ctx, double timeout, ln_status *out_status)
{
    CHECK_OK(ln_context_set_timeout(ctx, timeout));
    double start = ln_clock();
    *out_status = ln_context_run(ctx);
    return ln_clock() - start;
}

// The best of some: other programs make runs longer, and none shorter.
TEST(loops_of_each_family_look_at_the_time)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        ln_context *ctx = open_text(families[i].text);
        ln_status status;
        if (ln_context_compile(ctx, "ref") != LN_OK || ln_context_load(ctx, NULL) != LN_OK)
            fail_msg("%s: %s", families[i].why, ln_error_message());
        double whole = seconds_of_a_run(ctx, 0, &status), late = 1;
        if (status != LN_OK)
            fail_msg("%s: %s", families[i].why, ln_error_message());
        for (int k = 0; k < 3; k++) {
            double seconds = seconds_of_a_run(ctx, 1e-9, &status);
            late = seconds < late ? seconds : late;
            CHECK_EQ(status, LN_TIMEOUT);
        }
        if (!(late < whole / 3))
            fail_msg("%s: %g s when late, %g s in all", families[i].why, late, whole);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(the_time_of_a_thread_bounds_all_its_calls)
{
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(ln_thread_set_timeout(-1), LN_INVALID);
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[500, 500]); MatMul(A=x, B=x | Y=y |);");
    CHECK_OK(ln_thread_set_timeout(0.5));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_timeout(ctx, 1000)); // of each run, which is no reason to go on
    double start = ln_clock();
    ln_status status = LN_OK;
    while (status == LN_OK && ln_clock() - start < 30)
        status = ln_context_run(ctx);
    CHECK_EQ(status, LN_TIMEOUT);
    CHECK(ln_clock() - start < 10); // on a busy machine
    CHECK_MESSAGE("the limit in all is 0.5 s (--timeout, ln_thread_set_timeout)");
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    CHECK_OK(ln_thread_set_timeout(0));
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

// Constants that each cost less than one may, and in sum far more than planning may take: some are
// computed while the model is read, the others when it runs.
TEST(planning_has_a_budget_in_sum)
{
    static char text[100000];
    enum { COUNT = 1000 };
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "create(| dst=n | dtype=TL_INT64, dims=[2], ran=[0, 0], "
                                  "data=[100, 100], from_file=false);\n"
                                  "ConstantOfShape(input=n | output=a |);\n");
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "MatMul(A=a, B=a | Y=y%d |);\n", i);
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text);
    double units = 0;
    int known_count = 0;
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
        CHECK_NOT_NULL(entry);
        known_count += entry->known != NULL;
        units += entry->known ? 1e6 : 0; // multiply-accumulates, which cost a unit at least
    }
    CHECK(known_count > 10);
    CHECK(units < 5e8);
    close_context(ctx);
    ln_arch_cleanup();
}

static double infer_steps;

static ln_status infer_with_steps(ln_call *call)
{
    LN_TRY(ln_call_charge(call, infer_steps));
    return ln_call_out_like(call, 0, 0);
}

// However much a run may cost: more than planning may take is left to the run.
TEST(planning_has_a_budget_of_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_op_info info = *ln_op_find("Relu")->op_arg->info;
    info.infer = infer_with_steps;
    info.step_cost = 1;
    ln_op_arg arg = *ln_op_find("Relu")->op_arg;
    arg.optype = "Steps";
    arg.info = &info;
    ln_op op = *ln_op_find("Relu");
    op.op_arg = &arg;
    CHECK_OK(ln_op_register(&op));
    const char *text = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nSteps(X=x | Y=y |);\n";
    ln_limits limits = ln_limits_default();
    limits.work = 1e12;
    const double steps[] = {4e8, 6e8, 9e11};
    for (int i = 0; i < 3; i++) {
        infer_steps = steps[i];
        ln_context *ctx = ln_context_create();
        ln_context_set_limits(ctx, &limits);
        CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
        CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->is_open, i > 0);
        ln_context_free(ctx);
    }
    CHECK_OK(ln_op_unregister("Steps"));
    ln_arch_cleanup();
}

TEST(what_a_model_writes_is_limited)
{
    char folder[] = LN_BUILD_DIR "/written_XXXXXX", path[sizeof folder + 8];
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[100]);"
                                "fprint(src=x | | msg=\"\", file=\"x.txt\");");
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 20000;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_allow_write(ctx, folder));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_status status = LN_OK;
    int run_count = 0;
    for (; status == LN_OK && run_count < 1000; run_count++)
        status = ln_context_run(ctx);
    CHECK_EQ(status, LN_LIMIT);
    CHECK(run_count > 2);
    CHECK_MESSAGE("over the limit of 2e+04 (--budget, ln_limits.memory_byte_count)");
    close_context(ctx);
    snprintf(path, sizeof path, "%s/x.txt", folder);
    FILE *file = fopen(path, "r");
    CHECK_NOT_NULL(file);
    CHECK_EQ(fseek(file, 0, SEEK_END), 0);
    CHECK(ftell(file) > 10000 && ftell(file) <= 20000);
    fclose(file);
    remove(path);
    rmdir(folder);
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
          loops_of_each_family_look_at_the_time, the_time_of_a_thread_bounds_all_its_calls,
          planning_has_a_budget_in_sum, planning_has_a_budget_of_its_own,
          what_a_model_writes_is_limited, a_run_after_one_without_time_is_right,
          tensors_without_elements_take_no_time_whatever_their_other_dimensions)
