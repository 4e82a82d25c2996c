// SPDX-License-Identifier: Apache-2.0
// A context from reading to running: states, data, parameters, what is refused.

#include "tests/api/model.h"

#include <math.h>
#include <stdlib.h>

// CONV_MODEL with weights that are a view of `w0`, and all of its output is seen.
#define VIEWED_CONV_MODEL                                                                          \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 8, 8]);\n"                                        \
    "create(| dst=w0 | dtype=TL_FLOAT, dims=[4, 27], ran=[-1, 1], data=[0], from_file=false);\n"   \
    "reshape(src=w0 | dst=w | dims=[4, 3, 3, 3]);\n"                                               \
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1], data=[0], from_file=false);\n"        \
    "create(| dst=s | dtype=TL_FLOAT, dims=[4], ran=[1, 2], data=[0], from_file=false);\n"         \
    "create(| dst=v | dtype=TL_FLOAT, dims=[4], ran=[1, 2], data=[0], from_file=false);\n"         \
    "conv2d(src=x, weight=w, bias=b | dst=c | group=1, size=[3, 3], stride=[1, 1], "               \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "batchnorm(src=c, scale=s, offset=b, mean=b, var=v | dst=n | epsilon=1e-5);\n"                 \
    "lrelu(src=n | dst=y | negslope=0.5);\n"

TEST(a_model_runs_from_text_to_numbers)
{
    CHECK_OK(ln_arch_init());
    static const char *const targets[] = {"cpu", "ref", "cpu,ref"};
    for (size_t t = 0; t < 3; t++) {
        ln_context *ctx = load_text(SMALL_MODEL, targets[t]);
        const float x[6] = {-10, 0, 1, 2, -7, 0.5f};
        const float expected[6] = {0, 2, 4, 6, 0, 6.5f};
        float z[6];
        CHECK_EQ(ln_context_data_size(ctx, "z"), sizeof z);
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_PTR_EQ(ln_context_get_data(ctx, "z", z), z);
        CHECK_MEM_EQ(z, expected, sizeof z);
        const float *borrowed = ln_context_get_data(ctx, "z", NULL);
        CHECK_MEM_EQ(borrowed, expected, sizeof z);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(inputs_and_outputs_are_known)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_EQ(ln_context_input_count(ctx), 1);
    CHECK_STR_EQ(ln_context_input(ctx, 0)->name, "x");
    CHECK_NULL(ln_context_input(ctx, 1));
    CHECK_EQ(ln_context_output_count(ctx), 1);
    CHECK_STR_EQ(ln_context_output(ctx, 0)->name, "z");
    CHECK_NULL(ln_context_output(ctx, 7));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_create_of_zeros_is_a_constant_where_there_is_an_input)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("create(| dst=k | dtype=TL_FLOAT, dims=[2]);"
                                "input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "elew(src1=x, src2=k | dst=y | elew_op=TL_SUM);");
    for (int is_compiled = 0; is_compiled < 2; is_compiled++) {
        CHECK_EQ(ln_context_input_count(ctx), 1);
        CHECK_STR_EQ(ln_context_input(ctx, 0)->name, "x");
        CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "k")->is_input, 0);
        CHECK_OK(is_compiled ? LN_OK : ln_context_compile(ctx, "ref"));
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(calls_in_the_wrong_state_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    float x[6] = {0};
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_STATE);
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_STATE);
    CHECK_FAILS(ln_context_run(ctx), LN_STATE);
    CHECK_FAILS(ln_context_print(ctx, "-"), LN_STATE);
    CHECK_OK(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), NULL));
    CHECK_FAILS(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), NULL), LN_STATE);
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_STATE);
    CHECK_FAILS(ln_context_set_data(ctx, "x", x), LN_STATE);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_STATE);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_STATE);
    CHECK_FAILS(ln_context_set_data(ctx, "nobody", x), LN_NOT_FOUND);
    CHECK_MESSAGE("nobody");
    CHECK_FAILS(ln_context_set_data(ctx, "x", NULL), LN_INVALID);
    ln_context_unload(ctx);
    CHECK_FAILS(ln_context_run(ctx), LN_STATE);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    ln_context_cleanup(ctx);
    CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
    CHECK_OK(ln_context_init_mem(ctx, CONV_MODEL, strlen(CONV_MODEL), NULL));
    ln_context_free(ctx); // without cleanup
    ln_context_free(NULL);
    ln_context_cleanup(NULL);
    ln_context_unload(NULL);
    ln_arch_cleanup();
}

