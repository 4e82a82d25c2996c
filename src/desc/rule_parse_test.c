// SPDX-License-Identifier: Apache-2.0
// What the rule language says, and the place and words of each of its errors.

#include "desc/rule.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/oom.h"
#include "tests/test.h"

#define FOLD                                                                                       \
    "# Two become one.\n"                                                                          \
    "rule conv_relu [exact]\n"                                                                     \
    "  r = relu(c)\n"                                                                              \
    "  c = conv2d(x, w, bias=b | act=\"none\", pads=[1, 1], e=eps)\n"                              \
    "  where single_use(c), static(w), static(b), rank(x, 4), dtype(x, TL_FLOAT)\n"                \
    "  => w2 = halve(w)\n"                                                                         \
    "     r = conv2d(x, w2, b | params(c), act=\"relu\", e=eps)\n"                                 \
    "lower conv2d => conv2d_cpu where dtype(src, TL_FLOAT)\n"                                      \
    "lower * [rounds] => *_cpu\n"

static ln_status parse(const char *text, ln_rule_set **out_set)
{
    return ln_rule_set_parse(text, strlen(text), "f.rules", out_set);
}

TEST(waivers_are_read_with_their_reasons)
{
    ln_rule_set *set;
    CHECK_OK(parse("rule r [exact]\n"
                   "  y = f(x | any(a, b) \"no reader\", c=1,\n"
                   "    any(d) \"none is left\")\n"
                   "  => y = x\n",
                   &set));
    const ln_rule_op *f = &set->rules[0].pattern[0];
    CHECK_EQ(f->param_count, 1);
    CHECK_EQ(f->waiver_count, 3);
    CHECK_STR_EQ(f->waivers[1].arg_name, "b");
    CHECK_STR_EQ(f->waivers[1].why, "no reader");
    CHECK_STR_EQ(f->waivers[2].why, "none is left");
    CHECK_EQ(f->waivers[2].line, 3);
    CHECK(ln_rule_names_param(f, "a"));
    CHECK(ln_rule_names_param(f, "c"));
    CHECK(!ln_rule_names_param(f, "e"));
    ln_rule_set_destroy(set);
}

TEST(a_rule_reads_into_tables)
{
    ln_rule_set *set;
    CHECK_OK(parse(FOLD, &set));
    CHECK_STR_EQ(set->file, "f.rules");
    CHECK_EQ(set->rule_count, 1);
    const ln_rule *rule = &set->rules[0];
    CHECK_STR_EQ(rule->name, "conv_relu");
    CHECK_EQ(rule->tag, LN_RULE_exact);
    CHECK_EQ(rule->line, 2);
    CHECK_EQ(rule->pattern_count, 2);
    const ln_rule_op *conv = &rule->pattern[1];
    CHECK_STR_EQ(conv->optype, "conv2d");
    CHECK_EQ(conv->line, 4);
    CHECK_EQ(conv->in_count, 3);
    CHECK_NULL(conv->ins[0].arg_name);
    CHECK_STR_EQ(conv->ins[2].arg_name, "bias");
    CHECK_STR_EQ(rule->names[conv->ins[2].name], "b");
    CHECK_EQ(conv->params[0].value.kind, LN_RULE_STRING);
    CHECK_EQ(conv->params[1].value.kind, LN_RULE_ARRAY);
    CHECK_EQ(conv->params[1].value.count, 2);
    CHECK_EQ(conv->params[2].value.kind, LN_RULE_NAME);
    CHECK_EQ(rule->condition_count, 5);
    CHECK_EQ(rule->conditions[3].predicate, LN_RULE_PREDICATE_rank);
    CHECK_EQ((int)rule->conditions[3].args[1].number, 4);
    CHECK_STR_EQ(rule->conditions[4].args[1].string, "TL_FLOAT");
    CHECK_EQ(rule->result_count, 2);
    CHECK_EQ(rule->result[0].is_static, true);
    CHECK_EQ(rule->result[1].is_static, false);
    CHECK_EQ(rule->result[1].params_from, 1);
    CHECK_EQ(rule->pattern[1].is_kept, false);
    ln_rule_set_destroy(set);
}

