// SPDX-License-Identifier: Apache-2.0
// Rules on models of small operators: where they fire, what they leave, and that it ends.

#include "pass/rewrite.h"

#include <stdlib.h>
#include <time.h>

#include <lightnet/msg.h>

#include "pass/fake_ops.h"
#include "pass/op_args.h"
#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

#define CONV_RELU                                                                                  \
    "rule conv_relu [exact] r = relu(c) c = convolve(x, w | act=\"none\") where single_use(c)\n"   \
    "  => r = convolve(x, w | params(c), act=\"relu\")\n"
#define CONV_BN                                                                                    \
    "rule conv_bn [rounds] y = bn(c, s | e=v) c = convolve(x, w | act=\"none\")\n"                 \
    "  where single_use(c), static(w), static(s)\n"                                                \
    "  => fold = foldw(w, s | e=v) y = convolve(x, fold | params(c))\n"
#define RELU_RELU "rule relu_relu [exact] b = relu(a) a = relu(x) => b = relu(x)\n"

typedef const char *const *lines;
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static ln_rule_set *parsed;

static const ln_rule_set *parse(const char *text)
{
    ln_rule_set_destroy(parsed);
    CHECK_OK(ln_rule_set_parse(text, strlen(text), "test.rules", &parsed));
    return parsed;
}

// Applies `rules` and checks the result; the text of the model is the test's to look at.
static size_t rewrite(ln_context *ctx, const char *rules, ln_status expected)
{
    ln_compilation compilation = {.ctx = ctx};
    const ln_rule_set *set = parse(rules);
    ln_status status = ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND);
    if (status != expected)
        fail_msg("%s: %s", ln_status_name(status), ln_error_message());
    if (!ln_context_check(ctx))
        fail_msg("%s", ln_error_message());
    ln_hash_free(compilation.left_out);
    ln_rule_set_destroy(parsed);
    parsed = NULL;
    return compilation.firing_count;
}

static void check_rewrite(const char *why, lines model, const char *rules, const char *expected)
{
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(model);
    CHECK_NOT_NULL(ctx);
    rewrite(ctx, rules, LN_OK);
    if (strcmp(fake_print(ctx), expected) != 0)
        fail_msg("%s: the model is\n  %s instead of\n  %s", why, fake_print(ctx), expected);
    ln_context_free(ctx);
}

// ---- Where rules fire ----

TEST(a_pattern_is_matched_in_the_data_flow_not_in_the_list)
{
    check_rewrite("neighbours", LINES("in -> x", "const -> w", "convolve x w -> c", "relu c -> y"),
                  CONV_RELU, "in()->x; const()->w; convolve(x,w|act=relu)->y; ");
    check_rewrite("apart",
                  LINES("in -> x", "const -> w", "convolve x w -> c", "neg x -> n", "relu c -> y",
                        "neg y -> z"),
                  CONV_RELU,
                  "in()->x; const()->w; neg(x)->n; convolve(x,w|act=relu)->y; neg(y)->z; ");
    check_rewrite("two at once",
                  LINES("in -> x", "const -> w", "convolve x w -> c", "convolve x w -> d",
                        "relu d -> y", "relu c -> z"),
                  CONV_RELU,
                  "in()->x; const()->w; convolve(x,w|act=relu)->y; convolve(x,w|act=relu)->z; ");
}

TEST(a_rule_needs_its_conditions)
{
    check_rewrite("read twice",
                  LINES("in -> x", "const -> w", "convolve x w -> c", "relu c -> y", "neg c -> z"),
                  CONV_RELU, "in()->x; const()->w; convolve(x,w)->c; relu(c)->y; neg(c)->z; ");
    check_rewrite("not static",
                  LINES("in -> x", "in -> w", "const -> s", "convolve x w -> c", "bn c s -> y"),
                  CONV_BN, "in()->x; in()->w; const()->s; convolve(x,w)->c; bn(c,s)->y; ");
    check_rewrite("wrong shape of the graph", LINES("in -> x", "relu x -> y"), CONV_RELU,
                  "in()->x; relu(x)->y; ");
}

TEST(an_output_needed_elsewhere_blocks_a_rule)
{
    check_rewrite("without the condition",
                  LINES("in -> x", "relu x -> a", "relu a -> b", "neg a -> c"), RELU_RELU,
                  "in()->x; relu(x)->a; relu(a)->b; neg(a)->c; ");
    check_rewrite("an output of the model", LINES("in -> x", "split x -> lo hi", "relu lo -> y"),
                  "rule r [exact] y = relu(a) a = split(x) => y = neg(x)",
                  "in()->x; split(x)->lo,hi; relu(lo)->y; ");
    check_rewrite("both outputs go",
                  LINES("in -> x", "split x -> lo hi", "add lo hi -> y", "neg y -> z"),
                  "rule r [exact] y = add(a, b) a, b = split(x) => y = add(x, x)",
                  "in()->x; add(x,x)->y; neg(y)->z; ");
}

TEST(a_name_stands_for_one_tensor)
{
    const char *rule = "rule r [exact] y = add(a, a) a = neg(x) => y = relu(x)";
    check_rewrite("the same", LINES("in -> x", "neg x -> n", "add n n -> y"), rule,
                  "in()->x; relu(x)->y; ");
    check_rewrite("two", LINES("in -> x", "neg x -> n", "neg x -> m", "add n m -> y"), rule,
                  "in()->x; neg(x)->n; neg(x)->m; add(n,m)->y; ");
    check_rewrite("a graph, not a tree",
                  LINES("in -> x", "neg x -> n", "relu n -> r", "add r n -> y"),
                  "rule r [exact] y = add(b, a) b = relu(a) a = neg(x) => y = relu(x)",
                  "in()->x; relu(x)->y; ");
    check_rewrite("of inputs by name", LINES("in -> x", "in -> y", "neg x -> n", "add y n -> z"),
                  "rule r [exact] z = add(b=n, a=y) n = neg(x) => z = add(b=y, a=x)",
                  "in()->x; in()->y; add(y,x)->z; ");
}

TEST(variadic_inputs_are_counted_from_one)
{
    const char *rule = "rule r [exact] y = cat(a, n) n = neg(x) => y = cat(x, a, x)";
    check_rewrite("as many", LINES("in -> x", "in -> a", "neg x -> n", "cat a n -> y"), rule,
                  "in()->x; in()->a; cat(x,a,x)->y; ");
    check_rewrite("more", LINES("in -> x", "in -> a", "neg x -> n", "cat a n x -> y"), rule,
                  "in()->x; in()->a; neg(x)->n; cat(a,n,x)->y; ");
}

TEST(a_rule_that_saves_no_run_does_not_fire)
{
    // Both operators are static already: nothing would be saved, and nothing would end.
    check_rewrite("static", LINES("const -> w", "const -> s", "foldw w s -> f", "foldw f s -> g"),
                  "rule r [exact] g = foldw(f, s) f = foldw(w, s) => g = relu(w)",
                  "const()->w; const()->s; foldw(w,s)->f; foldw(f,s)->g; ");
}

// ---- Parameters ----

TEST(an_absent_parameter_counts_as_its_default)
{
    check_rewrite("said",
                  LINES("in -> x", "const -> w", "convolve x w -> c | act=none", "relu c -> y"),
                  CONV_RELU, "in()->x; const()->w; convolve(x,w|act=relu)->y; ");
    check_rewrite("another",
                  LINES("in -> x", "const -> w", "convolve x w -> c | act=relu", "relu c -> y"),
                  CONV_RELU, "in()->x; const()->w; convolve(x,w|act=relu)->c; relu(c)->y; ");
    check_rewrite("a number", LINES("in -> x", "const -> w", "convolve x w -> c", "relu c -> y"),
                  "rule r [exact] r = relu(c) c = convolve(x, w | k=3) => r = convolve(x, w | k=4)",
                  "in()->x; const()->w; convolve(x,w|k=4)->y; ");
    check_rewrite(
        "asked for", LINES("in -> x", "const -> w", "convolve x w -> c", "relu c -> y"),
        "rule r [exact] r = relu(c) c = convolve(x, w | k=absent) => r = convolve(x, w | k=4)",
        "in()->x; const()->w; convolve(x,w|k=4)->y; ");
    check_rewrite(
        "asked for in vain",
        LINES("in -> x", "const -> w", "convolve x w -> c | k=3", "relu c -> y"),
        "rule r [exact] r = relu(c) c = convolve(x, w | k=absent) => r = convolve(x, w | k=4)",
        "in()->x; const()->w; convolve(x,w|k=3)->c; relu(c)->y; ");
    check_rewrite("a bound default", LINES("in -> x", "const -> w", "bn x w -> b", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w | e=v) => r = bn(x, w | e=v)",
                  "in()->x; const()->w; bn(x,w)->y; ");
}