TEST(a_load_that_is_refused_leaves_allocated_memory_alone)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_alloc_mem(ctx));
    void *start = ctx->mem_starts[LN_MEM_CPU];
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_STATE);
    CHECK_PTR_EQ(ctx->mem_starts[LN_MEM_CPU], start);
    ln_context_dealloc_mem(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_change_of_operators_ends_the_plan)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_list *position = ctx->ops;
    while (position->next)
        position = position->next;
    CHECK_OK(ln_context_remove_op(ctx, &position));
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_EQ(ctx->mem_sizes[LN_MEM_CPU], 0);
    CHECK_EQ(ctx->static_sizes[LN_MEM_CPU], 0);
    CHECK_NULL(ctx->target);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ctx->mem_sizes[LN_MEM_CPU] > 0);
    ln_context_cleanup_ops(ctx);
    CHECK_EQ(ctx->mem_sizes[LN_MEM_CPU], 0);
    CHECK_NULL(ctx->target);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_rerun_of_operators_ends_the_plan)
{
    // z is a view of y and, as planned, a part of w: where it is is forgotten with the rerun.
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_INT32, dims=[2, 4]);"
                                "reshape(src=x | dst=y | dims=[8]);"
                                "slice(src=y | dst=z | axis=0, start=1, len=3);"
                                "concat(src1=z, src2=y | dst=w | axis=0);");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_rerun_ops(ctx));
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_EQ(ctx->mem_sizes[LN_MEM_CPU], 0);
    CHECK_FAILS(ln_context_load(ctx, NULL), LN_STATE);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
    close_context(ctx);
    ln_arch_cleanup();
}

// The outputs of CONV_MODEL whose weights are a view of `w0`, for two different inputs, are the
// same, as they are if all weights are zero.
static int ignores_its_input(ln_context *ctx)
{
    float x[1 * 3 * 8 * 8], y[2][1 * 4 * 8 * 8];
    for (size_t run = 0; run < 2; run++) {
        for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
            x[i] = run ? (float)i : -(float)i;
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y[run]));
    }
    return memcmp(y[0], y[1], sizeof y[0]) == 0;
}

TEST(folded_weights_follow_a_constant_behind_a_view)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEWED_CONV_MODEL, "cpu");
    CHECK_NOT_NULL(ln_tensor_table_find(ctx->tensor_table, "n_folded_weight"));
    CHECK(!ignores_its_input(ctx));
    const float zeros[4 * 27] = {0};
    float w0[4 * 27];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "w0", w0));
    CHECK_OK(ln_context_set_data(ctx, "w0", zeros));
    CHECK(ignores_its_input(ctx));
    CHECK_OK(ln_context_set_data(ctx, "w", w0)); // the view itself
    CHECK(!ignores_its_input(ctx));

    const char *create = ln_tensor_table_find(ctx->tensor_table, "w0")->creater;
    CHECK_OK(ln_context_set_param(ctx, create, "ran", (double[]){0, 0}, 2));
    CHECK(ignores_its_input(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(numbers_that_are_not_finite_are_written_as_words)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "lrelu(src=x | dst=y | negslope=0.5);");
    static const char *const formats[] = {"ir", "il"};
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 2};
    for (size_t i = 0; i < 8; i++) {
        double number = numbers[i / 2];
        CHECK_OK(ln_context_set_param(ctx, "lrelu0", "negslope", number));
        char *bytes;
        size_t byte_count;
        CHECK_OK(ln_context_write(ctx, formats[i % 2], &bytes, &byte_count));
        ln_context *again = ln_context_create();
        CHECK_OK(ln_context_init_mem(again, bytes, byte_count, NULL));
        const ln_op *op = ln_op_table_find(again->op_table, "lrelu0");
        const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "negslope");
        CHECK_EQ(param->type, LN_PARAM_NUMBER);
        CHECK(isnan(number) ? isnan(param->value_double) : param->value_double == number);
        ln_context_free(again);
        ln_free(bytes);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(null_arguments_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_FAILS(ln_context_init(NULL, "x"), LN_INVALID);
    CHECK_FAILS(ln_context_init(ctx, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_init_mem(ctx, NULL, 3, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_compile(NULL, "cpu"), LN_INVALID);
    CHECK_FAILS(ln_context_load(NULL, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_print(ctx, NULL), LN_INVALID);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(a_failed_compile_leaves_the_model_ready)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(CONV_MODEL);
    CHECK_FAILS(ln_context_compile(ctx, "quantum"), LN_NOT_FOUND);
    CHECK_MESSAGE("quantum");
    CHECK_MESSAGE("cpu");
    CHECK_FAILS(ln_context_compile(ctx, ""), LN_INVALID);
    CHECK_FAILS(ln_context_compile(ctx, NULL), LN_INVALID);
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(the_template_arch_takes_nothing)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_FAILS(ln_context_compile(ctx, "null"), LN_UNSUPPORTED);
    CHECK_MESSAGE("elew");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(limits_are_enforced_before_memory_is_touched)
{
    CHECK_OK(ln_arch_init());
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 1024;
    ln_context *ctx = open_text(CONV_MODEL);
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_LIMIT);
    CHECK_MESSAGE("1024");
    close_context(ctx);

    limits = ln_limits_default();
    limits.work = 1000;
    ctx = open_text(CONV_MODEL);
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_LIMIT);
    CHECK_MESSAGE("work units");
    close_context(ctx);

    limits = ln_limits_default();
    limits.op_count = 3;
    ctx = ln_context_create();
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), NULL), LN_LIMIT);
    limits.source_byte_count = 10;
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), NULL), LN_LIMIT);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(changed_constants_reach_folded_weights)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CONV_MODEL, "cpu");
    ln_context *ref = load_text(CONV_MODEL, "ref");
    float x[192], w[108], got[256], want[256];
    for (size_t i = 0; i < 192; i++)
        x[i] = (float)(i % 17) / 17 - 0.4f;
    for (size_t i = 0; i < 108; i++)
        w[i] = (float)(i % 7) / 7 - 0.5f;
    ln_context *both[] = {ctx, ref};
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "x", x));
        CHECK_OK(ln_context_set_data(both[i], "w", w));
        CHECK_OK(ln_context_run(both[i]));
    }
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", got));
    CHECK_NOT_NULL(ln_context_get_data(ref, "y", want));
    float largest = 0;
    for (size_t i = 0; i < 256; i++) {
        CHECK_NEAR(got[i], want[i], 1e-4);
        largest = fmaxf(largest, got[i]);
    }
    CHECK(largest > 0.1f);
    close_context(ctx);
    close_context(ref);
    ln_arch_cleanup();
}

