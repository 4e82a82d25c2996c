// SPDX-License-Identifier: Apache-2.0
// Slice, concat, reshape and transpose: every type, every axis, and wrong arguments.

#include <lightnet/tensor.h>

#include "tests/test.h"

// [2, 3, 4] with the elements 0..23.
static tl_tensor *make_block(tl_dtype dtype)
{
    tl_tensor *t = tl_tensor_zeros(3, (int[]){2, 3, 4}, dtype);
    for (int i = 0; i < 24; i++) {
        int32_t value = i;
        tl_convert(tl_pointer_add(t->data, i, dtype), dtype, &value, TL_INT32);
    }
    return t;
}

static int is_same_element(const tl_tensor *a, const int *a_coords, const tl_tensor *b,
                           const int *b_coords)
{
    return tl_cmp(tl_pointer_add(a->data, tl_tensor_index(a, a_coords), a->dtype),
                  tl_pointer_add(b->data, tl_tensor_index(b, b_coords), b->dtype), a->dtype) == 0;
}

TEST(two_slices_of_any_axis_join_to_the_whole)
{
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        tl_tensor *t = make_block((tl_dtype)dtype);
        for (int axis = 0; axis < 3; axis++) {
            for (int cut = 0; cut <= t->dims[axis]; cut++) {
                tl_tensor *a = tl_tensor_slice(t, NULL, axis, 0, cut);
                tl_tensor *b = tl_tensor_slice(t, NULL, axis, cut, t->dims[axis] - cut);
                tl_tensor *joined = tl_tensor_concat(a, b, NULL, axis);
                CHECK(tl_tensor_issameshape(joined, t));
                CHECK_MEM_EQ(joined->data, t->data, tl_tensor_size(t));
                tl_tensor_free_data_too(a);
                tl_tensor_free_data_too(b);
                tl_tensor_free_data_too(joined);
            }
        }
        tl_tensor_free_data_too(t);
    }
}

TEST(every_permutation_moves_every_element)
{
    static const int permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                           {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        tl_tensor *t = make_block((tl_dtype)dtype);
        for (int p = 0; p < 6; p++) {
            const int *axes = permutations[p];
            tl_tensor *r = tl_tensor_transpose(t, NULL, axes);
            int from[3], to[3];
            for (int i = 0; i < r->len; i++) {
                CHECK_OK(tl_tensor_coords(r, i, to));
                for (int k = 0; k < 3; k++)
                    from[axes[k]] = to[k];
                CHECK(is_same_element(t, from, r, to));
            }
            tl_tensor_free_data_too(r);
        }
        tl_tensor_free_data_too(t);
    }
}

TEST(transpose_wants_a_permutation)
{
    tl_tensor *t = make_block(TL_FLOAT);
    CHECK_NULL(tl_tensor_transpose(t, NULL, (int[]){0, 1, 3}));
    CHECK_NULL(tl_tensor_transpose(t, NULL, (int[]){0, 1, 100000}));
    CHECK_NULL(tl_tensor_transpose(t, NULL, (int[]){0, -1, 2}));
    CHECK_NULL(tl_tensor_transpose(t, NULL, (int[]){0, 1, 1}));
    CHECK_MESSAGE("named twice");
    CHECK_NULL(tl_tensor_transpose(t, NULL, NULL));
    CHECK_NULL(tl_tensor_transpose(t, t, (int[]){0, 1, 2}));
    CHECK_MESSAGE("shares memory");
    tl_tensor_free_data_too(t);
}

TEST(slices_stay_inside)
{
    static const struct {
        const char *why;
        int axis, start, len;
    } rows[] = {
        {"axis", 3, 0, 1},
        {"negative axis", -1, 0, 1},
        {"start", 0, 3, 0},
        {"negative start", 0, -1, 1},
        {"length", 1, 1, 3},
        {"negative length", 1, 1, -1},
        {"overflowing sum", 1, 1, 2147483647},
    };
    tl_tensor *t = make_block(TL_INT16);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (tl_tensor_slice(t, NULL, rows[i].axis, rows[i].start, rows[i].len) ||
            tl_tensor_slice_nocopy(t, NULL, rows[i].axis, rows[i].start, rows[i].len))
            fail_msg("%s was accepted", rows[i].why);
        CHECK_EQ(ln_error_status(), LN_INVALID);
    }
    CHECK_NULL(tl_tensor_slice_nocopy(t, NULL, 1, 0, 1));
    CHECK_MESSAGE("needs axis 0");
    CHECK_NULL(tl_tensor_slice(NULL, NULL, 0, 0, 1));
    tl_tensor_free_data_too(t);
}

