// SPDX-License-Identifier: Apache-2.0
// Arithmetic, in ${eval} and in #if.

#include "serial/il/il_eval.h"

#include <locale.h>

#include "serial/il/il_testing.h"

static char *eval(const char *expression)
{
    char text[512];
    snprintf(text, sizeof text, "${eval %s}", expression);
    return il_to_tokens(text);
}

TEST(expressions_have_perls_values)
{
    static const struct {
        const char *expression, *value, *why;
    } rows[] = {
        {"1+2*3", "7", "times before plus"},
        {"(1+2)*3", "9", "parentheses"},
        {"10-4-3", "3", "minus groups from the left"},
        {"7/2", "3.5", "a quotient keeps its fraction"},
        {"8/2", "4", "a whole quotient is whole"},
        {"1/3", "0.333333333333333", "15 digits"},
        {"0.29*100", "29", "15 digits hide what doubles add"},
        {"0.1+0.2", "0.3", "as well"},
        {"1e3", "1000", "an exponent"},
        {"2*.5", "1", "a number that begins with its point"},
        {"007+1", "8", "zeros in front mean nothing"},
        {"7%3", "1", "modulo"},
        {"-7%3", "2", "modulo has the sign of the right side"},
        {"7%-3", "-2", "modulo has the sign of the right side"},
        {"7.9%3.9", "1", "modulo works on the whole parts"},
        {"5%-1", "0", "a divisor that overflows in C"},
        {"2**10", "1024", "power"},
        {"2**3**2", "512", "power groups from the right"},
        {"-2**2", "-4", "power before minus"},
        {"2**-1", "0.5", "a negative exponent"},
        {"2**62", "4611686018427387904", "integers in full"},
        {"2**64", "1.84467440737096e+19", "beyond 64 bits a double"},
        {"9223372036854775807", "9223372036854775807", "the largest integer"},
        {"9223372036854775807+1", "9.22337203685478e+18", "overflow gives a double"},
        {"-9223372036854775807-2", "-9.22337203685478e+18", "overflow below"},
        {"(-9223372036854775807-1)/-1", "9.22337203685478e+18", "the quotient that overflows in C"},
        {"(-9223372036854775807-1)%-1", "0", "the rest that overflows in C"},
        {"- -3", "3", "minus twice"},
        {"+3", "3", "plus"},
        {"!3 + !0", "1", "not"},
        {"1<<3", "8", "times a power of two"},
        {"13>>2", "3", "divided by one, cut"},
        {"1+1<<1+1", "8", "plus before shifts"},
        {"1<<2<8", "1", "shifts before comparing"},
        {"0<<100", "0", "nothing, however far"},
        {"7>>64", "0", "all bits gone"},
        {"1<<62", "4611686018427387904", "the last that fits"},
        {"1<2", "1", "less"},
        {"2<=2", "1", "less or equal"},
        {"1>2", "0", "greater"},
        {"2>=3", "0", "greater or equal"},
        {"1==1.0", "1", "equal"},
        {"1!=1", "0", "not equal"},
        {"1<2==1", "1", "comparing before equality"},
        {"3||5", "3", "or gives what decided"},
        {"0||5", "5", "or gives what decided"},
        {"3&&5", "5", "and gives what decided"},
        {"0&&5", "0", "and gives what decided"},
        {"1||0&&0", "1", "and before or"},
        {"1||1/0", "1", "what is not needed is not computed"},
        {"0&&1%0", "0", "what is not needed is not computed"},
        {"0?1/0:2", "2", "what is not needed is not computed"},
        {"1?2:1/0", "2", "what is not needed is not computed"},
        {"0?1:0?2:3", "3", "choices group from the right"},
        {"1?0?4:5:6", "5", "a choice in a choice"},
        {"int(7/2)", "3", "int cuts"},
        {"int(-3.5)", "-3", "int cuts towards zero"},
        {"floor(-3.5)", "-4", "floor"},
        {"ceil(3.2)", "4", "ceil"},
        {"round(2.5)", "3", "round goes away from zero"},
        {"round(-2.5)", "-3", "round goes away from zero"},
        {"abs(-3)", "3", "abs"},
        {"abs(-1.5)", "1.5", "abs of a fraction"},
        {"sqrt(16)", "4", "a whole root"},
        {"sqrt(2)", "1.4142135623731", "a root (trailing zeros go)"},
        {"min(3,1,2)", "1", "min"},
        {"max(3,1,4.5)", "4.5", "max"},
        {"max(2)", "2", "max of one"},
        {"0*-1.5", "0", "no minus zero"},
        {"${eval 1+1}*3", "6", "the inner one first"},
        {"1${eval 2}", "12", "a value joins what it touches"},
        {"${eval 1}${eval 2}+1", "13", "values join each other"},
        {"${eval -2}**2", "4", "a value stays one value"},
        {"1 /* one */ + 1", "2", "comments"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s: %s\n", rows[i].expression, rows[i].why);
        char *value = eval(rows[i].expression);
        CHECK_STR_EQ(value, rows[i].value);
        ln_free(value);
    }
}

TEST(what_has_no_value_is_refused_with_its_place)
{
    static const struct {
        const char *text, *message, *why;
    } rows[] = {
        {"${eval}", "m.net:1:1: expected a number, found the end", "nothing, not even a space"},
        {"${eval }", "m.net:1:1: expected a number, found the end", "nothing"},
        {"${eval 1/0}", "m.net:1:9: division by zero", "division"},
        {"${eval 1%0}", "m.net:1:9: division by zero", "modulo"},
        {"${eval 1<<63}", "m.net:1:9: the result of '<<' is no integer", "too far"},
        {"${eval 3<<62}", "m.net:1:9: the result of '<<' is no integer", "too large"},
        {"${eval -1<<1}", "m.net:1:10: '<<' works on integers >= 0", "a negative number"},
        {"${eval 8>>-1}", "m.net:1:9: '>>' works on integers >= 0", "a negative count"},
        {"${eval 1.5<<1}", "m.net:1:11: '<<' works on integers >= 0", "a fraction"},
        {"${eval 1%0.5}", "m.net:1:9: division by zero", "modulo of the whole part"},
        {"${eval 1e300*1e300}", "m.net:1:13: the result of '*' is no finite number", "infinite"},
        {"${eval 0**-1}", "m.net:1:9: the result of '*' is no finite number", "infinite power"},
        {"${eval (-8)**0.5}", "is no finite number", "not a number"},
        {"${eval 1e300%7}", "works on integers", "modulo of a huge number"},
        {"${eval sqrt(-1)}", "m.net:1:8: sqrt of the negative number -1", "no root"},
        {"${eval 1e999}", "1e999 is too large for a double", "a huge number"},
        {"${eval 1 +}", "expected a number, found the end", "half an expression"},
        {"${eval (1}", "expected ')' or an operator", "no parenthesis"},
        {"${eval 1)}", "m.net:1:9: expected an operator or the end of the expression, found ')'",
         "one too many"},
        {"${eval 1 2}", "m.net:1:10: expected an operator or the end", "no operator"},
        {"${eval 1 * * 2}", "expected a number, found '*'", "an operator with a space in it"},
        {"${eval x}", "m.net:1:8: 'x' is no macro and no function", "a name"},
        {"${eval system(1)}", "'system' is no macro and no function", "a function of Perl"},
        {"${eval abs 1}", "expected '(' after the function's name", "no parentheses"},
        {"${eval abs(1,2)}", "expected ')' after what the function is given", "too many"},
        {"${eval min()}", "expected a number, found ')'", "too few"},
        {"${eval \"1\"}", "expected a number, found the string", "a string"},
        {"${eval 1?2}", "expected ':' of '?:'", "half a choice"},
        {"${eval 3x}", "'3x' is no number", "a broken number"},
        {"${eval 1e}", "'1e' is no number", "an exponent without digits"},
        {"${eval 1", "m.net:1:1: this ${eval has no '}'", "the end of the text"},
        {"${eval 1; a(||);}", "m.net:1:1: this ${eval has no '}'", "the end of the statement"},
        {"x${eval 0-1}", "m.net:1:1: 'x' and '-1' together make no name",
         "a name cannot take a minus"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s: %s\n", rows[i].text, rows[i].why);
        char *message = il_to_tokens(rows[i].text);
        CHECK_MESSAGE(rows[i].message);
        CHECK_STR_EQ(message, ln_error_message());
        ln_free(message);
    }
}

TEST(conditions_compute_with_whole_numbers)
{
    static const struct {
        const char *expression, *result, *why;
    } rows[] = {
        {"7/2==3", "yes", "a quotient is cut"},
        {"-7/2==-3", "yes", "towards zero"},
        {"unknown", "no", "an unknown name is 0"},
        {"!unknown", "yes", "an unknown name is 0"},
        {"1.5", "m.net:1:5: the result of '1.5' is no integer of 64 bits", "fractions are refused"},
        {"9223372036854775807+1", "m.net:1:24: the result of '+' is no integer of 64 bits",
         "overflow is refused"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[256];
        print_message("%s: %s\n", rows[i].expression, rows[i].why);
        snprintf(text, sizeof text, "#if %s\nyes\n#else\nno\n#endif", rows[i].expression);
        char *result = il_to_tokens(text);
        CHECK_STR_EQ(result, rows[i].result);
        ln_free(result);
    }
}

static char *repeat(const char *head, const char *s, size_t count, const char *tail)
{
    ln_text text = {0};
    char *bytes;
    ln_text_puts(&text, head);
    for (size_t i = 0; i < count; i++)
        ln_text_puts(&text, s);
    ln_text_puts(&text, tail);
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

TEST(depth_is_bounded)
{
    static const struct {
        const char *part, *tail;
    } rows[] = {{"(", "}"},     {"-", "1}"},       {"!", "1}"},    {"1?", "1}"}, {"2**", "1}"},
                {"abs(", "1}"}, {"${eval ", "1}"}, {"1?1:", "1}"}, {"-(", "1}"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *text = repeat("${eval ", rows[i].part, 100000, rows[i].tail);
        char *message = il_to_tokens(text);
        CHECK_EQ(ln_error_status(), LN_LIMIT);
        ln_free(message);
        ln_free(text);
    }
}

TEST(a_long_flat_sum_is_fine)
{
    char *text = repeat("${eval 0", "+1", 100000, "}");
    char *value = il_to_tokens(text);
    CHECK_STR_EQ(value, "100000");
    ln_free(value);
    ln_free(text);
}

TEST(the_locale_does_not_matter)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma is installed");
    char *value = eval("7/2 + .25");
    setlocale(LC_NUMERIC, "C");
    CHECK_STR_EQ(value, "3.75");
    ln_free(value);
}

TEST_LIST(expressions_have_perls_values, what_has_no_value_is_refused_with_its_place,
          conditions_compute_with_whole_numbers, depth_is_bounded, a_long_flat_sum_is_fine,
          the_locale_does_not_matter)