TEST(lower_statements_read_into_tables)
{
    ln_rule_set *set;
    CHECK_OK(parse(FOLD, &set));
    CHECK_EQ(set->lower_count, 2);
    CHECK_STR_EQ(set->lowers[0].from, "conv2d");
    CHECK_STR_EQ(set->lowers[0].to, "conv2d_cpu");
    CHECK_EQ(set->lowers[0].has_star, false);
    CHECK_EQ(set->lowers[0].condition_count, 1);
    CHECK_STR_EQ(set->lowers[0].conditions[0].args[0].string, "src");
    CHECK_NULL(set->lowers[1].from);
    CHECK_STR_EQ(set->lowers[1].to, "_cpu");
    CHECK_EQ(set->lowers[1].has_star, true);
    CHECK_EQ(set->lowers[1].tag, LN_RULE_rounds);
    ln_rule_set_destroy(set);
}

TEST(rows_are_rules_of_one_text)
{
    ln_rule_set *set;
    CHECK_OK(parse("rule r [exact]\n"
                   "  for T, k, n in f \"one\" 1, g \"two\" 2\n"
                   "  y = T(x | a=\"T\", b=n)\n"
                   "  where dim(x, n) == 3\n"
                   "  => y = elew(x | kind=k)\n"
                   "rule T [exact] for = T(in) => for = elew(in)\n",
                   &set));
    CHECK_EQ(set->rule_count, 3);
    CHECK_STR_EQ(set->rules[0].name, "r_f");
    const ln_rule *second = &set->rules[1];
    CHECK_STR_EQ(second->name, "r_g");
    CHECK_EQ(second->line, 1);
    CHECK_STR_EQ(second->pattern[0].optype, "g");
    CHECK_EQ(second->pattern[0].line, 3);
    CHECK_STR_EQ(second->pattern[0].params[0].value.string, "T");
    CHECK_EQ((int)second->pattern[0].params[1].value.number, 2);
    CHECK_EQ(second->condition_count, 1);
    CHECK_STR_EQ(second->result[0].params[0].value.string, "two");
    CHECK_STR_EQ(set->rules[2].pattern[0].optype, "T"); // the columns are over
    ln_rule_set_destroy(set);
}

TEST(an_operator_that_the_result_reads_from_is_kept)
{
    ln_rule_set *set;
    CHECK_OK(parse("rule r [exact] d = c(b) b = f(a) a = g(x) => d = h(a)", &set));
    CHECK_EQ(set->rules[0].pattern[1].is_kept, false);
    CHECK_EQ(set->rules[0].pattern[2].is_kept, true);
    ln_rule_set_destroy(set);
}

TEST(a_new_tensor_that_nobody_reads_may_be_absent)
{
    ln_rule_set *set;
    CHECK_OK(parse("rule r [exact] a = f(b) b = g(x) => best?, a = h(x)", &set));
    CHECK_EQ(set->rules[0].result[0].out_count, 2);
    CHECK(set->rules[0].result[0].outs[0].is_maybe);
    ln_rule_set_destroy(set);
}

TEST(an_empty_file_has_no_rules)
{
    ln_rule_set *set;
    CHECK_OK(parse(" # nothing\n", &set));
    CHECK_EQ(set->rule_count, 0);
    CHECK_NULL(set->rules);
    ln_rule_set_destroy(set);
    CHECK_FAILS(ln_rule_set_parse(NULL, 0, "f", &set), LN_INVALID);
    CHECK_FAILS(ln_rule_set_read("/nowhere.rules", &set), LN_IO);
}

#define TWO "a = f(b); b = g(x)"

