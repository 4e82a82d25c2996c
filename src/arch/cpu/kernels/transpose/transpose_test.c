// SPDX-License-Identifier: Apache-2.0
// Transposes against a plain loop over all elements, on every instruction set.

#include "arch/cpu/kernels/transpose/transpose.h"

#include "arch/cpu/kernels/kernel_test.h"

// Bytes between pages without access, as guarded floats are.
static guarded bytes_make(size_t byte_count, bool at_end)
{
    guarded g = guarded_make((byte_count + 3) / 4, at_end);
    for (size_t i = 0; i < g.count; i++) {
        uint32_t bits = test_random() * 2654435761u; // any pattern, NaNs that signal among them
        memcpy(g.p + i, &bits, sizeof bits);
    }
    return g;
}

// The result's axis i is axis order[i] of x, whose dimensions are `dims`.
static void check_on(size_t elem_size, int ndim, const size_t *dims, const int *order, bool at_end,
                     ln_pool *pool)
{
    size_t step[LN_TRANSPOSE_MAX_AXES], len = 1;
    ln_transpose_args args = {.elem_size = elem_size, .ndim = ndim};
    for (int i = ndim - 1; i >= 0; i--) {
        step[i] = len;
        len *= dims[i];
    }
    for (int i = 0; i < ndim; i++) {
        args.dims[i] = dims[order[i]];
        args.x_step[i] = step[order[i]];
    }
    guarded x = bytes_make(len * elem_size, at_end);
    args.x = x.p;
    FOR_EACH_ISA(isa)
    {
        guarded y = bytes_make(len * elem_size, at_end);
        args.y = y.p;
        ln_transpose(isa, &args, pool);
        for (size_t i = 0; i < len; i++) {
            size_t from = 0, rest = i;
            for (int d = ndim - 1; d >= 0; d--) {
                from += rest % args.dims[d] * args.x_step[d];
                rest /= args.dims[d];
            }
            if (memcmp((char *)x.p + from * elem_size, (char *)y.p + i * elem_size, elem_size) != 0)
                fail_msg("element %zu of %zu bytes is wrong for %s", i, elem_size,
                         ln_cpu_isa_name(isa));
        }
        guarded_free(&y);
    }
    guarded_free(&x);
}

static void check(int ndim, const size_t *dims, const int *order)
{
    const size_t sizes[] = {4, 1, 2, 8};
    for (size_t i = 0; i < 4; i++)
        check_on(sizes[i], ndim, dims, order, i & 1, NULL);
    check_on(4, ndim, dims, order, true, NULL);
}

TEST(matrices_of_all_sizes_are_transposed)
{
    const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 33, 64, 65};
    for (size_t i = 0; i < 14; i++)
        for (size_t j = 0; j < 14; j++) {
            const size_t dims[] = {sizes[i], sizes[j]};
            check(2, dims, (const int[]){1, 0});
        }
}

TEST(images_change_between_both_orders)
{
    const size_t channels[] = {1, 2, 3, 4, 5, 16, 37};
    for (size_t i = 0; i < 7; i++) {
        check(4, (const size_t[]){2, channels[i], 5, 13}, (const int[]){0, 2, 3, 1});
        check(4, (const size_t[]){2, 5, 13, channels[i]}, (const int[]){0, 3, 1, 2});
        check(4, (const size_t[]){1, channels[i], 20, 17}, (const int[]){0, 2, 3, 1});
    }
}

TEST(groups_of_channels_are_shuffled)
{
    for (size_t groups = 2; groups <= 5; groups++) {
        check(4, (const size_t[]){1, 7, groups, 29}, (const int[]){0, 1, 3, 2});
        check(4, (const size_t[]){1, 7, 29, groups}, (const int[]){0, 1, 3, 2});
        check(4, (const size_t[]){2, groups, 9, 11}, (const int[]){0, 2, 1, 3});
    }
}