TEST(a_given_result_is_filled_or_refused)
{
    tl_tensor *t = make_block(TL_FLOAT);
    tl_tensor *right = tl_tensor_zeros(3, (int[]){1, 3, 4}, TL_FLOAT);
    tl_tensor *wrong = tl_tensor_zeros(3, (int[]){1, 3, 4}, TL_INT32);
    tl_tensor *empty = tl_tensor_create(NULL, 3, (int[]){1, 3, 4}, TL_FLOAT);
    CHECK_PTR_EQ(tl_tensor_slice(t, right, 0, 1, 1), right);
    CHECK(((float *)right->data)[0] == 12);
    CHECK_NULL(tl_tensor_slice(t, wrong, 0, 1, 1));
    CHECK_NULL(tl_tensor_slice(t, right, 0, 0, 2));
    CHECK_NULL(tl_tensor_slice(t, empty, 0, 1, 1));
    CHECK_PTR_EQ(tl_tensor_slice_nocopy(t, empty, 0, 1, 1), empty);
    CHECK_PTR_EQ(empty->data, (float *)t->data + 12);
    CHECK_NULL(tl_tensor_slice_nocopy(t, wrong, 0, 1, 1));
    CHECK_NULL(tl_tensor_concat(right, empty, t, 0));
    tl_tensor_free(empty);
    tl_tensor_free_data_too(wrong);
    tl_tensor_free_data_too(right);
    tl_tensor_free_data_too(t);
}

TEST(concat_wants_matching_sources)
{
    tl_tensor *a = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *b = tl_tensor_zeros(2, (int[]){3, 3}, TL_FLOAT);
    tl_tensor *c = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    tl_tensor *d = tl_tensor_zeros(2, (int[]){2, 3}, TL_INT8);
    CHECK_NULL(tl_tensor_concat(a, b, NULL, 1));
    CHECK_MESSAGE("dimension 0 differs");
    CHECK_NULL(tl_tensor_concat(a, c, NULL, 0));
    CHECK_NULL(tl_tensor_concat(a, d, NULL, 0));
    CHECK_NULL(tl_tensor_concat(a, b, NULL, 2));
    CHECK_NULL(tl_tensor_concat(a, NULL, NULL, 0));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
    tl_tensor_free_data_too(d);
}

TEST(reshape_keeps_the_number_of_elements)
{
    tl_tensor *t = make_block(TL_UINT8);
    CHECK_NULL(tl_tensor_reshape(t, 2, (int[]){5, 5}));
    CHECK_FAILS(tl_tensor_reshape_src(t, 1, (int[]){25}), LN_INVALID);
    CHECK_FAILS(tl_tensor_reshape_src(t, 1, (int[]){-24}), LN_INVALID);
    CHECK_OK(tl_tensor_reshape_src(t, 5, (int[]){1, 2, 2, 3, 2}));
    CHECK_EQ(t->ndim, 5);
    CHECK_EQ(t->dims[3], 3);
    CHECK_OK(tl_tensor_reshape_src(t, 3, (int[]){2, 6, 2}));
    CHECK_OK(tl_tensor_reshape_src(t, 1, (int[]){24}));
    CHECK_EQ(t->ndim, 1);
    tl_tensor_free_data_too(t);
}

TEST_LIST(two_slices_of_any_axis_join_to_the_whole, every_permutation_moves_every_element,
          transpose_wants_a_permutation, slices_stay_inside, a_given_result_is_filled_or_refused,
          concat_wants_matching_sources, reshape_keeps_the_number_of_elements)
