// SPDX-License-Identifier: Apache-2.0
// Tensors for tests of the kernels: around arrays of the test, without allocating.
//
//     float data[6] = {1, 2, 3, 4, 5, 6};
//     tl_tensor t = VIEW(data, TL_FLOAT, 2, 3);

#ifndef LN_ARCH_REF_TEST_VIEW_H
#define LN_ARCH_REF_TEST_VIEW_H

#include <math.h>

#include <lightnet/tensor.h>

#include "tests/random.h"
#include "tests/test.h"

// The dimensions stay in the block that says VIEW.
#define VIEW(data, dtype, ...)                                                                     \
    test_view(data, dtype, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

#define SCALAR_VIEW(data, dtype) test_view(data, dtype, 0, NULL)

static inline tl_tensor test_view(void *data, tl_dtype dtype, int ndim, int *dims)
{
    tl_tensor t = {.dtype = dtype, .len = 1, .ndim = ndim, .dims = dims, .data = data};
    for (int d = 0; d < ndim; d++)
        t.len *= dims[d];
    return t;
}

static inline double test_get(const tl_tensor *t, int i)
{
    double x = 0;
    CHECK_OK(
        tl_convert(&x, TL_DOUBLE, (char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype));
    return x;
}

static inline void test_set(const tl_tensor *t, int i, double x)
{
    CHECK_OK(
        tl_convert((char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype, &x, TL_DOUBLE));
}

// Integers from -range to range, from 0 for unsigned dtypes; floating ones get a fraction.
static inline void test_fill(const tl_tensor *t, test_random *random, int range)
{
    int is_floating = t->dtype == TL_DOUBLE || t->dtype == TL_FLOAT;
    for (int i = 0; i < t->len; i++) {
        double x = (double)test_random_below(random, (size_t)(2 * range + 1)) - range;
        if (is_floating)
            x += (double)test_random_below(random, 1024) / 1024;
        test_set(t, i, tl_dtype_min_double(t->dtype) < 0 ? x : fabs(x));
    }
}

// What an exact result becomes in `dtype`.
static inline double test_saturate(double exact, tl_dtype dtype)
{
    if (dtype == TL_DOUBLE || dtype == TL_FLOAT)
        return exact;
    if (dtype == TL_BOOL)
        return exact != 0;
    double least = tl_dtype_min_double(dtype), most = tl_dtype_max_double(dtype);
    return exact < least ? least : exact > most ? most : exact;
}

#define CHECK_FLOATS(data, count, tolerance, ...)                                                  \
    do {                                                                                           \
        const double check_expected_[] = {__VA_ARGS__};                                            \
        for (int check_i_ = 0; check_i_ < (count); check_i_++)                                     \
            CHECK_NEAR((double)(data)[check_i_], check_expected_[check_i_], (tolerance));          \
    } while (0)

#endif