TEST(parameters_change_by_arrays)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("create(| dst=c | dtype=TL_FLOAT, dims=[3], data=[1, 2, 3], from_file=false);"
                  "input(| dst=x | dtype=TL_FLOAT, dims=[3]);"
                  "elew(src1=x, src2=c | dst=y | elew_op=TL_SUM);");
    CHECK_OK(ln_context_set_param_numbers(ctx, "create0", "data", 3, (double[]){4, 5, 6}));
    CHECK_OK(
        ln_context_set_param_strings(ctx, "elew0", "elew_op", 1, (const char *const[]){"TL_MUL"}));
    CHECK_OK(ln_context_set_param_bools(ctx, "create0", "from_file", 1, (ln_bool[]){LN_FALSE}));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    float y[3];
    CHECK_OK(ln_context_set_data(ctx, "x", (float[]){1, 2, 3}));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "y", y);
    CHECK(y[0] == 4 && y[1] == 10 && y[2] == 18);
    ln_context_cleanup(ctx);
    CHECK_OK(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), "small.net"));
    CHECK_FAILS(ln_context_set_param_numbers(ctx, "elew0", "elew_op", 1, (double[]){1}),
                LN_INVALID);
    CHECK_MESSAGE("'elew_op' does not take numbers");
    CHECK_FAILS(ln_context_set_param_strings(ctx, "elew0", "elew_op", 2,
                                             (const char *const[]){"TL_SUM", "TL_MUL"}),
                LN_INVALID);
    CHECK_MESSAGE("takes one value, not 2");
    CHECK_FAILS(ln_context_set_param_numbers(ctx, "create0", "data", 2, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_param_bools(ctx, "none", "data", 0, NULL), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_set_param_bools(NULL, "none", "data", 0, NULL), LN_INVALID);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(parameters_change_by_name)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);"
                                "lrelu(src=x | dst=y | negslope=0.5);");
    CHECK_OK(ln_context_set_param(ctx, "lrelu0", "negslope", 0.25));
    CHECK_FAILS(ln_context_set_param(ctx, "lrelu0", "nothing", 1.0), LN_NOT_FOUND);
    CHECK_MESSAGE("negslope");
    CHECK_FAILS(ln_context_set_param(ctx, "lrelu9", "negslope", 1.0), LN_NOT_FOUND);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    const float x[2] = {-8, 8};
    float y[2];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "y", y);
    CHECK_NEAR(y[0], -2, 0);
    CHECK_OK(ln_context_set_param(ctx, "lrelu0", "negslope", -0.5));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "y", y);
    CHECK_NEAR(y[0], 4, 0);
    CHECK_OK(ln_context_set_param_numbers(ctx, "lrelu0", "negslope", 1, (double[]){-1}));
    CHECK_OK(ln_context_run(ctx));
    ln_context_get_data(ctx, "y", y);
    CHECK_NEAR(y[0], 8, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

// What operators make of their parameters once, they make again.
TEST(parameters_of_a_loaded_model_are_read_again)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 1, 1]);"
                  "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 1, 1], data=[-2]);"
                  "conv2d_pack_cpu(weight=w | dst=p |);"
                  "conv2d_nhwc_cpu(src=x, packed=p | dst=c | channels=1, size=[1, 1], act=none);"
                  "elew_cpu(src1=c, src2=x | dst=y | elew_op=TL_SUM);");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    static const struct {
        const char *op, *param, *value;
        float expected;
    } rows[] = {{"conv2d_nhwc_cpu0", "act", "none", -3},
                {"conv2d_nhwc_cpu0", "act", "relu", 3},
                {"elew_cpu0", "elew_op", "TL_SUB", -3},
                {"elew_cpu0", "elew_op", "TL_POW", 0}}; // which cpu leaves to ref
    const float x = 3;
    float y;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_OK(ln_context_set_param(ctx, rows[i].op, rows[i].param, rows[i].value));
        CHECK_OK(ln_context_set_data(ctx, "x", &x));
        CHECK_OK(ln_context_run(ctx));
        ln_context_get_data(ctx, "y", &y);
        CHECK_NEAR(y, rows[i].expected, 0);
    }
    CHECK_OK(ln_op_table_set_param(clone->op_table, "conv2d_nhwc_cpu0", "act", "neg"));
    CHECK_OK(ln_context_set_data(clone, "x", &x));
    CHECK_OK(ln_context_run(clone));
    ln_context_get_data(clone, "y", &y);
    CHECK_NEAR(y, 9, 0);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(the_peak_is_what_is_allocated)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CONV_MODEL, "cpu");
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    size_t peak = plan->totals[LN_MEM_CPU].peak_byte_count;
    CHECK_EQ(peak, ctx->mem_sizes[LN_MEM_CPU]);
    const char *start = ctx->mem_starts[LN_MEM_CPU];
    size_t last = 0;
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *value = &plan->values[i];
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, value->name);
        if (value->is_load) {
            CHECK_NULL(entry->tensor->data);
            continue;
        }
        CHECK_PTR_EQ(entry->tensor->data, start + value->offset);
        CHECK_EQ((uintptr_t)entry->tensor->data % 64, 0);
        size_t end = value->offset + value->byte_count;
        last = end > last ? end : last;
    }
    CHECK(last <= peak && peak - last < 64);
    ln_context_plan_free(plan);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_view_of_a_constant_is_constant)
{
    CHECK_OK(ln_arch_init());
    static const char *const targets[] = {"cpu", "ref"};
    for (size_t t = 0; t < 2; t++) {
        ln_context *ctx =
            load_text("create(| dst=x | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[-1, 2, 3, 4], "
                      "from_file=false);"
                      "reshape(src=x | dst=y | dims=[2, 2]);"
                      "forward(src=y | dst=z |);"
                      "relu(src=z | dst=r |);",
                      targets[t]);
        CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "z")->isstatic, 1);
        const float expected[4] = {0, 2, 3, 4};
        float r[4];
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "r", r));
        CHECK_MEM_EQ(r, expected, sizeof r);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

