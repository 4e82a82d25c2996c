// SPDX-License-Identifier: Apache-2.0
// Frozen constants: what is folded is where the constants were, and nothing computes from what is
// gone.

#include "tests/api/model.h"
#include "tests/oom.h"

#define COUNT (1 * 4 * 8 * 8) // elements of y in CONV_MODEL

static ln_context *load_frozen(const char *text, int is_frozen)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.freezes_constants = is_frozen;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void run_both(ln_context *a, ln_context *b)
{
    float x[192], y[COUNT], z[COUNT];
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 13) - 6;
    ln_context *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "x", x));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_NOT_NULL(ln_context_get_data(both[i], "y", i ? z : y));
    }
    CHECK_MEM_EQ(y, z, sizeof y);
}

TEST(folded_weights_take_the_place_of_the_constants)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    size_t weight_bytes = 4 * 3 * 3 * 3 * sizeof(float); // 432, a multiple of 16 and not of 64
    CHECK_EQ(kept->static_sizes[LN_MEM_CPU], frozen->static_sizes[LN_MEM_CPU]);
    // The others have the constants while loading.
    CHECK(kept->load_sizes[LN_MEM_CPU] >= frozen->load_sizes[LN_MEM_CPU] + weight_bytes);
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(frozen, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
    run_both(frozen, kept);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_constant_that_is_set_anew_is_folded_anew)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    float w[108];
    for (int i = 0; i < 108; i++)
        w[i] = (float)(i % 5) / 4;
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ln_context_set_data(frozen, "w", w));
        CHECK_OK(ln_context_set_data(kept, "w", w));
        run_both(frozen, kept);
    }
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_change_that_needs_a_spent_constant_is_refused_and_changes_nothing)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    const float ones[4] = {1, 1, 1, 1};
    CHECK_FAILS(ln_context_set_data(frozen, "s", ones), LN_STATE);
    CHECK_MESSAGE("was overwritten");
    run_both(frozen, kept);
    ln_context *clone;
    CHECK_OK(ln_context_clone(frozen, &clone));
    CHECK_FAILS(ln_context_set_data(clone, "s", ones), LN_STATE);
    run_both(clone, kept);
    CHECK_OK(ln_context_set_data(kept, "s", ones));
    close_context(clone);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_frozen_plan_is_read_back_and_proved)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1);
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(frozen, "ir", &text, &byte_count));
    ln_context *again = ln_context_create();
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "frozen.json"));
    CHECK_EQ(again->static_sizes[LN_MEM_CPU], frozen->static_sizes[LN_MEM_CPU]);
    CHECK_OK(ln_context_load(again, NULL));
    run_both(frozen, again);
    close_context(again);
    close_context(frozen);
    ln_free(text);
    ln_arch_cleanup();
}

