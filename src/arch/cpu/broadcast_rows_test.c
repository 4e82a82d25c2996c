// SPDX-License-Identifier: Apache-2.0
// Rows of broadcast inputs: every position is met once, with the elements that belong to it.

#include "arch/cpu/broadcast_rows.h"

#include <stdint.h>
#include <stdlib.h>

#include "tests/test.h"

typedef struct sums {
    const int32_t *src[LN_CPU_ROWS_INPUTS];
    int64_t *dst;
} sums;

// Inputs weigh differently, so that no place can be mistaken for another.
static void add_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const sums *s = self;
    for (size_t i = 0; i < n; i++)
        s->dst[to + i] += (int64_t)s->src[0][at[0] + i * step[0]] +
                          ((int64_t)s->src[1][at[1] + i * step[1]] << 20) +
                          ((int64_t)s->src[2][at[2] + i * step[2]] << 40);
}

// Borrows `dims`.
static tl_tensor tensor_of(int ndim, int *dims)
{
    tl_tensor t = {.dtype = TL_INT32, .ndim = ndim, .dims = dims, .len = 1};
    for (int d = 0; d < ndim; d++)
        t.len *= dims[d];
    return t;
}

static int32_t *count_up(int len)
{
    int32_t *p = malloc(((size_t)len + 1) * sizeof *p);
    CHECK_NOT_NULL(p);
    for (int i = 0; i < len; i++)
        p[i] = i;
    return p;
}

// The element of `t` for position `place` of the output.
static int64_t element_at(const tl_tensor *t, const tl_tensor *dst, size_t place)
{
    size_t at = 0, stride = 1;
    for (int d = dst->ndim - 1; d >= 0; d--) {
        size_t coord = place % (size_t)dst->dims[d];
        int own = t->ndim - dst->ndim + d;
        place /= (size_t)dst->dims[d];
        if (own < 0)
            continue;
        if (t->dims[own] > 1)
            at += coord * stride;
        stride *= (size_t)t->dims[own];
    }
    return (int64_t)at;
}

typedef struct shapes {
    int ndim, dims[4];
    int in_ndim[3], in_dims[3][4];
} shapes;

static void check(shapes *c, ln_pool *pool)
{
    tl_tensor dst = tensor_of(c->ndim, c->dims), in[3];
    const tl_tensor *ins[3];
    sums s = {.dst = calloc((size_t)dst.len + 1, sizeof *s.dst)};
    CHECK_NOT_NULL(s.dst);
    for (int k = 0; k < 3; k++) {
        in[k] = tensor_of(c->in_ndim[k], c->in_dims[k]);
        ins[k] = &in[k];
        s.src[k] = count_up(in[k].len);
    }
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, &dst, ins, 3);
    ln_cpu_rows_run(&rows, pool, add_row, &s);
    for (size_t i = 0; i < (size_t)dst.len; i++)
        CHECK_EQ(s.dst[i], element_at(&in[0], &dst, i) + (element_at(&in[1], &dst, i) << 20) +
                               (element_at(&in[2], &dst, i) << 40));
    for (int k = 0; k < 3; k++)
        free((void *)(uintptr_t)s.src[k]);
    free(s.dst);
}

TEST(every_position_has_its_elements)
{
    static shapes cases[] = {
        {0, {0}, {0, 0, 0}, {{0}, {0}, {0}}},
        {1, {7}, {1, 0, 1}, {{7}, {0}, {1}}},
        {3, {2, 3, 4}, {3, 1, 2}, {{2, 3, 4}, {4}, {3, 1}}},
        {4, {2, 1, 3, 5}, {4, 4, 3}, {{2, 1, 1, 5}, {1, 1, 3, 5}, {1, 3, 1}}},
        {3, {2, 0, 4}, {3, 1, 2}, {{2, 0, 4}, {4}, {1, 1}}},
        {2, {3, 40000}, {2, 1, 2}, {{3, 40000}, {40000}, {3, 1}}}, // parts of rows
        {3, {300, 3, 100}, {3, 3, 1}, {{300, 3, 100}, {300, 1, 1}, {100}}},
    };
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(&cases[i], NULL);
        check(&cases[i], pool);
    }
    ln_pool_release(pool);
}

// Lengths of 1 take no part; what is repeated over any other axis is not whole.
TEST(inputs_of_the_output_s_shape_are_whole)
{
    static const struct {
        int dims[3];
        bool is_whole;
    } cases[] = {{{2, 3, 4}, true},
                 {{1, 3, 4}, false},
                 {{2, 1, 4}, false},
                 {{2, 3, 1}, false},
                 {{1, 1, 1}, false}};
    tl_tensor dst = tensor_of(4, (int[]){2, 1, 3, 4});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int *d = cases[i].dims;
        tl_tensor in = tensor_of(4, (int[]){d[0], 1, d[1], d[2]});
        const tl_tensor *ins[] = {&in};
        ln_cpu_rows rows;
        ln_cpu_rows_init(&rows, &dst, ins, 1);
        CHECK_EQ(ln_cpu_rows_are_whole(&rows, 0), cases[i].is_whole);
    }
}

TEST_LIST(every_position_has_its_elements, inputs_of_the_output_s_shape_are_whole)
