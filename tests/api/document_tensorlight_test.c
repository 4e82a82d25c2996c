// SPDX-License-Identifier: Apache-2.0
// The tensor routines by their documented signatures: with a given dst and without, in every dtype.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

static const tl_dtype dtypes[] = {TL_DOUBLE, TL_FLOAT,  TL_INT64,  TL_INT32, TL_INT16, TL_INT8,
                                  TL_UINT64, TL_UINT32, TL_UINT16, TL_UINT8, TL_BOOL};

#define EACH_DTYPE(dtype)                                                                          \
    for (size_t dtype_index = 0; dtype_index < sizeof dtypes / sizeof *dtypes; dtype_index++)      \
        for (tl_dtype dtype = dtypes[dtype_index], more_ = 1; more_; more_ = 0)

// What `value` is in a tensor of `dtype`: a bool knows only 0 and 1.
static double in_dtype(double value, tl_dtype dtype)
{
    return dtype == TL_BOOL ? value != 0 : value;
}

static tl_tensor *numbers(int ndim, const int *dims, tl_dtype dtype, const double *values)
{
    tl_tensor *t = tl_tensor_zeros(ndim, dims, dtype);
    for (int i = 0; i < t->len; i++)
        tl_convert(tl_padd(t->data, i, tl_size_of(dtype)), dtype, &values[i], TL_DOUBLE);
    return t;
}

static void check_values(const tl_tensor *t, int ndim, const int *dims, tl_dtype dtype,
                         const double *values)
{
    CHECK_NOT_NULL(t);
    CHECK_EQ(t->ndim, ndim);
    CHECK_EQ(t->dtype, dtype);
    for (int i = 0; i < ndim; i++)
        CHECK_EQ(t->dims[i], dims[i]);
    for (int i = 0; i < t->len; i++) {
        double value;
        tl_convert(&value, TL_DOUBLE, tl_padd(t->data, i, tl_size_of(dtype)), dtype);
        CHECK_NEAR(value, in_dtype(values[i], dtype), 0);
    }
}

// Runs `call` once with `dst` NULL and once with what that made, zeroed.
#define WITH_AND_WITHOUT_DST(call, ...)                                                            \
    do {                                                                                           \
        tl_tensor *dst = NULL, *made = (call);                                                     \
        check_values(made, __VA_ARGS__);                                                           \
        memset(made->data, 0, tl_tensor_size(made));                                               \
        dst = made;                                                                                \
        CHECK_PTR_EQ((call), dst);                                                                 \
        check_values(dst, __VA_ARGS__);                                                            \
        tl_tensor_free_data_too(made);                                                             \
    } while (0)

