// SPDX-License-Identifier: Apache-2.0
// Logarithms of sums of exponentials, in tasks of one row or of some neighbouring columns. What an
// element is beside the largest of its line goes through the vectors' exponential, and into a sum
// in double.

#include "arch/cpu/log_sum_exp.h"

#include <math.h>
#include <stdbool.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define WIDTH                 ((size_t)512)
#define ELEMS_PER_MICROSECOND 1500.0

typedef struct summing {
    const float *x;
    float *y;
    ln_lines lines;
    size_t per_outer; // tasks: sets of columns
} summing;

// What is taken from each element: its line's largest, if that is finite.
static float shift_of(float largest)
{
    return largest - largest == 0 ? largest : 0;
}

static void add_powers(size_t n, const float *x, const float *shifts, double *restrict sums)
{
    static const ln_act_f32_args power = {.act = LN_ACT_EXP};
    float powers[WIDTH];
    for (size_t i = 0; i < n; i++)
        powers[i] = x[i] - shifts[i];
    ln_act_f32(ln_cpu_isa_get(), &power, n, powers, powers, NULL);
    for (size_t i = 0; i < n; i++)
        sums[i] += (double)powers[i];
}

// Of a row the parts of WIDTH elements go into as many sums, which are one in the end.
static void sum_lines(void *user, size_t index)
{
    const summing *s = user;
    const size_t count = s->lines.count, inner = s->lines.inner, outer = index / s->per_outer;
    const size_t column = index % s->per_outer * WIDTH;
    const bool is_row = inner == 1;
    const size_t width = is_row ? ln_min(WIDTH, count) : ln_min(WIDTH, inner - column);
    const size_t len = is_row ? count : count * width, results = is_row ? 1 : width;
    const float *x = s->x + outer * count * inner + column;
    float *y = s->y + outer * inner + column, shifts[WIDTH];
    double sums[WIDTH] = {0};
    for (size_t i = 0; i < width; i++)
        shifts[i] = shift_of(y[is_row ? 0 : i]);
    for (size_t done = 0; done < len; done += width, x += is_row ? width : inner)
        add_powers(ln_min(width, len - done), x, shifts, sums);
    for (size_t i = 1; is_row && i < width; i++)
        sums[0] += sums[i];
    for (size_t i = 0; i < results; i++)
        y[i] = (float)(log(sums[i]) + (double)shifts[i]);
}

void ln_cpu_log_sum_exp(const ln_lines *lines, const float *x, float *y, ln_pool *pool)
{
    const size_t elems = lines->outer * lines->count * lines->inner;
    summing s = {.x = x, .y = y, .lines = *lines, .per_outer = ln_div_up(lines->inner, WIDTH)};
    pool = ln_tasks_pool(pool, (double)elems / ELEMS_PER_MICROSECOND);
    ln_pool_run(pool, lines->outer * s.per_outer, sum_lines, &s);
}
