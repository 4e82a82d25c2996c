// SPDX-License-Identifier: Apache-2.0
// Macros: definitions, arguments, joining, and what must not be expanded.

#include "serial/il/il_expand.h"

#include "serial/il/il_testing.h"

TEST(macros_expand_as_in_c)
{
    static const struct {
        const char *text, *tokens, *why;
    } rows[] = {
        {"#define A 1\nA B A", "1 B 1", "an object-like macro"},
        {"#define A\n[A]", "[ ]", "an empty one"},
        {"#define F(x) <x>\nF(a) F (b) F\n(c)", "< a > < b > < c >",
         "space before the parenthesis"},
        {"#define F (x) <x>\nF", "( x ) < x >", "a space in the definition makes it object-like"},
        {"#define F(x) <x>\nF F; F", "F F ; F", "without parentheses it is a name"},
        {"#define F(x) <x>\nF", "F", "a name at the very end"},
        {"#define F() z\nF() F( )", "z z", "no parameters"},
        {"#define F(x) [x]\nF()", "[ ]", "an empty argument"},
        {"#define F(x,y) x:y\nF(,b) F(a,)", ": b a :", "empty arguments among others"},
        {"#define F(x) [x]\nF((a,b))", "[ ( a , b ) ]", "parentheses protect commas"},
        {"#define F(x,y) x|y\nF([1,2])", "[ 1 | 2 ]", "brackets do not"},
        {"#define F(x) [x]\nF(F(F(1)))", "[ [ [ 1 ] ] ]", "a call in an argument"},
        {"#define F(x) x\nF(\nF(a)\n,b)",
         "m.net:2:1: macro 'F' (defined at m.net:1:9) takes 1 argument, here are 2",
         "arguments over lines are counted"},
        {"#define F(x) \"x\" x\nF(1)", "\"x\" 1", "strings are left alone"},
        {"#define A B\n#define B C\n#define C 3\nA", "3", "the result is read again"},
        {"#define A B\n#define B A\nA B", "A B", "not inside itself"},
        {"#define A A + 1\nA", "A + 1", "not inside itself"},
        {"#define F(x) x F\nF(1)(2)", "1 F ( 2 )", "not inside itself, even with arguments"},
        {"#define F(x) F(x + 1)\nF(1)", "F ( 1 + 1 )", "a call of itself stays"},
        {"#define F(a) a*G\n#define G(a) F(a)\nF(2)(9)", "2 * 9 * G",
         "a call that ends outside the macro"},
        {"#define f(x) x\n#define g f\ng(5)", "5", "a macro that gives a function's name"},
        {"#define g f(\n#define f(x) <x>\ng 5)", "< 5 >", "a macro that gives an open call"},
        {"#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
         "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n"
         "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);",
         "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;",
         "the example of the C standard"},
        {"#define A 1 // one\n#define B /* two */ 2\nA B", "1 2", "comments in definitions"},
        {"#define A(x) \\\n  a x; \\\n  b\nA(1)", "a 1 ; b", "a definition over lines"},
        {"#define A 1\n#define A 1\nA", "1", "the same definition again"},
        {"#define A 1\n#undef A\n#undef A\n#define A 2\nA", "2", "a new definition after #undef"},
        {"# define A 1\n  #  undef A\n#\nA", "A", "spaces around '#', and a '#' alone"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        char *tokens = il_to_tokens(rows[i].text);
        CHECK_STR_EQ(tokens, rows[i].tokens);
        ln_free(tokens);
    }
}

TEST(joining_makes_names)
{
    static const struct {
        const char *text, *tokens, *why;
    } rows[] = {
        {"#define F(x) x##_wts\nF(a)", "a_wts", "an argument with a suffix"},
        {"#define F(x) pre_ ## x\nF(a)", "pre_a", "and with a prefix; spaces do not matter"},
        {"#define F(x,y) x##y##_z\nF(a,1)", "a1_z", "three parts"},
        {"#define A 1\n#define F(x) x##2 x\nF(A)", "A2 1", "no expansion beside ##"},
        {"#define ab 5\n#define F(x,y) x##y\nF(a,b)", "5", "the new name is read again"},
        {"#define F(x,y) [x##y]\nF(,b) F(a,) F(,)", "[ b ] [ a ] [ ]",
         "nothing is joined to nothing"},
        {"#define F(x,y) x##y\nF(a b,c d)", "a bc d", "only what touches is joined"},
        {"#define F(x) x##e5\nF(1)", "1e5", "numbers"},
        {"#define A x##y\nA", "xy", "in an object-like macro"},
        {"#define F(x) q x##y\nq F( a )", "q q ay", "spaces around an argument"},
        {"#define F(n) x##${eval n+1}\nF(2)", "x3", "an eval joins when it has a value"},
        {"#define F(n) ${eval n+1}##_x\nF(2)", "3_x",
         "what is no name is for the parser to refuse"},
        {"#define F(n) a_${eval n*2}_b\nF(2)", "a_4_b", "an eval joins what it touches"},
        {"#define F(p,n) p##_${eval n}_w = p##${eval n*2}\nF(in, 3)", "in_3_w = in6", "both"},
        {"#define E\nx E${eval 1}", "x 1", "an empty macro keeps the space before it"},
        {"#define F(a) x a${eval 1}\nF()", "x 1", "so does an empty argument"},
        {"#define P foo\nP${eval 1}", "foo1", "a macro's result is joined as well"},
        {"x ${eval 1} y", "x 1 y", "spaces keep things apart"},
        {"x${eval 1}y z", "x1y z", "both sides"},
        {"x${eval 1.5}", "m.net:1:1: 'x' and '1.5' together make no name and no number",
         "no fractions in names"},
        {"#define F(...) [__VA_ARGS__]\nF() F(a) F(a,b)", "[ ] [ a ] [ a , b ]", "variadic"},
        {"#define F(x,...) x:__VA_ARGS__\nF(a) F(a,b,(c,d))", "a : a : b , ( c , d )",
         "variadic after others"},
        {"#define F(x,...) [x,##__VA_ARGS__]\nF(a) F(a,b)", "[ a ] [ a , b ]",
         "the comma that goes away"},
        {"#define F(a...) [a]\nF() F(1) F(1,2)", "[ ] [ 1 ] [ 1 , 2 ]", "the rest by a name"},
        {"#define F(x, a...) [x, ## a]\nF(1) F(1,2)", "[ 1 ] [ 1 , 2 ]", "and its comma"},
        {"#define F(x) #x\nF(a_1) F( a  b ) F()", "\"a_1\" \"a b\" \"\"", "strings"},
        {"#define A 1\n#define F(x) #x x\nF(A)", "\"A\" 1", "a string's argument stays as it is"},
        {"#define F(x) # x\nF(\"b\\n\"=1)", "\"\\\"b\\\\n\\\"=1\"", "a string in a string"},
        {"#define F(...) #__VA_ARGS__\nF(a, b)", "\"a, b\"", "of all arguments"},
        {"#define F(x) G(#x)\n#define G(s) s s\nF(a)", "\"a\" \"a\"", "strings as arguments"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        char *tokens = il_to_tokens(rows[i].text);
        CHECK_STR_EQ(tokens, rows[i].tokens);
        ln_free(tokens);
    }
}

TEST(wrong_macros_are_refused_with_their_place)
{
    static const struct {
        const char *text, *message, *why;
    } rows[] = {
        {"#define", "m.net:1:2: expected the name of the macro, found the end of the line",
         "no name"},
        {"#define 1", "m.net:1:9: expected the name of the macro, found '1'", "a number"},
        {"#define defined", "m.net:1:9: 'defined' cannot be the name of a macro", "reserved"},
        {"#define F(x", "expected ',' or ')', found the end of the line", "no parenthesis"},
        {"#define F(x,)", "expected the name of a parameter or '...', found ')'", "half a list"},
        {"#define F(1)", "expected the name of a parameter or '...', found '1'", "a number"},
        {"#define F(x,x)", "m.net:1:13: macro 'F' cannot have a parameter 'x' here", "twice"},
        {"#define F(..)", "expected '...', found ')'", "two points"},
        {"#define F(...,x)", "expected ')' after '...', found ','", "the rest is not last"},
        {"#define F(x) #y", "m.net:1:14: '#' makes a string of a parameter only", "no parameter"},
        {"#define F(x) #", "m.net:1:14: '#' makes a string of a parameter only", "nothing"},
        {"#define A #A", "m.net:1:11: '#' makes a string of a parameter only", "no parameters"},
        {"#define F(x) #x##_y\nF(a)", "together make no name and no number",
         "a string joins nothing"},
        {"#define F(x......) x", "expected ')' after '...', found '.'", "six points"},
        {"#define F(a...) __VA_ARGS__", "__VA_ARGS__ needs a macro", "the rest has a name"},
        {"#define F(x) ##x", "'##' needs something on both sides", "nothing on the left"},
        {"#define F(x) x##", "'##' needs something on both sides", "nothing on the right"},
        {"#define F(x) x####x", "'##' needs something on both sides", "nothing between"},
        {"#define F(x) __VA_ARGS__", "__VA_ARGS__ needs a macro", "not variadic"},
        {"#define A 1\n#define A 2", "m.net:2:9: macro 'A' is defined at m.net:1:9 with another",
         "again"},
        {"#define A 1\n#define A() 1", "m.net:2:9: macro 'A' is defined at m.net:1:9",
         "another kind"},
        {"#define F(x) x\nF(1", "m.net:2:1: the call of macro 'F' has no ')'", "an open call"},
        {"#define F(x) x\nF(1\n#undef F\n)", "m.net:3:1: a directive cannot stand inside",
         "a directive"},
        {"#define F(x) x\nF(1,2)", "takes 1 argument, here are 2", "too many"},
        {"#define F(x,y) x\nF(1)", "takes 2 arguments, here are 1", "too few"},
        {"#define F(x,y) x\nF()", "takes 2 arguments, here are 0", "none"},
        {"#define F() x\nF(1)", "takes 0 arguments, here are 1", "one for none"},
        {"#define F(x,y,...) x\nF(1)", "takes at least 2 arguments, here are 1",
         "too few before ..."},
        {"#define F(x,y) x##y\nF(a,+)",
         "m.net:1:16: 'a' and '+' together make no name and no number "
         "(in macro F, expanded at m.net:2:1)",
         "no token"},
        {"#define F(x,y) x##y\nF(\"a\",\"b\")", "together make no name and no number", "strings"},
        {"#undef", "m.net:1:2: '#undef' needs the name of a macro", "nothing"},
        {"#undef A B", "m.net:1:10: expected the end of the line, found 'B'", "too much"},
        {"#undef 1", "expected the name of a macro, found '1'", "a number"},
        {"#import \"a\"", "m.net:1:2: expected define, undef, include", "unknown"},
        {"#(", "m.net:1:2: expected define, undef, include", "no name"},
        {"#error  stop here \nx", "m.net:1:2: #error stop here", "#error"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s: %s\n", rows[i].text, rows[i].why);
        char *message = il_to_tokens(rows[i].text);
        CHECK_MESSAGE(rows[i].message);
        CHECK_STR_EQ(message, ln_error_message());
        ln_free(message);
    }
}

TEST(a_message_shows_the_chain_of_expansions)
{
    const char *text = "#define inner(x) relu(src=x |)\n"
                       "#define outer(y) \\\n"
                       "    inner(y)\n"
                       "\n"
                       "  outer(q);\n";
    char *message = il_to_json(text, strlen(text));
    CHECK_STR_EQ(message, "m.net:1:30: expected an output 'argument = tensor' or '|', found ')' "
                          "(in macro inner, expanded at m.net:3:5; "
                          "in macro outer, expanded at m.net:5:3)");
    ln_free(message);
}

TEST(a_long_chain_is_cut)
{
    ln_text text = {0};
    for (int i = 0; i < 20; i++)
        ln_text_printf(&text, "#define m%d m%d\n", i, i + 1);
    ln_text_puts(&text, "#define m20 )\nm0");
    char *message = il_to_json(text.bytes, text.len);
    CHECK_MESSAGE("in macro m20, expanded at m.net:20:13; in macro m19");
    CHECK_MESSAGE("; in 15 more)");
    ln_free(message);
    ln_text_deinit(&text);
}

// x0 twice is x1, x1 twice is x2, ...
static char *doubling(const char *first, const char *format, int levels, const char *last)
{
    ln_text text = {0};
    char *bytes;
    ln_text_puts(&text, first);
    for (int i = 1; i <= levels; i++)
        ln_text_printf(&text, format, i, i - 1, i - 1);
    ln_text_puts(&text, last);
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

TEST(bombs_reach_a_limit_soon)
{
    static const struct {
        const char *first, *format, *last, *why;
    } rows[] = {
        {"#define x0 a=b,\n", "#define x%d x%d x%d\n", "op(x60", "tokens"},
        {"#define x0\n", "#define x%d x%d x%d\n", "x60", "tokens that vanish"},
        {"#define x0(a) a a\n", "#define x%d(a) x%d(x%d(a))\n", "x20(;)", "calls in arguments"},
        {"#define x0(a) a##a\n", "#define x%d(a) x%d(a##a) /* %d */\n", "x60(a)", "long names"},
        {"#define x0 ;\n", "#define x%d ;x%d /* %d */\n", "x300", "depth"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        int levels = strcmp(rows[i].why, "depth") == 0 ? 300 : 60;
        char *text = doubling(rows[i].first, rows[i].format, levels, rows[i].last);
        ln_error_clear();
        char *message = il_to_tokens(text);
        CHECK_EQ(ln_error_status(), LN_LIMIT);
        ln_free(message);
        ln_free(text);
    }
}

static char *nested_calls(int depth)
{
    ln_text text = {0};
    char *bytes;
    ln_text_puts(&text, "#define F(x) x\n");
    for (int i = 0; i < depth; i++)
        ln_text_puts(&text, "F(");
    for (int i = 0; i < depth; i++)
        ln_text_puts(&text, ")");
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

TEST(deep_calls_reach_a_limit)
{
    static const struct {
        int depth;
        const char *message;
    } rows[] = {{100, ""},
                {300, "macros nest deeper than 256 expansions"},
                {100000, "macros make more than 500000 tokens at once"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *text = nested_calls(rows[i].depth);
        char *result = il_to_tokens(text);
        CHECK_NOT_NULL(strstr(result, rows[i].message));
        CHECK_EQ(*result == '\0', i == 0);
        ln_free(result);
        ln_free(text);
    }
}

TEST(many_parameters_are_refused)
{
    ln_text text = {0};
    ln_text_puts(&text, "#define F(p");
    for (int i = 0; i < 200; i++)
        ln_text_printf(&text, ", p%d", i);
    ln_text_puts(&text, ") x\n");
    char *message = il_to_tokens(text.bytes);
    CHECK_MESSAGE("macro 'F' has more than 127 parameters");
    ln_free(message);
    ln_text_deinit(&text);
}

TEST_LIST(macros_expand_as_in_c, joining_makes_names, wrong_macros_are_refused_with_their_place,
          a_message_shows_the_chain_of_expansions, a_long_chain_is_cut, bombs_reach_a_limit_soon,
          deep_calls_reach_a_limit, many_parameters_are_refused)