TEST(parameters_are_copied_and_overridden)
{
    check_rewrite("copied",
                  LINES("in -> x", "const -> w", "convolve x w -> c | k=5", "relu c -> y"),
                  CONV_RELU, "in()->x; const()->w; convolve(x,w|k=5,act=relu)->y; ");
    check_rewrite("overridden",
                  LINES("in -> x", "const -> w", "convolve x w -> c | k=5", "relu c -> y"),
                  "rule r [exact] r = relu(c) c = convolve(x, w | any(k) \"it is 1 anyway\") "
                  "=> r = convolve(x, w | k=1, params(c))",
                  "in()->x; const()->w; convolve(x,w|k=1)->y; ");
    check_rewrite("the same value twice",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "bn a w -> y | e=2"),
                  "rule r [exact] y = bn(a, w | e=v) a = bn(x, w | e=v) => y = bn(x, w | e=v)",
                  "in()->x; const()->w; bn(x,w|e=2)->y; ");
    check_rewrite("two values",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "bn a w -> y | e=3"),
                  "rule r [exact] y = bn(a, w | e=v) a = bn(x, w | e=v) => y = bn(x, w | e=v)",
                  "in()->x; const()->w; bn(x,w|e=2)->a; bn(a,w|e=3)->y; ");
}

// bn copies e, convolve has no parameter e.
TEST(a_parameter_that_a_pattern_does_not_name_has_its_default)
{
    check_rewrite("another value",
                  LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = bn(x, w)",
                  "in()->x; const()->w; bn(x,w|e=2)->b; relu(b)->y; ");
    check_rewrite("none", LINES("in -> x", "const -> w", "bn x w -> b", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = bn(x, w)",
                  "in()->x; const()->w; bn(x,w)->y; ");
    check_rewrite("the default",
                  LINES("in -> x", "const -> w", "bn x w -> b | e=0.5", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = bn(x, w)",
                  "in()->x; const()->w; bn(x,w)->y; ");
    check_rewrite("copied", LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = bn(x, w | params(b))",
                  "in()->x; const()->w; bn(x,w|e=2)->y; ");
    check_rewrite("copied, and set without a look at it",
                  LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = bn(x, w | params(b), e=3)",
                  "in()->x; const()->w; bn(x,w|e=2)->b; relu(b)->y; ");
    check_rewrite("copied to a type that lacks it",
                  LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w) => r = convolve(x, w | params(b))",
                  "in()->x; const()->w; bn(x,w|e=2)->b; relu(b)->y; ");
    check_rewrite("of an operator that stays",
                  LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y", "neg y -> z"),
                  "rule r [exact] y = relu(b) b = bn(x, w) => y = b",
                  "in()->x; const()->w; bn(x,w|e=2)->b; relu(b)->y; neg(y)->z; ");
    check_rewrite("waived", LINES("in -> x", "const -> w", "bn x w -> b | e=2", "relu b -> y"),
                  "rule r [exact] r = relu(b) b = bn(x, w | any(e) \"for a test\") => r = bn(x, w)",
                  "in()->x; const()->w; bn(x,w)->y; ");
}

// ---- What rules leave ----

TEST(new_operators_come_after_what_they_read_and_before_their_readers)
{
    check_rewrite("folding",
                  LINES("in -> x", "const -> w", "convolve x w -> c", "neg x -> n", "const -> s",
                        "bn c s -> y", "relu y -> z"),
                  CONV_BN,
                  "in()->x; const()->w; neg(x)->n; const()->s; foldw(w,s)->y_fold; "
                  "convolve(x,y_fold)->y; relu(y)->z; ");
    check_rewrite("rules build on each other",
                  LINES("in -> x", "const -> w", "const -> s", "convolve x w -> c", "bn c s -> n",
                        "relu n -> y"),
                  CONV_RELU CONV_BN,
                  "in()->x; const()->w; const()->s; foldw(w,s)->n_fold; "
                  "convolve(x,n_fold|act=relu)->y; ");
}

TEST(names_of_the_model_stay_and_new_ones_are_free)
{
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(LINES("in -> x", "const -> w", "const -> s", "neg x -> y_fold",
                                       "convolve x w -> c", "bn c s -> y"));
    rewrite(ctx, CONV_BN, LN_OK);
    CHECK_STR_EQ(fake_print(ctx), "in()->x; const()->w; const()->s; neg(x)->y_fold; "
                                  "foldw(w,s)->y_fold2; convolve(x,y_fold2)->y; ");
    const ln_op *convolve = ln_op_table_find(ctx->op_table, "op_y");
    CHECK_NOT_NULL(convolve);
    CHECK_STR_EQ(convolve->op_arg->optype, "convolve");
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "op_y_fold2"));
    CHECK_NULL(ln_op_table_find(ctx->op_table, "op_c"));
    CHECK_NULL(ln_tensor_table_find(ctx->tensor_table, "c"));
    ln_context_free(ctx);
}

TEST(an_operator_that_the_result_reads_from_stays)
{
    check_rewrite("kept",
                  LINES("in -> x", "neg x -> a", "relu a -> b", "relu b -> c", "neg a -> d"),
                  "rule r [exact] c = relu(b) b = relu(a) a = neg(x) => c = relu(a)",
                  "in()->x; neg(x)->a; relu(a)->c; neg(a)->d; ");
}

TEST(several_results_may_make_several_outputs_of_the_root)
{
    check_rewrite("split", LINES("in -> x", "neg x -> n", "split n -> lo hi", "add lo hi -> y"),
                  "rule r [exact] a, b = split(n) n = neg(x) => b, a = split(x)",
                  "in()->x; split(x)->hi,lo; add(lo,hi)->y; ");
}

// ---- One tensor for another ----

#define NEG_NEG "rule neg_neg [exact] y = neg(a) a = neg(x) => y = x\n"

TEST(readers_read_what_a_tensor_was_made_equal_to)
{
    check_rewrite("one reader", LINES("in -> x", "neg x -> a", "neg a -> y", "relu y -> z"),
                  NEG_NEG, "in()->x; relu(x)->z; ");
    check_rewrite("several, one of them twice",
                  LINES("in -> x", "neg x -> a", "neg a -> y", "add y y -> b", "relu y -> c"),
                  NEG_NEG, "in()->x; add(x,x)->b; relu(x)->c; ");
    check_rewrite(
        "four",
        LINES("in -> x", "neg x -> a", "neg a -> b", "neg b -> c", "neg c -> y", "relu y -> z"),
        NEG_NEG, "in()->x; relu(x)->z; ");
    check_rewrite("the first is read elsewhere",
                  LINES("in -> x", "neg x -> a", "neg a -> y", "relu y -> z", "relu a -> w"),
                  "rule r [exact] y = neg(a) => y = a\n" // wrong, but it shows what is kept
                  ,
                  "in()->x; relu(x)->z; relu(x)->w; ");
}

// What differs between the tensors y and x of a model of two `neg` after each other.
typedef enum difference {
    SAME,
    TYPE,
    RANK,
    DIMENSION,
    MEMORY,
    CONSTANT,
    DIFFERENCE_COUNT
} difference;

static void make_different(ln_context *ctx, difference how)
{
    ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    switch (how) {
    case TYPE: y->tensor->dtype = TL_INT32; break;
    case RANK: y->tensor->ndim--; break;
    case DIMENSION: y->tensor->dims[0]++; break;
    case MEMORY: y->mtype = LN_MEM_CUDA; break;
    case CONSTANT: y->isstatic = 1; break;
    default: break;
    }
}

