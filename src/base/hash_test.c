// SPDX-License-Identifier: Apache-2.0
// The hash table against a naive model, its ownership rules, and its order.

#include <lightnet/hash.h>

#include <math.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

#define KEY(i) ((void *)(uintptr_t)(i))

static ln_hash *direct_table(void)
{
    return ln_hash_create_full(ln_direct_hash, ln_direct_cmp, NULL, NULL, 4, 0.75f);
}

TEST(the_documented_trace)
{
    char a0[] = "a0", a2[] = "a2", a3[] = "a3", a4[] = "a4", a6[] = "a6";
    ln_hash *hash = direct_table();
    CHECK_EQ(ln_hash_insert(hash, KEY(0), a0), 1);
    CHECK_EQ(ln_hash_insert(hash, KEY(2), a2), 1);
    CHECK_EQ(ln_hash_insert(hash, KEY(3), a3), 1);
    CHECK_EQ(ln_hash_insert(hash, KEY(4), a6), 1);
    CHECK_PTR_EQ(ln_hash_find(hash, KEY(4)), a6);
    CHECK_EQ(ln_hash_insert(hash, KEY(4), a4), 0);
    CHECK_PTR_EQ(ln_hash_find(hash, KEY(4)), a4);
    CHECK_EQ(ln_hash_insert(hash, KEY(4), a4), 1);
    CHECK_EQ(ln_hash_size(hash), 4);
    CHECK_NULL(ln_hash_find(hash, KEY(5)));
    CHECK_EQ(ln_hash_remove(hash, KEY(4)), 1);
    CHECK_NULL(ln_hash_find(hash, KEY(4)));
    CHECK_EQ(ln_hash_size(hash), 3);
    CHECK_EQ(ln_hash_remove(hash, KEY(0)), 1);
    CHECK_EQ(ln_hash_size(hash), 2);
    CHECK_EQ(ln_hash_remove(hash, KEY(2)), 1);
    CHECK_EQ(ln_hash_size(hash), 1);
    CHECK_EQ(ln_hash_remove(hash, KEY(5)), 0);
    CHECK_EQ(ln_hash_size(hash), 1);
    CHECK_EQ(ln_hash_remove(hash, KEY(3)), 1);
    CHECK_EQ(ln_hash_size(hash), 0);
    ln_hash_free(hash);
}

TEST(finding_tells_a_null_value_from_none)
{
    char value[] = "value";
    void *key = KEY(77);
    void *found = KEY(77);
    ln_hash *hash = direct_table();
    ln_hash_insert(hash, NULL, NULL);
    ln_hash_insert(hash, KEY(1), value);
    CHECK_EQ(ln_hash_find_extended(hash, KEY(2), &key, &found), 0);
    CHECK_PTR_EQ(key, KEY(77));
    CHECK_EQ(ln_hash_find_extended(hash, NULL, &key, &found), 1);
    CHECK_NULL(key);
    CHECK_NULL(found);
    CHECK_EQ(ln_hash_find_extended(hash, KEY(1), NULL, &found), 1);
    CHECK_PTR_EQ(found, value);
    CHECK_EQ(ln_hash_find_extended(hash, KEY(1), &key, NULL), 1);
    CHECK_PTR_EQ(key, KEY(1));
    ln_hash_free(hash);
}

// ---- Ownership ----

static size_t freed_keys;
static size_t freed_values;

static void free_key(void *key)
{
    freed_keys++;
    ln_free(key);
}

static void free_value(void *value)
{
    freed_values++;
    ln_free(value);
}

static ln_hash *owning_table(void)
{
    freed_keys = 0;
    freed_values = 0;
    return ln_hash_create(ln_str_hash, ln_str_cmp, free_key, free_value);
}

TEST(a_table_frees_what_it_owns)
{
    ln_hash *hash = owning_table();
    CHECK_EQ(ln_hash_insert(hash, ln_strdup("a"), ln_strdup("1")), 1);
    CHECK_EQ(ln_hash_insert(hash, ln_strdup("b"), ln_strdup("2")), 1);
    CHECK_EQ(ln_hash_remove(hash, "a"), 1);
    CHECK_EQ(freed_keys, 1);
    CHECK_EQ(freed_values, 1);
    ln_hash_free(hash);
    CHECK_EQ(freed_keys, 2);
    CHECK_EQ(freed_values, 2);
}