static int is_static(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name)->isstatic;
}

TEST(what_depends_on_constants_only_runs_once_and_again_when_they_change)
{
    CHECK_OK(ln_arch_init());
    static const char *const targets[] = {"cpu", "ref"};
    for (size_t t = 0; t < 2; t++) {
        ln_context *ctx = load_text(
            "create(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0], from_file=false);\n"
            "create(| dst=a | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[1, 2], from_file=false);\n"
            "create(| dst=b | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[3, 4], from_file=false);\n"
            "elew(src1=a, src2=b | dst=c | elew_op=TL_SUM);\n"
            "lrelu(src=c | dst=d | negslope=0.5);\n"
            "elew(src1=x, src2=d | dst=y | elew_op=TL_MUL);\n",
            targets[t]);
        CHECK(is_static(ctx, "c"));
        CHECK(is_static(ctx, "d"));
        CHECK(!is_static(ctx, "y")); // x is filled before each run
        const float x[2] = {2, 3}, a[2] = {-13, 5};
        const float before[2] = {8, 18}, after[2] = {-10, 27}, steeper[2] = {-5, 27};
        float y[2];
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_MEM_EQ(ln_context_get_data(ctx, "y", y), before, sizeof y);
        CHECK_OK(ln_context_set_data(ctx, "a", a));
        CHECK_OK(ln_context_run(ctx));
        CHECK_MEM_EQ(ln_context_get_data(ctx, "y", y), after, sizeof y);
        const ln_op *lrelu =
            ln_op_table_find(ctx->op_table, ln_tensor_table_find(ctx->tensor_table, "d")->creater);
        CHECK_OK(ln_context_set_param(ctx, lrelu->op_arg->name, "negslope", 0.25));
        CHECK_OK(ln_context_run(ctx));
        CHECK_MEM_EQ(ln_context_get_data(ctx, "y", y), steeper, sizeof y);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Inputs that nobody reads are outputs too. Each is found without a walk over those before it.
TEST(inputs_and_outputs_of_large_models_are_found_at_once)
{
    enum { COUNT = 20000, ROW_BYTES = 64 };
    CHECK_OK(ln_arch_init());
    char *text = malloc((size_t)COUNT * ROW_BYTES), name[16];
    CHECK_NOT_NULL(text);
    size_t byte_count = 0;
    for (int i = 0; i < COUNT; i++)
        byte_count += (size_t)snprintf(text + byte_count, ROW_BYTES,
                                       "input(| dst=x%d | dtype=TL_FLOAT, dims=[1]);\n", i);
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, byte_count, "many.net"));
    free(text);
    CHECK_EQ(ln_context_input_count(ctx), COUNT);
    CHECK_EQ(ln_context_output_count(ctx), COUNT);
    double start = ln_clock();
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "x%d", i);
        CHECK_STR_EQ(ln_context_input(ctx, (size_t)i)->name, name);
        CHECK_STR_EQ(ln_context_output(ctx, (size_t)i)->name, name);
    }
    CHECK(ln_clock() - start < 2);
    CHECK_NULL(ln_context_input(ctx, COUNT));
    CHECK_NULL(ln_context_output(ctx, COUNT));
    close_context(ctx);
    ln_arch_cleanup();
}