TEST(readers_of_another_kind_of_tensor_keep_it)
{
    CHECK_OK(fake_register());
    for (difference how = SAME; how < DIFFERENCE_COUNT; how++) {
        ln_context *ctx = fake_model(LINES("in -> x", "neg x -> a", "neg a -> y", "relu y -> z"));
        CHECK_NOT_NULL(ctx);
        make_different(ctx, how);
        ln_compilation compilation = {.ctx = ctx};
        const ln_rule_set *set = parse(NEG_NEG);
        CHECK_OK(ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND));
        const char *kept = "in()->x; neg(x)->a; neg(a)->y; relu(y)->z; ";
        const char *expected = how == SAME ? "in()->x; relu(x)->z; " : kept;
        if (strcmp(fake_print(ctx), expected) != 0)
            fail_msg("difference %d: the model is %s", (int)how, fake_print(ctx));
        ln_context_free(ctx);
    }
}

TEST(an_output_of_the_model_keeps_its_name)
{
    check_rewrite("a forward stays", LINES("in -> x", "neg x -> a", "neg a -> y"), NEG_NEG,
                  "in()->x; forward(x)->y; ");
    check_rewrite("and is nothing to remove", LINES("in -> x", "forward x -> y"),
                  "rule r [exact] y = forward(x) => y = x\n", "in()->x; forward(x)->y; ");
    check_rewrite("unless it is read", LINES("in -> x", "forward x -> y", "neg y -> z"),
                  "rule r [exact] y = forward(x) => y = x\n", "in()->x; neg(x)->z; ");
    check_rewrite("heavier than a forward", LINES("in -> x", "relu x -> y"),
                  "rule r [exact] y = relu(x) => y = x\n", "in()->x; forward(x)->y; ");
}

// ---- What nobody reads any more ----

#define FIRST "rule first [exact] y = add(a, b) where not static(a), static(b) => y = a\n"

TEST(what_nobody_reads_any_more_goes)
{
    check_rewrite("a constant", LINES("in -> x", "const -> w", "add x w -> y", "neg y -> z"), FIRST,
                  "in()->x; neg(x)->z; ");
    check_rewrite("constants of constants",
                  LINES("in -> x", "const -> w", "const -> s", "foldw w s -> f", "add x f -> y",
                        "neg y -> z"),
                  FIRST, "in()->x; neg(x)->z; ");
    check_rewrite("read elsewhere",
                  LINES("in -> x", "const -> w", "add x w -> y", "neg y -> z", "neg w -> v"), FIRST,
                  "in()->x; const()->w; neg(x)->z; neg(w)->v; ");
    check_rewrite("read by the result",
                  LINES("in -> x", "const -> w", "add x w -> a", "add a w -> y", "neg y -> z"),
                  "rule r [exact] y = add(a, w) a = add(x, w) => y = add(x, w)\n",
                  "in()->x; const()->w; add(x,w)->y; neg(y)->z; ");
}

TEST(no_tensor_becomes_an_output_by_a_firing)
{
    const char *rule = "rule r [exact] y = convolve(a, b) => y = a\n";
    check_rewrite("a whole branch goes",
                  LINES("in -> x", "neg x -> b", "relu b -> c", "relu x -> a", "convolve a c -> y",
                        "neg y -> z"),
                  rule, "in()->x; relu(x)->a; neg(a)->z; ");
    check_rewrite("an input does not",
                  LINES("in -> x", "input -> b", "convolve x b -> y", "neg y -> z"), rule,
                  "in()->x; input()->b; convolve(x,b)->y; neg(y)->z; ");
    check_rewrite("an operator with an output of the model does not",
                  LINES("in -> x", "split x -> b hi", "convolve x b -> y", "neg y -> z"), rule,
                  "in()->x; split(x)->b,hi; convolve(x,b)->y; neg(y)->z; ");
    check_rewrite("an operator with another reader does not",
                  LINES("in -> x", "split x -> b hi", "convolve x b -> y", "add y hi -> z"), rule,
                  "in()->x; split(x)->b,hi; convolve(x,b)->y; add(y,hi)->z; ");
}

// ---- Choices ----

TEST(operands_that_may_change_places_are_tried_both_ways)
{
    check_rewrite("as written", LINES("in -> x", "const -> w", "add x w -> y", "neg y -> z"), FIRST,
                  "in()->x; neg(x)->z; ");
    check_rewrite("the other way", LINES("in -> x", "const -> w", "add w x -> y", "neg y -> z"),
                  FIRST, "in()->x; neg(x)->z; ");
    check_rewrite("neither", LINES("in -> x", "in -> w", "add w x -> y", "neg y -> z"), FIRST,
                  "in()->x; in()->w; add(w,x)->y; neg(y)->z; ");
    check_rewrite("deep in a pattern",
                  LINES("in -> x", "const -> w", "neg x -> n", "add w n -> a", "relu a -> y"),
                  "rule r [exact] y = relu(a) a = add(n, w) n = neg(x) => y = add(x, w)\n",
                  "in()->x; const()->w; add(x,w)->y; ");
    check_rewrite(
        "others do not", LINES("in -> x", "const -> w", "convolve w x -> c", "relu c -> y"),
        "rule r [exact] y = relu(c) c = convolve(x, w) where static(w) => y = convolve(x, w)\n",
        "in()->x; const()->w; convolve(w,x)->c; relu(c)->y; ");
}

#define CAT_CAT                                                                                    \
    "rule cat_cat [exact] y = cat(a..., c, b...) c = cat(d...) => y = cat(a..., d..., b...)\n"

TEST(some_inputs_are_named_together)
{
    check_rewrite("in the middle", LINES("in -> x", "in -> u", "cat x u -> c", "cat x c u -> y"),
                  CAT_CAT, "in()->x; in()->u; cat(x,x,u,u)->y; ");
    check_rewrite(
        "first, last, twice, nested",
        LINES("in -> x", "in -> u", "cat x u -> c", "cat u c -> e", "cat u -> f", "cat e x f -> y"),
        CAT_CAT, "in()->x; in()->u; cat(u,x,u,x,u)->y; ");
    check_rewrite("needed elsewhere",
                  LINES("in -> x", "cat x x -> c", "cat c x -> y", "neg c -> z"), CAT_CAT,
                  "in()->x; cat(x,x)->c; cat(c,x)->y; neg(c)->z; ");
    check_rewrite("a prefix", LINES("in -> x", "in -> u", "neg x -> n", "cat n u x -> y"),
                  "rule r [exact] y = cat(n, a...) n = neg(x) => y = cat(x, a...)\n",
                  "in()->x; in()->u; cat(x,u,x)->y; ");
    check_rewrite("none is a number too", LINES("in -> x", "neg x -> n", "cat n -> y"),
                  "rule r [exact] y = cat(n, a...) n = neg(x) => y = cat(x, a...)\n",
                  "in()->x; cat(x)->y; ");
    check_rewrite("the same ones twice",
                  LINES("in -> x", "in -> u", "cat x u -> a", "cat x u -> b", "add a b -> y"),
                  "rule r [exact] y = add(a, b) a = cat(xs...) b = cat(xs...) "
                  "where count(xs) == 2 => c = cat(xs...) y = add(c, c)\n",
                  "in()->x; in()->u; cat(x,u)->y_c; add(y_c,y_c)->y; ");
    check_rewrite("other ones",
                  LINES("in -> x", "in -> u", "cat x u -> a", "cat u x -> b", "add a b -> y"),
                  "rule r [exact] y = add(a, b) a = cat(xs...) b = cat(xs...) "
                  "=> c = cat(xs...) y = add(c, c)\n",
                  "in()->x; in()->u; cat(x,u)->a; cat(u,x)->b; add(a,b)->y; ");
    check_rewrite("outputs", LINES("in -> x", "neg x -> n", "many n -> a b c", "cat a b c -> y"),
                  "rule r [exact] a, r... = many(n) n = neg(x) => a, r... = many(x)\n",
                  "in()->x; many(x)->a,b,c; cat(a,b,c)->y; ");
}

// Each is more than a rule has statements.
#define MANY_OUTS "a b c d e f g h i j k l m n o p q r s t"

