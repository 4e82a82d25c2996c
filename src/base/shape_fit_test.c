// SPDX-License-Identifier: Apache-2.0
// Which arrays have a tensor's elements in the same order, and the transposes that would give it.

#include <lightnet/shape.h>

#include "tests/test.h"

typedef struct shape {
    int ndim;
    int dims[LN_MAXDIM];
} shape;

TEST(only_dimensions_of_1_may_be_left_out_or_added)
{
    static const struct {
        shape array;
        shape wanted;
        shape got; // ndim -1: refused
        const char *why;
    } cases[] = {
        {{2, {2, 3}}, {2, {2, 3}}, {2, {2, 3}}, "the same"},
        {{4, {1, 28, 28, 1}}, {4, {1, 1, 28, 28}}, {4, {1, 1, 28, 28}}, "one channel moves"},
        {{2, {28, 28}}, {4, {1, 1, 28, 28}}, {4, {1, 1, 28, 28}}, "ones are added"},
        {{3, {5, 1, 7}}, {2, {5, 7}}, {2, {5, 7}}, "a one is left out"},
        {{0, {0}}, {2, {1, 1}}, {2, {1, 1}}, "a scalar"},
        {{1, {1}}, {0, {0}}, {0, {0}}, "one element for a scalar"},
        {{2, {3, 2}}, {2, {2, 3}}, {-1, {0}}, "another order"},
        {{1, {784}}, {4, {1, 1, 28, 28}}, {-1, {0}}, "a row for an image"},
        {{4, {1, 2, 2, 3}}, {4, {1, 3, 2, 2}}, {-1, {0}}, "channels last for channels first"},
        {{1, {2}}, {0, {0}}, {-1, {0}}, "two elements for a scalar"},
        {{2, {0, 3}}, {3, {1, 0, 3}}, {3, {1, 0, 3}}, "no elements"},
        {{1, {0}}, {1, {1}}, {-1, {0}}, "none for one"},
        {{2, {4, 3}}, {2, {-1, 3}}, {2, {4, 3}}, "a dynamic dimension"},
        {{3, {3, 5, 6}}, {4, {-1, 3, -1, -1}}, {4, {1, 3, 5, 6}}, "an image without a batch"},
        {{2, {28, 28}}, {4, {-1, 28, 28, 1}}, {4, {1, 28, 28, 1}}, "ones around it"},
        {{4, {1, 1, 3, 5}}, {3, {-1, 3, -1}}, {3, {1, 3, 5}}, "one batch too many"},
        {{3, {1, 1, 5}}, {2, {1, -1}}, {2, {1, 5}}, "a one before a dynamic dimension"},
        {{4, {1, 5, 6, 3}}, {4, {-1, 3, -1, -1}}, {-1, {0}}, "the channels elsewhere"},
        {{1, {6}}, {2, {-1, 3}}, {-1, {0}}, "a row of two"},
        {{0, {0}}, {2, {-1, -1}}, {2, {1, 1}}, "a scalar for a dynamic shape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        const shape *array = &cases[i].array, *wanted = &cases[i].wanted, *got = &cases[i].got;
        int dims[LN_MAXDIM] = {0};
        CHECK_EQ(ln_shape_fit(array->ndim, array->dims, wanted->ndim, wanted->dims, dims),
                 got->ndim >= 0);
        for (int k = 0; k < got->ndim; k++)
            CHECK_EQ(dims[k], got->dims[k]);
    }
    CHECK(ln_shape_fit(1, (const int[]){4}, 1, (const int[]){-1}, NULL));
    CHECK(!ln_shape_fit(9, (const int[9]){1}, 1, (const int[]){1}, NULL));
    CHECK(!ln_shape_fit(1, NULL, 1, (const int[]){1}, NULL));
}

TEST(the_advice_names_a_transpose_that_fits)
{
    static const struct {
        shape array;
        shape wanted;
        const char *advice;
        const char *why;
    } cases[] = {
        {{4, {1, 2, 2, 3}},
         {4, {1, 3, 2, 2}},
         "; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))",
         "to channels first"},
        {{4, {1, 2, 3, 3}},
         {4, {1, 3, 2, 3}},
         "; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))",
         "a width like the channels"},
        {{4, {1, 3, 4, 5}},
         {4, {1, 4, 5, 3}},
         "; transpose it with axes 0,2,3,1: np.transpose(x, (0, 2, 3, 1))",
         "to channels last"},
        {{3, {4, 5, 3}},
         {4, {1, 3, 4, 5}},
         "; transpose it with axes 2,0,1: np.transpose(x, (2, 0, 1))",
         "without a batch"},
        {{4, {1, 4, 5, 3}},
         {4, {-1, 3, -1, -1}},
         "; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))",
         "a dynamic shape"},
        {{2, {3, 2}},
         {2, {2, 3}},
         "; transpose it with axes 1,0: np.transpose(x, (1, 0))",
         "a matrix"},
        {{4, {2, 3, 4, 5}},
         {4, {5, 4, 3, 2}},
         "; transpose it with axes 3,2,1,0: np.transpose(x, (3, 2, 1, 0))",
         "all of them"},
        {{1, {784}},
         {4, {1, 1, 28, 28}},
         "; if its elements are in that order, reshape it: np.reshape(x, (1, 1, 28, 28))",
         "a row"},
        {{2, {2, 2}},
         {1, {4}},
         "; if its elements are in that order, reshape it: np.reshape(x, (4,))",
         "a tuple of one"},
        {{1, {5}}, {1, {4}}, "", "another number of elements"},
        {{1, {5}}, {2, {-1, 3}}, "", "another number for a dynamic shape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        const shape *array = &cases[i].array, *wanted = &cases[i].wanted;
        char text[256];
        CHECK_STR_EQ(ln_shape_advice(text, sizeof text, array->ndim, array->dims, wanted->ndim,
                                     wanted->dims),
                     cases[i].advice);
    }
    char text[8];
    ln_shape_advice(text, sizeof text, 2, (const int[]){3, 2}, 2, (const int[]){2, 3});
    CHECK_STR_EQ(text, "; trans");
}

// What is said to fit does, whatever the permutation was.
TEST(every_permutation_is_undone)
{
    static const int wanted[4] = {2, 3, 4, 1};
    for (int code = 0; code < 256; code++) {
        int axes[4], dims[4], found[4], turned[4], used = 0;
        for (int i = 0; i < 4; i++) {
            axes[i] = code >> 2 * i & 3;
            used |= 1 << axes[i];
            dims[i] = wanted[axes[i]];
        }
        if (used != 15)
            continue;
        CHECK(ln_shape_find_transpose(4, dims, 4, wanted, found));
        for (int i = 0; i < 4; i++)
            turned[i] = dims[found[i]];
        CHECK(ln_shape_fit(4, turned, 4, wanted, NULL));
    }
}

TEST_LIST(only_dimensions_of_1_may_be_left_out_or_added, the_advice_names_a_transpose_that_fits,
          every_permutation_is_undone)
