// SPDX-License-Identifier: Apache-2.0
// Each predicate holds where it says, and nowhere else.

#include "pass/predicates.h"

#include "pass/fake_ops.h"
#include "tests/test.h"

static ln_context *make(void)
{
    CHECK_OK(fake_register());
    static const char *const lines[] = {
        "in -> x",        "const -> w",    "convolve x w -> c",   "relu c -> once", "neg x -> n",
        "add n n -> two", "neg w -> both", "split once -> lo hi", "relu lo -> r",   NULL,
    };
    ln_context *ctx = fake_model(lines);
    CHECK_NOT_NULL(ctx);
    return ctx;
}

static const struct {
    const char *why;
    ln_rule_predicate predicate;
    const char *tensor;
    const char *other;
    double number;
    bool holds;
} cases[] = {
    {"one reader", LN_RULE_PREDICATE_single_use, "c", NULL, 0, true},
    {"two readers", LN_RULE_PREDICATE_single_use, "w", NULL, 0, false},
    {"one reader, twice", LN_RULE_PREDICATE_single_use, "n", NULL, 0, false},
    {"no reader", LN_RULE_PREDICATE_single_use, "two", NULL, 0, false},
    {"one of two outputs", LN_RULE_PREDICATE_single_use, "lo", NULL, 0, true},
    {"the other output", LN_RULE_PREDICATE_single_use, "hi", NULL, 0, false},
    {"no tensor", LN_RULE_PREDICATE_single_use, "nowhere", NULL, 0, false},
    {"a constant", LN_RULE_PREDICATE_static, "w", NULL, 0, true},
    {"an input", LN_RULE_PREDICATE_static, "x", NULL, 0, false},
    {"no tensor", LN_RULE_PREDICATE_static, "nowhere", NULL, 0, false},
    {"its type", LN_RULE_PREDICATE_dtype, "x", "TL_FLOAT", 0, true},
    {"another type", LN_RULE_PREDICATE_dtype, "x", "TL_INT8", 0, false},
    {"no type", LN_RULE_PREDICATE_dtype, "x", "float", 0, false},
    {"its rank", LN_RULE_PREDICATE_rank, "x", NULL, 2, true},
    {"another rank", LN_RULE_PREDICATE_rank, "x", NULL, 3, false},
    {"same shape", LN_RULE_PREDICATE_same_shape, "x", "w", 0, true},
    {"no other", LN_RULE_PREDICATE_same_shape, "x", "nowhere", 0, false},
};

TEST(predicates_hold_where_they_say)
{
    ln_context *ctx = make();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *signature = ln_rule_predicate_signature(cases[i].predicate);
        ln_expr_value args[2] = {
            {.kind = LN_RULE_NAME, .tensors = &cases[i].tensor, .count = 1},
            {.kind = LN_RULE_NUMBER, .number = cases[i].number, .string = cases[i].other}};
        if (signature[1] == 't')
            args[1] = (ln_expr_value){.kind = LN_RULE_NAME, .tensors = &cases[i].other, .count = 1};
        else if (cases[i].other)
            args[1].kind = LN_RULE_STRING;
        if (ln_predicate_holds(ctx, cases[i].predicate, args) != cases[i].holds)
            fail_msg("%s(%s): %s", ln_rule_predicate_name(cases[i].predicate), cases[i].tensor,
                     cases[i].why);
    }
    ln_context_free(ctx);
}

TEST(shapes_differ_in_rank_or_size)
{
    ln_context *ctx = make();
    const char *names[] = {"x", "w"};
    ln_expr_value args[2] = {{.kind = LN_RULE_NAME, .tensors = &names[0], .count = 1},
                             {.kind = LN_RULE_NAME, .tensors = &names[1], .count = 1}};
    tl_tensor *w = ln_tensor_table_find(ctx->tensor_table, "w")->tensor;
    w->dims[1] = 4;
    CHECK(!ln_predicate_same_shape(ctx, args));
    w->dims[1] = 3;
    w->ndim = 1;
    CHECK(!ln_predicate_same_shape(ctx, args));
    w->ndim = 2;
    ln_context_free(ctx);
}

TEST(numbers_of_columns_are_on_the_last_axis)
{
    static const struct {
        const char *why;
        int ndim, dims[3];
        double columns;
        bool holds;
    } shapes[] = {
        {"a vector", 1, {4}, 4, true},
        {"a vector of others", 1, {4}, 3, false},
        {"a row", 2, {1, 4}, 4, true},
        {"of rows, as many as columns", 2, {4, 1}, 4, false},
        {"of a batch, as many as columns", 3, {4, 1, 1}, 4, false},
        {"a matrix", 2, {2, 4}, 4, false},
        {"one number", 2, {1, 1}, 4, true},
        {"a scalar", 0, {0}, 4, true},
        {"none", 1, {0}, 4, false},
    };
    ln_context *ctx = make();
    const char *name = "w";
    ln_expr_value args[2] = {{.kind = LN_RULE_NAME, .tensors = &name, .count = 1},
                             {.kind = LN_RULE_NUMBER}};
    tl_tensor *w = ln_tensor_table_find(ctx->tensor_table, "w")->tensor;
    const tl_tensor kept = *w;
    int dims[3];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        w->ndim = shapes[i].ndim;
        w->len = 1;
        w->dims = dims;
        for (int d = 0; d < w->ndim; d++)
            w->len *= dims[d] = shapes[i].dims[d];
        args[1].number = shapes[i].columns;
        if (ln_predicate_per_column(ctx, args) != shapes[i].holds)
            fail_msg("%s", shapes[i].why);
    }
    *w = kept;
    w->dtype = TL_INT8;
    CHECK(ln_predicate_byte(ctx, args));
    w->dtype = TL_UINT8;
    CHECK(ln_predicate_byte(ctx, args));
    w->dtype = TL_INT16;
    CHECK(!ln_predicate_byte(ctx, args));
    w->dtype = TL_FLOAT;
    ln_context_free(ctx);
}