TEST(a_constant_that_somebody_else_reads_is_kept)
{
    CHECK_OK(ln_arch_init());
    static const char model[] = CONV_MODEL "elew(src1=w, src2=w | dst=twice | elew_op=TL_SUM);\n";
    ln_context *frozen = load_frozen(model, 1), *kept = load_frozen(model, 0);
    run_both(frozen, kept);
    float a[108], b[108];
    CHECK_NOT_NULL(ln_context_get_data(frozen, "twice", a));
    CHECK_NOT_NULL(ln_context_get_data(kept, "twice", b));
    CHECK_MEM_EQ(a, b, sizeof a);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

// y, whose constants are computed from k and each other, is the same whether they are over k or
// not.
TEST(constants_are_overwritten_by_who_reads_them_last_and_once)
{
#define K     "create_ref(| dst=k | dtype=TL_FLOAT, dims=[4, 4, 8, 2], ran=[1, 2], data=[0]);\n"
#define INPUT "input(| dst=x | dtype=TL_FLOAT, dims=[4, 4, 8, 2]);\n"
    static const struct {
        const char *why, *text;
    } rows[] = {
        {"another constant is computed from it afterwards",
         INPUT K "act_ref(src=k | dst=a | act=neg);\n"
                 "elew_ref(src1=a, src2=k | dst=b | elew_op=TL_MUL);\n"
                 "elew_ref(src1=x, src2=b | dst=y | elew_op=TL_SUM);\n"},
        {"and from it alone", INPUT K "act_ref(src=k | dst=a | act=neg);\n"
                                      "act_ref(src=k | dst=b | act=lrelu, alpha=2);\n"
                                      "elew_ref(src1=a, src2=b | dst=c | elew_op=TL_SUB);\n"
                                      "elew_ref(src1=x, src2=c | dst=y | elew_op=TL_SUM);\n"},
        {"each run reads it", INPUT K "elew_ref(src1=x, src2=k | dst=s | elew_op=TL_SUM);\n"
                                      "act_ref(src=k | dst=a | act=neg);\n"
                                      "elew_ref(src1=s, src2=a | dst=y | elew_op=TL_MUL);\n"},
        {"it has another name", INPUT K "reshape_ref(src=k | dst=r | dims=[4, 4, 8, 2]);\n"
                                        "act_ref(src=k | dst=a | act=neg);\n"
                                        "elew_ref(src1=r, src2=a | dst=b | elew_op=TL_MUL);\n"
                                        "elew_ref(src1=x, src2=b | dst=y | elew_op=TL_SUM);\n"},
        {"another operand is the same constant",
         "input(| dst=x | dtype=TL_FLOAT, dims=[16, 16]);\n"
         "create_ref(| dst=k | dtype=TL_FLOAT, dims=[16, 16], ran=[1, 2], data=[0]);\n"
         "linear_ref(src=k, weight=k, addend=k | dst=a |);\n"
         "elew_ref(src1=x, src2=a | dst=y | elew_op=TL_SUM);\n"},
        {"it is scale and offset",
         "input(| dst=x | dtype=TL_FLOAT, dims=[256]);\n"
         "create_ref(| dst=k | dtype=TL_FLOAT, dims=[256], ran=[1, 2], data=[0]);\n"
         "layernorm_ref(src=k, scale=k, bias=k | dst=a |);\n"
         "elew_ref(src1=x, src2=a | dst=y | elew_op=TL_SUM);\n"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *frozen = load_frozen(rows[i].text, 1), *kept = load_frozen(rows[i].text, 0);
        float x[COUNT], y[COUNT], z[COUNT];
        for (int k = 0; k < COUNT; k++)
            x[k] = (float)(k % 13) - 6;
        for (int run = 0; run < 2; run++) {
            CHECK_OK(ln_context_set_data(frozen, "x", x));
            CHECK_OK(ln_context_set_data(kept, "x", x));
            CHECK_OK(ln_context_run(frozen));
            CHECK_OK(ln_context_run(kept));
            CHECK_NOT_NULL(ln_context_get_data(frozen, "y", y));
            CHECK_NOT_NULL(ln_context_get_data(kept, "y", z));
            if (memcmp(y, z, sizeof y) != 0)
                fail_msg("%s: y differs in run %d", rows[i].why, run);
        }
        close_context(frozen);
        close_context(kept);
    }
    ln_arch_cleanup();
#undef K
#undef INPUT
}

// What is folded for the first shape is where the constant was, which the next plan needs again.
TEST(a_frozen_model_computes_the_same_after_another_shape)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3, 8, 8], names=[\"n\", \"\", \"\", \"\"]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[4, 3, 3, 3], ran=[-1, 1]);\n"
        "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1]);\n"
        "create(| dst=s | dtype=TL_FLOAT, dims=[4], ran=[1, 2]);\n"
        "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1]);\n"
        "batchnorm(src=c, scale=s, offset=b, mean=b, var=s | dst=y | epsilon=1e-5);\n";
    static float x[3 * 192], y[2][3 * COUNT];
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 3 * 192; i++)
        x[i] = (float)(i % 13) - 6;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        ln_context *ctx = open_text(text);
        ln_optimize_options options = ln_optimize_options_default();
        options.freezes_constants = 1;
        CHECK_OK(ln_context_set_symbol(ctx, "n", is_fresh ? 3 : 2));
        CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
        CHECK_OK(ln_context_load(ctx, NULL));
        const ln_input_shape shape = {.tname = "x", .ndim = 4, .dims = (int[]){3, 3, 8, 8}};
        if (!is_fresh)
            CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_data_n(ctx, "y", y[is_fresh], sizeof y[is_fresh]));
        close_context(ctx);
    }
    CHECK_MEM_EQ(y[0], y[1], sizeof y[0]);
    ln_arch_cleanup();
}

TEST_LIST(a_frozen_model_computes_the_same_after_another_shape,
          folded_weights_take_the_place_of_the_constants,
          a_constant_that_is_set_anew_is_folded_anew,
          a_change_that_needs_a_spent_constant_is_refused_and_changes_nothing,
          a_frozen_plan_is_read_back_and_proved, a_constant_that_somebody_else_reads_is_kept,
          constants_are_overwritten_by_who_reads_them_last_and_once)
