// SPDX-License-Identifier: Apache-2.0
// Statements: what they mean, what is refused, and that hostile texts end soon.

#include "serial/il/il_parse.h"

#include "serial/il/il_testing.h"

TEST(a_statement_gives_the_tree_of_its_json)
{
    const char *il = "conv2d(src=x, weight=w,| dst = y | group=1, size=[3, 3,], act=\"none\",);";
    const char *json = "{\"ops\": [{\"name\": \"conv2d0\", \"optype\": \"conv2d\", \"tensors_in\": "
                       "[{\"arg_name\": \"src\", \"name\": \"x\"}, {\"arg_name\": \"weight\", "
                       "\"name\": \"w\"}], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": "
                       "\"y\"}], \"params\": [{\"arg_name\": \"group\", \"value\": 1}, "
                       "{\"arg_name\": \"size\", \"value\": [3, 3]}, {\"arg_name\": \"act\", "
                       "\"value\": \"none\"}]}]}";
    ln_document *document;
    ln_text expected = {0};
    CHECK_OK(ln_document_parse(json, strlen(json), "m.json", LN_DIALECT_JSON, &document));
    ln_value_print(ln_document_root(document), &expected);
    char *printed = il_to_json(il, strlen(il));
    CHECK_STR_EQ(printed, expected.bytes);
    ln_free(printed);
    ln_text_deinit(&expected);
    ln_document_destroy(document);
}