#define DIMS(...)                                                                                  \
    (int[])                                                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define NUMS(...)                                                                                  \
    (double[])                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const double one_to_twelve[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(tensors_are_wrapped_made_cloned_and_repeated)
{
    EACH_DTYPE(dtype)
    {
        char bytes[6 * 8] = {0};
        tl_tensor *t = tl_tensor_create(bytes, 2, DIMS(2, 3), dtype);
        CHECK_PTR_EQ(t->data, bytes);
        CHECK_EQ(tl_tensor_size(t), 6 * tl_size_of(dtype));
        CHECK_EQ(tl_tensor_index(t, DIMS(1, 2)), 5);
        int coords[2];
        tl_tensor_coords(t, 4, coords);
        CHECK_EQ(coords[0], 1);
        CHECK_EQ(coords[1], 1);
        tl_tensor *zeros = tl_tensor_zeros(2, DIMS(2, 3), dtype);
        CHECK_EQ(tl_tensor_issameshape(t, zeros), 1);
        check_values(zeros, 2, DIMS(2, 3), dtype, (double[6]){0});
        tl_tensor_free(t);
        tl_tensor_free_data_too(zeros);

        tl_tensor *src = numbers(2, DIMS(2, 3), dtype, one_to_twelve);
        tl_tensor *clone = tl_tensor_clone(src);
        check_values(clone, 2, DIMS(2, 3), dtype, one_to_twelve);
        tl_tensor *twice = tl_tensor_repeat(src, 2);
        check_values(twice, 3, DIMS(2, 2, 3), dtype, NUMS(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
        CHECK_EQ(tl_tensor_issameshape(src, twice), 0);
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(clone);
        tl_tensor_free_data_too(twice);
    }
}

TEST(ranges_are_made_and_written)
{
    EACH_DTYPE(dtype)
    {
        double stop = dtype == TL_BOOL ? 1 : 4;
        tl_tensor *t = tl_tensor_arange(0, stop, 1, dtype);
        check_values(t, 1, DIMS((int)stop), dtype, NUMS(0, 1, 2, 3));
        tl_tensor_rearange(t, 0, stop, 1);
        check_values(t, 1, DIMS((int)stop), dtype, NUMS(0, 1, 2, 3));
        tl_tensor_free_data_too(t);
    }
}

TEST(tensors_are_printed_and_saved)
{
    static const char path[] = LN_BUILD_DIR "/lightnet_tensor.txt";
    tl_tensor *t = tl_tensor_arange(1, 5, 1, TL_FLOAT);
    tl_tensor_reshape_src(t, 2, DIMS(2, 2));
    tl_tensor_print(t, NULL);
    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    tl_tensor_fprint(fp, t, NULL);
    tl_tensor_fprint(fp, t, "%.1f");
    fclose(fp);
    CHECK_STR_EQ(text, "[[1.000 2.000]\n [3.000 4.000]]\n[[1.0 2.0]\n [3.0 4.0]]\n");
    free(text);
    CHECK_EQ(tl_tensor_save(path, t, NULL), 0);
    CHECK_EQ(tl_tensor_save("/nowhere/at/all", t, NULL), -1);
    remove(path);
    tl_tensor_free_data_too(t);
}

TEST(slices_copy_or_share)
{
    EACH_DTYPE(dtype)
    {
        tl_tensor *src = numbers(2, DIMS(3, 4), dtype, one_to_twelve);
        WITH_AND_WITHOUT_DST(tl_tensor_slice(src, dst, 1, 1, 2), 2, DIMS(3, 2), dtype,
                             NUMS(2, 3, 6, 7, 10, 11));
        tl_tensor *view = tl_tensor_slice_nocopy(src, NULL, 0, 1, 2);
        check_values(view, 2, DIMS(2, 4), dtype, one_to_twelve + 4);
        CHECK_PTR_EQ(view->owner, src);
        CHECK_PTR_EQ(tl_tensor_slice_nocopy(src, view, 0, 0, 2), view);
        CHECK_PTR_EQ(view->data, src->data);
        tl_tensor_free(view);

        char bytes[6 * 8];
        tl_tensor *made = tl_tensor_create_slice(bytes, src, 1, 2, dtype);
        CHECK_PTR_EQ(made->data, bytes);
        CHECK_EQ(made->dims[1], 2);
        tl_tensor_free(made);
        made = tl_tensor_zeros_slice(src, 0, 1, TL_UINT8);
        check_values(made, 2, DIMS(1, 4), TL_UINT8, NUMS(0, 0, 0, 0));
        tl_tensor_free_data_too(made);
        tl_tensor_free_data_too(src);
    }
}

TEST(tensors_are_joined_reshaped_and_transposed)
{
    EACH_DTYPE(dtype)
    {
        tl_tensor *s1 = numbers(2, DIMS(2, 1), dtype, NUMS(1, 4));
        tl_tensor *s2 = numbers(2, DIMS(2, 2), dtype, NUMS(2, 3, 5, 6));
        WITH_AND_WITHOUT_DST(tl_tensor_concat(s1, s2, dst, 1), 2, DIMS(2, 3), dtype, one_to_twelve);
        tl_tensor *view = tl_tensor_reshape(s2, 1, DIMS(4));
        check_values(view, 1, DIMS(4), dtype, NUMS(2, 3, 5, 6));
        CHECK_PTR_EQ(view->data, s2->data);
        tl_tensor_free(view);
        tl_tensor_reshape_src(s2, 3, DIMS(1, 4, 1));
        check_values(s2, 3, DIMS(1, 4, 1), dtype, NUMS(2, 3, 5, 6));
        tl_tensor_free_data_too(s1);
        tl_tensor_free_data_too(s2);

        tl_tensor *src = numbers(3, DIMS(2, 3, 2), dtype, one_to_twelve);
        const int axes[] = {1, 2, 0};
        WITH_AND_WITHOUT_DST(tl_tensor_transpose(src, dst, axes), 3, DIMS(3, 2, 2), dtype,
                             NUMS(1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12));
        tl_tensor_free_data_too(src);
    }
}

TEST(elements_are_combined)
{
    EACH_DTYPE(dtype)
    {
        tl_tensor *s1 = numbers(1, DIMS(3), dtype, NUMS(6, 3, 1));
        tl_tensor *s2 = numbers(1, DIMS(3), dtype, NUMS(2, 3, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_MUL), 1, DIMS(3), dtype,
                             NUMS(12, 9, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_DIV), 1, DIMS(3), dtype, NUMS(3, 1, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_SUM), 1, DIMS(3), dtype, NUMS(8, 6, 2));
        if (dtype != TL_BOOL)
            WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_SUB), 1, DIMS(3), dtype,
                                 NUMS(4, 0, 0));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_MAX), 1, DIMS(3), dtype, NUMS(6, 3, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_MIN), 1, DIMS(3), dtype, NUMS(2, 3, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew(s1, s2, dst, TL_POW), 1, DIMS(3), dtype,
                             NUMS(36, 27, 1));
        WITH_AND_WITHOUT_DST(tl_tensor_elew_param(s1, 2, dst, TL_MUL), 1, DIMS(3), dtype,
                             NUMS(12, 6, 2));
        WITH_AND_WITHOUT_DST(tl_tensor_dot_product(s1, s2, dst), 1, DIMS(1), dtype, NUMS(22));
        WITH_AND_WITHOUT_DST(tl_tensor_lrelu(s1, dst, 0.5f), 1, DIMS(3), dtype, NUMS(6, 3, 1));
        tl_tensor_free_data_too(s1);
        tl_tensor_free_data_too(s2);
    }
}