// What is known of them ends with each change.
TEST(inputs_and_outputs_follow_changes)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_EQ(ln_context_input_count(ctx), 1);
    CHECK_STR_EQ(ln_context_output(ctx, 0)->name, "z");
    ln_list *last = ctx->ops;
    while (last->next)
        last = last->next;
    CHECK_OK(ln_context_remove_op(ctx, &last));
    CHECK_STR_EQ(ln_context_output(ctx, 0)->name, "y");
    CHECK_NULL(ln_context_output(ctx, 1));
    CHECK(ln_context_check(ctx));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ln_context_check(ctx));
    CHECK_STR_EQ(ln_context_input(ctx, 0)->name, "x");
    CHECK_STR_EQ(ln_context_output(ctx, 0)->name, "y");
    ln_context_cleanup(ctx);
    CHECK_EQ(ln_context_input_count(ctx), 0);
    CHECK_NULL(ln_context_output(ctx, 0));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(parameters_change_by_arrays, inputs_and_outputs_of_large_models_are_found_at_once,
          inputs_and_outputs_follow_changes,
          what_depends_on_constants_only_runs_once_and_again_when_they_change,
          a_view_of_a_constant_is_constant, a_model_runs_from_text_to_numbers,
          inputs_and_outputs_are_known, a_create_of_zeros_is_a_constant_where_there_is_an_input,
          calls_in_the_wrong_state_are_refused,
          a_load_that_is_refused_leaves_allocated_memory_alone, a_change_of_operators_ends_the_plan,
          a_rerun_of_operators_ends_the_plan, numbers_that_are_not_finite_are_written_as_words,
          folded_weights_follow_a_constant_behind_a_view, null_arguments_are_refused,
          a_failed_compile_leaves_the_model_ready, the_template_arch_takes_nothing,
          limits_are_enforced_before_memory_is_touched, changed_constants_reach_folded_weights,
          parameters_change_by_name, parameters_of_a_loaded_model_are_read_again,
          the_peak_is_what_is_allocated)
