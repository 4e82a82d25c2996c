// SPDX-License-Identifier: Apache-2.0
// Parameters as the data structure document writes their calls.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <float.h>
#include <limits.h>

static void set_through_vset(ln_param_entry *entry, ...)
{
    va_list ap;
    va_start(ap, entry);
    ln_param_vset(entry, ap);
    va_end(ap);
}

TEST(every_type_has_a_name)
{
    CHECK_EQ(LN_PARAM_NULL, 0);
    CHECK_EQ(LN_PARAM_STRING, 1);
    CHECK_EQ(LN_PARAM_NUMBER, 2);
    CHECK_EQ(LN_PARAM_BOOL, 3);
    CHECK_EQ(LN_PARAM_ARRAY_STRING, 4);
    CHECK_EQ(LN_PARAM_ARRAY_NUMBER, 5);
    CHECK_EQ(LN_PARAM_ARRAY_BOOL, 6);
    CHECK_EQ(LN_PARAM_INVALID, 7);
    for (ln_param_type type = LN_PARAM_NULL; type < LN_PARAM_INVALID; type++)
        CHECK_NOT_NULL(ln_param_type_name(type));
    CHECK_STR_EQ(ln_param_type_name(LN_PARAM_ARRAY_NUMBER), "LN_PARAM_ARRAY_NUMBER");
}

TEST(entries_have_the_documented_fields)
{
    struct ln_param_entry *entry = ln_param_entry_create("axis", LN_PARAM_NUMBER);
    char *arg_name = entry->arg_name;
    char *value_string = entry->value_string;
    char **value_array_string = entry->value_array_string;
    double *value_array_double = entry->value_array_double;
    float *value_array_float = entry->value_array_float;
    int *value_array_int = entry->value_array_int;
    ln_bool *value_array_bool = entry->value_array_bool;
    ln_bool value_bool = entry->value_bool;
    CHECK_STR_EQ(arg_name, "axis");
    CHECK_EQ(entry->type, LN_PARAM_NUMBER);
    CHECK_EQ(entry->array_len, 0);
    CHECK_EQ(entry->value_int, 0);
    CHECK_EQ(value_bool, 0);
    CHECK_NULL(value_string);
    CHECK_NULL(value_array_string);
    CHECK_NULL(value_array_double);
    CHECK_NULL(value_array_float);
    CHECK_NULL(value_array_int);
    CHECK_NULL(value_array_bool);
    ln_param_entry_free(entry);
}

TEST(numbers_saturate)
{
    static const struct {
        double number;
        float as_float;
        int as_int;
    } rows[] = {
        {0, 0, 0},
        {-0.5, -0.5f, 0},
        {2.9, 2.9f, 2},
        {-2.9, -2.9f, -2},
        {DBL_MAX, FLT_MAX, INT_MAX},
        {-DBL_MAX, -FLT_MAX, INT_MIN},
        {1e10, 1e10f, INT_MAX},
        {-1e10, -1e10f, INT_MIN},
        {2147483647.0, 2147483647.0f, INT_MAX},
        {-2147483648.0, -2147483648.0f, INT_MIN},
    };
    ln_param_entry *entry = ln_param_entry_create("n", LN_PARAM_NUMBER);
    ln_param_entry *array = ln_param_entry_create("a", LN_PARAM_ARRAY_NUMBER);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ln_param_set_satu_number(entry, rows[i].number);
        CHECK(entry->value_double == rows[i].number);
        CHECK(entry->value_float == rows[i].as_float);
        CHECK_EQ(entry->value_int, rows[i].as_int);
        ln_param_set_satu_array_number(array, 1, &rows[i].number);
        CHECK(array->value_array_double[0] == rows[i].number);
        CHECK(array->value_array_float[0] == rows[i].as_float);
        CHECK_EQ(array->value_array_int[0], rows[i].as_int);
    }
    ln_param_entry_free(entry);
    ln_param_entry_free(array);
}

TEST(setters_set_every_type)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_STRING);
    ln_param_set_string(entry, "text");
    CHECK_STR_EQ(entry->value_string, "text");
    ln_param_set_null(entry);
    CHECK_EQ(entry->type, LN_PARAM_NULL);
    ln_param_entry_free(entry);

    entry = ln_param_entry_create("p", LN_PARAM_BOOL);
    ln_param_set_bool(entry, LN_TRUE);
    CHECK_EQ(entry->value_bool, LN_TRUE);
    ln_param_entry_free(entry);

    entry = ln_param_entry_create("p", LN_PARAM_ARRAY_NUMBER);
    double doubles[] = {1.5, -1e300};
    float floats[] = {2.5f, 1e20f, 0};
    int ints[] = {3, -4};
    ln_param_set_satu_array_double(entry, 2, doubles);
    CHECK_EQ(entry->array_len, 2);
    CHECK(entry->value_array_float[1] == -FLT_MAX);
    CHECK_EQ(entry->value_array_int[1], INT_MIN);
    ln_param_set_satu_array_float(entry, 3, floats);
    CHECK_EQ(entry->array_len, 3);
    CHECK(entry->value_array_double[0] == 2.5);
    CHECK_EQ(entry->value_array_int[1], INT_MAX);
    ln_param_set_satu_array_int(entry, 2, ints);
    CHECK(entry->value_array_double[1] == -4.0);
    CHECK(entry->value_array_float[0] == 3.0f);
    ln_param_entry *copy = ln_param_entry_copy(entry);
    ln_param_entry_free(entry);
    CHECK_EQ(copy->value_array_int[1], -4);
    ln_param_entry_free(copy);

    entry = ln_param_entry_create("p", LN_PARAM_ARRAY_STRING);
    const char *strings[] = {"a", "b"};
    ln_param_set_array_string(entry, 2, strings);
    CHECK_STR_EQ(entry->value_array_string[1], "b");
    ln_param_entry_free(entry);

    entry = ln_param_entry_create("p", LN_PARAM_ARRAY_BOOL);
    ln_bool bools[] = {LN_TRUE, LN_FALSE};
    ln_param_set_array_bool(entry, 2, bools);
    CHECK_EQ(entry->value_array_bool[0], LN_TRUE);
    CHECK_EQ(entry->value_array_bool[1], LN_FALSE);
    ln_param_entry_free(entry);
}