TEST(what_is_large_outgrows_the_cache)
{
    ln_context *ctx = make();
    const char *names[] = {"w", "nowhere"};
    ln_expr_value args[2] = {{.kind = LN_RULE_NAME, .tensors = &names[0], .count = 1},
                             {.kind = LN_RULE_NAME, .tensors = &names[1], .count = 1}};
    tl_tensor *w = ln_tensor_table_find(ctx->tensor_table, "w")->tensor;
    const int len = w->len;
    CHECK(!ln_predicate_outgrows_small_cache(ctx, args));
    CHECK(!ln_predicate_single(ctx, args));
    w->len = 1;
    CHECK(ln_predicate_single(ctx, args));
    w->len = 1 << 16;
    CHECK(!ln_predicate_outgrows_small_cache(ctx, args));
    w->len++;
    CHECK(ln_predicate_outgrows_small_cache(ctx, args));
    w->len = 1 << 18;
    CHECK(!ln_predicate_outgrows_cache(ctx, args));
    w->len++;
    CHECK(ln_predicate_outgrows_cache(ctx, args));
    w->len = len;
    CHECK(!ln_predicate_outgrows_cache(ctx, args + 1));
    CHECK(!ln_predicate_outgrows_small_cache(ctx, args + 1));
    ln_context_free(ctx);
}

#define NUMBER(n)                                                                                  \
    {                                                                                              \
        .kind = LN_RULE_NUMBER, .number = (n)                                                      \
    }
#define TEXT(s)                                                                                    \
    {                                                                                              \
        .kind = LN_RULE_STRING, .string = (s)                                                      \
    }
#define TENSOR(...)                                                                                \
    {                                                                                              \
        .kind = LN_RULE_NAME, .tensors = (const char *const[]){__VA_ARGS__},                       \
        .count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                       \
    }
#define ARRAY(n, ...)                                                                              \
    {                                                                                              \
        .kind = LN_RULE_ARRAY, .numbers = (const double[]){__VA_ARGS__}, .count = (n)              \
    }
#define NOTHING                                                                                    \
    {                                                                                              \
        .kind = LN_RULE_NAME                                                                       \
    }