TEST(replacing_takes_the_new_key_and_frees_the_old)
{
    ln_hash *hash = owning_table();
    char *key = ln_strdup("a");
    char *value = ln_strdup("2");
    void *found;
    ln_hash_insert(hash, ln_strdup("a"), ln_strdup("1"));
    CHECK_EQ(ln_hash_insert(hash, key, value), 0);
    CHECK_EQ(freed_keys, 1);
    CHECK_EQ(freed_values, 1);
    CHECK_EQ(ln_hash_find_extended(hash, "a", &found, NULL), 1);
    CHECK_PTR_EQ(found, key);

    CHECK_EQ(ln_hash_insert(hash, key, value), 1);
    CHECK_EQ(freed_keys, 1);
    CHECK_EQ(freed_values, 1);
    CHECK_EQ(ln_hash_insert(hash, ln_strdup("a"), value), 1);
    CHECK_EQ(freed_keys, 2);
    CHECK_EQ(freed_values, 1);
    CHECK_STR_EQ(ln_hash_find(hash, "a"), "2");
    ln_hash_free(hash);
}

TEST(a_key_may_lie_inside_its_value)
{
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free);
    char *first = ln_strdup("name");
    char *second = ln_strdup("name");
    ln_hash_insert(hash, first, first);
    CHECK_EQ(ln_hash_insert(hash, second, second), 0);
    CHECK_PTR_EQ(ln_hash_find(hash, "name"), second);
    CHECK_EQ(ln_hash_remove(hash, second), 1);
    ln_hash_free(hash);
}

// ---- Growth ----

TEST(a_table_grows_by_its_own_load_factor)
{
    static const struct {
        float load_factor;
        int capacity;
        size_t count; // pairs that still fit
        const char *why;
    } cases[] = {
        {0.75f, 4, 3, "the default"}, {0.5f, 4, 2, "sparse"},        {1.0f, 4, 4, "full"},
        {2.0f, 4, 8, "chains"},       {0.25f, 16, 4, "very sparse"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        printf("%s\n", cases[c].why);
        ln_hash *hash = ln_hash_create_full(ln_direct_hash, ln_direct_cmp, NULL, NULL,
                                            cases[c].capacity, cases[c].load_factor);
        for (size_t i = 0; i < cases[c].count; i++)
            ln_hash_insert(hash, KEY(i), NULL);
        CHECK_EQ(ln_hash_capacity(hash), cases[c].capacity);
        ln_hash_insert(hash, KEY(1000), NULL);
        CHECK_EQ(ln_hash_capacity(hash), cases[c].capacity * 2);
        for (size_t i = 0; i < cases[c].count; i++)
            CHECK_EQ(ln_hash_find_extended(hash, KEY(i), NULL, NULL), 1);
        ln_hash_free(hash);
    }
}

TEST(capacities_are_powers_of_two)
{
    static const int rounded[][2] = {{0, 1}, {1, 1}, {3, 4}, {5, 8}, {1000, 1024}};
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
        ln_hash *hash =
            ln_hash_create_full(ln_direct_hash, ln_direct_cmp, NULL, NULL, rounded[i][0], 0.75f);
        CHECK_EQ(ln_hash_capacity(hash), rounded[i][1]);
        CHECK_EQ(ln_hash_insert(hash, KEY(1), NULL), 1);
        ln_hash_free(hash);
    }
    ln_hash *hash = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    CHECK_EQ(ln_hash_capacity(hash), 16);
    ln_hash_free(hash);
}