TEST(the_largest_elements_are_found_with_their_positions)
{
    EACH_DTYPE(dtype)
    {
        tl_tensor *src = numbers(2, DIMS(2, 3), dtype, NUMS(0, 1, 0, 4, 0, 0));
        tl_tensor *arg = tl_tensor_zeros(2, DIMS(2, 1), TL_INT32);
        WITH_AND_WITHOUT_DST(tl_tensor_maxreduce(src, dst, NULL, 1), 2, DIMS(2, 1), dtype,
                             NUMS(1, 4));
        WITH_AND_WITHOUT_DST(tl_tensor_maxreduce(src, dst, arg, 1), 2, DIMS(2, 1), dtype,
                             NUMS(1, 4));
        check_values(arg, 2, DIMS(2, 1), TL_INT32, NUMS(1, 0));
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(arg);
    }
}

TEST(any_dtype_converts_to_any)
{
    EACH_DTYPE(from)
    {
        tl_tensor *src = numbers(1, DIMS(3), from, NUMS(0, 1, 5));
        for (size_t to = 0; to < sizeof dtypes / sizeof *dtypes; to++)
            WITH_AND_WITHOUT_DST(tl_tensor_convert(src, dst, dtypes[to]), 1, DIMS(3), dtypes[to],
                                 NUMS(0, 1, in_dtype(5, from)));
        tl_tensor_free_data_too(src);
    }
}

