// SPDX-License-Identifier: Apache-2.0
// Trees as IL, and back.

#include "serial/il/il_print.h"

#include <math.h>

#include "serial/il/il_testing.h"

static const ln_place nowhere = {"tree", 1, 1};

// ---- Random trees ----

static uint64_t random_state;

static unsigned roll(unsigned sides)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % sides;
}

static const char *random_text(void)
{
    static const char *const texts[] = {
        "x",     "conv2d", "true",  "false", "null", "a/b:0",     "1x",         "-1",
        "a b",   "a\"b",   "a\\b",  "a\nb",  "a\tb", "\x01\x1f",  "\xc3\xa9",   "\xf0\x9f\x98\x80",
        "a,b;c", "//x",    "/*x*/", "#if",   "##",   "${eval 1}", "defined",    "eval",
        "a|b",   "(",      "\\n",   "\\",    "\"",   "TL_FLOAT",  "x${eval 2}", "e5",
    };
    return texts[roll(LENGTH(texts))];
}

static double random_number(void)
{
    static const double numbers[] = {0,      -0.0,   1,     -1,     0.1,      1e20,
                                     -1e-7,  5e-324, 1e308, 1. / 3, 16777217, 9007199254740993.0,
                                     2.5e-45};
    return roll(2) ? numbers[roll(LENGTH(numbers))] : (roll(2000) - 1000.0) / (1 + roll(64));
}

static ln_value *random_scalar(ln_document *d)
{
    switch (roll(4)) {
    case 0: return ln_value_new(d, LN_VALUE_NULL, nowhere);
    case 1: return ln_value_new_bool(d, roll(2), nowhere);
    case 2: return ln_value_new_number(d, random_number(), nowhere);
    default: return ln_value_new_string(d, roll(9) ? random_text() : "", nowhere);
    }
}

static ln_value *random_param_value(ln_document *d)
{
    if (roll(3))
        return random_scalar(d);
    ln_value *array = ln_value_new(d, LN_VALUE_ARRAY, nowhere);
    for (unsigned left = roll(5); left > 0; left--)
        CHECK_OK(ln_value_append(d, array, NULL, random_scalar(d)));
    return array;
}

static void append_args(ln_document *d, ln_value *op, const char *key, char letter,
                        const char *value_key)
{
    ln_value *list = ln_value_new(d, LN_VALUE_ARRAY, nowhere);
    CHECK_OK(ln_value_append(d, op, key, list));
    for (unsigned i = roll(4); i > 0; i--) {
        char name[64];
        bool is_param = strcmp(key, "params") == 0;
        ln_value *arg = ln_value_new(d, LN_VALUE_OBJECT, nowhere);
        snprintf(name, sizeof name, "%s%c%u", roll(2) ? "arg" : random_text(), letter, i);
        CHECK_OK(ln_value_append(d, list, NULL, arg));
        CHECK_OK(ln_value_append(d, arg, "arg_name", ln_value_new_string(d, name, nowhere)));
        CHECK_OK(ln_value_append(d, arg, value_key,
                                 is_param ? random_param_value(d)
                                          : ln_value_new_string(d, random_text(), nowhere)));
    }
}

static ln_document *random_model(void)
{
    ln_document *d;
    CHECK_OK(ln_document_create("tree", &d));
    ln_value *root = ln_value_new(d, LN_VALUE_OBJECT, nowhere);
    ln_value *ops = ln_value_new(d, LN_VALUE_ARRAY, nowhere);
    ln_document_set_root(d, root);
    CHECK_OK(ln_value_append(d, root, "ops", ops));
    for (unsigned i = 0, count = roll(6); i < count; i++) {
        char name[64];
        ln_value *op = ln_value_new(d, LN_VALUE_OBJECT, nowhere);
        const char *optype = roll(2) ? "relu" : random_text();
        // Names of operators differ; some are what the parser would give.
        snprintf(name, sizeof name, roll(2) ? "relu%u" : "other %u", i);
        CHECK_OK(ln_value_append(d, ops, NULL, op));
        CHECK_OK(ln_value_append(d, op, "name", ln_value_new_string(d, name, nowhere)));
        CHECK_OK(ln_value_append(d, op, "optype", ln_value_new_string(d, optype, nowhere)));
        append_args(d, op, "tensors_in", 'i', "name");
        append_args(d, op, "tensors_out", 'o', "name");
        append_args(d, op, "params", 'p', "value");
    }
    return d;
}

static char *print_json(ln_document *document)
{
    ln_text text = {0};
    char *bytes;
    ln_value_print(ln_document_root(document), &text);
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

static char *print_il(ln_document *document)
{
    ln_text text = {0};
    char *bytes;
    CHECK_OK(ln_il_print(ln_document_root(document), &text));
    CHECK_OK(ln_text_take(&text, &bytes, NULL));
    return bytes;
}

TEST(any_model_survives_print_and_parse)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        random_state = seed;
        ln_document *document = random_model(), *again;
        char *json = print_json(document), *il = print_il(document);
        ln_status status = ln_il_parse(il, strlen(il), "il", NULL, &again);
        if (status != LN_OK)
            fail_msg("seed %u: %s\n%s", (unsigned)seed, ln_error_message(), il);
        char *json_again = print_json(again), *il_again = print_il(again);
        if (strcmp(json, json_again) != 0 || strcmp(il, il_again) != 0)
            fail_msg("seed %u:\n%s\n%s", (unsigned)seed, il, il_again);
        ln_free(json);
        ln_free(il);
        ln_free(json_again);
        ln_free(il_again);
        ln_document_destroy(document);
        ln_document_destroy(again);
    }
}