TEST(each_of_several_outputs_gets_an_operator)
{
    const char *rule = "rule r [exact] ys... = many(n) => each y of ys... = reshape(n)\n";
    check_rewrite("three",
                  LINES("in -> x", "neg x -> n", "many n -> a b c", "cat a b c -> y", "neg n -> z"),
                  rule,
                  "in()->x; neg(x)->n; reshape(n)->a; reshape(n)->b; reshape(n)->c; cat(a,b,c)->y; "
                  "neg(n)->z; ");
    check_rewrite("one", LINES("in -> x", "many x -> a"), rule, "in()->x; reshape(x)->a; ");
    check_rewrite("after others", LINES("in -> x", "many x -> a b c", "cat a b c -> y"),
                  "rule r [exact] first, ys... = many(n)\n"
                  "  => first = reshape(n) each each of ys... = reshape(first)\n",
                  "in()->x; reshape(x)->a; reshape(a)->b; reshape(a)->c; cat(a,b,c)->y; ");
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(LINES("in -> x0", "many x0 -> " MANY_OUTS, "cat a t -> y"));
    CHECK_NOT_NULL(ctx);
    CHECK_EQ(rewrite(ctx, rule, LN_OK), 1);
    CHECK_EQ(ln_list_length(ctx->ops), 22);
    CHECK_EQ(ln_context_output_count(ctx), 19);
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "op_a"));
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "op_a_y"));
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "op_a_y19"));
    ln_context_free(ctx);
}

TEST(an_input_may_be_absent)
{
    const char *rule = "rule r [exact] y = opt(n, b?) n = neg(x) => y = opt(x, b?)\n";
    check_rewrite("present", LINES("in -> x", "in -> b", "neg x -> n", "opt n b -> y"), rule,
                  "in()->x; in()->b; opt(x,b)->y; ");
    check_rewrite("absent", LINES("in -> x", "neg x -> n", "opt n -> y"), rule,
                  "in()->x; opt(x)->y; ");
    check_rewrite("must be present", LINES("in -> x", "neg x -> n", "opt n -> y"),
                  "rule r [exact] y = opt(n, b?) n = neg(x) where present(b) => y = opt(x, b?)\n",
                  "in()->x; neg(x)->n; opt(n)->y; ");
    check_rewrite("must be absent", LINES("in -> x", "in -> b", "neg x -> n", "opt n b -> y"),
                  "rule r [exact] y = opt(n) n = neg(x) => y = opt(x)\n",
                  "in()->x; in()->b; neg(x)->n; opt(n,b)->y; ");
}

TEST(what_an_absent_tensor_would_become_is_left_out)
{
#define NEGATED "rule r [exact] y = opt(l, b?) l = neg(m) m = neg(n) n = neg(x)\n"
    const char *rule = NEGATED "  => c? = neg(b?) s = cat(c?, x) y = relu(s)\n";
    check_rewrite(
        "present",
        LINES("in -> x", "in -> b", "neg x -> n", "neg n -> m", "neg m -> l", "opt l b -> y"), rule,
        "in()->x; in()->b; neg(b)->y_c; cat(y_c,x)->y_s; relu(y_s)->y; ");
    check_rewrite("absent",
                  LINES("in -> x", "neg x -> n", "neg n -> m", "neg m -> l", "opt l -> y"), rule,
                  "in()->x; cat(x)->y_s; relu(y_s)->y; ");
    check_rewrite("and what only that reads",
                  LINES("in -> x", "neg x -> n", "neg n -> m", "neg m -> l", "opt l -> y"),
                  NEGATED "  => u? = neg(x) c? = add(b?, u?) y = cat(x, c?)\n",
                  "in()->x; cat(x)->y; ");
    check_rewrite("an output",
                  LINES("in -> x", "neg x -> n", "neg n -> m", "split m -> a", "relu a -> z"),
                  "rule r [exact] a, b? = split(m) m = neg(n) n = neg(x)\n"
                  "  => a = relu(x) b? = neg(x)\n",
                  "in()->x; relu(x)->a; relu(a)->z; ");
#undef NEGATED
}

// ---- Wide rules: several roots ----

TEST(a_result_makes_outputs_of_any_operator_it_replaces)
{
    check_rewrite("an inner output stays needed",
                  LINES("in -> x", "neg x -> a", "neg a -> y", "relu a -> b", "relu y -> c"),
                  "rule r [exact] y = neg(a) a = neg(x) => a = neg(x) y = x\n",
                  "in()->x; neg(x)->a; relu(a)->b; relu(x)->c; ");
    check_rewrite("two operators become one",
                  LINES("in -> x", "neg x -> a", "relu a -> b", "neg x -> c", "relu c -> d"),
                  "rule r [exact] a = neg(x) c = neg(x) => a = neg(x) c = a\n",
                  "in()->x; neg(x)->a; relu(a)->b; relu(a)->d; ");
    check_rewrite("one with two outputs",
                  LINES("in -> x", "neg x -> a", "relu a -> b", "relu x -> c", "neg c -> d"),
                  "rule r [exact] a = neg(x) c = relu(x) => a, c = split(x)\n",
                  "in()->x; split(x)->a,c; relu(a)->b; neg(c)->d; ");
    check_rewrite("found from what it reads, and what that makes",
                  LINES("in -> x", "relu x -> a", "neg a -> b", "add a b -> c", "neg c -> d"),
                  "rule r [exact] a = relu(x) b = neg(a) c = add(a, b) => c = relu(x)\n",
                  "in()->x; relu(x)->c; neg(c)->d; ");
}

TEST(a_result_never_reads_what_depends_on_it)
{
    check_rewrite("a cycle through others",
                  LINES("in -> x", "neg x -> a", "relu a -> b", "add b x -> w", "convolve x w -> c",
                        "relu c -> d"),
                  "rule r [exact] a = neg(x) c = convolve(x, w) => a, c = split(w)\n",
                  "in()->x; neg(x)->a; relu(a)->b; add(b,x)->w; convolve(x,w)->c; relu(c)->d; ");
    check_rewrite("others move before and after",
                  LINES("in -> x", "neg x -> a", "relu a -> b", "in -> w", "convolve x w -> c",
                        "relu c -> d"),
                  "rule r [exact] a = neg(x) c = convolve(x, w) => a, c = split(w)\n",
                  "in()->w; split(w)->a,c; relu(a)->b; relu(c)->d; ");
}

TEST(constants_before_and_inside_a_window_go_when_unread)
{
    check_rewrite("both",
                  LINES("in -> x", "const -> k", "add x k -> a", "const -> l", "relu a -> b",
                        "add x l -> c", "relu c -> d"),
                  "rule r [exact] a = add(x, k) c = add(x, l) where static(k), static(l) "
                  "=> a = relu(x) c = a\n",
                  "in()->x; relu(x)->a; relu(a)->b; relu(a)->d; ");
}

// ---- Less in other ways than number ----

#define SINK "rule sink [exact] y = relu(t) t = transpose(x) => u = relu(x) y = transpose(u)\n"

TEST(rules_may_lessen_weight_or_sink)
{
    check_rewrite("lighter", LINES("in -> x", "transpose x -> a", "neg a -> y"),
                  "rule r [exact] y = transpose(x) => y = reshape(x)\n",
                  "in()->x; reshape(x)->a; neg(a)->y; ");
    check_rewrite("views are no more work", LINES("in -> x", "transpose x -> a", "neg a -> y"),
                  "rule r [exact] y = transpose(x) => a = reshape(x) y = reshape(a)\n",
                  "in()->x; reshape(x)->a_a; reshape(a_a)->a; neg(a)->y; ");
    check_rewrite("sinks", LINES("in -> x", "transpose x -> a", "relu a -> b", "relu b -> y"), SINK,
                  "in()->x; relu(x)->b_u; relu(b_u)->y_u; transpose(y_u)->y; ");
    check_rewrite(
        "two meet",
        LINES("in -> x", "transpose x -> a", "relu a -> b", "transpose b -> y", "neg y -> z"),
        SINK "rule two [exact] y = transpose(a) a = transpose(x) => y = x\n",
        "in()->x; relu(x)->b_u; neg(b_u)->z; ");
    check_rewrite("needed as it is",
                  LINES("in -> x", "transpose x -> a", "relu a -> y", "neg a -> z"), SINK,
                  "in()->x; transpose(x)->a; relu(a)->y; neg(a)->z; ");
}

// ---- Computed parameters ----