TEST(images_are_resized_and_centred)
{
    EACH_DTYPE(dtype)
    {
        tl_tensor *src = numbers(2, DIMS(2, 2), dtype, NUMS(1, 0, 0, 4));
        const int new_dims[] = {4, 2};
        WITH_AND_WITHOUT_DST(tl_tensor_resize(src, dst, new_dims, TL_NEAREST), 2, DIMS(4, 2), dtype,
                             NUMS(1, 0, 1, 0, 0, 4, 0, 4));
        tl_tensor_free_data_too(src);
        if (dtype == TL_BOOL)
            continue;
        src = numbers(3, DIMS(1, 2, 3), dtype, one_to_twelve);
        const double mean[3] = {1, 2, 3};
        WITH_AND_WITHOUT_DST(tl_tensor_submean(src, dst, mean), 3, DIMS(3, 1, 2), TL_FLOAT,
                             NUMS(0, 3, 0, 3, 0, 3));
        tl_tensor_free_data_too(src);
    }
}

TEST(names_and_limits_of_types_are_known)
{
    EACH_DTYPE(dtype)
    {
        CHECK_EQ(tl_dtype_from_str(tl_dtype_name(dtype)), dtype);
        CHECK_NOT_NULL(tl_dtype_fmt(dtype));
        CHECK(tl_dtype_max_double(dtype) > tl_dtype_min_double(dtype));
        char max[8], min[8];
        tl_dtype_max(dtype, max);
        tl_dtype_min(dtype, min);
        CHECK(tl_cmp(max, min, dtype) > 0);
        CHECK(tl_cmp_getfunc(dtype) != NULL);
        CHECK(tl_elew_getfunc(dtype) != NULL);
        CHECK(tl_fprintf_getfunc(dtype) != NULL);
    }
    CHECK_EQ(tl_dtype_from_str("TL_NOTHING"), -1);
    CHECK_EQ(tl_elew_op_from_str(tl_elew_op_name(TL_POW)), TL_POW);
    CHECK_EQ(tl_elew_op_from_str("?"), -1);
    CHECK_EQ(tl_resize_type_from_str(tl_resize_type_name(TL_NEAREST)), TL_NEAREST);
    CHECK_EQ(tl_resize_type_from_str("?"), -1);
    CHECK_EQ(tl_sort_dir_from_str(tl_sort_dir_name(TL_SORT_DIR_DESCENDING)),
             TL_SORT_DIR_DESCENDING);
    CHECK_EQ(tl_sort_dir_from_str("?"), -1);
}

TEST(pointers_and_bytes_are_helped_with)
{
    int array[4] = {1, 2, 3, 4}, copy[4];
    CHECK_EQ(tl_psub(array + 3, array, sizeof *array), 3);
    CHECK_PTR_EQ(tl_padd(array, 2, sizeof *array), array + 2);
    tl_passign(array, 0, array, 3, sizeof *array);
    CHECK_EQ(array[0], 4);
    CHECK_EQ(tl_pointer_sub(array + 3, array, TL_INT32), 3);
    CHECK_PTR_EQ(tl_pointer_add(array, 1, TL_INT32), array + 1);
    tl_pointer_assign(array, 1, array, 0, TL_INT32);
    CHECK_EQ(array[1], 4);
    tl_memcpy(copy, array, sizeof array);
    CHECK_MEM_EQ(copy, array, sizeof array);
    int *clone = tl_clone(array, sizeof array);
    CHECK_MEM_EQ(clone, array, sizeof array);
    ln_free(clone);
    int *twice = tl_repeat(array, sizeof array, 2);
    CHECK_MEM_EQ(twice + 4, array, sizeof array);
    ln_free(twice);
    CHECK_EQ(tl_compute_length(2, DIMS(2, 3)), 6);
    void *block = tl_alloc(16);
    CHECK_NOT_NULL(block);
    ln_free(block);
}

TEST_LIST(tensors_are_wrapped_made_cloned_and_repeated, ranges_are_made_and_written,
          tensors_are_printed_and_saved, slices_copy_or_share,
          tensors_are_joined_reshaped_and_transposed, elements_are_combined,
          the_largest_elements_are_found_with_their_positions, any_dtype_converts_to_any,
          images_are_resized_and_centred, names_and_limits_of_types_are_known,
          pointers_and_bytes_are_helped_with)
