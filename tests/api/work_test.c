// SPDX-License-Identifier: Apache-2.0
// What operators cost, and what limits of work and time do with it.

#include "tests/api/model.h"

#include <stdlib.h>
#include <unistd.h>

#include <lightnet/allocator.h>
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
    {"(lrn_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2048, 64, 64]);"
                  "LRN(X=x | Y=y | size=2001);"},
    {"(pool_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 700, 700]);"
                   "MaxPool(X=x | Y=y | kernel_shape=[351, 351]);"},
    {"(pool_ref)", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 200000]);"
                   "MaxPool(X=x | Y=y | kernel_shape=[100001]);"},
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

// ---- Shapes that only a run knows ----

// What `tail` makes of `a`, whose shape is `dims`: known when the model is read, or in the run.
static const struct {
    const char *why, *dims, *tail;
} late_models[] = {
    {"products", "200, 200", "MatMul(A=a, B=a | Y=y |);"},
    {"a sum over four letters", "30, 30",
     "Einsum(Inputs1=a, Inputs2=a, Inputs3=a | Output=y | equation=\"ij,jk,kl->il\");"},
    {"a convolution", "1, 4, 40, 40",
     "create(| dst=w | dtype=TL_FLOAT, dims=[8, 4, 7, 7], ran=[-1, 1]);"
     "Conv(X=a, W=w | Y=y |);"},
    {"a pool", "1, 4, 40, 40", "MaxPool(X=a | Y=y | kernel_shape=[9, 9]);"},
    {"a sort", "50000", "topk(src=a | dst=y | k=7);"},
    {"elementwise", "300, 100", "Sin(input=a | output=y |);"},
    {"normalization", "300, 100", "Softmax(input=a | output=y |);"},
    {"moving", "300, 100", "Transpose(data=a | transposed=y |);"},
    {"reduction", "300, 100", "ReduceSum(data=a | reduced=y | keepdims=0);"},
    {"running sums", "300, 100",
     "create(| dst=k | dtype=TL_INT64, dims=[], ran=[0, 0], data=[0]);"
     "CumSum(x=a, axis=k | y=y |);"},
    {"positions that data tell", "300, 100", "NonZero(X=a | Y=y |);"},
    {"random numbers", "300, 100", "RandomNormalLike(input=a | output=y |);"},
    {"a transform", "1, 500, 1", "DFT(input=a | output=y | since=17, axis=1);"},
    {"attention", "1, 2, 50, 16", "Attention(Q=a, K=a, V=a | Y=y |);"},
    {"pictures", "1, 2, 20, 20",
     "create(| dst=f | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[1, 1, 3, 3]);"
     "Resize(X=a, scales=f | Y=y | mode=\"cubic\");"},
};

static ln_context *load_late(size_t index, const char *target)
{
    char text[1024];
    const char *dims = late_models[index].dims;
    int rank = 1;
    for (const char *c = dims; *c; c++)
        rank += *c == ',';
    snprintf(text, sizeof text,
             "input(| dst=n | dtype=TL_INT64, dims=[%d], ran=[0, 0], data=[%s]);"
             "ConstantOfShape(input=n | output=a |);%soutput(src=y | |);",
             rank, dims, late_models[index].tail);
    return load_text(text, target);
}

static double cost_of_known(size_t index, const char *target)
{
    char text[1024];
    snprintf(text, sizeof text, "input(| dst=a | dtype=TL_FLOAT, dims=[%s]);%soutput(src=y | |);",
             late_models[index].dims, late_models[index].tail);
    ln_context *ctx = load_text(text, target);
    CHECK_OK(ln_context_run(ctx));
    double units = ln_context_work_done(ctx);
    close_context(ctx);
    return units;
}

