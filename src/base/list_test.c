// SPDX-License-Identifier: Apache-2.0
// The list against an array, and its edges.

#include <lightnet/list.h>

#include <limits.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

#define NUMBER(i) (&numbers[i])

static ln_list *list_of(size_t count)
{
    ln_list_builder builder = {0};
    for (size_t i = 0; i < count; i++)
        CHECK_OK(ln_list_builder_push(&builder, NUMBER(i)));
    return builder.list;
}

// "0 1 2" for a list of numbers; valid until the next call.
static const char *text_of(const ln_list *list)
{
    static char text[256];
    size_t len = 0;
    text[0] = '\0';
    const int *number;
    LN_LIST_FOREACH (number, list)
        len += (size_t)snprintf(text + len, sizeof text - len, len ? " %d" : "%d", *number);
    return text;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// `data` is a divisor.
static int by_divisor(const void *element, const void *data)
{
    return *(const int *)element % *(const int *)data;
}

TEST(growing_puts_elements_where_told)
{
    ln_list *list = NULL;
    list = ln_list_append(list, NUMBER(2));
    list = ln_list_append(list, NUMBER(4));
    list = ln_list_prepend(list, NUMBER(0));
    list = ln_list_insert_nth(list, NUMBER(1), 1);
    list = ln_list_insert_before(list, NUMBER(3), ln_list_nth(list, 3));
    CHECK_STR_EQ(text_of(list), "0 1 2 3 4");
    list = ln_list_insert_before(list, NUMBER(9), list);
    CHECK_STR_EQ(text_of(list), "9 0 1 2 3 4");
    ln_list_free(list);
}

TEST(inserting_nowhere_appends)
{
    ln_list foreign = {0};
    ln_list *list = list_of(2);
    list = ln_list_insert_nth(list, NUMBER(2), -1);
    list = ln_list_insert_nth(list, NUMBER(3), 3);
    list = ln_list_insert_nth(list, NUMBER(4), 1000);
    list = ln_list_insert_before(list, NUMBER(5), &foreign);
    list = ln_list_insert_before(list, NUMBER(6), NULL);
    CHECK_STR_EQ(text_of(list), "0 1 2 3 4 5 6");
    ln_list_free(list);
}

TEST(pushing_grows_both_ends)
{
    ln_list *list = NULL;
    CHECK_OK(ln_list_push(&list, NUMBER(1)));
    CHECK_OK(ln_list_push(&list, NUMBER(2)));
    CHECK_OK(ln_list_push_front(&list, NUMBER(0)));
    CHECK_STR_EQ(text_of(list), "0 1 2");
    CHECK_FAILS(ln_list_push(NULL, NUMBER(0)), LN_INVALID);
    CHECK_FAILS(ln_list_push_front(NULL, NUMBER(0)), LN_INVALID);
    ln_list_free(list);
}

TEST(removing_what_is_not_there_changes_nothing)
{
    int missing = 3;
    ln_list *list = list_of(5);
    list = ln_list_remove(list, &missing);
    list = ln_list_remove_nth(list, -1);
    list = ln_list_remove_nth(list, 5);
    list = ln_list_remove_nth(list, 6);
    list = ln_list_remove_custom(list, NUMBER(9), by_value);
    CHECK_STR_EQ(text_of(list), "0 1 2 3 4");
    CHECK_NULL(ln_list_remove(NULL, &missing));
    CHECK_NULL(ln_list_remove_nth(NULL, 0));
    ln_list_free(list);
}

TEST(removing_takes_the_first_match)
{
    int three = 3;
    ln_list *list = list_of(5);
    list = ln_list_append(list, NUMBER(3));
    list = ln_list_remove(list, NUMBER(0));
    list = ln_list_remove_custom(list, &three, by_value);
    CHECK_STR_EQ(text_of(list), "1 2 4 3");
    list = ln_list_remove_nth(list, 3);
    list = ln_list_remove_nth(list, 1);
    CHECK_STR_EQ(text_of(list), "1 4");
    list = ln_list_remove_custom(list, NUMBER(4), NULL);
    CHECK_STR_EQ(text_of(list), "1");
    list = ln_list_remove_nth(list, 0);
    CHECK_NULL(list);
}

static size_t freed_count;

static void count_freed(void *data)
{
    (void)data;
    freed_count++;
}

TEST(deep_removal_frees_elements)
{
    int two = 2;
    freed_count = 0;
    ln_list *list = list_of(10);
    list = ln_list_remove_nth_deep(list, 0, count_freed);
    list = ln_list_remove_custom_deep(list, NUMBER(9), by_value, count_freed);
    CHECK_EQ(freed_count, 2);
    list = ln_list_remove_all_custom_deep(list, &two, by_divisor, count_freed);
    CHECK_EQ(freed_count, 6);
    CHECK_STR_EQ(text_of(list), "1 3 5 7");
    list = ln_list_remove_all_custom_deep(list, NUMBER(1), by_divisor, NULL);
    CHECK_NULL(list);
    ln_list_free_deep(list_of(3), count_freed);
    CHECK_EQ(freed_count, 9);
}

TEST(looking_up_finds_elements_and_positions)
{
    int three = 3;
    int missing = 77;
    ln_list foreign = {0};
    ln_list *list = list_of(5);
    CHECK_PTR_EQ(ln_list_find(list, NUMBER(3)), NUMBER(3));
    CHECK_NULL(ln_list_find(list, &three));
    CHECK_PTR_EQ(ln_list_find_custom(list, &three, by_value), NUMBER(3));
    CHECK_NULL(ln_list_find_custom(list, &missing, by_value));
    CHECK_PTR_EQ(ln_list_nth(list, 1), list->next);
    CHECK_NULL(ln_list_nth(list, 5));
    CHECK_NULL(ln_list_nth(list, -1));
    CHECK_PTR_EQ(ln_list_nth_data(list, 4), NUMBER(4));
    CHECK_NULL(ln_list_nth_data(list, 5));
    CHECK_NULL(ln_list_nth_data(list, -1));
    CHECK_EQ(ln_list_position(list, list->next), 1);
    CHECK_EQ(ln_list_position(list, &foreign), -1);
    CHECK_EQ(ln_list_position(list, NULL), -1);
    CHECK_EQ(ln_list_index(list, NUMBER(2)), 2);
    CHECK_EQ(ln_list_index(list, &missing), -1);
    CHECK_EQ(ln_list_index_custom(list, &three, by_value), 3);
    CHECK_EQ(ln_list_index_custom(list, &missing, by_value), -1);
    CHECK_EQ(ln_list_length(list), 5);
    ln_list_free(list);
}

TEST(null_is_the_empty_list)
{
    CHECK_EQ(ln_list_length(NULL), 0);
    CHECK_NULL(ln_list_nth(NULL, 0));
    CHECK_NULL(ln_list_nth_data(NULL, 0));
    CHECK_NULL(ln_list_find(NULL, NUMBER(0)));
    CHECK_EQ(ln_list_index(NULL, NUMBER(0)), -1);
    CHECK_EQ(ln_list_position(NULL, NULL), -1);
    CHECK_NULL(ln_list_reverse(NULL));
    CHECK_NULL(ln_list_copy(NULL));
    CHECK_NULL(ln_list_find_all_custom(NULL, NUMBER(0), by_value));
    ln_list_free(NULL);
    ln_list_free_deep(NULL, count_freed);
}

TEST(all_matches_come_in_order)
{
    int two = 2;
    ln_list *list = list_of(7);
    ln_list *even = ln_list_find_all_custom(list, &two, by_divisor);
    CHECK_STR_EQ(text_of(even), "0 2 4 6");
    ln_list_free(even);
    ln_list_free(list);
}

TEST(reversing_and_copying)
{
    ln_list *list = list_of(4);
    ln_list *copy = ln_list_copy(list);
    list = ln_list_reverse(list);
    CHECK_STR_EQ(text_of(list), "3 2 1 0");
    CHECK_STR_EQ(text_of(copy), "0 1 2 3");
    ln_list_free(copy);
    ln_list_free(list);
}

TEST(an_array_of_sizes_becomes_a_list)
{
    size_t array[] = {3, 0, SIZE_MAX};
    ln_list *list = ln_list_from_array_size_t(array, 3);
    CHECK_EQ(ln_list_length(list), 3);
    CHECK_EQ((size_t)ln_list_nth_data(list, 0), 3);
    CHECK_EQ((size_t)ln_list_nth_data(list, 1), 0);
    CHECK_EQ((size_t)ln_list_nth_data(list, 2), SIZE_MAX);
    ln_list_free(list);
    CHECK_NULL(ln_list_from_array_size_t(NULL, 0));
    ln_error_clear();
    CHECK_NULL(ln_list_from_array_size_t(NULL, 1));
    CHECK_EQ(ln_error_status(), LN_INVALID);
}

TEST(foreach_loops_nest_break_and_continue)
{
    ln_list *list = list_of(4);
    int sum = 0;
    const int *outer;
    LN_LIST_FOREACH (outer, list) {
        const int *inner;
        LN_LIST_FOREACH (inner, list) {
            if (*inner == 1)
                continue;
            if (*inner == 3)
                break;
            sum += *outer * 10 + *inner;
        }
    }
    CHECK_EQ(sum, 2 * (0 + 10 + 20 + 30) + 4 * (0 + 2));
    LN_LIST_FOREACH (outer, NULL)
        sum = -1;
    CHECK_NE(sum, -1);
    ln_list_free(list);
}

TEST(a_builder_appends)
{
    ln_list_builder builder = {0};
    for (size_t i = 0; i < 100000; i++)
        CHECK_OK(ln_list_builder_push(&builder, NUMBER(i % 10)));
    CHECK_EQ(ln_list_length(builder.list), 100000);
    CHECK_PTR_EQ(builder.last->data, NUMBER(9));
    ln_list_free(builder.list);
}

TEST(without_memory_lists_stay_as_they_were)
{
    ln_list *list = list_of(3);
    test_oom oom;
    test_oom_start(&oom, 0);
    ln_list_builder builder = {.list = list, .last = ln_list_nth(list, 2)};
    CHECK_PTR_EQ(ln_list_append(list, NUMBER(5)), list);
    CHECK_PTR_EQ(ln_list_prepend(list, NUMBER(5)), list);
    CHECK_PTR_EQ(ln_list_insert_nth(list, NUMBER(5), 0), list);
    CHECK_PTR_EQ(ln_list_insert_before(list, NUMBER(5), list), list);
    CHECK_NULL(ln_list_append(NULL, NUMBER(5)));
    CHECK_FAILS(ln_list_push(&list, NUMBER(5)), LN_NO_MEMORY);
    CHECK_FAILS(ln_list_push_front(&list, NUMBER(5)), LN_NO_MEMORY);
    CHECK_FAILS(ln_list_builder_push(&builder, NUMBER(5)), LN_NO_MEMORY);
    test_oom_stop();
    CHECK_EQ(ln_error_status(), LN_NO_MEMORY);
    CHECK_STR_EQ(text_of(list), "0 1 2");
    ln_list_free(list);
}

TEST(making_lists_survives_any_refusal)
{
    size_t array[] = {1, 2, 3};
    int one = 1;
    ln_list *list = list_of(3);
    OOM_SWEEP(n)
    {
        ln_list_free(ln_list_copy(list));
        ln_list_free(ln_list_find_all_custom(list, &one, by_divisor));
        ln_list_free(ln_list_from_array_size_t(array, 3));
    }
    CHECK_STR_EQ(text_of(list), "0 1 2");
    ln_list_free(list);
}

// ---- The list against an array ----

typedef struct model {
    const int *elements[64];
    size_t count;
} model;

static void model_insert(model *m, size_t at, const int *element)
{
    memmove(&m->elements[at + 1], &m->elements[at], (m->count - at) * sizeof m->elements[0]);
    m->elements[at] = element;
    m->count++;
}

static void model_remove(model *m, size_t at)
{
    m->count--;
    memmove(&m->elements[at], &m->elements[at + 1], (m->count - at) * sizeof m->elements[0]);
}

// The position of the first element equal to `element`; `count` if there is none.
static size_t model_index(const model *m, const int *element)
{
    size_t i = 0;
    while (i < m->count && m->elements[i] != element)
        i++;
    return i;
}

static ln_list *random_step(test_random *random, ln_list *list, model *m)
{
    int *element = NUMBER(test_random_below(random, 10));
    int n = (int)test_random_below(random, m->count + 3) - 1;
    size_t at = n < 0 || (size_t)n > m->count ? m->count : (size_t)n;
    switch (test_random_below(random, m->count < 60 ? 8 : 4)) {
    case 0:
        if (at < m->count)
            model_remove(m, at);
        return ln_list_remove_nth(list, n);
    case 1:
        at = model_index(m, element);
        if (at < m->count)
            model_remove(m, at);
        return ln_list_remove(list, element);
    case 2:
        for (at = model_index(m, element); at < m->count; at = model_index(m, element))
            model_remove(m, at);
        return ln_list_remove_all_custom_deep(list, element, by_value, NULL);
    case 3:
        for (size_t i = 0; i < m->count / 2; i++) {
            const int *swapped = m->elements[i];
            m->elements[i] = m->elements[m->count - 1 - i];
            m->elements[m->count - 1 - i] = swapped;
        }
        return ln_list_reverse(list);
    case 4: model_insert(m, 0, element); return ln_list_prepend(list, element);
    case 5: model_insert(m, m->count, element); return ln_list_append(list, element);
    case 6: {
        ln_list *before = ln_list_nth(list, n);
        model_insert(m, at, element);
        return ln_list_insert_before(list, element, before);
    }
    default: model_insert(m, at, element); return ln_list_insert_nth(list, element, n);
    }
}

TEST(a_list_behaves_like_an_array)
{
    test_random random = test_random_start();
    ln_list *list = NULL;
    model m = {0};
    for (int step = 0; step < 20000; step++) {
        list = random_step(&random, list, &m);
        CHECK_EQ(ln_list_length(list), (int)m.count);
        size_t i = 0;
        const int *element;
        LN_LIST_FOREACH (element, list)
            CHECK_PTR_EQ(element, m.elements[i++]);
        const int *wanted = NUMBER(test_random_below(&random, 10));
        size_t index = model_index(&m, wanted);
        CHECK_EQ(ln_list_index(list, wanted), index < m.count ? (int)index : -1);
    }
    ln_list_free(list);
}

TEST(the_least_int_is_negative_like_the_others)
{
    ln_list *list = NULL;
    for (uintptr_t i = 1; i <= 3; i++)
        CHECK_OK(ln_list_push(&list, (void *)i));
    CHECK_NULL(ln_list_nth(list, INT_MIN));
    CHECK_NULL(ln_list_nth_data(list, INT_MIN));
    list = ln_list_insert_nth(list, (void *)(uintptr_t)4, INT_MIN);
    CHECK_PTR_EQ(ln_list_nth_data(list, 3), (void *)(uintptr_t)4);
    list = ln_list_remove_nth(list, INT_MIN);
    CHECK_EQ(ln_list_length(list), 4);
    ln_list_free(list);
}

TEST_LIST(the_least_int_is_negative_like_the_others, growing_puts_elements_where_told,
          inserting_nowhere_appends, pushing_grows_both_ends,
          removing_what_is_not_there_changes_nothing, removing_takes_the_first_match,
          deep_removal_frees_elements, looking_up_finds_elements_and_positions,
          null_is_the_empty_list, all_matches_come_in_order, reversing_and_copying,
          an_array_of_sizes_becomes_a_list, foreach_loops_nest_break_and_continue,
          a_builder_appends, without_memory_lists_stay_as_they_were,
          making_lists_survives_any_refusal, a_list_behaves_like_an_array)