TEST(parameters_are_computed)
{
    check_rewrite("arithmetic",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "bn a w -> y | e=3"),
                  "rule r [rounds] y = bn(a, w | e=p) a = bn(x, w | e=q)\n"
                  "  => y = bn(x, w | e=p + 2 * q - -1 / (p - q))\n",
                  "in()->x; const()->w; bn(x,w|e=8)->y; ");
    check_rewrite(
        "facts about tensors", LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
        "rule r [exact] y = relu(a) a = bn(x, w | any(e) \"it is computed\")\n"
        "  => y = bn(x, w | e=sum(dims(x)) + dim(x, 1) * rank(x) + size(x) + dims(x)[0])\n",
        "in()->x; const()->w; bn(x,w|e=19)->y; ");
    check_rewrite("one of several conditions holds",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
                  "rule r [exact] y = relu(a) a = bn(x, w | e=q)\n"
                  "  where q == 1 or q == 2, q == 2 or q == 3, q == 9 or q == 8 or q == 2\n"
                  "  => y = bn(x, w)\n",
                  "in()->x; const()->w; bn(x,w)->y; ");
    check_rewrite("none of several conditions holds",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
                  "rule r [exact] y = relu(a) a = bn(x, w | e=q)\n"
                  "  where q == 2, q == 1 or q == 3 => y = bn(x, w)\n",
                  "in()->x; const()->w; bn(x,w|e=2)->a; relu(a)->y; ");
    check_rewrite(
        "compared", LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
        "rule r [exact] y = relu(a) a = bn(x, w | e=q) where q == 2, q < 3, q <= 2, q > 1, "
        "q >= 2, q != 3, rank(x) == 2, rank(x, 2), [1, q] == [1, 2], not q == 1\n"
        "  => y = bn(x, w)\n",
        "in()->x; const()->w; bn(x,w)->y; ");
    check_rewrite("without a value the rule does not fire",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
                  "rule r [exact] y = relu(a) a = bn(x, w | e=q) => y = bn(x, w | e=1 / (q - 2))\n"
                  "rule s [exact] y = relu(a) a = bn(x, w) => y = bn(x, w | e=dims(x)[2])\n",
                  "in()->x; const()->w; bn(x,w|e=2)->a; relu(a)->y; ");
    check_rewrite("nor does the opposite of what has none hold",
                  LINES("in -> x", "const -> w", "bn x w -> a | e=2", "relu a -> y"),
                  "rule r [exact] y = relu(a) a = bn(x, w) where not dims(x)[2] == 1\n"
                  "  => y = bn(x, w)\n",
                  "in()->x; const()->w; bn(x,w|e=2)->a; relu(a)->y; ");
}

TEST(stages_are_apart)
{
    check_rewrite("the other stage is not tried", LINES("in -> x", "relu x -> a", "relu a -> y"),
                  "after expand\n" RELU_RELU, "in()->x; relu(x)->a; relu(a)->y; ");
    check_rewrite("back again", LINES("in -> x", "relu x -> a", "relu a -> y"),
                  "after expand\nbefore expand\n" RELU_RELU, "in()->x; relu(x)->y; ");
}

// ---- Failures ----

#define REFUSED "rule r [exact] b = neg(a) a = neg(x) => b = refuse(x)\n"

TEST(a_result_that_its_operator_refuses_is_no_match)
{
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(LINES("in -> x", "neg x -> a", "neg a -> b", "relu b -> y"));
    char before[512];
    snprintf(before, sizeof before, "%s", fake_print(ctx));
    fake_refusal = LN_UNSUPPORTED;
    CHECK_EQ(rewrite(ctx, REFUSED, LN_OK), 1);
    CHECK_STR_EQ(ln_error_message(), "");
    CHECK_STR_EQ(fake_print(ctx), before);
    fake_refusal = LN_INVALID;
    CHECK_EQ(rewrite(ctx, REFUSED, LN_OK), 1);
    CHECK_STR_EQ(fake_print(ctx), before);
    // The next rule for the operator has its turn.
    CHECK_EQ(rewrite(ctx, REFUSED "rule s [exact] b = neg(a) a = neg(x) => b = relu(x)\n" RELU_RELU,
                     LN_OK),
             3);
    CHECK_STR_EQ(fake_print(ctx), "in()->x; relu(x)->y; ");
    ln_context_free(ctx);
}

TEST(a_failure_that_is_no_refusal_ends_and_leaves_the_model_as_before)
{
    static const ln_status ends[] = {LN_NO_MEMORY, LN_LIMIT,   LN_INTERNAL,
                                     LN_CANCELLED, LN_TIMEOUT, LN_STATE};
    CHECK_OK(fake_register());
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        ln_context *ctx = fake_model(LINES("in -> x", "neg x -> a", "neg a -> b", "relu b -> y"));
        char before[512];
        snprintf(before, sizeof before, "%s", fake_print(ctx));
        fake_refusal = ends[i];
        CHECK_EQ(rewrite(ctx, REFUSED, ends[i]), 0);
        CHECK_MESSAGE("rule 'r' at 'op_b'");
        CHECK_STR_EQ(fake_print(ctx), before);
        ln_context_free(ctx);
    }
    fake_refusal = LN_UNSUPPORTED;
}

static const struct {
    const char *why;
    const char *rules;
    const char *message;
} unfit[] = {
    {"type", "rule r [exact] b = nag(a)\n a = neg(x) => b = neg(x)",
     "test.rules:1: rule 'r': there is no operator type 'nag'"},
    {"second line", "rule r [exact] b = neg(a)\n a = nag(x) => b = neg(x)", "test.rules:2:"},
    {"inputs", "rule r [exact] b = neg(a, z) a = neg(x) => b = neg(x)", "neg has 1 inputs, not 2"},
    {"outputs", "rule r [exact] b, c = neg(a) a = neg(x) => b, c = neg(x)",
     "neg has 1 outputs, not 2"},
    {"input's name", "rule r [exact] b = neg(z=a) a = neg(x) => b = neg(x)",
     "neg has no input 'z'"},
    {"input left out", "rule r [exact] b = add(a) a = neg(x) => b = neg(x)",
     "add always has an input 'b'"},
    {"input twice", "rule r [exact] b = add(a, a=x) a = neg(x) => b = neg(x)",
     "input 'a' of add is there twice"},
    {"waived parameter", "rule r [exact] b = neg(a | any(p) \"why\") a = neg(x) => b = neg(x)",
     "neg has no parameter 'p'"},
    {"parameter", "rule r [exact] b = neg(a | p=1) a = neg(x) => b = neg(x)",
     "neg has no parameter 'p'"},
    {"its type", "rule r [exact] b = convolve(a, w | k=\"3\") a = neg(x) => b = neg(x)",
     "parameter 'k' of convolve is a number"},
    {"bound type",
     "rule r [exact] b = convolve(a, w | k=v) a = neg(x) => b = convolve(x, w | act=v)",
     "'v' stands for a number; parameter 'act' of convolve is a string"},
    {"rest of no variadic", "rule r [exact] c = neg(b) b = neg(a...) => c = cat(a...)",
     "neg has no inputs without end"},
    {"function's argument",
     "rule r [exact] b = bn(a, w | e=p) a = neg(x) => b = bn(x, w | e=sum(p))",
     "argument 1 of 'sum' should be an array of numbers, but is a number"},
    {"operator's argument",
     "rule r [exact] b = convolve(a, w | act=p) a = neg(x) => b = convolve(x, w | k=p + 1)",
     "argument 1 of 'add' should be a number or an array of numbers, but is a string"},
    {"computed type",
     "rule r [exact] b = convolve(a, w) a = neg(x) => b = convolve(x, w | k=dims(x) * 2)",
     "parameter 'k' of convolve is a number"},
    {"compared types",
     "rule r [exact] b = bn(a, w | e=p) a = neg(x) where p == \"x\" => b = bn(x, w)",
     "values of two types are compared: a number and a string"},
    {"predicate's argument",
     "rule r [exact] b = neg(a) a = neg(x) where rank(x, \"2\") => b = neg(x)",
     "argument 2 of 'rank' should be a number, but is a string"},
    {"data type", "rule r [exact] b = relu(a) a = relu(x) where dtype(x, TL_FLOTA) => b = relu(x)",
     "test.rules:1: rule 'r': 'TL_FLOTA' is no data type"},
    {"data type in lower", "lower neg => relu where dtype(src, TL_FLOTA)",
     "test.rules:1: 'TL_FLOTA' is no data type"},
};