// Its own cost, that of what makes its input, and nothing of a run before.
TEST(a_shape_that_comes_in_the_run_costs_what_a_known_one_does)
{
    static const char *const targets[] = {"ref", "cpu"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 2 * sizeof late_models / sizeof late_models[0]; i++) {
        ln_context *ctx = load_late(i / 2, targets[i % 2]);
        double known = cost_of_known(i / 2, targets[i % 2]), units[3];
        for (int run = 0; run < 3; run++) {
            CHECK_OK(ln_context_run(ctx));
            units[run] = ln_context_work_done(ctx);
        }
        if (!(units[0] >= known && units[0] < 4 * known + 2e6))
            fail_msg("%s on %s: %g units, with a known shape %g", late_models[i / 2].why,
                     targets[i % 2], units[0], known);
        CHECK_NEAR(units[1], units[0], 0);
        CHECK_NEAR(units[2], units[0], 0);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

static size_t largest_request;

static void *note_largest(void *user, void *p, size_t size)
{
    (void)user;
    if (size > largest_request)
        largest_request = size;
    return realloc(p, size);
}

static void give_back(void *user, void *p)
{
    (void)user;
    free(p);
}

// 40,000 by 40,000 products of 4000: refused where its shape becomes known, before it has memory.
TEST(what_costs_more_than_is_left_is_refused_before_it_runs)
{
    ln_allocator_set(&(ln_allocator){.resize = note_largest, .release = give_back});
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=n | dtype=TL_INT64, dims=[2]);"
                                "input(| dst=m | dtype=TL_INT64, dims=[2]);"
                                "ConstantOfShape(input=n | output=a |);"
                                "ConstantOfShape(input=m | output=b |);"
                                "MatMul(A=a, B=b | Y=y |);",
                                "ref");
    int64_t n[2] = {4000, 4}, m[2] = {4, 4000};
    ln_limits limits = ln_limits_default();
    limits.work = 1e7;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_set_data_n(ctx, "n", n, sizeof n));
    CHECK_OK(ln_context_set_data_n(ctx, "m", m, sizeof m));
    largest_request = 0;
    CHECK_FAILS(ln_context_run(ctx), LN_LIMIT);
    CHECK_MESSAGE("MatMul0");
    CHECK_MESSAGE("work units with its shapes in this run, more than the");
    CHECK_MESSAGE("that are left of the limit of 1e+07 (--work, ln_limits.work)");
    CHECK(largest_request < 1000000); // y has 64 MB
    ln_object *y;
    CHECK(ln_context_get_object(ctx, "y", &y) != LN_OK);
    n[0] = m[1] = 40;
    CHECK_OK(ln_context_set_data_n(ctx, "n", n, sizeof n));
    CHECK_OK(ln_context_set_data_n(ctx, "m", m, sizeof m));
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    ln_arch_cleanup();
    ln_allocator_set(NULL);
}

// 160 MB, of which the system clears each page in the first run, and 4e7 steps.
TEST(memory_that_a_run_touches_first_is_part_of_its_limit)
{
    static const char row[] = "input(| dst=x | dtype=TL_FLOAT, dims=[1]);"
                              "input(| dst=i | dtype=TL_INT64, dims=[1, 1]);";
    static const char ends[] = "Expand(input=x, shape=s | output=e |);"
                               "GatherND(data=e, indices=i | output=y |);";
    static const int64_t size = 40000000;
    CHECK_OK(ln_arch_init());
    ln_limits limits = ln_limits_default();
    for (int is_late = 0; is_late <= 1; is_late++) {
        for (int is_enough = 0; is_enough <= 1; is_enough++) {
            char text[512];
            snprintf(text, sizeof text, "%s%s%s", row,
                     is_late ? "input(| dst=s | dtype=TL_INT64, dims=[1]);"
                             : "create(| dst=s | dtype=TL_INT64, dims=[1], data=[40000000]);",
                     ends);
            ln_context *ctx = open_text(text);
            limits.work = is_enough ? 3e8 : 1e8;
            ln_context_set_limits(ctx, &limits);
            if (!is_late && !is_enough) {
                CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_LIMIT);
                CHECK_MESSAGE("of workspace, which the system clears");
                close_context(ctx);
                continue;
            }
            CHECK_OK(ln_context_compile(ctx, "cpu"));
            CHECK_OK(ln_context_load(ctx, NULL));
            if (is_late)
                CHECK_OK(ln_context_set_data_n(ctx, "s", &size, sizeof size));
            if (is_enough) {
                CHECK_OK(ln_context_run(ctx));
                // What a run is charged are its steps, the first and the next ones alike.
                CHECK(ln_context_work_done(ctx) < 5e7);
            } else {
                CHECK_FAILS(ln_context_run(ctx), LN_LIMIT);
                CHECK_MESSAGE("Expand");
            }
            close_context(ctx);
        }
    }
    ln_arch_cleanup();
}

#define IN(name)  "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true);"
#define OUT(name) "output(src=" name " | |);"

static double units_of_trips(int64_t trips)
{
    ln_context *ctx =
        load_text("input(| dst=m | dtype=TL_INT64, dims=[]);"
                  "input(| dst=x | dtype=TL_FLOAT, dims=[40, 40]);"
                  "Loop(M=m, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");" OUT(
                      "y") "graph body {" IN("i") IN("go")
                      IN("s") "MatMul(A=s, B=s | Y=t |);"
                              "Identity(input=go | output=go_on |);" OUT("go_on") OUT("t") "}",
                  "ref");
    CHECK_OK(ln_context_set_data_n(ctx, "m", &trips, sizeof trips));
    CHECK_OK(ln_context_run(ctx));
    double units = ln_context_work_done(ctx);
    close_context(ctx);
    return units;
}

TEST(each_trip_of_a_loop_costs_the_same)
{
    CHECK_OK(ln_arch_init());
    double one = units_of_trips(2) - units_of_trips(1);
    CHECK(one > 2 * 40 * 40 * 40); // multiply-accumulates, of which ref does one in two units
    CHECK_NEAR(units_of_trips(11), units_of_trips(1) + 10 * one, 1);
    ln_arch_cleanup();
}

// ---- Strings ----

