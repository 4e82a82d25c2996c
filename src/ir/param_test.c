// SPDX-License-Identifier: Apache-2.0
// Parameters: what each value becomes, and what a failure leaves.

#include <lightnet/param.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "tests/oom.h"
#include "tests/test.h"

TEST(numbers_saturate)
{
    static const struct {
        double number;
        float as_float;
        int as_int;
        const char *why;
    } rows[] = {
        {0, 0.0f, 0, "zero is exact"},
        {-0.5, -0.5f, 0, "negative numbers keep their sign"},
        {-3.99, -3.99f, -3, "the fraction is cut off toward zero"},
        {3.99, 3.99f, 3, "the fraction is cut off toward zero"},
        {2147483647, 2147483648.0f, INT_MAX, "the largest int"},
        {2147483648.0, 2147483648.0f, INT_MAX, "above the largest int"},
        {-2147483648.0, -2147483648.0f, INT_MIN, "the smallest int"},
        {-1e10, -1e10f, INT_MIN, "below the smallest int"},
        {1e300, FLT_MAX, INT_MAX, "above the largest float"},
        {-1e300, -FLT_MAX, INT_MIN, "below the smallest float"},
        {1e-300, 0.0f, 0, "too small for a float"},
        {FLT_MIN, FLT_MIN, 0, "the smallest normal float"},
        {INFINITY, INFINITY, INT_MAX, "infinity stays in a float"},
        {-INFINITY, -INFINITY, INT_MIN, "negative infinity stays in a float"},
    };
    ln_param_entry *entry = ln_param_entry_create("x", LN_PARAM_NUMBER);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(ln_param_set_satu_number(entry, rows[i].number));
        if (entry->value_double != rows[i].number || entry->value_float != rows[i].as_float ||
            entry->value_int != rows[i].as_int)
            fail_msg("%s: %g became %g and %d", rows[i].why, rows[i].number,
                     (double)entry->value_float, entry->value_int);
        CHECK_OK(ln_param_set_satu_array_double(entry, 1, &rows[i].number));
        CHECK(entry->value_array_float[0] == rows[i].as_float);
        CHECK_EQ(entry->value_array_int[0], rows[i].as_int);
    }
    CHECK_OK(ln_param_set_satu_number(entry, NAN));
    CHECK(isnan(entry->value_float));
    CHECK_EQ(entry->value_int, 0);
    ln_param_entry_free(entry);
}

TEST(types_are_in_the_documented_order_and_have_names)
{
    CHECK_EQ(LN_PARAM_NULL, 0);
    CHECK_EQ(LN_PARAM_STRING, 1);
    CHECK_EQ(LN_PARAM_ARRAY_BOOL, 6);
    CHECK_EQ(LN_PARAM_INVALID, 7);
    CHECK_STR_EQ(ln_param_type_name(LN_PARAM_ARRAY_NUMBER), "LN_PARAM_ARRAY_NUMBER");
    CHECK_STR_EQ(ln_param_type_name((ln_param_type)100), "LN_PARAM_INVALID");
    CHECK_EQ(ln_param_type_from_str("LN_PARAM_BOOL"), LN_PARAM_BOOL);
    CHECK_EQ(ln_param_type_from_str("LN_PARAM"), LN_PARAM_INVALID);
    CHECK_EQ(ln_param_type_from_str(NULL), LN_PARAM_INVALID);
}

TEST(set_takes_arguments_by_type)
{
    const char *strings[] = {"a", "b"};
    const double numbers[] = {1.5, -2};
    const ln_bool bools[] = {1, 0, 1};
    ln_param_entry *entry = ln_param_entry_create("x", LN_PARAM_NUMBER);
    CHECK_OK(ln_param_set(entry, 2.5));
    CHECK_EQ(entry->value_int, 2);
    entry->type = LN_PARAM_STRING;
    CHECK_OK(ln_param_set(entry, "text"));
    CHECK_STR_EQ(entry->value_string, "text");
    entry->type = LN_PARAM_BOOL;
    CHECK_OK(ln_param_set(entry, 1));
    CHECK_EQ(entry->value_bool, 1);
    entry->type = LN_PARAM_ARRAY_STRING;
    CHECK_OK(ln_param_set(entry, strings, 2));
    CHECK_STR_EQ(entry->value_array_string[1], "b");
    entry->type = LN_PARAM_ARRAY_NUMBER;
    CHECK_OK(ln_param_set(entry, numbers, 2));
    CHECK_EQ(entry->value_array_int[1], -2);
    CHECK_NULL(entry->value_array_string);
    entry->type = LN_PARAM_ARRAY_BOOL;
    CHECK_OK(ln_param_set(entry, bools, 3));
    CHECK_EQ(entry->array_len, 3);
    CHECK_OK(ln_param_set_null(entry));
    CHECK_EQ(entry->type, LN_PARAM_NULL);
    CHECK_EQ(entry->array_len, 0);
    ln_param_entry_free(entry);
}