static const struct {
    const char *why;
    const char *text;
    ln_status status;
    const char *message;
} wrong[] = {
    {"static or something else says nothing of what a result reads",
     "rule r [exact] a = f(b) b = g(c, d) where static(d) or rank(d, 1) "
     "=> e = h(d, d) i = h(e, d) a = f(i)",
     LN_SYNTAX, "the rule does not shrink the model"},
    {"waived without a reason", "rule r [exact] a = f(b | any(p)) => a = b", LN_SYNTAX,
     "expected why these parameters may have any value, a string, found ')'"},
    {"waived for an empty reason", "rule r [exact] a = f(b | any(p) \"\") => a = b", LN_SYNTAX,
     "expected why these parameters may have any value, a string, found \"\""},
    {"waived nothing", "rule r [exact] a = f(b | any() \"why\") => a = b", LN_SYNTAX,
     "expected the name of a parameter, found ')'"},
    {"waived by a result", "rule r [exact] a = f(b) => a = f(b | any(p) \"why\")", LN_SYNTAX,
     "expected '=', found '('"},
    {"bound and not used", "rule r [exact] a = f(b | p=v) => a = b", LN_SYNTAX,
     "'v' is bound to a parameter, and nothing uses it; leave the parameter out if params(..) copies "
     "it, and write any(PARAMETER) \"why\" if it may have any value"},
    {"other word", "rul", LN_SYNTAX,
     "f.rules:1:1: expected 'rule', 'lower', 'into', 'after' or 'before', found 'rul'"},
    {"into what", "into it", LN_SYNTAX, "1:6: expected 'core' or 'onnx', found 'it'"},
    {"not into ONNX", "into onnx rule r [exact] a = act(b) => a = relu(b)", LN_SYNTAX,
     "the rule does not lead into ONNX: 'relu' of its result is as far from it as its root 'act'"},
    {"no name", "rule [exact]", LN_SYNTAX, "1:6: expected the name of the rule, found '['"},
    {"no tag", "rule r a = f(b)", LN_SYNTAX,
     "1:8: expected what the rewrite does to the numbers: [exact], [reorders] or [rounds], found 'a'"},
    {"other tag", "rule r [fast]", LN_SYNTAX,
     "1:9: expected a tag: exact, reorders or rounds, found 'fast'"},
    {"no result", "rule r [exact]\n" TWO, LN_SYNTAX, "2:19: expected '=>', found the end"},
    {"empty pattern", "rule r [exact] => a = f(x)", LN_SYNTAX, "expected the name of an output"},
    {"not connected", "rule r [exact]\n a = f(b)\n c = g(x)\n => a = h(b)", LN_SYNTAX,
     "3:2: the statement makes no tensor that an earlier one reads"},
    {"unbound", "rule r [exact]\n " TWO "\n => a = h(y)", LN_SYNTAX,
     "3:11: 'y' is not bound: no statement before has it"},
    {"unbound value", "rule r [exact] " TWO " => a = h(x | p=y)", LN_SYNTAX, "'y' is not bound"},
    {"value as tensor", "rule r [exact] a = f(b | p=v) b = g(x) => a = h(v)", LN_SYNTAX,
     "'v' stands for a parameter's value, not for a tensor"},
    {"tensor as value", "rule r [exact] a = f(b | p=b)", LN_SYNTAX,
     "'b' stands for a tensor already"},
    {"twice", "rule r [exact] " TWO " => a = h(x)\nrule r [exact]", LN_SYNTAX,
     "2:6: rule 'r' is there already, at line 1"},
    {"made twice", "rule r [exact] a = f(b) b = g(x) b = g(y)", LN_SYNTAX, "'b' is made twice"},
    {"made twice in the result", "rule r [exact] " TWO " => a = h(x) a = h(x)", LN_SYNTAX,
     "'a' is made twice"},
    {"made from itself", "rule r [exact] " TWO " => a = h(a)", LN_SYNTAX,
     "'a' is made from itself"},
    {"reads the root", "rule r [exact] a = f(b) b = g(a)", LN_SYNTAX,
     "2 statements of the pattern depend on themselves"},
    {"root not made", "rule r [exact] " TWO " => c = h(x)", LN_SYNTAX,
     "1:6: the result does not make the root's output 'a'"},
    {"makes another", "rule r [exact] " TWO " => b = h(x)", LN_SYNTAX,
     "the result does not make the root's output 'a'"},
    {"makes an input", "rule r [exact] " TWO " => x = h(b)", LN_SYNTAX,
     "'x' is made by no operator of the pattern"},
    {"reads before", "rule r [exact] " TWO " => c = h(a) a = h(c)", LN_SYNTAX,
     "the result reads 'a' before it makes it, so its operator stays"},
    {"nameless root", "rule r [exact] _ = f(x)", LN_SYNTAX,
     "the first output of the root has a name"},
    {"nameless result", "rule r [exact] " TWO " => a = h(_)", LN_SYNTAX,
     "a result names every tensor it reads"},
    {"predicate", "rule r [exact] " TWO "\nwhere sinlge_use(b) => a = h(x)", LN_SYNTAX,
     "2:7: there is no predicate 'sinlge_use'; did you mean 'single_use'?"},
    {"far predicate", "rule r [exact] " TWO " where pretty(b) => a = h(x)", LN_SYNTAX,
     "there is no predicate 'pretty'"},
    {"predicate's name", "rule r [exact] " TWO " where static(z) => a = h(x)", LN_SYNTAX,
     "'z' is not bound"},
    {"predicate's number", "rule r [exact] " TWO " where rank(b, x) => a = h(x)", LN_SYNTAX,
     "'x' stands for a tensor, not for a parameter's value"},
    {"predicate's count", "rule r [exact] " TWO " where rank(b) => a = h(x)", LN_SYNTAX,
     "expected ',', found ')'"},
    {"comparison with one sign", "rule r [exact] " TWO " where rank(b) = 4 => a = h(x)", LN_SYNTAX,
     "expected ==, !=, <, <=, > or >=, found '='"},
    {"conditions with and", "rule r [exact] " TWO " where rank(b) == 4 && static(x) => a = h(x)",
     LN_SYNTAX, "unexpected '&'; conditions have ',' between them"},
    {"word without quotes", "rule r [exact] " TWO " where dtype(b) == TL_FLOAT => a = h(x)",
     LN_SYNTAX,
     "'TL_FLOAT' is not bound: no statement before has it; a word is compared in quotes"},
    {"same size", "rule r [exact]\n a = f(b)\n => a = h(b)", LN_SYNTAX,
     "1:6: the rule does not shrink the model: its result runs as many operators as it removes, 1, "
     "weighs 3 against 3, and moves nothing that sinks"},
    {"larger", "rule r [exact] a = f(b) => c = h(b) a = h(c)", LN_SYNTAX,
     "1:6: the rule does not shrink the model: its result runs 2 operators, and the pattern only "
     "1 that it removes"},
    {"kept does not count", "rule r [exact] " TWO " => a = h(b)", LN_SYNTAX, "does not shrink"},
    {"static operators do not count",
     "rule r [exact] a = f(b, x) b = g(w) where static(w) => a = h(x)", LN_SYNTAX,
     "its result runs as many operators as it removes, 1"},
    {"params of an input", "rule r [exact] " TWO " => a = h(x | params(x))", LN_SYNTAX,
     "no operator of the pattern makes 'x'"},
    {"params twice", "rule r [exact] " TWO " => a = h(x | params(a), params(b))", LN_SYNTAX,
     "parameters are copied twice"},
    {"param twice", "rule r [exact] a = f(b | p=1, p=2)", LN_SYNTAX,
     "parameter 'p' is there twice"},
    {"input twice", "rule r [exact] a = f(s=b, s=c)", LN_SYNTAX, "input 's' is there twice"},
    {"position after name", "rule r [exact] a = f(s=b, c)", LN_SYNTAX,
     "an input by position stands before those by name"},
    {"mixed array", "rule r [exact] a = f(b | p=[1, \"x\"])", LN_SYNTAX,
     "the elements of an array are of one kind"},
    {"number", "rule r [exact] a = f(b | p=01)", LN_SYNTAX, "'01' is no number"},
    {"big number", "rule r [exact] a = f(b | p=1e999)", LN_SYNTAX, "'1e999' is no number"},
    {"open string", "rule r [exact] a = f(b | p=\"x\n\")", LN_SYNTAX,
     "the string does not end on its line"},
    {"escape", "rule r [exact] a = f(b | p=\"\\n\")", LN_SYNTAX, "a backslash in a string"},
    {"byte", "rule r [exact] a = f(b) \x01", LN_SYNTAX, "unexpected byte 1; rules are text"},
    {"sign", "rule r [exact] a = f(b) %", LN_SYNTAX, "unexpected '%'"},
    {"reserved", "rule where [exact]", LN_SYNTAX, "found 'where'"},
    {"rest without mark", "rule r [exact] a = f(xs...) => a = f(xs)", LN_SYNTAX,
     "'xs' may stand for several tensors or none; write 'xs...' or 'xs?' as in the pattern"},
    {"mark without rest", "rule r [exact] a = f(x) => a = f(x...)", LN_SYNTAX,
     "'x' stands for one tensor; write it without '...'"},
    {"three rests", "rule r [exact] a = f(x..., y..., z...)", LN_SYNTAX,
     "a statement of a pattern has `...` at most twice"},
    {"named rest", "rule r [exact] a = f(src=x...)", LN_SYNTAX,
     "`...` stands for inputs by position"},
    {"rest and name", "rule r [exact] a = f(x..., src=y)", LN_SYNTAX,
     "a statement with `...` has inputs by position only"},
    {"two rests of outputs", "rule r [exact] a..., b... = f(x)", LN_SYNTAX,
     "has `...` once among its outputs"},
    {"absent output of many", "rule r [exact] a?, b... = f(x)", LN_SYNTAX, "not both"},
    {"new rest", "rule r [exact] a = f(x) => b... = g(x)", LN_SYNTAX,
     "'b' is new; how many tensors would it stand for?"},
    {"alias of several", "rule r [exact] " TWO " => a, b = x", LN_SYNTAX,
     "`y = x` is for one tensor on each side"},
    {"alias of a new one", "rule r [exact] " TWO " => c = h(x) a = c", LN_SYNTAX,
     "'c' is new; let its operator make 'a' instead"},
    {"new alias", "rule r [exact] " TWO " => c = x", LN_SYNTAX,
     "'c' is made by no operator of the pattern; `y = x` needs no new name"},
    {"reads, then makes", "rule r [exact] " TWO " => a = h(b) b = h(x)", LN_SYNTAX,
     "the result reads 'b' before it makes it, so its operator stays"},
    {"one stays, one goes", "rule r [exact] a = f(b, c) b, c = g(x) => b = h(x) a = h(c)",
     LN_SYNTAX, "the result makes 'b', but the operator that makes it in the pattern stays"},
    {"unread output", "rule r [exact] " TWO " => a, c = h(x)", LN_SYNTAX,
     "nobody reads 'c', which the result makes: it would become an output of the model"},
    {"lost output", "rule r [exact] a = f(x) b = g(x) => a = h(x)", LN_SYNTAX,
     "the result does not make 'b', which no operator of the pattern reads"},
    {"pattern computes", "rule r [exact] a = f(b | p=1 + 2)", LN_SYNTAX,
     "a pattern computes nothing; give the value a name"},
    {"function", "rule r [exact] a = f(b | p=v) => a = f(b | p=florr(v))", LN_SYNTAX,
     "there is no function 'florr'; did you mean 'floor'?"},
    {"too few arguments", "rule r [exact] a = f(b | p=v) => a = f(b | p=min(v))", LN_SYNTAX,
     "1:46: min takes 2 arguments, not 1"},
    {"too many arguments", "rule r [exact] a = f(b | p=v) => a = f(b | p=floor(v, v))", LN_SYNTAX,
     "floor takes 1 argument, not 2"},
    {"open bracket", "rule r [exact] a = f(b | p=v) => a = f(b | p=(v + 1", LN_SYNTAX,
     "expected ')', found the end"},
    {"open index", "rule r [exact] a = f(b | p=v) => a = f(b | p=v[0)", LN_SYNTAX,
     "expected ']', found ')'"},
    {"no operand", "rule r [exact] a = f(b | p=v) => a = f(b | p=v + )", LN_SYNTAX,
     "expected a number, a string, true, false or an array, found ')'"},
    {"several for one", "rule r [exact] a = f(xs...) where dim(xs, 0) == 1", LN_SYNTAX,
     "'xs' may stand for several tensors or none; one is needed here"},
    {"no comparison", "rule r [exact] a = f(b | p=v) where v + 1 => a = g(b)", LN_SYNTAX,
     "expected ==, !=, <, <=, > or >=, found '=>'"},
    {"stage", "after lunch", LN_SYNTAX, "1:7: expected 'expand', found 'lunch'"},
    {"same weight", "rule r [exact] a = reshape(x) => a = transpose(x)", LN_SYNTAX,
     "its result runs 1 operators, and the pattern only 0 that it removes"},
    {"heavier", "rule r [exact] a = elew(x, x) => a = f(x)", LN_SYNTAX,
     "its result runs as many operators as it removes, 1, weighs 3 against 2"},
    {"a view of no more weight", "rule r [exact] a = reshape(x) => a = slice(x)", LN_SYNTAX,
     "its result runs as many operators as it removes, 0, weighs 3 against 2"},
    {"rises", "rule r [exact] a = transpose(b) b = f(x) => b2 = transpose(x) a = f(b2)", LN_SYNTAX,
     "moves nothing that sinks"},
    {"sinks here, rises there",
     "rule r [exact] a = f(b, c) b = transpose(x) c = g(y) => d = f(x, y) e = g(d) "
     "a = transpose(e)",
     LN_SYNTAX, "moves nothing that sinks"},
    {"rows without in", "rule r [exact] for T f", LN_SYNTAX, "1:22: expected 'in', found 'f'"},
    {"a row without a word", "rule r [exact] for T in \"f\" a = T(x)", LN_SYNTAX,
     "1:25: expected the word of a row, found \"f\""},
    {"a short row", "rule r [exact] for T, k in f => a = T(x)", LN_SYNTAX,
     "1:30: expected a word, a string or a number of the row, found '=>'"},
    {"a row twice", "rule r [exact] for T in f, f a = T(x) => a = elew(x)", LN_SYNTAX,
     "1:6: rule 'r_f' is there already, at line 1"},
    {"an error in a row", "rule r [exact] for T in f, elew a = T(x) => a = elew(x)", LN_SYNTAX,
     "1:6: the rule does not shrink the model"},
    {"many columns", "rule r [exact] for a, b, c, d, e in", LN_LIMIT,
     "1:32: at most 4 columns of rows are allowed"},
    {"each of one", "rule r [exact] a = f(x) => each b of a = reshape(x)", LN_SYNTAX,
     "1:38: `each` is for the outputs that one `xs...` stands for"},
    {"each under another's name", "rule r [exact] a... = f(x) => each x of a... = reshape(x)",
     LN_SYNTAX, "1:36: 'x' is there already; `each` has a name of its own"},
    {"each without a set", "rule r [exact] a... = f(x) => each b in a... = reshape(x)", LN_SYNTAX,
     "1:38: expected 'of', found 'in'"},
    {"each runs", "rule r [exact] a... = f(x) => each b of a... = g(x)", LN_SYNTAX,
     "1:6: `each` makes views only, such as slice, and g is none"},
    {"each from itself", "rule r [exact] a... = f(x) => each b of a... = reshape(b)", LN_SYNTAX,
     "'b' is made from itself"},
    {"one of each afterwards",
     "rule r [exact] a... = f(c) c = g(x) => each b of a... = reshape(x) c = h(b)", LN_SYNTAX,
     "'b' is one of several in its statement only"},
    {"each for a view", "rule r [exact] a... = reshape(x) => each b of a... = forward(x)",
     LN_SYNTAX, "its result runs as many operators as it removes, 0, weighs 1048576 against 2"},
    {"each and an alias", "rule r [exact] c, a... = f(x) => c = x each b of a... = reshape(x)",
     LN_SYNTAX, "a result with `each` has no `y = x`"},
    {"lower any to one", "lower * => conv", LN_SYNTAX, "expected '*' with an ending"},
    {"lower without ending", "lower * => * where", LN_SYNTAX, "an ending follows '*' directly"},
    {"lower to itself", "lower conv => conv", LN_SYNTAX, "'conv' would be lowered to itself"},
};

