// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/kernels.h"

#include "arch/ref/test_view.h"

TEST(a_stack_comes_apart_as_it_was)
{
    int16_t a_data[] = {1, 2, 3}, b_data[] = {4, 5, 6}, stack_data[6], c_data[3], d_data[3];
    tl_tensor a = VIEW(a_data, TL_INT16, 3, 1), b = VIEW(b_data, TL_INT16, 3, 1);
    tl_tensor c = VIEW(c_data, TL_INT16, 3, 1), d = VIEW(d_data, TL_INT16, 3, 1);
    tl_tensor stack = VIEW(stack_data, TL_INT16, 2, 3, 1);
    CHECK_OK(ln_ref_gather((tl_tensor *[]){&a, &b}, 2, &stack));
    CHECK_FLOATS(stack_data, 6, 0, 1, 2, 3, 4, 5, 6);
    CHECK_OK(ln_ref_scatter(&stack, (tl_tensor *[]){&c, &d}, 2));
    CHECK_FLOATS(c_data, 3, 0, 1, 2, 3);
    CHECK_FLOATS(d_data, 3, 0, 4, 5, 6);
}

TEST(scalars_and_empty_tensors_stack)
{
    double a_data = 7, b_data = 8, stack_data[2];
    tl_tensor a = SCALAR_VIEW(&a_data, TL_DOUBLE), b = SCALAR_VIEW(&b_data, TL_DOUBLE);
    tl_tensor stack = VIEW(stack_data, TL_DOUBLE, 2);
    CHECK_OK(ln_ref_gather((tl_tensor *[]){&b, &a}, 2, &stack));
    CHECK_FLOATS(stack_data, 2, 0, 8, 7);
    CHECK_OK(ln_ref_scatter(&stack, (tl_tensor *[]){&a, &b}, 2));
    CHECK_NEAR(a_data, 8, 0);

    tl_tensor empty = VIEW(NULL, TL_DOUBLE, 0, 3), empties = VIEW(NULL, TL_DOUBLE, 1, 0, 3);
    CHECK_OK(ln_ref_gather((tl_tensor *[]){&empty}, 1, &empties));
    CHECK_OK(ln_ref_scatter(&empties, (tl_tensor *[]){&empty}, 1));
}

TEST(parts_that_do_not_fit_are_refused)
{
    float data[16] = {0};
    tl_tensor a = VIEW(data, TL_FLOAT, 3), wide = VIEW(data, TL_FLOAT, 4);
    tl_tensor ints = VIEW(data, TL_INT32, 3), stack = VIEW(data + 4, TL_FLOAT, 2, 3);
    tl_tensor scalar = SCALAR_VIEW(data, TL_FLOAT);
    const struct {
        const char *why;
        tl_tensor *parts[2];
        int count;
        tl_tensor *stack;
    } rows[] = {
        {"another shape", {&a, &wide}, 2, &stack},
        {"another dtype", {&a, &ints}, 2, &stack},
        {"NULL", {&a, NULL}, 2, &stack},
        {"too few", {&a, &a}, 1, &stack},
        {"none", {&a, &a}, 0, &stack},
        {"a scalar", {&a, &a}, 2, &scalar},
        {"no stack", {&a, &a}, 2, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (ln_ref_gather(rows[i].parts, rows[i].count, rows[i].stack) != LN_INVALID ||
            ln_ref_scatter(rows[i].stack, rows[i].parts, rows[i].count) != LN_INVALID)
            fail_msg("%s is taken", rows[i].why);
    }
    CHECK_FAILS(ln_ref_gather(NULL, 2, &stack), LN_INVALID);
}

TEST_LIST(a_stack_comes_apart_as_it_was, scalars_and_empty_tensors_stack,
          parts_that_do_not_fit_are_refused)