TEST(what_cannot_be_set_changes_nothing)
{
    ln_param_entry *entry = ln_param_entry_create("x", LN_PARAM_STRING);
    CHECK_OK(ln_param_set_string(entry, "old"));
    CHECK_FAILS(ln_param_set_string(entry, NULL), LN_INVALID);
    CHECK_FAILS(ln_param_set_satu_array_int(entry, -1, (const int[]){1}), LN_INVALID);
    CHECK_FAILS(ln_param_set_satu_array_double(entry, 2, NULL), LN_INVALID);
    CHECK_FAILS(ln_param_set_array_string(entry, 1, (const char *[]){NULL}), LN_INVALID);
    CHECK_STR_EQ(entry->value_string, "old");
    CHECK_FAILS(ln_param_set_null(NULL), LN_INVALID);
    CHECK_NULL(ln_param_entry_create(NULL, LN_PARAM_NULL));
    CHECK_NULL(ln_param_entry_create("x", LN_PARAM_INVALID));
    CHECK_NULL(ln_param_entry_create("x", (ln_param_type)-1));
    ln_param_entry_free(entry);
    ln_param_entry_free(NULL);
}

TEST(an_array_may_be_empty)
{
    ln_param_entry *entry = ln_param_entry_create("x", LN_PARAM_ARRAY_NUMBER);
    CHECK_OK(ln_param_set_satu_array_double(entry, 0, NULL));
    CHECK_NOT_NULL(entry->value_array_double);
    ln_param_entry *copy = ln_param_entry_copy(entry);
    CHECK_NOT_NULL(copy->value_array_double);
    ln_param_entry_free(copy);
    ln_param_entry_free(entry);
}

static ln_list *all_kinds(void)
{
    const char *strings[] = {"a", "b"};
    ln_list *list = NULL;
    list = ln_param_list_append_empty(list, "empty", LN_PARAM_STRING);
    list = ln_param_list_append_string(list, "string", "s");
    list = ln_param_list_append_number(list, "number", 1);
    list = ln_param_list_append_double(list, "double", 2);
    list = ln_param_list_append_float(list, "float", 0.5f);
    list = ln_param_list_append_int(list, "int", 4);
    list = ln_param_list_append_bool(list, "bool", 1);
    list = ln_param_list_append_null(list, "null");
    list = ln_param_list_append_array_string(list, "array_string", 2, strings);
    list = ln_param_list_append_array_number(list, "array_number", 1, (const double[]){1});
    list = ln_param_list_append_array_double(list, "array_double", 1, (const double[]){2});
    list = ln_param_list_append_array_float(list, "array_float", 1, (const float[]){3});
    list = ln_param_list_append_array_int(list, "array_int", 2, (const int[]){4, 5});
    list = ln_param_list_append_array_bool(list, "array_bool", 1, (const ln_bool[]){1});
    return list;
}

TEST(a_list_finds_and_copies_all_kinds)
{
    ln_list *list = all_kinds();
    ln_list *copy = ln_param_list_copy(list);
    ln_param_list_free(list);
    CHECK_EQ(ln_param_list_length(copy), 14);
    CHECK_NULL(ln_param_list_find(copy, "empty")->value_string);
    CHECK_EQ(ln_param_list_find(copy, "array_int")->value_array_int[1], 5);
    CHECK_PTR_EQ(ln_param_list_find2(copy, "array", "int"), ln_param_list_find(copy, "array_int"));
    CHECK_NULL(ln_param_list_find2(copy, "array", "nothing"));
    CHECK_NULL(ln_param_list_find2(copy, NULL, "int"));
    CHECK_NULL(ln_param_list_find(copy, NULL));
    CHECK_NULL(ln_param_list_find(NULL, "x"));
    CHECK_NULL(ln_param_list_copy(NULL));
    ln_param_list_free(copy);
}

TEST(a_failing_append_leaves_the_list)
{
    ln_list *list = ln_param_list_append_int(NULL, "x", 1);
    CHECK_PTR_EQ(ln_param_list_append_string(list, "y", NULL), list);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_EQ(ln_param_list_length(list), 1);
    ln_param_list_free(list);
}

TEST(unique_names_count_on)
{
    char buf[LN_MAX_NAME_LEN];
    ln_list *list = NULL;
    CHECK_EQ(ln_param_list_unique_arg_name(list, buf, "p"), 0);
    CHECK_STR_EQ(buf, "p0");
    list = ln_param_list_append_null(list, "p7");
    list = ln_param_list_append_null(list, "p3");
    list = ln_param_list_append_null(list, "px9");
    list = ln_param_list_append_null(list, "p99999999999");
    CHECK_EQ(ln_param_list_unique_arg_name(list, buf, "p"), 8);
    CHECK_STR_EQ(buf, "p8");
    list = ln_param_list_append_null(list, "p2147483647");
    CHECK_EQ(ln_param_list_unique_arg_name(list, buf, "p"), -1);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_EQ(ln_param_list_unique_arg_name(list, NULL, "p"), -1);

    char prefix[LN_MAX_NAME_LEN + 1];
    memset(prefix, 'x', LN_MAX_NAME_LEN);
    prefix[LN_MAX_NAME_LEN] = '\0';
    CHECK_EQ(ln_param_list_unique_arg_name(list, buf, prefix), -1);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    ln_param_list_free(list);
}

TEST(running_out_of_memory_leaks_nothing)
{
    OOM_SWEEP(n)
    {
        ln_list *list = all_kinds();
        ln_list *copy = ln_param_list_copy(list);
        ln_param_list_free(list);
        ln_param_list_free(copy);
    }
}

TEST_LIST(numbers_saturate, types_are_in_the_documented_order_and_have_names,
          set_takes_arguments_by_type, what_cannot_be_set_changes_nothing, an_array_may_be_empty,
          a_list_finds_and_copies_all_kinds, a_failing_append_leaves_the_list,
          unique_names_count_on, running_out_of_memory_leaks_nothing)