TEST(rules_that_do_not_fit_the_operators_are_refused)
{
    CHECK_OK(fake_register());
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        ln_status status = ln_rule_set_check(parse(unfit[i].rules));
        if (status != LN_INVALID || !strstr(ln_error_message(), unfit[i].message))
            fail_msg("%s: %s: %s", unfit[i].why, ln_status_name(status), ln_error_message());
    }
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// ---- Memory ----

// Refuses one request, the nth, and grants all others: what fails then can be undone.
typedef struct one_refusal {
    size_t n;
    size_t requests;
} one_refusal;

static void *resize_but_one(void *user, void *p, size_t size)
{
    one_refusal *refusal = user;
    return refusal->requests++ == refusal->n ? NULL : realloc(p, size);
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

TEST(one_refused_request_leaves_the_model_before_or_after_a_firing)
{
    static const char *const states[] = {
        "in()->x; const()->w; const()->s; convolve(x,w)->c; bn(c,s)->n; relu(n)->y; ",
        "in()->x; const()->w; const()->s; foldw(w,s)->n_fold; convolve(x,n_fold)->n; relu(n)->y; ",
        "in()->x; const()->w; const()->s; foldw(w,s)->n_fold; convolve(x,n_fold|act=relu)->y; ",
    };
    CHECK_OK(fake_register());
    const ln_rule_set *set = parse(CONV_RELU CONV_BN);
    ln_status status = LN_NO_MEMORY;
    for (size_t n = 0; status != LN_OK; n++) {
        ln_context *ctx = fake_model(LINES("in -> x", "const -> w", "const -> s",
                                           "convolve x w -> c", "bn c s -> n", "relu n -> y"));
        CHECK_NOT_NULL(ctx);
        ln_compilation compilation = {.ctx = ctx};
        one_refusal refusal = {.n = n};
        ln_allocator_set(&(ln_allocator){resize_but_one, release, &refusal});
        status = ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND);
        ln_allocator_set(NULL);
        if (status != LN_OK)
            CHECK_EQ(status, LN_NO_MEMORY);
        CHECK(compilation.firing_count < 3);
        CHECK_STR_EQ(fake_print(ctx), states[compilation.firing_count]);
        if (!ln_context_check(ctx))
            fail_msg("request %zu: %s", n, ln_error_message());
        if (status == LN_OK)
            CHECK_EQ(compilation.firing_count, 2);
        ln_context_free(ctx);
    }
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

TEST(out_of_memory_leaks_nothing)
{
    CHECK_OK(fake_register());
    const ln_rule_set *set = parse(CONV_RELU CONV_BN "lower * => *_fake");
    fake_arch.rules = set;
    OOM_SWEEP(n)
    {
        ln_context *ctx = fake_model(LINES("in -> x", "const -> w", "const -> s",
                                           "convolve x w -> c", "bn c s -> n", "relu n -> y"));
        ln_compilation compilation = {.ctx = ctx};
        if (ctx && ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND) == LN_OK) {
            int matched = 1;
            for (ln_list *l = ctx->ops; l;) {
                if (ln_rewrite_lower(&compilation, fake_arch.rules, &fake_arch, &l, &matched) !=
                    LN_OK)
                    break;
                if (!matched)
                    l = l->next;
            }
        }
        ln_context_free(ctx);
    }
    fake_arch.rules = NULL;
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// ---- Lowering ----

static void lower_all(ln_context *ctx, const char *rules)
{
    fake_arch.rules = parse(rules);
    ln_compilation compilation = {.ctx = ctx};
    for (ln_list *l = ctx->ops; l;) {
        int matched;
        CHECK_OK(ln_rewrite_lower(&compilation, fake_arch.rules, &fake_arch, &l, &matched));
        if (!matched)
            l = l->next;
        CHECK(ln_context_check(ctx));
    }
    fake_arch.rules = NULL;
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

static void check_lower(const char *why, const char *rules, const char *expected)
{
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(LINES("in -> x", "const -> w", "convolve x w -> c | k=5",
                                       "convolve c w -> d | k=7", "relu d -> y"));
    lower_all(ctx, rules);
    if (strcmp(fake_print(ctx), expected) != 0)
        fail_msg("%s: the model is\n  %s instead of\n  %s", why, fake_print(ctx), expected);
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "op_c"));
    ln_context_free(ctx);
}

TEST(lowering_takes_what_the_arch_has_and_accepts)
{
    check_lower("any", "lower * => *_fake",
                "in()->x; const()->w; convolve_fake(x,w|k=5)->c,op_c_buffer; convolve(c,w|k=7)->d; "
                "relu_fake(d)->y; ");
    check_lower(
        "one", "lower relu => relu_fake",
        "in()->x; const()->w; convolve(x,w|k=5)->c; convolve(c,w|k=7)->d; relu_fake(d)->y; ");
    check_lower("condition", "lower * => *_fake where dtype(src, TL_INT8)",
                "in()->x; const()->w; convolve(x,w|k=5)->c; convolve(c,w|k=7)->d; relu(d)->y; ");
    check_lower("condition on an argument", "lower * => *_fake where static(weight)",
                "in()->x; const()->w; convolve_fake(x,w|k=5)->c,op_c_buffer; convolve(c,w|k=7)->d; "
                "relu(d)->y; ");
    check_lower(
        "in order", "lower convolve => relu\nlower convolve => convolve_cpu\nlower relu => *_fake",
        "in()->x; const()->w; convolve(x,w|k=5)->c; convolve(c,w|k=7)->d; relu_fake(d)->y; ");
}

static ln_status refuse_all(void *priv, const ln_op *op)
{
    (void)priv;
    return LN_FAIL(LN_UNSUPPORTED, "not %s", op->op_arg->optype);
}

TEST(lowering_asks_the_arch)
{
    fake_arch.describe = refuse_all;
    check_lower("refused", "lower * => *_fake",
                "in()->x; const()->w; convolve(x,w|k=5)->c; convolve(c,w|k=7)->d; relu(d)->y; ");
    fake_arch.describe = NULL;
}

// ---- What the target takes ----

static const struct {
    const char *why;
    const char *model[6];
    const char *rules;
    const char *expected;
} takers[] = {
    {"no k of 7",
     {"in -> x", "const -> w", "convolve x w -> c | k=5", "relu c -> y", NULL},
     "rule r [rounds] y = relu(c) c = convolve(x, w | any(k) \"it is set\") => y = convolve(x, w | k=7)",
     "in()->x; const()->w; convolve(x,w|k=5)->c; relu(c)->y; "},
    {"any other k",
     {"in -> x", "const -> w", "convolve x w -> c | k=5", "relu c -> y", NULL},
     "rule r [rounds] y = relu(c) c = convolve(x, w | any(k) \"it is set\") => y = convolve(x, w | k=6)",
     "in()->x; const()->w; convolve(x,w|k=6)->y; "},
    {"k of 7 was not taken before",
     {"in -> x", "const -> w", "convolve x w -> c | k=7", "relu c -> y", NULL},
     "rule r [rounds] y = relu(c) c = convolve(x, w | any(k) \"it is set\") => y = convolve(x, w | k=7)",
     "in()->x; const()->w; convolve(x,w|k=7)->y; "},
    {"a type that the arch lacks",
     {"in -> x", "relu x -> a", "relu a -> y", NULL},
     "rule r [exact] y = relu(a) a = relu(x) => y = neg(x)",
     "in()->x; relu(x)->a; relu(a)->y; "},
    {"after another operator of the result",
     {"in -> x", "const -> w", "relu x -> a", "convolve a w -> b | k=5", "relu b -> y", NULL},
     "rule r [rounds] y = relu(b) b = convolve(a, w | any(k) \"it is set\") a = relu(x)\n"
     "  => n = relu(x) y = convolve(n, w | k=7)",
     "in()->x; const()->w; relu(x)->a; convolve(a,w|k=5)->b; relu(b)->y; "},
    {"what runs while loading counts nothing",
     {"in -> x", "const -> w", "relu x -> a", "convolve a w -> b | k=5", "relu b -> y", NULL},
     "rule r [rounds] y = relu(b) b = convolve(a, w | any(k) \"lost\") a = relu(x) where static(w)\n"
     "  => n = foldw(w, w) y = convolve(x, n)",
     "in()->x; const()->w; foldw(w,w)->y_n; convolve(x,y_n)->y; "},
};

