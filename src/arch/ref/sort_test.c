// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include <math.h>

#include "arch/ref/test_view.h"

enum { MAX_COUNT = 300 };

// Keys from a small range, so that many are equal; the values are their positions. Then every key
// must be where it was taken from, neighbours in order, and equal keys in order of position.
static void check_random(test_random *random, tl_dtype dtype, int count, tl_sort_dir dir)
{
    int64_t keys[MAX_COUNT], sorted[MAX_COUNT], spare[MAX_COUNT];
    int32_t values[MAX_COUNT], moved[MAX_COUNT], spare_values[MAX_COUNT];
    tl_tensor key = VIEW(keys, dtype, count), val = VIEW(values, TL_INT32, count);
    tl_tensor dst_key = VIEW(sorted, dtype, count), dst_val = VIEW(moved, TL_INT32, count);
    tl_tensor spare_key = VIEW(spare, dtype, count);
    tl_tensor spare_val = VIEW(spare_values, TL_INT32, count);
    test_fill(&key, random, 20);
    for (int i = 0; i < count; i++)
        values[i] = i;
    CHECK_OK(ln_ref_sort1d(&key, &val, &dst_key, &dst_val, &spare_key, &spare_val, dir));

    unsigned char is_taken[MAX_COUNT] = {0};
    for (int i = 0; i < count; i++) {
        CHECK(moved[i] >= 0 && moved[i] < count && !is_taken[moved[i]]);
        is_taken[moved[i]] = 1;
        CHECK(test_get(&dst_key, i) == test_get(&key, moved[i]));
        if (i == 0)
            continue;
        double before = test_get(&dst_key, i - 1), after = test_get(&dst_key, i);
        CHECK(dir == TL_SORT_DIR_ASCENDING ? before <= after : before >= after);
        CHECK(before != after || moved[i - 1] < moved[i]);
    }
    // The same keys without values.
    tl_tensor alone = VIEW(values, dtype, count);
    int64_t alone_data[MAX_COUNT];
    alone.data = alone_data;
    CHECK_OK(ln_ref_sort1d(&key, NULL, &alone, NULL, &spare_key, NULL, dir));
    CHECK_MEM_EQ(alone_data, sorted, tl_tensor_size(&alone));
}

TEST(every_length_and_dtype_is_sorted_and_stable)
{
    test_random random = test_random_start();
    for (int dtype = 0; dtype < TL_DTYPE_NATIVE_SIZE; dtype++) {
        for (int count = 1; count <= 20; count++) {
            check_random(&random, (tl_dtype)dtype, count, TL_SORT_DIR_ASCENDING);
            check_random(&random, (tl_dtype)dtype, count, TL_SORT_DIR_DESCENDING);
        }
        check_random(&random, (tl_dtype)dtype, MAX_COUNT, TL_SORT_DIR_DESCENDING);
    }
}

TEST(nan_goes_last_in_both_directions)
{
    float data[] = {NAN, 1, INFINITY, NAN, -INFINITY, 0}, dst_data[6], spare_data[6];
    tl_tensor key = VIEW(data, TL_FLOAT, 6), dst = VIEW(dst_data, TL_FLOAT, 6);
    tl_tensor spare = VIEW(spare_data, TL_FLOAT, 6);
    CHECK_OK(ln_ref_sort1d(&key, NULL, &dst, NULL, &spare, NULL, TL_SORT_DIR_ASCENDING));
    CHECK_FLOATS(dst_data, 6, 0, -INFINITY, 0, 1, INFINITY, NAN, NAN);
    CHECK_OK(ln_ref_sort1d(&key, NULL, &dst, NULL, &spare, NULL, TL_SORT_DIR_DESCENDING));
    CHECK_FLOATS(dst_data, 6, 0, INFINITY, 1, 0, -INFINITY, NAN, NAN);
    CHECK(isnan(data[0]) && data[1] == 1); // the source stays
}

TEST(nothing_is_sorted)
{
    tl_tensor none = VIEW(NULL, TL_FLOAT, 0);
    CHECK_OK(ln_ref_sort1d(&none, &none, &none, &none, &none, &none, TL_SORT_DIR_ASCENDING));
}

TEST(tensors_that_do_not_fit_are_refused)
{
    float data[8] = {0};
    tl_tensor t = VIEW(data, TL_FLOAT, 4), shorter = VIEW(data, TL_FLOAT, 3);
    tl_tensor square = VIEW(data, TL_FLOAT, 2, 2), ints = VIEW(data, TL_INT32, 4);
    tl_sort_dir up = TL_SORT_DIR_ASCENDING;
    CHECK_FAILS(ln_ref_sort1d(&square, NULL, &square, NULL, &square, NULL, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, NULL, &shorter, NULL, &t, NULL, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, NULL, &ints, NULL, &t, NULL, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, NULL, &t, NULL, NULL, NULL, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, &shorter, &t, &t, &t, &t, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, &t, &t, NULL, &t, &t, up), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(&t, NULL, &t, NULL, &t, NULL, TL_SORT_DIR_INVALID), LN_INVALID);
    CHECK_FAILS(ln_ref_sort1d(NULL, NULL, &t, NULL, &t, NULL, up), LN_INVALID);
}

TEST_LIST(every_length_and_dtype_is_sorted_and_stable, nan_goes_last_in_both_directions,
          nothing_is_sorted, tensors_that_do_not_fit_are_refused)