TEST(statements_read_as_they_print)
{
    static const struct {
        const char *il, *printed, *why;
    } rows[] = {
        {"", "", "no operators"},
        {";; ;", "", "empty statements"},
        {"a(||);", "a(| |);\n", "nothing in any part"},
        {"a(||)", "a(| |);\n", "the last ';' may be missing"},
        {"a(||);;b(||);a(||)", "a(| |);\nb(| |);\na(| |);\n", "two statements"},
        {"a(x=y|x1=z|p=1)", "a(x=y | x1=z | p=1);\n", "one of each"},
        {"a(|\n|\n)", "a(| |);\n", "over lines"},
        {"a(||p=b)", "a(| | p=b);\n", "a bare word is a string"},
        {"a(||p=\"b\")", "a(| | p=b);\n", "a string that is a word"},
        {"a(||p=true,q=false,r=null)", "a(| | p=true, q=false, r=null);\n", "key words"},
        {"a(||p=\"true\",q=\"null\")", "a(| | p=\"true\", q=\"null\");\n",
         "strings like key words"},
        {"a(||p=[])", "a(| | p=[]);\n", "an empty array"},
        {"a(||p=[1,-2.50,b,\"c d\",true,null])",
         "a(| | p=[1, -2.5, \"b\", \"c d\", true, null]);\n", "all kinds in an array"},
        {"a(||p=+1,q=-.5,r=5.,s=1E2,t=007,u=- 1)", "a(| | p=1, q=-0.5, r=5, s=100, t=7, u=-1);\n",
         "numbers"},
        {"a(||p=\"a,b;c=d|e(f)#g//h/*i\")", "a(| | p=\"a,b;c=d|e(f)#g//h/*i\");\n",
         "everything fits into a string"},
        {"a(||p=\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\")",
         "a(| | p=\"\\\"\\\\/\\b\\f\\n\\r\\t\xc3\xa9\xf0\x9f\x98\x80\");\n", "escapes"},
        {"a(||p=\"${eval 1}\")", "a(| | p=\"${eval 1}\");\n", "no eval in strings"},
        {"n: a(||); a(||)", "n: a(| |);\na(| |);\n", "a name of its own"},
        {"a0: a(||); a1: a(||)", "a(| |);\na(| |);\n", "a name that would be given anyway"},
        {"a1: a(||); a5: a(||)", "a1: a(| |);\na5: a(| |);\n", "other numbers"},
        {"\"n/1\" : \"a b\"(\"s:0\"=\"t/0\"||\"p q\"=1)",
         "\"n/1\": \"a b\"(\"s:0\"=\"t/0\" | | \"p q\"=1);\n", "names that are no words"},
        {"true(null=false||)", "\"true\"(\"null\"=\"false\" | |);\n", "key words as names"},
        {"\"graph\": a(||); \"info\"(||)", "\"graph\": a(| |);\n\"info\"(| |);\n",
         "blocks as names"},
        {"a(||); info { producer = x; properties = [k, v, w, \"\"] }",
         "a(| |);\n\ninfo {\n    producer=\"x\";\n    properties=[\"k\", \"v\", \"w\", \"\"];\n}\n",
         "metadata"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        char *printed = il_to_il(rows[i].il);
        CHECK_STR_EQ(printed, rows[i].printed);
        char *again = il_to_il(printed);
        CHECK_STR_EQ(again, printed);
        ln_free(again);
        ln_free(printed);
    }
}

TEST(wrong_statements_are_refused_with_their_place)
{
    static const struct {
        const char *il, *message, *why;
    } rows[] = {
        {"1(||)", "m.net:1:1: expected the type of an operator, found '1'", "a number"},
        {"info", "m.net:1:5: expected '{' after 'info', found the end", "metadata without a block"},
        {"info {", "m.net:1:7: expected the name of a text, or '}', found the end",
         "an open block"},
        {"info { a=b c=d }", "m.net:1:12: expected ';' or '}' after the text, found 'c'",
         "metadata without ';'"},
        {"info { a=b; a=b; }", "m.net:1:13: the metadata have 'a' twice", "a text twice"},
        {"info { properties=[a, b, c]; }",
         "m.net:1:26: expected properties as texts, a key and its value in turn", "a key alone"},
        {"info { properties=[a, 1]; }",
         "m.net:1:23: expected properties as texts, a key and its value in turn", "a number"},
        {"info {} info {}", "m.net:1:9: a model has one block 'info'", "metadata twice"},
        {"info {} a(||)",
         "m.net:1:9: expected 'graph': operators stand before all graphs, found 'a'",
         "an operator after metadata"},
        {"()", "m.net:1:1: expected the type of an operator, found '('", "no type"},
        {"a",
         "m.net:1:2: expected '(' after the type of the operator, or ':' after its name, found the end",
         "a word"},
        {"a b(||)", "m.net:1:3: expected '('", "two words"},
        {"n: (||)", "m.net:1:4: expected the type of the operator after its name, found '('",
         "a name alone"},
        {"\"\"(||)", "m.net:1:1: expected the type of an operator, found an empty string",
         "no name"},
        {"a()", "m.net:1:3: expected an input 'argument = tensor' or '|', found ')'", "no bars"},
        {"a(|)", "m.net:1:4: expected an output 'argument = tensor' or '|', found ')'", "one bar"},
        {"a(|||)", "m.net:1:5: expected a parameter 'name = value' or ')', found '|'",
         "three bars"},
        {"a(||", "expected a parameter 'name = value' or ')', found the end", "the end"},
        {"a(x||)", "m.net:1:4: expected '=' after the name of the argument, found '|'", "no value"},
        {"a(x=||)", "m.net:1:5: expected the name of a tensor, found '|'", "no tensor"},
        {"a(x=1||)", "m.net:1:5: expected the name of a tensor, found '1'",
         "a number for a tensor"},
        {"a(x=[a]||)", "m.net:1:5: expected the name of a tensor, found '['",
         "an array for a tensor"},
        {"a(x=\"\"||)", "m.net:1:5: expected the name of a tensor, found an empty string", "empty"},
        {"a(x=b y=c||)", "m.net:1:7: expected ',' or '|' after the input, found 'y'", "no comma"},
        {"a(|x=b y=c|)", "m.net:1:8: expected ',' or '|' after the output, found 'y'", "no comma"},
        {"a(||x=b y=c)", "m.net:1:9: expected ',' or ')' after the parameter, found 'y'",
         "no comma"},
        {"a(,||)", "m.net:1:3: expected an input", "a comma alone"},
        {"a(x=b,,||)", "m.net:1:7: expected an input", "two commas"},
        {"a(||x=)", "m.net:1:7: expected the value of the parameter, found ')'", "no value"},
        {"a(||x=;)", "m.net:1:7: expected the value of the parameter, found ';'", "no value"},
        {"a(||x=[1 2])", "m.net:1:10: expected ',' or ']' in the array, found '2'", "no comma"},
        {"a(||x=[,])", "m.net:1:8: expected an element of the array or ']', found ','",
         "a comma alone"},
        {"a(||x=[[1]])", "m.net:1:8: an array cannot hold an array", "nested"},
        {"a(||x=[1", "expected ',' or ']' in the array, found the end", "no bracket"},
        {"a(||x=-)", "m.net:1:8: expected a number after the sign, found ')'", "a sign alone"},
        {"a(||x=--1)", "m.net:1:8: expected a number after the sign, found '-'", "two signs"},
        {"a(||x=-${eval 0-1})", "expected a number after the sign, found '-1'", "two signs"},
        {"a(||x=-b)", "expected a number after the sign, found 'b'", "minus a name"},
        {"a(||x=3x)", "m.net:1:7: '3x' is no number", "a broken number"},
        {"a(||x=1.2.3)", "'1.2.3' is no number", "two points"},
        {"a(||x=0x10)", "'0x10' is no number", "hexadecimal"},
        {"a(||x=1e)", "'1e' is no number", "no exponent"},
        {"a(||x=1e999)", "m.net:1:7: 1e999 is too large for a double", "too large"},
        {"a(||) b(||)", "m.net:1:7: expected ';' after the operator, found 'b'", "no semicolon"},
        {"a(||x=1,x=2)", "m.net:1:9: this operator has the argument 'x' twice", "twice"},
        {"a(x=b|x=c|)", "m.net:1:7: this operator has the argument 'x' twice", "in two parts"},
        {"n:a(||);\n n:b(||);", "m.net:2:2: operator name 'n' is taken at m.net:1:1", "two names"},
        {"a1:a(||);a(||)", "m.net:1:10: operator name 'a1' is taken at m.net:1:1", "a given name"},
        {"a(||x=\"\\q\")", "m.net:1:7: in this string, '\\q' means nothing", "an escape"},
        {"a(||x=\"\\u12\")", "\\u needs four hexadecimal digits", "short"},
        {"a(||x=\"\\u0000\")", "that are not all 0", "NUL"},
        {"a(||x=\"\\ud800\")", "\\ud800 is half of a pair", "half a pair"},
        {"a(||x=\"\\ud800\\u0041\")", "\\ud800 is half of a pair", "half a pair"},
        {"a(||x=\"\\udc00\")", "\\udc00 is half of a pair", "the other half"},
        {"a(||x='b')", "expected the value of the parameter, found '''", "single quotes"},
        {"a(||x={})", "expected the value of the parameter, found '{'", "an object"},
        {"}", "expected the type of an operator, found '}'", "a brace"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s: %s\n", rows[i].il, rows[i].why);
        char *message = il_to_il(rows[i].il);
        CHECK_MESSAGE(rows[i].message);
        CHECK_STR_EQ(message, ln_error_message());
        ln_free(message);
    }
}

TEST(nodes_know_their_places)
{
    const char *il = "#define relu(a) r(src=a | dst=b | p=-1)\n"
                     "  relu(x);\n";
    ln_document *document;
    CHECK_OK(ln_il_parse(il, strlen(il), "m.net", NULL, &document));
    const ln_value *op = ln_value_get(ln_document_root(document), "ops")->first;
    CHECK_EQ(op->place.line, 1);
    CHECK_EQ(op->place.column, 17);
    const ln_value *in = ln_value_get(op, "tensors_in")->first;
    CHECK_STR_EQ(ln_value_get(in, "name")->place.file, "m.net");
    CHECK_EQ(ln_value_get(in, "name")->place.line, 2);
    CHECK_EQ(ln_value_get(in, "name")->place.column, 8);
    const ln_value *value = ln_value_get(ln_value_get(op, "params")->first, "value");
    CHECK_EQ(value->place.column, 37);
    CHECK_STR_EQ(value->text, "-1");
    ln_document_destroy(document);
}

TEST(numbers_keep_their_spelling_in_jsons_form)
{
    static const struct {
        const char *written, *kept;
    } rows[] = {{"1.50", "1.50"}, {"+1", "1"},        {".5", "0.5"},      {"5.", "5"},
                {"007", "7"},     {"00", "0"},        {"-0", "-0"},       {"5.e3", "5e3"},
                {".0", "0.0"},    {"1E+05", "1E+05"}, {"-00.10", "-0.10"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char il[64];
        ln_document *document;
        snprintf(il, sizeof il, "a(||p=%s)", rows[i].written);
        CHECK_OK(ln_il_parse(il, strlen(il), NULL, NULL, &document));
        const ln_value *op = ln_value_get(ln_document_root(document), "ops")->first;
        CHECK_STR_EQ(ln_value_get(ln_value_get(op, "params")->first, "value")->text, rows[i].kept);
        ln_document_destroy(document);
    }
}

TEST(hostile_texts_end_soon)
{
    static const struct {
        const char *head, *part, *why;
        size_t count;
        ln_status status;
    } rows[] = {
        {"a(||p=", "(", "parentheses", 100000, LN_SYNTAX},
        {"a(||p=", "[", "brackets", 100000, LN_SYNTAX},
        {"", "(", "parentheses from the start", 100000, LN_SYNTAX},
        {"a(||p=", "9", "a long number", 1000000, LN_LIMIT},
        {"a(||p=", "-", "signs", 100000, LN_SYNTAX},
        {"", "a", "a long name", 1000000, LN_SYNTAX},
        {"a(||p=[", "1,", "a long array without an end", 100000, LN_SYNTAX},
        {"a(||p=\"", "x", "a long string without an end", 1000000, LN_SYNTAX},
        {"/*", "*", "a long comment without an end", 1000000, LN_SYNTAX},
        {"#if 0\n", "\"\\", "strings without an end in a group left out", 500000, LN_SYNTAX},
        {"a(||p=x", "${eval 1}", "a name put together", 100000, LN_LIMIT},
        {"#define A", " A", "a macro of itself", 100000, LN_OK},
        {"", ";", "empty statements", 1000000, LN_OK},
        {"", "\n", "empty lines", 1000000, LN_OK},
        {"", "a(||);", "many operators", 50000, LN_OK},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        ln_text text = {0};
        ln_text_puts(&text, rows[i].head);
        for (size_t k = 0; k < rows[i].count; k++)
            ln_text_puts(&text, rows[i].part);
        ln_document *document;
        CHECK_FAILS(ln_il_parse(text.bytes, text.len, "m.net", NULL, &document), rows[i].status);
        ln_document_destroy(document);
        ln_text_deinit(&text);
    }
}

TEST(texts_over_the_limit_and_no_texts_are_refused)
{
    ln_document *document;
    CHECK_FAILS(ln_il_parse(NULL, 0, "m.net", NULL, &document), LN_INVALID);
    CHECK_NULL(document);
    CHECK_FAILS(ln_il_parse("", (size_t)LN_IL_MAX_BYTES + 1, "m.net", NULL, &document), LN_LIMIT);
    CHECK_FAILS(ln_il_parse_file(NULL, &document), LN_INVALID);
    CHECK_FAILS(ln_il_parse_file("/nowhere/m.net", &document), LN_IO);
    CHECK_FAILS(ln_il_parse_file("/tmp", &document), LN_IO);
    CHECK_NULL(document);
}

static const char model_path[] = LN_SOURCE_DIR "/tests/il/models/squeeze.net";

TEST(the_model_gives_its_golden_json)
{
    ln_document *document;
    ln_text text = {0};
    char *golden;
    CHECK_OK(ln_il_parse_file(model_path, &document));
    ln_value_print(ln_document_root(document), &text);
    ln_text_puts(&text, "\n");
    CHECK_OK(
        ln_text_read_file(LN_SOURCE_DIR "/tests/il/models/squeeze.json", 1 << 20, &golden, NULL));
    CHECK_STR_EQ(text.bytes, golden);
    ln_free(golden);
    ln_text_deinit(&text);
    ln_document_destroy(document);
}

TEST(every_failing_allocation_is_survived)
{
    size_t number = 0;
    for (;; number++) {
        ln_document *document;
        ln_text text = {0};
        char *bytes = NULL;
        il_allocator_fail_at(number);
        ln_status status = ln_il_parse_file(model_path, &document);
        if (status == LN_OK)
            status = ln_il_print(ln_document_root(document), &text);
        if (status == LN_OK)
            status = ln_text_take(&text, &bytes, NULL);
        ln_text_deinit(&text);
        ln_document_destroy(document);
        ln_free(bytes);
        ln_allocator_set(NULL);
        CHECK_EQ(il_live_count, 0);
        if (status == LN_OK)
            break;
        CHECK_EQ(status, LN_NO_MEMORY);
    }
    CHECK(number > 20);
}

TEST_LIST(a_statement_gives_the_tree_of_its_json, statements_read_as_they_print,
          wrong_statements_are_refused_with_their_place, nodes_know_their_places,
          numbers_keep_their_spelling_in_jsons_form, hostile_texts_end_soon,
          texts_over_the_limit_and_no_texts_are_refused, the_model_gives_its_golden_json,
          every_failing_allocation_is_survived)
