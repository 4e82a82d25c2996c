// SPDX-License-Identifier: Apache-2.0
// Constants are joined where that makes no 0, no subnormal and no infinity.

#include "pass/magnitude.h"

#include <math.h>

#include <lightnet/util.h>

#include "pass/fake_ops.h"
#include "tests/test.h"

static float weight[6], factor[6];

// A model whose constants w and k are known.
static ln_context *make(void)
{
    CHECK_OK(fake_register());
    static const char *const lines[] = {"const -> w", "const -> k", "const -> unknown", "in -> x",
                                        NULL};
    ln_context *ctx = fake_model(lines);
    CHECK_NOT_NULL(ctx);
    ln_tensor_table_find(ctx->tensor_table, "w")->known = weight;
    ln_tensor_table_find(ctx->tensor_table, "k")->known = factor;
    return ctx;
}

static void fill(float *numbers, double first, double others)
{
    numbers[0] = (float)first;
    for (size_t i = 1; i < 6; i++)
        numbers[i] = (float)others;
}

// clang-format off
static const struct {
    const char *why;
    const char *how;
    double a, b; // the first element; the others are 1
    bool joins;  // as weights of sums
    bool joins_each;
} cases[] = {
    {"usual numbers", "TL_MUL", 3, -7, true, true},
    {"numbers below 1", "TL_MUL", 0.3, -0.7, true, true},
    {"a product that is infinite on the way", "TL_MUL", 3, 0.1, true, false},
    {"a product that is subnormal on the way", "TL_MUL", 0.1, 3, true, false},
    {"a product that is infinite, then NaN", "TL_MUL", 3, 0, true, false},
    {"a product that is 0 on the way", "TL_MUL", 0.5, 0, true, true},
    {"a product that is 0", "TL_MUL", 1e-25, 1e-25, false, false},
    {"a product that is subnormal", "TL_MUL", 1e-20, 1e-19, false, false},
    {"the least normal product", "TL_MUL", 0x1p-63, 0x1p-63, true, true},
    {"an infinite product", "TL_MUL", 1e25, 1e25, false, false},
    {"a part that is 0", "TL_MUL", 0, 5, true, true},
    {"a part that is subnormal", "TL_MUL", 1e-40, 0.5, true, false},
    {"a part that is infinite", "TL_MUL", INFINITY, 2, false, false},
    {"a part that is NaN", "TL_MUL", 2, NAN, false, false},
    {"a quotient that is 0", "TL_DIV", 1e-25, 1e25, false, false},
    {"an infinite quotient", "TL_DIV", 1e25, 1e-25, false, false},
    {"a divisor that is 0", "TL_DIV", 1, 0, false, false},
    {"an infinite sum", "TL_SUM", 3e38, 3e38, false, false},
    {"an infinite difference", "TL_SUB", 3e38, -3e38, false, false},
    {"a small sum", "TL_SUM", 1e-38, -1e-38, true, true},
    {"another operation", "TL_MAX", 1, 1, false, false},
};
// clang-format on

TEST(constants_join_where_no_element_is_lost)
{
    ln_context *ctx = make();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fill(weight, cases[i].a, 1);
        fill(factor, cases[i].b, 1);
        if (ln_can_join(ctx, cases[i].how, "w", "k") != cases[i].joins)
            fail_msg("%s: %s", cases[i].how, cases[i].why);
        if (ln_can_join_each(ctx, cases[i].how, "w", "k") != cases[i].joins_each)
            fail_msg("each: %s: %s", cases[i].how, cases[i].why);
    }
    ln_context_free(ctx);
}

TEST(subnormal_weights_alone_are_not_joined)
{
    ln_context *ctx = make();
    fill(weight, 1e-40, 1e-40);
    fill(factor, 0.5, 0.5);
    CHECK(!ln_can_join(ctx, "TL_MUL", "w", "k"));
    fill(weight, 0, 0);
    CHECK(ln_can_join(ctx, "TL_MUL", "w", "k"));
    CHECK(ln_can_join_each(ctx, "TL_MUL", "w", "k"));
    ln_context_free(ctx);
}

TEST(weights_that_are_not_known_take_factors_from_2_to_the_minus_40_to_2_to_the_40)
{
    ln_context *ctx = make();
    const struct {
        double factor;
        bool joins;
    } factors[] = {{0x1p-40, true}, {0x1p-41, false}, {0x1p41, true}, {0x1p42, false}};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        fill(factor, factors[i].factor, factors[i].factor);
        CHECK_EQ(ln_can_join(ctx, "TL_MUL", "unknown", "k"), factors[i].joins);
    }
    CHECK(ln_can_join(ctx, "TL_MUL", "unknown", "unknown"));
    fill(factor, 1, 1);
    CHECK(!ln_can_join_each(ctx, "TL_MUL", "unknown", "k"));
    ln_context_free(ctx);
}

TEST(a_batch_norm_joins_weights_by_its_factor)
{
    ln_context *ctx = make();
    fill(weight, 1e-20, 1);
    fill(factor, 1, 1);
    ln_norm_constants norm = {"w", "k", "k", "k", NULL, 1e-5};
    CHECK(ln_can_join_norm(ctx, &norm));
    fill(factor, 1e-19, 1);
    CHECK(!ln_can_join_norm(ctx, &norm));
    ln_context_free(ctx);
}

TEST(so_does_a_bias_unless_that_makes_it_infinite)
{
    float bias[6];
    ln_context *ctx = make();
    ln_tensor_table_find(ctx->tensor_table, "unknown")->known = bias;
    fill(weight, 1, 1);
    fill(factor, 0x1p33, 1);
    const ln_norm_constants norm = {"w", "k", "k", "k", "unknown", 1e-5};
    const struct {
        double bias;
        bool joins;
    } biases[] = {{0, true}, {-0x1p90, true}, {-0x1p99, false}, {INFINITY, false}, {NAN, false}};
    for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
        fill(bias, biases[i].bias, 1);
        CHECK_EQ(ln_can_join_norm(ctx, &norm), biases[i].joins);
    }
    ln_context_free(ctx);
}

TEST(normal_numbers_are_those_of_full_precision)
{
    CHECK(ln_is_normal(0));
    CHECK(ln_is_normal(-0x1p-126));
    CHECK(!ln_is_normal(0x1p-127));
    CHECK(ln_is_normal(3e38));
    CHECK(!ln_is_normal(4e38));
    CHECK(!ln_is_normal(NAN));
}

TEST_LIST(constants_join_where_no_element_is_lost, subnormal_weights_alone_are_not_joined,
          weights_that_are_not_known_take_factors_from_2_to_the_minus_40_to_2_to_the_40,
          a_batch_norm_joins_weights_by_its_factor, so_does_a_bias_unless_that_makes_it_infinite,
          normal_numbers_are_those_of_full_precision)
