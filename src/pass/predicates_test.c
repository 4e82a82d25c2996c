// SPDX-License-Identifier: Apache-2.0
// Each predicate holds where it says, and nowhere else.

#include "pass/predicates.h"

#include "pass/fake_ops.h"
#include "tests/test.h"

static ln_context *make(void)
{
    CHECK_OK(fake_register());
    static const char *const lines[] = {
        "in -> x",        "const -> w",    "conv x w -> c",       "relu c -> once", "neg x -> n",
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

TEST_LIST(predicates_hold_where_they_say, shapes_differ_in_rank_or_size)