// Two walks see that what is refused stays so, and is numbered nowhere.
TEST(no_rule_of_a_user_moves_operators_to_a_later_arch)
{
    CHECK_OK(fake_register());
    ln_rule_set *lowers;
    const char *text = "lower * => *_fake";
    CHECK_OK(ln_rule_set_parse(text, strlen(text), "lower.rules", &lowers));
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        ln_context *ctx = fake_model(takers[i].model);
        const ln_rule_set *set = parse(takers[i].rules);
        ln_rule_set *users[] = {parsed, NULL};
        ln_compilation compilation = {.ctx = ctx,
                                      .archs = {&fake_arch},
                                      .arch_rules = {lowers},
                                      .arch_count = 1,
                                      .rule_sets = users};
        CHECK_OK(ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND));
        if (strcmp(fake_print(ctx), takers[i].expected) != 0)
            fail_msg("%s: the model is\n  %s instead of\n  %s", takers[i].why, fake_print(ctx),
                     takers[i].expected);
        CHECK(ln_context_check(ctx));
        CHECK_EQ(compilation.firing_count,
                 ln_op_table_find(ctx->op_table, "op_a") || ln_op_table_find(ctx->op_table, "op_c")
                     ? 0
                     : 1);
        ln_context_free(ctx);
    }
    ln_rule_set_destroy(lowers);
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// ---- The end ----

#define RANDOM_MODELS 1000

// Adds one random operator that reads tensors t0..t<count-1>; returns how many it makes.
static size_t add_random_op(ln_context *ctx, test_random *random, size_t count)
{
    static const char *const types[] = {"in",   "const", "convolve", "convolve", "bn",
                                        "relu", "relu",  "neg",      "add",      "split"};
    const char *type = types[count < 2 ? count : test_random_below(random, 10)];
    char ins[64], outs[64];
    bool has_two =
        strcmp(type, "convolve") == 0 || strcmp(type, "bn") == 0 || strcmp(type, "add") == 0;
    bool has_none = strcmp(type, "in") == 0 || strcmp(type, "const") == 0;
    bool is_split = strcmp(type, "split") == 0;
    // Near tensors make chains; far ones tie the graph together.
    size_t first = count < 1 ? 0 : count - 1 - test_random_below(random, count < 3 ? count : 3);
    size_t second = count < 1 ? 0 : test_random_below(random, count);
    int len = snprintf(ins, sizeof ins, "t%zu", first);
    if (has_two)
        snprintf(ins + len, sizeof ins - (size_t)len, " t%zu", second);
    if (has_none)
        ins[0] = '\0';
    len = snprintf(outs, sizeof outs, "t%zu", count);
    if (is_split)
        snprintf(outs + len, sizeof outs - (size_t)len, " t%zu", count + 1);
    CHECK_OK(fake_add_op(ctx, type, ins, outs));
    return is_split ? 2 : 1;
}

static size_t count_running(const ln_context *ctx)
{
    size_t count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next)
        count += ln_op_runs(l->data);
    return count;
}

// Every output of the model before is there, with the same value.
static void check_outputs(const ln_context *ctx, const fake_values *before, char (*outputs)[32],
                          size_t output_count)
{
    static fake_values after;
    fake_eval(ctx, &after);
    for (size_t i = 0; i < output_count; i++) {
        double was = fake_find(before, outputs[i]);
        CHECK_NEAR(fake_find(&after, outputs[i]), was, 1e-9 * (1 + fabs(was)));
    }
    CHECK_EQ(ln_context_output_count(ctx), output_count);
}

static size_t check_random_model(test_random *random, const ln_rule_set *set)
{
    static fake_values before;
    static char outputs[512][32], names[512][32];
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    size_t size = 3 + test_random_below(random, 60);
    for (size_t count = 0; count < size;)
        count += add_random_op(ctx, random, count);
    CHECK_OK(ln_context_init_ops(ctx));
    ctx->state = LN_CONTEXT_READY;

    fake_eval(ctx, &before);
    for (size_t i = 0; i < before.count; i++) { // the names go with their operators
        snprintf(names[i], sizeof names[i], "%s", before.names[i]);
        before.names[i] = names[i];
    }
    size_t output_count = ln_context_output_count(ctx);
    for (size_t i = 0; i < output_count; i++)
        snprintf(outputs[i], sizeof outputs[i], "%s", ln_context_output(ctx, i)->name);

    size_t running = count_running(ctx);
    ln_compilation compilation = {.ctx = ctx};
    CHECK_OK(ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND));
    if (!ln_context_check(ctx))
        fail_msg("%s", ln_error_message());
    CHECK(count_running(ctx) + compilation.firing_count <= running);
    check_outputs(ctx, &before, outputs, output_count);

    size_t firing_count = compilation.firing_count;
    CHECK_OK(ln_rewrite_rules(&compilation, &set, 1,
                              LN_RULE_BEFORE_EXPAND)); // a fixed point: nothing is left to do
    CHECK_EQ(compilation.firing_count, firing_count);
    ln_context_free(ctx);
    return firing_count;
}