// Operators that read or write the one string of `s`.
static const struct {
    const char *why, *tail;
    double units_per_byte; // at least
} readers_of_strings[] = {
    {"a copy", "Identity(input=s | output=y |);", 0.4},
    {"pieces", "StringSplit(X=s | Y=y, Z=z | delimiter=\"b\");", 2},
    {"another case", "StringNormalizer(X=s | Y=y | case_change_action=\"UPPER\");", 3},
    {"joined", "StringConcat(X=s, Y=s | Z=y |);", 3},
    {"side by side", "Concat(inputs1=s, inputs2=s | concat_result=y | axis=0);", 1},
    {"an expression", "RegexFullMatch(X=s | Y=y | pattern=\"a*b\");", 1},
    {"a key", "ml_LabelEncoder(X=s | Y=y | keys_strings=[\"a\"], values_int64s=[1]);", 1},
    {"compared", "Equal(A=s, B=s | C=y |);", 0.4},
    {"chosen",
     "create(| dst=c | dtype=TL_BOOL, dims=[1], ran=[0, 0], data=[1]);"
     "Where(condition=c, X=s, Y=s | output=y |);",
     0.4},
    {"one by one",
     "create(| dst=i | dtype=TL_INT64, dims=[3], ran=[0, 0], data=[0, 0, 0]);"
     "Gather(data=s, indices=i | output=y |);",
     1},
    {"repeated",
     "create(| dst=i | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[3]);"
     "Tile(input=s, repeats=i | output=y |);",
     1},
    {"sorted", "Unique(X=s | Y=y |);", 2},
    {"hashed", "ms_MurmurHash3(X=s | Y=y |);", 0.5},
    {"tokens",
     "ms_Tokenizer(X=s | Y=y | mark=0, mincharnum=1, pad_value=\"#\", separators=[\"b\"]);", 2},
    {"in a sequence",
     "SplitToSequence(input=s | output_sequence=q |);"
     "ConcatFromSequence(input_sequence=q | concat_result=y | axis=0);",
     1},
};

static double units_of_string(size_t index, size_t len)
{
    static char text[120000];
    size_t at = (size_t)snprintf(text, sizeof text, "strings(| dst=s | dims=[1], data=[\"");
    memset(text + at, 'a', len);
    snprintf(text + at + len, sizeof text - at - len, "\"]);%soutput(src=y | |);",
             readers_of_strings[index].tail);
    ln_context *ctx = load_text(text, "ref");
    CHECK_OK(ln_context_run(ctx));
    double units = ln_context_work_done(ctx);
    close_context(ctx);
    return units;
}

TEST(strings_cost_by_their_bytes)
{
    enum { BYTES = 100000 };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof readers_of_strings / sizeof readers_of_strings[0]; i++) {
        double units = units_of_string(i, BYTES) - units_of_string(i, 1);
        double least = readers_of_strings[i].units_per_byte * BYTES;
        if (!(units >= least && units < 1000.0 * BYTES))
            fail_msg("%s: %g units, at least %g are meant", readers_of_strings[i].why, units,
                     least);
    }
    ln_arch_cleanup();
}

// The shortest text of a number takes about a microsecond.
TEST(numbers_that_become_text_cost_more_than_a_move)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[1000]);"
                                "Cast(input=x | output=y | to=8);",
                                "ref");
    CHECK_OK(ln_context_run(ctx));
    CHECK(ln_context_work_done(ctx) > 500 * 1000);
    close_context(ctx);
    ln_arch_cleanup();
}

static double units_of_map(int key_count)
{
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_OBJECT, dims=[], open=true);"
                                "ml_DictVectorizer(X=x | Y=y | int64_vocabulary=[1, 2]);",
                                "ref");
    ln_object *keys = ln_object_new_tensor(TL_INT64, 1, &key_count, NULL);
    ln_object *values = ln_object_new_tensor(TL_FLOAT, 1, &key_count, NULL);
    for (int i = 0; i < key_count; i++)
        ((int64_t *)ln_object_tensor(keys)->data)[i] = i;
    ln_object *map = ln_object_new_map(keys, values);
    CHECK_OK(ln_context_set_object(ctx, "x", map));
    CHECK_OK(ln_context_run(ctx));
    double units = ln_context_work_done(ctx);
    ln_object_release(map);
    ln_object_release(values);
    ln_object_release(keys);
    close_context(ctx);
    return units;
}

TEST(maps_cost_by_their_keys)
{
    CHECK_OK(ln_arch_init());
    CHECK(units_of_map(5000) > units_of_map(5) + 20 * 5000);
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
          loops_of_each_family_look_at_the_time,
          a_shape_that_comes_in_the_run_costs_what_a_known_one_does,
          what_costs_more_than_is_left_is_refused_before_it_runs,
          memory_that_a_run_touches_first_is_part_of_its_limit, each_trip_of_a_loop_costs_the_same,
          strings_cost_by_their_bytes, numbers_that_become_text_cost_more_than_a_move,
          maps_cost_by_their_keys, the_time_of_a_thread_bounds_all_its_calls,
          planning_has_a_budget_in_sum, planning_has_a_budget_of_its_own,
          what_a_model_writes_is_limited, a_run_after_one_without_time_is_right,
          tensors_without_elements_take_no_time_whatever_their_other_dimensions)