TEST(any_order_of_axes_is_right)
{
    for (int round = 0; round < 120; round++) {
        int ndim = (int)test_random_in(0, 6), order[LN_TRANSPOSE_MAX_AXES];
        size_t dims[LN_TRANSPOSE_MAX_AXES];
        for (int i = 0; i < ndim; i++) {
            dims[i] = test_random_in(1, 5);
            order[i] = i;
        }
        if (ndim > 0)
            dims[test_random_in(0, (size_t)ndim - 1)] = test_random_in(1, 40);
        for (int i = ndim - 1; i > 0; i--) {
            int j = (int)test_random_in(0, (size_t)i), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        check(ndim, dims, order);
    }
}

TEST(empty_tensors_touch_nothing)
{
    check(3, (const size_t[]){2, 0, 3}, (const int[]){2, 0, 1});
}

// Parts of a tensor, and elements again and again.
TEST(steps_may_be_any)
{
    uint32_t x[100], y[60];
    for (uint32_t i = 0; i < 100; i++)
        x[i] = i;
    const size_t steps[][3] = {{30, 10, 2}, {1, 10, 3}, {0, 1, 20},
                               {0, 0, 3},   {20, 5, 0}, {0, 0, 0}};
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        ln_transpose_args args = {.elem_size = 4, .ndim = 3, .dims = {3, 4, 5}, .x = x, .y = y};
        memcpy(args.x_step, steps[k], sizeof steps[k]);
        FOR_EACH_ISA(isa)
        {
            ln_transpose(isa, &args, NULL);
            for (size_t i = 0; i < 60; i++)
                CHECK_EQ(y[i],
                         i / 20 * steps[k][0] + i / 5 % 4 * steps[k][1] + i % 5 * steps[k][2]);
        }
    }
}

TEST(threads_move_every_element)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    check_on(4, 4, (const size_t[]){2, 70, 61, 57}, (const int[]){0, 2, 3, 1}, true, pool);
    check_on(4, 4, (const size_t[]){2, 61, 57, 70}, (const int[]){0, 3, 1, 2}, true, pool);
    check_on(8, 3, (const size_t[]){300, 3, 300}, (const int[]){1, 0, 2}, true, pool);
    check_on(2, 3, (const size_t[]){300, 7, 301}, (const int[]){2, 1, 0}, true, pool);
    check_on(4, 3, (const size_t[]){3000, 2, 58}, (const int[]){0, 2, 1}, true, pool);
    ln_pool_release(pool);
}

static void check_pairs(size_t rows, size_t columns, size_t a_step, size_t b_step, bool at_end,
                        ln_pool *pool)
{
    guarded a = bytes_make(((rows - 1) * a_step + columns) * 4, at_end);
    guarded b = bytes_make(((rows - 1) * b_step + columns) * 4, at_end);
    FOR_EACH_ISA(isa)
    {
        guarded y = bytes_make(rows * columns * 8, at_end);
        ln_interleave_u32(isa,
                          &(ln_interleave_rows){.rows = rows,
                                                .columns = columns,
                                                .a = a.p,
                                                .a_step = a_step,
                                                .b = b.p,
                                                .b_step = b_step,
                                                .y = y.p},
                          pool);
        for (size_t i = 0; i < rows * columns; i++) {
            size_t row = i / columns, column = i % columns;
            if (memcmp(y.p + 2 * i, a.p + row * a_step + column, 4) != 0 ||
                memcmp(y.p + 2 * i + 1, b.p + row * b_step + column, 4) != 0)
                fail_msg("pair %zu of %zu x %zu is wrong for %s", i, rows, columns,
                         ln_cpu_isa_name(isa));
        }
        guarded_free(&y);
    }
    guarded_free(&a);
    guarded_free(&b);
}

TEST(two_matrices_alternate)
{
    for (size_t columns = 1; columns < 70; columns++) {
        check_pairs(3, columns, columns, columns + 5, columns & 1, NULL);
        check_pairs(2, columns, 2 * columns, columns, !(columns & 1), NULL);
    }
    ln_pool *pool;
    CHECK_OK(ln_pool_create(4, &pool));
    check_pairs(3001, 58, 116, 58, true, pool);
    ln_pool_release(pool);
    ln_interleave_u32(LN_CPU_ISA_generic, &(ln_interleave_rows){.rows = 0, .columns = 3}, NULL);
}

TEST_LIST(matrices_of_all_sizes_are_transposed, images_change_between_both_orders,
          groups_of_channels_are_shuffled, any_order_of_axes_is_right, empty_tensors_touch_nothing,
          steps_may_be_any, threads_move_every_element, two_matrices_alternate)