TEST(random_models_come_to_an_end_and_compute_the_same)
{
    CHECK_OK(fake_register());
    const ln_rule_set *set =
        parse(CONV_RELU CONV_BN RELU_RELU
              "rule act_relu [exact] r = relu(c) c = convolve(x, w | act=\"relu\")\n"
              "  => r = convolve(x, w | params(c))\n");
    test_random random = test_random_start();
    size_t firing_count = 0;
    for (int i = 0; i < RANDOM_MODELS; i++)
        firing_count += check_random_model(&random, set);
    CHECK(firing_count > RANDOM_MODELS / 2); // the models are such that rules matter
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// ---- Any rules ----

// Random rules need not be right, only come to an end. What the parser refuses is no rule.
#define RANDOM_SETS 3000

static size_t put_random_name(char *text, size_t size, test_random *random, size_t count)
{
    return (size_t)snprintf(text, size, "t%zu", test_random_below(random, count));
}

// "OUT = TYPE(INS)" with inputs among t0..t<count-1>.
static size_t put_random_statement(char *text, size_t size, test_random *random, const char *out,
                                   size_t count)
{
    static const struct {
        const char *type;
        size_t in_count;
    } types[] = {{"relu", 1},      {"neg", 1},       {"add", 2},     {"cat", 3},  {"forward", 1},
                 {"transpose", 1}, {"transpose", 1}, {"reshape", 1}, {"foldw", 2}};
    size_t type = test_random_below(random, sizeof types / sizeof types[0]);
    size_t len = (size_t)snprintf(text, size, " %s = %s(", out, types[type].type);
    for (size_t i = 0; i < types[type].in_count; i++) {
        len += (size_t)snprintf(text + len, size - len, "%s", i ? ", " : "");
        len += put_random_name(text + len, size - len, random, count);
    }
    return len + (size_t)snprintf(text + len, size - len, ")");
}

// A rule over t0 (the root's output) to t5; some statements of the result are aliases.
static void put_random_rule(char *text, size_t size, test_random *random, size_t number)
{
    char out[16];
    size_t len = (size_t)snprintf(text, size, "rule r%zu [rounds]", number);
    size_t pattern_count = 1 + test_random_below(random, 3);
    for (size_t i = 0; i < pattern_count; i++) {
        snprintf(out, sizeof out, "t%zu", i);
        len += put_random_statement(text + len, size - len, random, out, 6);
    }
    if (test_random_below(random, 3) == 0)
        len += (size_t)snprintf(text + len, size - len, " where static(t%zu)",
                                test_random_below(random, 6));
    len += (size_t)snprintf(text + len, size - len, " =>");
    size_t result_count = 1 + test_random_below(random, 3);
    for (size_t i = 0; i < result_count; i++) {
        // New tensors first; the root's output last, or an inner one's.
        if (i + 1 < result_count)
            snprintf(out, sizeof out, test_random_below(random, 2) ? "n%zu" : "t%zu", i + 1);
        else
            snprintf(out, sizeof out, "t0");
        if (test_random_below(random, 3) == 0)
            len += (size_t)snprintf(text + len, size - len, " %s = t%zu", out,
                                    1 + test_random_below(random, 5));
        else
            len += put_random_statement(text + len, size - len, random, out, 6);
    }
    snprintf(text + len, size - len, "\n");
}

// The rules that are read, out of many that are written, in one set.
static const ln_rule_set *parse_random_rules(test_random *random)
{
    static char text[8192];
    size_t len = 0, wanted = 1 + test_random_below(random, 4);
    text[0] = '\0';
    for (size_t number = 0; wanted > 0 && number < 400; number++) {
        char rule[512];
        put_random_rule(rule, sizeof rule, random, number);
        ln_rule_set *set;
        if (ln_rule_set_parse(rule, strlen(rule), "random", &set) != LN_OK)
            continue;
        bool is_fit = ln_rule_set_check(set) == LN_OK;
        ln_rule_set_destroy(set);
        if (!is_fit)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", rule);
        wanted--;
    }
    return parse(text);
}

static void add_random_simple_op(ln_context *ctx, test_random *random, size_t count)
{
    static const char *const types[] = {"relu", "neg",     "add",       "cat",   "forward",
                                        "in",   "reshape", "transpose", "const", "transpose"};
    const char *type = types[count < 1 ? 5 : test_random_below(random, 10)];
    char ins[64] = "", outs[16];
    size_t in_count = strcmp(type, "add") == 0                                ? 2
                      : strcmp(type, "cat") == 0                              ? 3
                      : strcmp(type, "in") == 0 || strcmp(type, "const") == 0 ? 0
                                                                              : 1;
    size_t len = 0;
    for (size_t i = 0; i < in_count; i++) {
        size_t back = 1 + test_random_below(random, count < 4 ? count : 4);
        len += (size_t)snprintf(ins + len, sizeof ins - len, "t%zu ", count - back);
    }
    snprintf(outs, sizeof outs, "t%zu", count);
    CHECK_OK(fake_add_op(ctx, type, ins, outs));
}

TEST(any_rules_come_to_an_end_in_any_model)
{
    CHECK_OK(fake_register());
    test_random random = test_random_start();
    size_t firing_count = 0, rule_count = 0;
    for (int i = 0; i < RANDOM_SETS; i++) {
        const ln_rule_set *set = parse_random_rules(&random);
        rule_count += set->rule_count;
        ln_context *ctx = ln_context_create();
        size_t size = 2 + test_random_below(&random, 30);
        for (size_t count = 0; count < size; count++)
            add_random_simple_op(ctx, &random, count);
        CHECK_OK(ln_context_init_ops(ctx));
        ctx->state = LN_CONTEXT_READY;
        size_t running = count_running(ctx), output_count = ln_context_output_count(ctx);
        ln_compilation compilation = {.ctx = ctx};
        if (ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND) != LN_OK)
            fail_msg("set %d: %s", i, ln_error_message());
        if (!ln_context_check(ctx))
            fail_msg("set %d: %s", i, ln_error_message());
        // Nothing runs more, and no output has come or gone.
        CHECK(count_running(ctx) <= running);
        CHECK_EQ(ln_context_output_count(ctx), output_count);
        firing_count += compilation.firing_count;
        ln_context_free(ctx);
    }
    printf("%zu rules, %zu firings\n", rule_count, firing_count);
    CHECK(rule_count > RANDOM_SETS);
    CHECK(firing_count > RANDOM_SETS);
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// Seconds to rewrite a model of `count` convolutions that all read one tensor, and their relus.
static double time_of(size_t count, const ln_rule_set *set)
{
    char ins[64], outs[64];
    ln_context *ctx = ln_context_create();
    CHECK_OK(fake_add_op(ctx, "in", "", "x"));
    CHECK_OK(fake_add_op(ctx, "const", "", "w"));
    for (size_t i = 0; i < count; i++) {
        snprintf(outs, sizeof outs, "c%zu", i);
        CHECK_OK(fake_add_op(ctx, "convolve", "x w", outs));
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(ins, sizeof ins, "c%zu", i);
        snprintf(outs, sizeof outs, "y%zu", i);
        CHECK_OK(fake_add_op(ctx, "relu", ins, outs));
    }
    CHECK_OK(ln_context_init_ops(ctx));
    ctx->state = LN_CONTEXT_READY;
    ln_compilation compilation = {.ctx = ctx};
    clock_t start = clock();
    CHECK_OK(ln_rewrite_rules(&compilation, &set, 1, LN_RULE_BEFORE_EXPAND));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK_EQ(compilation.firing_count, count);
    CHECK(ln_context_check(ctx));
    ln_context_free(ctx);
    return seconds;
}

TEST(large_models_take_time_in_proportion)
{
    CHECK_OK(fake_register());
    const ln_rule_set *set = parse(CONV_RELU);
    double small = time_of(1000, set);
    double large = time_of(10000, set);
    printf("1000 firings: %.4f s, 10000 firings: %.4f s\n", small, large);
    CHECK(large < 10 * 5 * (small + 0.001)); // quadratic would be 100
    ln_rule_set_destroy(parsed);
    parsed = NULL;
}

// ---- The log ----

static void keep_last(const ln_msg *msg, void *user)
{
    if (msg->level == LN_MSG_DEBUG)
        snprintf(user, 200, "%s", msg->text);
}

TEST(firings_are_numbered_and_told)
{
    char last[200] = "";
    CHECK_OK(fake_register());
    ln_context *ctx = fake_model(LINES("in -> x", "const -> w", "convolve x w -> c", "relu c -> y",
                                       "convolve y w -> d", "relu d -> z"));
    ln_msg_set_handler(keep_last, last);
    CHECK_EQ(rewrite(ctx, CONV_RELU, LN_OK), 2);
    ln_msg_set_handler(NULL, NULL);
    CHECK_STR_EQ(last, "firing 2: conv_relu at 'op_z'");
    ln_context_free(ctx);
}

TEST_LIST(a_pattern_is_matched_in_the_data_flow_not_in_the_list, a_rule_needs_its_conditions,
          an_output_needed_elsewhere_blocks_a_rule, a_name_stands_for_one_tensor,
          variadic_inputs_are_counted_from_one, a_rule_that_saves_no_run_does_not_fire,
          an_absent_parameter_counts_as_its_default, parameters_are_copied_and_overridden,
          a_parameter_that_a_pattern_does_not_name_has_its_default,
          new_operators_come_after_what_they_read_and_before_their_readers,
          names_of_the_model_stay_and_new_ones_are_free,
          an_operator_that_the_result_reads_from_stays,
          several_results_may_make_several_outputs_of_the_root,
          readers_read_what_a_tensor_was_made_equal_to, readers_of_another_kind_of_tensor_keep_it,
          an_output_of_the_model_keeps_its_name, what_nobody_reads_any_more_goes,
          no_tensor_becomes_an_output_by_a_firing,
          operands_that_may_change_places_are_tried_both_ways, some_inputs_are_named_together,
          each_of_several_outputs_gets_an_operator, an_input_may_be_absent,
          what_an_absent_tensor_would_become_is_left_out,
          a_result_makes_outputs_of_any_operator_it_replaces,
          a_result_never_reads_what_depends_on_it,
          constants_before_and_inside_a_window_go_when_unread, rules_may_lessen_weight_or_sink,
          parameters_are_computed, stages_are_apart, a_result_that_its_operator_refuses_is_no_match,
          a_failure_that_is_no_refusal_ends_and_leaves_the_model_as_before,
          rules_that_do_not_fit_the_operators_are_refused,
          one_refused_request_leaves_the_model_before_or_after_a_firing,
          out_of_memory_leaks_nothing, lowering_takes_what_the_arch_has_and_accepts,
          lowering_asks_the_arch, no_rule_of_a_user_moves_operators_to_a_later_arch,
          random_models_come_to_an_end_and_compute_the_same, any_rules_come_to_an_end_in_any_model,
          large_models_take_time_in_proportion, firings_are_numbered_and_told)