TEST(set_reads_its_arguments_by_the_type_of_the_entry)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NUMBER);
    ln_param_set(entry, 3.5);
    CHECK(entry->value_float == 3.5f);
    set_through_vset(entry, -7.0);
    CHECK_EQ(entry->value_int, -7);
    ln_param_entry_free(entry);

    entry = ln_param_entry_create("p", LN_PARAM_STRING);
    ln_param_set(entry, "first");
    ln_param_set(entry, "second");
    CHECK_STR_EQ(entry->value_string, "second");
    ln_param_entry_free(entry);

    entry = ln_param_entry_create("p", LN_PARAM_BOOL);
    ln_param_set(entry, LN_TRUE);
    CHECK_EQ(entry->value_bool, LN_TRUE);
    ln_param_entry_free(entry);
}

TEST(lists_append_every_type)
{
    const char *strings[] = {"x", "y"};
    double numbers[] = {1, 2};
    double doubles[] = {1e300, 2};
    float floats[] = {0.5f};
    int ints[] = {1, 2, 3};
    ln_bool bools[] = {LN_FALSE, LN_TRUE};
    ln_list *list = NULL;
    list = ln_param_list_append_empty(list, "empty", LN_PARAM_ARRAY_NUMBER);
    list = ln_param_list_append_string(list, "string", "text");
    list = ln_param_list_append_number(list, "number", 1e300);
    list = ln_param_list_append_double(list, "double", 2.5);
    list = ln_param_list_append_float(list, "float", 3.5f);
    list = ln_param_list_append_int(list, "int", 4);
    list = ln_param_list_append_bool(list, "bool", LN_TRUE);
    list = ln_param_list_append_null(list, "null");
    list = ln_param_list_append_array_string(list, "strings", 2, strings);
    list = ln_param_list_append_array_number(list, "numbers", 2, numbers);
    list = ln_param_list_append_array_double(list, "doubles", 2, doubles);
    list = ln_param_list_append_array_float(list, "floats", 1, floats);
    list = ln_param_list_append_array_int(list, "ints", 3, ints);
    list = ln_param_list_append_array_bool(list, "bools", 2, bools);
    CHECK_EQ(ln_param_list_length(list), 14);
    ln_list *copy = ln_param_list_copy(list);
    ln_param_list_free(list);
    CHECK_EQ(ln_param_list_length(copy), 14);
    CHECK_EQ(ln_param_list_find(copy, "empty")->array_len, 0);
    CHECK_STR_EQ(ln_param_list_find(copy, "string")->value_string, "text");
    CHECK_EQ(ln_param_list_find(copy, "number")->value_int, INT_MAX);
    CHECK(ln_param_list_find(copy, "double")->value_double == 2.5);
    CHECK(ln_param_list_find(copy, "float")->value_float == 3.5f);
    CHECK_EQ(ln_param_list_find(copy, "int")->value_int, 4);
    CHECK_EQ(ln_param_list_find(copy, "bool")->value_bool, LN_TRUE);
    CHECK_EQ(ln_param_list_find(copy, "null")->type, LN_PARAM_NULL);
    CHECK_STR_EQ(ln_param_list_find(copy, "strings")->value_array_string[1], "y");
    CHECK_EQ(ln_param_list_find(copy, "numbers")->value_array_int[1], 2);
    CHECK(ln_param_list_find(copy, "doubles")->value_array_float[0] == FLT_MAX);
    CHECK_EQ(ln_param_list_find(copy, "floats")->value_array_int[0], 0);
    CHECK_EQ(ln_param_list_find(copy, "ints")->array_len, 3);
    CHECK_EQ(ln_param_list_find(copy, "bools")->value_array_bool[1], LN_TRUE);
    CHECK_NULL(ln_param_list_find(copy, "missing"));
    copy = ln_param_list_append_int(copy, "src_axis", 6);
    CHECK_EQ(ln_param_list_find2(copy, "src", "axis")->value_int, 6);
    ln_param_list_free(copy);
}

TEST(lists_make_unique_argument_names)
{
    char buf[LN_MAX_NAME_LEN];
    ln_list *list = ln_param_list_append_int(NULL, "p", 1);
    int number = ln_param_list_unique_arg_name(list, buf, "p");
    char expected[32];
    snprintf(expected, sizeof expected, "p%d", number);
    CHECK_STR_EQ(buf, expected);
    list = ln_param_list_append_int(list, buf, 1);
    CHECK(ln_param_list_unique_arg_name(list, buf, "p") > number);
    ln_param_list_free(list);
}

TEST_LIST(every_type_has_a_name, entries_have_the_documented_fields, numbers_saturate,
          setters_set_every_type, set_reads_its_arguments_by_the_type_of_the_entry,
          lists_append_every_type, lists_make_unique_argument_names)