static const struct {
    ln_rule_predicate predicate;
    ln_expr_value args[LN_PREDICATE_MAX_ARGS];
    bool holds;
} value_cases[] = {
    {LN_RULE_PREDICATE_integer, {TENSOR("x")}, false},
    {LN_RULE_PREDICATE_same_type, {TENSOR("x"), TENSOR("w")}, true},
    {LN_RULE_PREDICATE_same_type, {TENSOR("x"), TENSOR("nowhere")}, false},
    {LN_RULE_PREDICATE_contiguous, {TENSOR("x"), NUMBER(0)}, true},
    {LN_RULE_PREDICATE_contiguous, {TENSOR("x"), NUMBER(1)}, false},
    {LN_RULE_PREDICATE_contiguous, {TENSOR("x"), NUMBER(2)}, false},
    {LN_RULE_PREDICATE_byte, {TENSOR("x")}, false},
    {LN_RULE_PREDICATE_byte, {TENSOR("nowhere")}, false},
    {LN_RULE_PREDICATE_per_column, {TENSOR("x"), NUMBER(3)}, false},
    {LN_RULE_PREDICATE_per_column, {TENSOR("nowhere"), NUMBER(3)}, false},
    {LN_RULE_PREDICATE_single, {TENSOR("x")}, false},
    {LN_RULE_PREDICATE_single, {TENSOR("nowhere")}, false},
    {LN_RULE_PREDICATE_outgrows_cache, {TENSOR("x")}, false},
    {LN_RULE_PREDICATE_outgrows_small_cache, {TENSOR("x")}, false},
    {LN_RULE_PREDICATE_keeps_order, {TENSOR("x"), ARRAY(2, 0, 1)}, true},
    {LN_RULE_PREDICATE_keeps_order, {TENSOR("x"), ARRAY(2, 1, 0)}, false},
    {LN_RULE_PREDICATE_keeps_order, {TENSOR("x"), ARRAY(1, 0)}, false},
    {LN_RULE_PREDICATE_filled, {TENSOR("w"), NUMBER(0)}, false},
    {LN_RULE_PREDICATE_filled, {TENSOR("both"), NUMBER(-1)}, true},
    {LN_RULE_PREDICATE_filled, {TENSOR("n"), NUMBER(-1)}, false},
    {LN_RULE_PREDICATE_known, {TENSOR("both")}, true},
    {LN_RULE_PREDICATE_known, {TENSOR("n")}, false},
    {LN_RULE_PREDICATE_known, {TENSOR("both", "n")}, false},
    {LN_RULE_PREDICATE_present, {NOTHING}, false},
    {LN_RULE_PREDICATE_present, {TENSOR("x", "w")}, true},
    {LN_RULE_PREDICATE_static, {NOTHING}, true},
    {LN_RULE_PREDICATE_static, {TENSOR("w", "w")}, true},
    {LN_RULE_PREDICATE_static, {TENSOR("w", "x")}, false},
    {LN_RULE_PREDICATE_rank, {TENSOR("x", "w"), NUMBER(2)}, false},
    {LN_RULE_PREDICATE_normal, {NUMBER(1e-38)}, false},
    {LN_RULE_PREDICATE_normal, {NUMBER(0)}, true},
    {LN_RULE_PREDICATE_joined, {TEXT("TL_MUL"), TENSOR("both"), TENSOR("w")}, true},
    {LN_RULE_PREDICATE_joined, {TEXT("TL_MAX"), TENSOR("both"), TENSOR("w")}, false},
    {LN_RULE_PREDICATE_joined_each, {TEXT("TL_MUL"), TENSOR("both"), TENSOR("both")}, true},
    {LN_RULE_PREDICATE_joined_each, {TEXT("TL_MUL"), TENSOR("both"), TENSOR("w")}, false},
    {LN_RULE_PREDICATE_joined_norm,
     {TENSOR("both"), NOTHING, TENSOR("w"), TENSOR("w"), TENSOR("w"), NUMBER(1e-5)},
     true},
    {LN_RULE_PREDICATE_joined_norm,
     {TENSOR("both"), TENSOR("w"), TENSOR("w"), TENSOR("w"), TENSOR("w"), NUMBER(1e-5)},
     true},
    {LN_RULE_PREDICATE_equal, {NUMBER(1), NUMBER(1)}, true},
    {LN_RULE_PREDICATE_equal, {NUMBER(1), NUMBER(2)}, false},
    {LN_RULE_PREDICATE_equal, {TEXT("a"), TEXT("a")}, true},
    {LN_RULE_PREDICATE_equal, {TEXT("a"), TEXT("b")}, false},
    {LN_RULE_PREDICATE_equal, {NUMBER(1), ARRAY(1, 1)}, false},
    {LN_RULE_PREDICATE_equal, {ARRAY(2, 1, 2), ARRAY(2, 1, 2)}, true},
    {LN_RULE_PREDICATE_equal, {ARRAY(2, 1, 2), ARRAY(2, 1, 3)}, false},
    {LN_RULE_PREDICATE_equal, {ARRAY(2, 1, 2), ARRAY(1, 1)}, false},
    {LN_RULE_PREDICATE_less, {NUMBER(1), NUMBER(2)}, true},
    {LN_RULE_PREDICATE_less, {NUMBER(2), NUMBER(2)}, false},
    {LN_RULE_PREDICATE_less, {NUMBER(1), TEXT("b")}, false},
    {LN_RULE_PREDICATE_at_most, {NUMBER(2), NUMBER(2)}, true},
    {LN_RULE_PREDICATE_at_most, {NUMBER(3), NUMBER(2)}, false},
};

TEST(values_and_lists_of_tensors_are_asked_about)
{
    ln_context *ctx = make();
    const float elements[] = {-1, -1, -1, -1, -1, -1};
    ln_tensor_table_find(ctx->tensor_table, "both")->known = elements;
    for (size_t i = 0; i < sizeof value_cases / sizeof value_cases[0]; i++)
        if (ln_predicate_holds(ctx, value_cases[i].predicate, value_cases[i].args) !=
            value_cases[i].holds)
            fail_msg("case %zu: %s", i, ln_rule_predicate_name(value_cases[i].predicate));
    ln_context_free(ctx);
}

TEST(every_predicate_has_a_case)
{
    for (int p = 0; p < LN_RULE_PREDICATE_COUNT; p++) {
        bool is_there = false;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            is_there = is_there || (int)cases[i].predicate == p;
        for (size_t i = 0; i < sizeof value_cases / sizeof value_cases[0]; i++)
            is_there = is_there || (int)value_cases[i].predicate == p;
        if (!is_there)
            fail_msg("no case of %s", ln_rule_predicate_name((ln_rule_predicate)p));
    }
}

TEST_LIST(predicates_hold_where_they_say, shapes_differ_in_rank_or_size,
          numbers_of_columns_are_on_the_last_axis, what_is_large_outgrows_the_cache,
          values_and_lists_of_tensors_are_asked_about, every_predicate_has_a_case)
