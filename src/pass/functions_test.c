// SPDX-License-Identifier: Apache-2.0
// Each function's value, and where it has none.

#include "pass/functions.h"

#include <lightnet/util.h>

#include "pass/fake_ops.h"
#include "tests/test.h"

#define NUMBER(n)                                                                                  \
    {                                                                                              \
        .kind = LN_RULE_NUMBER, .number = (n)                                                      \
    }
#define ARRAY(n, ...)                                                                              \
    {                                                                                              \
        .kind = LN_RULE_ARRAY, .numbers = (const double[]){__VA_ARGS__}, .count = (n)              \
    }
#define STRING(s)                                                                                  \
    {                                                                                              \
        .kind = LN_RULE_STRING, .string = (s)                                                      \
    }
#define TENSORS(n, ...)                                                                            \
    {                                                                                              \
        .kind = LN_RULE_NAME, .tensors = (const char *const[]){__VA_ARGS__}, .count = (n)          \
    }
#define EMPTY                                                                                      \
    {                                                                                              \
        .kind = LN_RULE_ARRAY                                                                      \
    }
#define NONE                                                                                       \
    {                                                                                              \
        .kind = LN_RULE_BOOL                                                                       \
    } // no value is expected

static const struct {
    ln_rule_function function;
    ln_expr_value args[5];
    ln_expr_value expected;
} cases[] = {
    {LN_RULE_FUNCTION_add, {NUMBER(1), NUMBER(2)}, NUMBER(3)},
    {LN_RULE_FUNCTION_add, {ARRAY(2, 1, 2), NUMBER(3)}, ARRAY(2, 4, 5)},
    {LN_RULE_FUNCTION_add, {NUMBER(3), ARRAY(2, 1, 2)}, ARRAY(2, 4, 5)},
    {LN_RULE_FUNCTION_add, {ARRAY(2, 1, 2), ARRAY(2, 3, 5)}, ARRAY(2, 4, 7)},
    {LN_RULE_FUNCTION_add, {ARRAY(2, 1, 2), ARRAY(1, 3)}, NONE},
    {LN_RULE_FUNCTION_add, {NUMBER(1e308), NUMBER(1e308)}, NONE},
    {LN_RULE_FUNCTION_add, {EMPTY, NUMBER(1)}, EMPTY},
    {LN_RULE_FUNCTION_sub, {NUMBER(1), NUMBER(3)}, NUMBER(-2)},
    {LN_RULE_FUNCTION_mul, {NUMBER(2), ARRAY(2, 3, 4)}, ARRAY(2, 6, 8)},
    {LN_RULE_FUNCTION_div, {NUMBER(1), NUMBER(4)}, NUMBER(0.25)},
    {LN_RULE_FUNCTION_div, {NUMBER(1), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_div, {ARRAY(2, 1, 2), ARRAY(2, 1, 0)}, NONE},
    {LN_RULE_FUNCTION_neg, {ARRAY(2, 1, -2)}, ARRAY(2, -1, 2)},
    {LN_RULE_FUNCTION_at, {ARRAY(2, 7, 8), NUMBER(1)}, NUMBER(8)},
    {LN_RULE_FUNCTION_at, {ARRAY(2, 7, 8), NUMBER(2)}, NONE},
    {LN_RULE_FUNCTION_at, {ARRAY(2, 7, 8), NUMBER(-1)}, NONE},
    {LN_RULE_FUNCTION_at, {ARRAY(2, 7, 8), NUMBER(0.5)}, NONE},
    {LN_RULE_FUNCTION_floor, {NUMBER(-1.5)}, NUMBER(-2)},
    {LN_RULE_FUNCTION_min, {ARRAY(2, 1, 5), NUMBER(3)}, ARRAY(2, 1, 3)},
    {LN_RULE_FUNCTION_max, {NUMBER(1), NUMBER(3)}, NUMBER(3)},
    {LN_RULE_FUNCTION_factor, {STRING("TL_MUL"), NUMBER(4)}, NUMBER(4)},
    {LN_RULE_FUNCTION_factor, {STRING("TL_DIV"), NUMBER(4)}, NUMBER(0.25)},
    {LN_RULE_FUNCTION_factor, {STRING("TL_DIV"), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_factor, {STRING("TL_SUM"), NUMBER(4)}, NONE},
    {LN_RULE_FUNCTION_sum, {ARRAY(3, 1, 2, 4)}, NUMBER(7)},
    {LN_RULE_FUNCTION_sum, {EMPTY}, NUMBER(0)},
    {LN_RULE_FUNCTION_sum, {NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_length, {ARRAY(3, 1, 2, 4)}, NUMBER(3)},
    {LN_RULE_FUNCTION_join, {ARRAY(2, 1, 2), ARRAY(1, 3)}, ARRAY(3, 1, 2, 3)},
    {LN_RULE_FUNCTION_part, {ARRAY(3, 1, 2, 4), NUMBER(1), NUMBER(2)}, ARRAY(2, 2, 4)},
    {LN_RULE_FUNCTION_part, {ARRAY(3, 1, 2, 4), NUMBER(3), NUMBER(0)}, EMPTY},
    {LN_RULE_FUNCTION_part, {ARRAY(3, 1, 2, 4), NUMBER(2), NUMBER(2)}, NONE},
    {LN_RULE_FUNCTION_with, {ARRAY(2, 1, 2), NUMBER(0), NUMBER(9)}, ARRAY(2, 9, 2)},
    {LN_RULE_FUNCTION_with, {ARRAY(2, 1, 2), NUMBER(2), NUMBER(9)}, NONE},
    {LN_RULE_FUNCTION_unless, {ARRAY(2, 1, 2), NUMBER(1)}, ARRAY(2, 1, 2)},
    {LN_RULE_FUNCTION_unless, {ARRAY(2, 1, 1), NUMBER(1)}, EMPTY},
    {LN_RULE_FUNCTION_unless, {EMPTY, NUMBER(1)}, EMPTY},
    {LN_RULE_FUNCTION_otherwise, {ARRAY(2, 1, 2), ARRAY(1, 3)}, ARRAY(2, 1, 2)},
    {LN_RULE_FUNCTION_otherwise, {EMPTY, ARRAY(1, 3)}, ARRAY(1, 3)},
    {LN_RULE_FUNCTION_pads,
     {ARRAY(4, 1, 2, 3, 4), ARRAY(2, -1, 0), NUMBER(3)},
     ARRAY(6, 2, 0, 1, 4, 0, 3)},
    {LN_RULE_FUNCTION_pads, {ARRAY(2, 1, 2), ARRAY(1, 3), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_pads, {ARRAY(3, 1, 2, 3), ARRAY(1, 0), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_onnx_act, {STRING("LeakyRelu")}, STRING("lrelu")},
    {LN_RULE_FUNCTION_onnx_act, {STRING("")}, STRING("none")},
    {LN_RULE_FUNCTION_onnx_act, {STRING("lrelu")}, NONE},
    {LN_RULE_FUNCTION_onnx_act_number, {STRING("LeakyRelu"), EMPTY, NUMBER(0)}, NUMBER(0.01f)},
    {LN_RULE_FUNCTION_onnx_act_number, {STRING("Clip"), ARRAY(2, 0, 6), NUMBER(1)}, NUMBER(6)},
    {LN_RULE_FUNCTION_onnx_act_number,
     {STRING("HardSigmoid"), ARRAY(1, 0.3), NUMBER(1)},
     NUMBER(0.5)},
    {LN_RULE_FUNCTION_onnx_act_number, {STRING("Relu"), EMPTY, NUMBER(2)}, NONE},
    {LN_RULE_FUNCTION_onnx_act_number, {STRING("none of them"), EMPTY, NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_index, {NUMBER(2), NUMBER(3)}, NUMBER(2)},
    {LN_RULE_FUNCTION_index, {NUMBER(-3), NUMBER(3)}, NUMBER(0)},
    {LN_RULE_FUNCTION_index, {NUMBER(3), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_index, {NUMBER(-4), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_index, {NUMBER(0.5), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_unless, {ARRAY(2, 1, 1), NUMBER(1)}, EMPTY},
    {LN_RULE_FUNCTION_unless, {ARRAY(2, 1, 2), NUMBER(1)}, ARRAY(2, 1, 2)},
    {LN_RULE_FUNCTION_unless, {EMPTY, NUMBER(1)}, EMPTY},
    {LN_RULE_FUNCTION_iota, {NUMBER(3)}, ARRAY(3, 0, 1, 2)},
    {LN_RULE_FUNCTION_iota, {NUMBER(65)}, NONE},
    {LN_RULE_FUNCTION_compose, {ARRAY(3, 2, 0, 1), ARRAY(3, 1, 0, 2)}, ARRAY(3, 0, 2, 1)},
    {LN_RULE_FUNCTION_compose, {ARRAY(2, 1, 0), ARRAY(2, 2, 0)}, NONE},
    {LN_RULE_FUNCTION_inverse, {ARRAY(3, 2, 0, 1)}, ARRAY(3, 1, 2, 0)},
    {LN_RULE_FUNCTION_inverse, {ARRAY(2, 1, 1)}, NONE},
    {LN_RULE_FUNCTION_autopad,
     {ARRAY(4, 1, 3, 5, 6), ARRAY(2, 3, 3), EMPTY, ARRAY(2, 1, 2), STRING("SAME_UPPER")},
     ARRAY(4, 1, 2, 1, 2)},
    {LN_RULE_FUNCTION_autopad,
     {ARRAY(3, 1, 3, 5), ARRAY(1, 2), EMPTY, EMPTY, STRING("SAME_LOWER")},
     ARRAY(2, 1, 0)},
    {LN_RULE_FUNCTION_autopad,
     {ARRAY(3, 1, 3, 5), ARRAY(1, 2), EMPTY, EMPTY, STRING("NOTSET")},
     NONE},
    {LN_RULE_FUNCTION_autopad,
     {ARRAY(3, 1, 3, 5), ARRAY(2, 2, 2), EMPTY, EMPTY, STRING("VALID")},
     NONE},
    {LN_RULE_FUNCTION_product, {ARRAY(3, 2, 3, -4)}, NUMBER(-24)},
    {LN_RULE_FUNCTION_product, {EMPTY}, NUMBER(1)},
    {LN_RULE_FUNCTION_term_axes, {STRING("bihd,bjhd->bhij"), NUMBER(0)}, ARRAY(4, 0, 2, 1, 3)},
    {LN_RULE_FUNCTION_term_axes, {STRING("bihd,bjhd->bhij"), NUMBER(1)}, ARRAY(4, 0, 2, 3, 1)},
    {LN_RULE_FUNCTION_term_axes, {STRING("bihd,bjhd->bhij"), NUMBER(2)}, ARRAY(4, 0, 1, 2, 3)},
    {LN_RULE_FUNCTION_term_axes, {STRING("bhij,bjhd->dihb"), NUMBER(2)}, ARRAY(4, 2, 3, 1, 0)},
    {LN_RULE_FUNCTION_term_axes, {STRING("dc Ba, edAc -> BaAe"), NUMBER(0)}, ARRAY(4, 2, 3, 0, 1)},
    {LN_RULE_FUNCTION_term_axes, {STRING("dc Ba, edAc -> BaAe"), NUMBER(1)}, ARRAY(4, 1, 3, 2, 0)},
    {LN_RULE_FUNCTION_term_axes, {STRING("abk,kc->bac"), NUMBER(0)}, ARRAY(3, 1, 0, 2)},
    {LN_RULE_FUNCTION_term_axes, {STRING("ak,kcb->abc"), NUMBER(1)}, ARRAY(3, 0, 2, 1)},
    {LN_RULE_FUNCTION_term_axes, {STRING("bthk,khd->btd"), NUMBER(1)}, ARRAY(3, 1, 0, 2)},
    {LN_RULE_FUNCTION_term_axes, {STRING("ij,jk->ik"), NUMBER(3)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("ij,jk"), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("ij->ij"), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("ij,jk,kl->il"), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("iij,jk->ik"), NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("...ij,jk->...ik"), NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("hij,jk->ik"), NUMBER(0)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("ij,jkh->ik"), NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_term_axes, {STRING("abcdefghi,i->abcdefgh"), NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_letters, {STRING("bihd,bjhd->bhij")}, ARRAY(4, 2, 1, 1, 1)},
    {LN_RULE_FUNCTION_letters, {STRING("abcd,cdefg->abefg")}, ARRAY(4, 0, 2, 3, 2)},
    {LN_RULE_FUNCTION_letters, {STRING("a,b->")}, ARRAY(4, 0, 0, 0, 0)},
    {LN_RULE_FUNCTION_letters, {STRING("ij,jk")}, NONE},
    {LN_RULE_FUNCTION_dtype, {TENSORS(1, "x")}, STRING("TL_FLOAT")},
    {LN_RULE_FUNCTION_dtype, {TENSORS(1, "nowhere")}, NONE},
    {LN_RULE_FUNCTION_dims, {TENSORS(1, "x")}, ARRAY(2, 2, 3)},
    {LN_RULE_FUNCTION_dims, {TENSORS(1, "nowhere")}, NONE},
    {LN_RULE_FUNCTION_dim, {TENSORS(1, "x"), NUMBER(1)}, NUMBER(3)},
    {LN_RULE_FUNCTION_dim, {TENSORS(1, "x"), NUMBER(2)}, NONE},
    {LN_RULE_FUNCTION_rank, {TENSORS(1, "x")}, NUMBER(2)},
    {LN_RULE_FUNCTION_rank, {TENSORS(2, "x", "x")}, NONE},
    {LN_RULE_FUNCTION_size, {TENSORS(1, "x")}, NUMBER(6)},
    {LN_RULE_FUNCTION_count, {TENSORS(2, "x", "w")}, NUMBER(2)},
    {LN_RULE_FUNCTION_total, {TENSORS(2, "x", "w"), NUMBER(1)}, NUMBER(6)},
    {LN_RULE_FUNCTION_total, {TENSORS(1, "x"), NUMBER(5)}, NONE},
    {LN_RULE_FUNCTION_offset, {TENSORS(2, "x", "w"), TENSORS(1, "w"), NUMBER(1)}, NUMBER(3)},
    {LN_RULE_FUNCTION_offset, {TENSORS(2, "x", "w"), TENSORS(1, "x"), NUMBER(1)}, NUMBER(0)},
    {LN_RULE_FUNCTION_offset, {TENSORS(1, "x"), TENSORS(1, "w"), NUMBER(1)}, NONE},
    {LN_RULE_FUNCTION_offset, {TENSORS(2, "x", "w"), TENSORS(1, "w"), NUMBER(5)}, NONE},
    {LN_RULE_FUNCTION_fill, {TENSORS(1, "x")}, NONE},
    {LN_RULE_FUNCTION_fill, {TENSORS(1, "w")}, NUMBER(0.5)},
    {LN_RULE_FUNCTION_values, {TENSORS(1, "w")}, ARRAY(6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)},
    {LN_RULE_FUNCTION_values, {TENSORS(1, "x")}, NONE},
    {LN_RULE_FUNCTION_values, {TENSORS(1, "nowhere")}, NONE},
    {LN_RULE_FUNCTION_values_or, {TENSORS(1, "x"), ARRAY(1, 7)}, ARRAY(1, 7)},
    {LN_RULE_FUNCTION_values_or, {TENSORS(0, ""), ARRAY(1, 7)}, ARRAY(1, 7)},
    {LN_RULE_FUNCTION_values_or,
     {TENSORS(1, "w"), ARRAY(1, 7)},
     ARRAY(6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)},
};

static bool is_equal(const ln_expr_value *a, const ln_expr_value *b)
{
    if (a->kind != b->kind || (a->kind == LN_RULE_NUMBER && a->number != b->number))
        return false;
    if (a->kind == LN_RULE_STRING)
        return ln_streq(a->string, b->string);
    for (size_t i = 0; i < b->count; i++)
        if (a->count != b->count || a->numbers[i] != b->numbers[i])
            return false;
    return a->count == b->count;
}

TEST(functions_have_the_values_they_should)
{
    CHECK_OK(fake_register());
    static const char *const lines[] = {"in -> x", "const -> w", NULL};
    ln_context *ctx = fake_model(lines);
    CHECK_NOT_NULL(ctx);
    const float elements[] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
    ln_tensor_table_find(ctx->tensor_table, "w")->known = elements;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double buffer[LN_RULE_MAX_ELEMENTS];
        ln_expr_value value;
        bool has_value = ln_function_call(ctx, cases[i].function, cases[i].args, buffer, &value);
        bool has_expected = cases[i].expected.kind != LN_RULE_BOOL;
        if (has_value != has_expected || (has_value && !is_equal(&value, &cases[i].expected)))
            fail_msg("case %zu: %s", i, ln_rule_function_name(cases[i].function));
    }
    ln_context_free(ctx);
}

TEST(every_function_has_a_case)
{
    for (int f = 0; f < LN_RULE_FUNCTION_COUNT; f++) {
        bool is_there = false;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            is_there = is_there || (int)cases[i].function == f;
        if (!is_there)
            fail_msg("no case of %s", ln_rule_function_name((ln_rule_function)f));
    }
}

TEST_LIST(functions_have_the_values_they_should, every_function_has_a_case)