TEST(bad_arguments_are_refused)
{
    static const struct {
        ln_hash_func hash_func;
        ln_cmp_func cmp_func;
        int capacity;
        float load_factor;
    } cases[] = {
        {NULL, ln_direct_cmp, 4, 0.75f},
        {ln_direct_hash, NULL, 4, 0.75f},
        {ln_direct_hash, ln_direct_cmp, -1, 0.75f},
        {ln_direct_hash, ln_direct_cmp, INT32_MAX, 0.75f},
        {ln_direct_hash, ln_direct_cmp, 4, 0.0f},
        {ln_direct_hash, ln_direct_cmp, 4, -1.0f},
        {ln_direct_hash, ln_direct_cmp, 4, 1e-6f},
        {ln_direct_hash, ln_direct_cmp, 4, INFINITY},
        {ln_direct_hash, ln_direct_cmp, 4, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_error_clear();
        CHECK_NULL(ln_hash_create_full(cases[i].hash_func, cases[i].cmp_func, NULL, NULL,
                                       cases[i].capacity, cases[i].load_factor));
        CHECK_EQ(ln_error_status(), LN_INVALID);
    }
}

TEST(null_is_no_table)
{
    ln_hash_init_entry none[] = {LN_HASH_INIT_ENTRY_NULL};
    size_t cursor = 0;
    CHECK_EQ(ln_hash_insert(NULL, KEY(1), NULL), -1);
    CHECK_NULL(ln_hash_find(NULL, KEY(1)));
    CHECK_EQ(ln_hash_find_extended(NULL, KEY(1), NULL, NULL), 0);
    CHECK_EQ(ln_hash_remove(NULL, KEY(1)), 0);
    CHECK_EQ(ln_hash_size(NULL), 0);
    CHECK_EQ(ln_hash_capacity(NULL), 0);
    CHECK_EQ(ln_hash_next(NULL, &cursor, NULL, NULL), 0);
    CHECK_FAILS(ln_hash_init(NULL, none), LN_INVALID);
    ln_hash_free(NULL);
}

TEST(init_inserts_up_to_the_end_mark)
{
    char zero[] = "zero", one[] = "one";
    const ln_hash_init_entry pairs[] = {{NULL, zero}, {KEY(1), one}, LN_HASH_INIT_ENTRY_NULL};
    ln_hash *hash = direct_table();
    CHECK_OK(ln_hash_init(hash, pairs));
    CHECK_EQ(ln_hash_size(hash), 2);
    CHECK_STR_EQ(ln_hash_find(hash, NULL), "zero");
    CHECK_STR_EQ(ln_hash_find(hash, KEY(1)), "one");
    CHECK_FAILS(ln_hash_init(hash, NULL), LN_INVALID);
    ln_hash_free(hash);
}

// ---- Order ----

TEST(walking_follows_insertion)
{
    static const uintptr_t inserted[] = {9, 4, 7, 1, 4, 12};
    static const uintptr_t walked[] = {9, 4, 1, 12, 7};
    ln_hash *hash = direct_table();
    for (size_t i = 0; i < 6; i++)
        ln_hash_insert(hash, KEY(inserted[i]), KEY(i));
    ln_hash_remove(hash, KEY(7));
    ln_hash_insert(hash, KEY(7), NULL);
    size_t cursor = 0;
    size_t count = 0;
    const void *key;
    while (ln_hash_next(hash, &cursor, &key, NULL))
        CHECK_PTR_EQ(key, KEY(walked[count++]));
    CHECK_EQ(count, 5);
    ln_hash_free(hash);
}

TEST(pairs_may_be_removed_while_walking)
{
    ln_hash *hash = direct_table();
    for (size_t i = 0; i < 100; i++)
        ln_hash_insert(hash, KEY(i), KEY(i));
    size_t cursor = 0;
    const void *key;
    void *value;
    size_t next = 0;
    while (ln_hash_next(hash, &cursor, &key, &value)) {
        CHECK_PTR_EQ(key, KEY(next++));
        CHECK_PTR_EQ(value, key);
        CHECK_EQ(ln_hash_remove(hash, key), 1);
    }
    CHECK_EQ(next, 100);
    CHECK_EQ(ln_hash_size(hash), 0);
    ln_hash_free(hash);
}

TEST(inserting_and_removing_forever_needs_no_more_memory)
{
    ln_hash *hash = direct_table();
    for (size_t i = 0; i < 8; i++)
        ln_hash_insert(hash, KEY(i), NULL);
    for (size_t i = 8; i < 100; i++) {
        ln_hash_remove(hash, KEY(i - 8));
        ln_hash_insert(hash, KEY(i), NULL);
    }
    test_oom oom;
    test_oom_start(&oom, 0);
    for (size_t i = 100; i < 10000; i++) {
        ln_hash_remove(hash, KEY(i - 8));
        CHECK_EQ(ln_hash_insert(hash, KEY(i), NULL), 1);
    }
    test_oom_stop();
    CHECK_EQ(ln_hash_size(hash), 8);
    ln_hash_free(hash);
}

// ---- Without memory ----

TEST(a_refused_insertion_changes_nothing)
{
    OOM_SWEEP(n)
    {
        ln_hash *hash = direct_table();
        int size = 0;
        for (size_t i = 0; hash && i < 40; i++) {
            int inserted = ln_hash_insert(hash, KEY(i), KEY(i + 1));
            CHECK(inserted == 1 || (inserted == -1 && ln_error_status() == LN_NO_MEMORY));
            size += inserted == 1;
            CHECK_EQ(ln_hash_size(hash), size);
            CHECK_PTR_EQ(ln_hash_find(hash, KEY(i)), inserted == 1 ? KEY(i + 1) : NULL);
        }
        ln_hash_free(hash);
    }
    CHECK(n > 4);
}

TEST(init_inserts_all_or_none)
{
    ln_hash_init_entry pairs[31];
    memset(pairs, 0, sizeof pairs);
    for (size_t i = 0; i < 30; i++)
        pairs[i] = (ln_hash_init_entry){KEY(i), KEY(i + 1)};
    OOM_SWEEP(n)
    {
        ln_hash *hash = direct_table();
        if (hash) {
            ln_status status = ln_hash_init(hash, pairs);
            CHECK_EQ(ln_hash_size(hash), status == LN_OK ? 30 : 0);
        }
        ln_hash_free(hash);
    }
}

// ---- The table against a model ----

#define KEY_COUNT 200

static uint32_t bad_hash(const void *key)
{
    return (uint32_t)((uintptr_t)key % 3);
}

// order[0..count) are the keys in order of insertion, values[key] their values.
typedef struct model {
    size_t order[KEY_COUNT];
    size_t count;
    size_t values[KEY_COUNT];
} model;

static size_t model_index(const model *m, size_t key)
{
    size_t i = 0;
    while (i < m->count && m->order[i] != key)
        i++;
    return i;
}

static void check_same(const ln_hash *hash, const model *m)
{
    size_t cursor = 0;
    size_t i = 0;
    const void *key;
    void *value;
    while (ln_hash_next(hash, &cursor, &key, &value)) {
        CHECK(i < m->count);
        CHECK_PTR_EQ(key, KEY(m->order[i]));
        CHECK_PTR_EQ(value, KEY(m->values[m->order[i]]));
        i++;
    }
    CHECK_EQ(i, m->count);
}

static void random_step(test_random *random, ln_hash *hash, model *m, size_t insertions)
{
    size_t key = test_random_below(random, KEY_COUNT);
    size_t at = model_index(m, key);
    int present = at < m->count;
    if (test_random_below(random, 10) < insertions) {
        size_t value = test_random_below(random, 5);
        int expected = !present || m->values[key] == value;
        if (!present)
            m->order[m->count++] = key;
        m->values[key] = value;
        CHECK_EQ(ln_hash_insert(hash, KEY(key), KEY(value)), expected);
    } else {
        if (present) {
            m->count--;
            memmove(&m->order[at], &m->order[at + 1], (m->count - at) * sizeof m->order[0]);
        }
        CHECK_EQ(ln_hash_remove(hash, KEY(key)), present);
    }
    CHECK_EQ(ln_hash_size(hash), (int)m->count);

    size_t asked = test_random_below(random, KEY_COUNT);
    void *value = NULL;
    int known = model_index(m, asked) < m->count;
    CHECK_EQ(ln_hash_find_extended(hash, KEY(asked), NULL, &value), known);
    if (known)
        CHECK_PTR_EQ(value, KEY(m->values[asked]));
}

TEST(a_table_behaves_like_a_list_of_pairs)
{
    test_random random = test_random_start();
    static const struct {
        ln_hash_func hash_func;
        int capacity;
        float load_factor;
    } tables[] = {{ln_direct_hash, 4, 0.75f}, {bad_hash, 1, 3.0f}, {ln_direct_hash, 0, 0.1f}};
    for (size_t t = 0; t < 3; t++) {
        ln_hash *hash = ln_hash_create_full(tables[t].hash_func, ln_direct_cmp, NULL, NULL,
                                            tables[t].capacity, tables[t].load_factor);
        model m = {.count = 0};
        for (size_t step = 0; step < 20000; step++) {
            // Times of growing and of shrinking take turns.
            random_step(&random, hash, &m, step / 1000 % 2 ? 3 : 7);
            if (step % 97 == 0)
                check_same(hash, &m);
        }
        check_same(hash, &m);
        ln_hash_free(hash);
    }
}

TEST_LIST(the_documented_trace, finding_tells_a_null_value_from_none, a_table_frees_what_it_owns,
          replacing_takes_the_new_key_and_frees_the_old, a_key_may_lie_inside_its_value,
          a_table_grows_by_its_own_load_factor, capacities_are_powers_of_two,
          bad_arguments_are_refused, null_is_no_table, init_inserts_up_to_the_end_mark,
          walking_follows_insertion, pairs_may_be_removed_while_walking,
          inserting_and_removing_forever_needs_no_more_memory, a_refused_insertion_changes_nothing,
          init_inserts_all_or_none, a_table_behaves_like_a_list_of_pairs)
