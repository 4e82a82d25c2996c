// SPDX-License-Identifier: Apache-2.0
// Sorting by property, and picking.

#include <lightnet/tensor.h>

#include <math.h>

#include "tests/test.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

TEST(sixty_four_thousand_random_keys_sort_with_their_values)
{
    enum { COUNT = 65536 };
    for (int dir = 0; dir < TL_SORT_DIR_SIZE; dir++) {
        uint32_t state = 1;
        tl_tensor *key = tl_tensor_zeros(1, (int[]){COUNT}, TL_INT32);
        tl_tensor *val = tl_tensor_arange(0, COUNT, 1, TL_INT32);
        int32_t *keys = key->data, *vals = val->data;
        for (int i = 0; i < COUNT; i++)
            keys[i] = (int32_t)(next_random(&state) % 5000) - 2500;
        tl_tensor *original = tl_tensor_clone(key);
        tl_tensor *alone = tl_tensor_clone(key);
        CHECK_OK(tl_tensor_sort1d_by_key(key, val, (tl_sort_dir)dir));
        CHECK_OK(tl_tensor_sort1d(alone, (tl_sort_dir)dir));
        CHECK_MEM_EQ(alone->data, keys, COUNT * sizeof *keys);
        long long sum = 0;
        for (int i = 0; i < COUNT; i++) {
            CHECK_EQ(((int32_t *)original->data)[vals[i]], keys[i]);
            sum += vals[i];
            if (i == 0)
                continue;
            CHECK(dir == TL_SORT_DIR_ASCENDING ? keys[i - 1] <= keys[i] : keys[i - 1] >= keys[i]);
            if (keys[i - 1] == keys[i])
                CHECK(vals[i - 1] < vals[i]);
        }
        CHECK(sum == (long long)COUNT * (COUNT - 1) / 2);
        tl_tensor_free_data_too(key);
        tl_tensor_free_data_too(val);
        tl_tensor_free_data_too(original);
        tl_tensor_free_data_too(alone);
    }
}

TEST(every_type_and_every_small_length_sorts)
{
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        for (int len = 0; len < 20; len++) {
            uint32_t state = (uint32_t)len;
            tl_tensor *t = tl_tensor_zeros(1, &len, (tl_dtype)dtype);
            for (int i = 0; i < len; i++) {
                int32_t value = (int32_t)(next_random(&state) % 200) - 100;
                tl_convert(tl_pointer_add(t->data, i, t->dtype), t->dtype, &value, TL_INT32);
            }
            CHECK_OK(tl_tensor_sort1d(t, TL_SORT_DIR_DESCENDING));
            for (int i = 1; i < len; i++)
                CHECK(tl_cmp(tl_pointer_add(t->data, i - 1, t->dtype),
                             tl_pointer_add(t->data, i, t->dtype), t->dtype) >= 0);
            tl_tensor_free_data_too(t);
        }
    }
}

TEST(nan_goes_last_in_both_directions)
{
    for (int dir = 0; dir < TL_SORT_DIR_SIZE; dir++) {
        float keys[] = {NAN, 1, -INFINITY, NAN, INFINITY};
        double vals[] = {0, 1, 2, 3, 4};
        tl_tensor *key = tl_tensor_create(keys, 1, (int[]){5}, TL_FLOAT);
        tl_tensor *val = tl_tensor_create(vals, 1, (int[]){5}, TL_DOUBLE);
        CHECK_OK(tl_tensor_sort1d_by_key(key, val, (tl_sort_dir)dir));
        CHECK(keys[1] == 1 && isnan(keys[3]) && isnan(keys[4]));
        CHECK(vals[3] == 0 && vals[4] == 3);
        CHECK(keys[0] == (dir == TL_SORT_DIR_ASCENDING ? -INFINITY : INFINITY));
        tl_tensor_free(key);
        tl_tensor_free(val);
    }
}

TEST(bad_sorts_are_errors)
{
    tl_tensor *t = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    tl_tensor *u = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *square = tl_tensor_zeros(2, (int[]){2, 2}, TL_FLOAT);
    CHECK_FAILS(tl_tensor_sort1d(square, TL_SORT_DIR_ASCENDING), LN_INVALID);
    CHECK_FAILS(tl_tensor_sort1d(t, TL_SORT_DIR_SIZE), LN_INVALID);
    CHECK_FAILS(tl_tensor_sort1d(NULL, TL_SORT_DIR_ASCENDING), LN_INVALID);
    CHECK_FAILS(tl_tensor_sort1d_by_key(t, u, TL_SORT_DIR_ASCENDING), LN_INVALID);
    CHECK_FAILS(tl_tensor_sort1d_by_key(t, t, TL_SORT_DIR_ASCENDING), LN_INVALID);
    tl_tensor_free_data_too(t);
    tl_tensor_free_data_too(u);
    tl_tensor_free_data_too(square);
}

TEST(picking_copies_groups_and_checks_indices)
{
    tl_tensor *src = tl_tensor_arange(0, 7, 1, TL_INT16);
    int32_t positions[] = {2, 0, 2, 3};
    tl_tensor *index = tl_tensor_create(positions, 1, (int[]){4}, TL_INT32);
    tl_tensor *r = tl_tensor_pick1d(src, index, NULL, 2, 3);
    const int16_t expected[] = {4, 5, 0, 1, 4, 5};
    CHECK_EQ(r->len, 6);
    CHECK_MEM_EQ(r->data, expected, sizeof expected);
    tl_tensor_free_data_too(r);
    r = tl_tensor_pick1d(src, index, NULL, 1, 0);
    CHECK_EQ(r->len, 0);
    tl_tensor_free_data_too(r);

    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 2, 4));
    CHECK_MESSAGE("index 3 at 3");
    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 1, 5));
    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 0, 1));
    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 1, -1));
    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 2147483647, 2));
    CHECK_NULL(tl_tensor_pick1d(src, src, NULL, 1, 1));
    positions[0] = -1;
    CHECK_NULL(tl_tensor_pick1d(src, index, NULL, 1, 1));
    tl_tensor_free(index);
    tl_tensor_free_data_too(src);
}

TEST_LIST(sixty_four_thousand_random_keys_sort_with_their_values,
          every_type_and_every_small_length_sorts, nan_goes_last_in_both_directions,
          bad_sorts_are_errors, picking_copies_groups_and_checks_indices)