TEST(errors_have_a_place_and_a_reason)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ln_rule_set *set;
        ln_status status = parse(wrong[i].text, &set);
        if (status != wrong[i].status || !strstr(ln_error_message(), wrong[i].message))
            fail_msg("%s: %s: %s", wrong[i].why, ln_status_name(status), ln_error_message());
        CHECK_NULL(set);
    }
}

// A text of `head`, `count` times `part`, and `tail`.
static ln_status parse_long(const char *head, const char *part, size_t count, const char *tail)
{
    ln_text text = {0};
    ln_text_puts(&text, head);
    for (size_t i = 0; i < count; i++)
        ln_text_printf(&text, part, (int)i, (int)i + 1);
    ln_text_puts(&text, tail);
    ln_rule_set *set;
    ln_status status = parse(text.bytes, &set);
    ln_text_deinit(&text);
    ln_rule_set_destroy(set);
    return status;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
TEST(limits_are_stated)
{
    CHECK_OK(parse_long("rule r [exact] ", "t%d = f(t%d) ", 32, " => t0 = f(t32)"));
    CHECK_FAILS(parse_long("rule r [exact] ", "t%d = f(t%d) ", 49, ""), LN_LIMIT);
    CHECK_MESSAGE("at most 48 statements in a pattern are allowed");
    CHECK_FAILS(parse_long("rule r [exact] a = f(", "x%d_%d, ", 33, ""), LN_LIMIT);
    CHECK_FAILS(parse_long("rule r [exact] a = f(b | p=[", "%d.%d, ", 65, ""), LN_LIMIT);
    CHECK_FAILS(parse_long("rule r [exact] a = f(x) where ", "rank(a, 1%d%d), ", 33, ""), LN_LIMIT);
    CHECK_OK(parse_long("", "lower a%d => b%d\n", 1024, ""));
    CHECK_FAILS(parse_long("", "lower a%d => b%d\n", 1025, ""), LN_LIMIT);
    CHECK_FAILS(parse_long("rule a", "%d_%d_", 60, " "), LN_LIMIT);
    CHECK_FAILS(
        parse_long("", "# %d a comment of some length that says nothing at all %d\n", 20000, ""),
        LN_LIMIT);
}
#pragma GCC diagnostic pop

TEST(out_of_memory_gives_no_rules)
{
    OOM_SWEEP(n)
    {
        ln_rule_set *set;
        if (parse(FOLD, &set) == LN_OK)
            ln_rule_set_destroy(set);
        else
            CHECK_NULL(set);
    }
    ln_rule_set_destroy(NULL);
}

TEST(a_file_reads_like_its_text)
{
    char path[512] = LN_BUILD_DIR "/ln_rule_parse_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    CHECK_OK(ln_text_write_file(path, FOLD, strlen(FOLD)));
    ln_rule_set *set;
    CHECK_OK(ln_rule_set_read(path, &set));
    CHECK_STR_EQ(set->file, path);
    CHECK_EQ(set->rule_count, 1);
    CHECK_EQ(set->lower_count, 2);
    ln_rule_set_destroy(set);
    CHECK_OK(ln_text_write_file(path, "rule r\n", 7));
    CHECK_FAILS(ln_rule_set_read(path, &set), LN_SYNTAX);
    CHECK_MESSAGE(path);
    CHECK_MESSAGE(
        ":2:1: expected what the rewrite does to the numbers: [exact], [reorders] or [rounds], found "
        "the end");
    CHECK_NULL(set);
    unlink(path);
}

TEST_LIST(waivers_are_read_with_their_reasons, a_rule_reads_into_tables,
          lower_statements_read_into_tables, rows_are_rules_of_one_text,
          an_operator_that_the_result_reads_from_is_kept,
          a_new_tensor_that_nobody_reads_may_be_absent, an_empty_file_has_no_rules,
          errors_have_a_place_and_a_reason, limits_are_stated, a_file_reads_like_its_text,
          out_of_memory_gives_no_rules)