// ---- What IL cannot say ----

static ln_status print_json_as_il(const char *json, ln_text *text)
{
    ln_document *document;
    CHECK_OK(ln_document_parse(json, strlen(json), "m.json", LN_DIALECT_JSON, &document));
    ln_status status = ln_il_print(ln_document_root(document), text);
    ln_document_destroy(document);
    return status;
}

#define OP(rest) "{\"ops\": [{\"name\": \"a0\", \"optype\": \"a\", " rest "}]}"
#define PARAMS(rest)                                                                               \
    OP("\"tensors_in\": [], \"tensors_out\": [], \"params\": [{\"arg_name\": \"p\", " rest "}]")

TEST(what_compiling_added_is_left_out)
{
    ln_text text = {0};
    CHECK_OK(
        print_json_as_il("{\"mem_sizes_h\": [0], \"mem_sizes_l\": [64], \"ops\": [{\"name\": "
                         "\"a0\", \"optype\": \"a\", \"tensors_in\": [{\"arg_name\": \"s\", "
                         "\"name\": \"x\", \"dims\": [1, 2], \"offset_h\": 0, \"offset_l\": 64}"
                         "], \"tensors_out\": [], \"params\": []}]}",
                         &text));
    CHECK_STR_EQ(text.bytes, "a(s=x | |);\n");
    ln_text_deinit(&text);
}

TEST(what_cannot_be_read_again_is_refused)
{
    static const struct {
        const char *json;
        ln_status status;
        const char *message, *why;
    } rows[] = {
        {"[]", LN_INVALID, "m.json:1:1: expected a model, an object, found an array", "an array"},
        {"{}", LN_INVALID, "m.json:1:1: 'ops' is missing here", "no operators"},
        {"{\"ops\": 1}", LN_INVALID, "'ops' is a number, not an array", "a number"},
        {"{\"ops\": [1]}", LN_INVALID, "expected an operator, an object, found a number",
         "a number"},
        {"{\"ops\": [], \"author\": 1}", LN_UNSUPPORTED,
         "m.json:1:13: IL has no place for 'author' of a model", "another key"},
        {OP("\"tensors_in\": []"), LN_INVALID, "'tensors_out' is missing here",
         "a part is missing"},
        {"{\"ops\": [{\"name\": \"\"}]}", LN_INVALID, "'name' is empty", "no name"},
        {"{\"ops\": [{\"name\": 1}]}", LN_INVALID, "'name' is a number, not a string", "a number"},
        {PARAMS("\"value\": {}"), LN_UNSUPPORTED, "IL cannot write an object here", "an object"},
        {PARAMS("\"value\": [[1]]"), LN_UNSUPPORTED, "IL cannot write an array here", "nested"},
        {PARAMS("\"val\": 1"), LN_UNSUPPORTED, "IL has no place for 'val' of a parameter",
         "misspelt"},
        {PARAMS("\"value\": 1}, {\"arg_name\": \"p\", \"value\": 2"), LN_INVALID,
         "the operator has the argument 'p' twice", "twice"},
        {"{\"ops\": [{\"name\": \"n\", \"optype\": \"a\", \"tensors_in\": [], \"tensors_out\": [], "
         "\"params\": []}, {\"name\": \"n\", \"optype\": \"b\", \"tensors_in\": [], "
         "\"tensors_out\": [], \"params\": []}]}",
         LN_INVALID, "two operators have the name 'n'", "the same name"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_message("%s\n", rows[i].why);
        ln_text text = {0};
        ln_text_puts(&text, "before");
        CHECK_FAILS(print_json_as_il(rows[i].json, &text), rows[i].status);
        CHECK_MESSAGE(rows[i].message);
        CHECK_STR_EQ(text.bytes, "before");
        ln_text_deinit(&text);
    }
}

TEST(numbers_and_strings_made_by_programs_are_checked)
{
    ln_document *d;
    ln_text text = {0};
    CHECK_OK(ln_document_parse(PARAMS("\"value\": 1"), strlen(PARAMS("\"value\": 1")), "m", 0, &d));
    ln_value *op = ln_value_get(ln_document_root(d), "ops")->first;
    ln_value *value = ln_value_get(op, "params")->first->last;
    value->number = NAN;
    CHECK_FAILS(ln_il_print(ln_document_root(d), &text), LN_UNSUPPORTED);
    value->kind = LN_VALUE_STRING;
    value->text = "a\0b";
    value->text_len = 3;
    CHECK_FAILS(ln_il_print(ln_document_root(d), &text), LN_INVALID);
    value->text = "\xff";
    value->text_len = 1;
    CHECK_FAILS(ln_il_print(ln_document_root(d), &text), LN_INVALID);
    ln_document_destroy(d);
    ln_text_deinit(&text);
}

TEST(no_model_is_refused)
{
    ln_text text = {0};
    CHECK_FAILS(ln_il_print(NULL, &text), LN_INVALID);
    text.status = LN_LIMIT;
    CHECK_FAILS(print_json_as_il("{\"ops\": []}", &text), LN_LIMIT);
}

TEST_LIST(any_model_survives_print_and_parse, what_compiling_added_is_left_out,
          what_cannot_be_read_again_is_refused, numbers_and_strings_made_by_programs_are_checked,
          no_model_is_refused)
