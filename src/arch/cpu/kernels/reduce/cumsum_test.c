// SPDX-License-Identifier: Apache-2.0
// Running sums, against sums of each element's own: widths around vectors, both directions, in
// place.

#include "arch/cpu/kernels/reduce/cumsum.h"

#include "arch/cpu/kernels/kernel_test.h"

enum { COUNT = 7, GAP = 3 };

// What is summed up to row k, which may be left out, in the order of the sum.
static float sum_of(const float *x, size_t step, size_t k, bool is_exclusive, bool is_reverse)
{
    double sum = 0;
    for (size_t i = is_reverse ? COUNT - 1 : 0; i != k; i += is_reverse ? (size_t)-1 : 1)
        sum += (double)x[i * step];
    return (float)(is_exclusive ? sum : sum + (double)x[k * step]);
}

static void check_width(ln_cpu_isa isa, size_t width, bool is_exclusive, bool is_reverse,
                        bool is_in_place)
{
    size_t step = width + GAP, last = is_reverse ? (COUNT - 1) * step : 0;
    guarded x = guarded_make(COUNT * step - GAP, true), y = guarded_make(x.count, true);
    fill_random(x.p, x.count);
    for (size_t i = 0; i < x.count; i += 5)
        x.p[i] *= 0x1p40f;
    memcpy(y.p, x.p, x.count * sizeof *y.p);
    ln_cumsum_f32_select(isa)(
        &(ln_cumsum_columns){.count = COUNT,
                             .width = width,
                             .step = is_reverse ? -(ptrdiff_t)step : (ptrdiff_t)step,
                             .is_exclusive = is_exclusive,
                             .x = (is_in_place ? y.p : x.p) + last,
                             .y = y.p + last});
    for (size_t at = 0; at < x.count; at++) {
        size_t k = at / step, column = at % step;
        float wanted =
            column < width ? sum_of(x.p + column, step, k, is_exclusive, is_reverse) : x.p[at];
        CHECK_MEM_EQ(y.p + at, &wanted, sizeof wanted);
    }
    guarded_free(&y);
    guarded_free(&x);
}

TEST(each_column_has_its_own_sum)
{
    static const size_t more[] = {47, 48, 64, 100, 255, LN_CUMSUM_COLUMNS};
    FOR_EACH_ISA(isa)
    {
        for (int form = 0; form < 8; form++) {
            for (size_t width = 1; width <= 34; width++)
                check_width(isa, width, form & 1, form & 2, form & 4);
            for (size_t i = 0; i < sizeof more / sizeof *more; i++)
                check_width(isa, more[i], form & 1, form & 2, form & 4);
        }
    }
}

TEST_LIST(each_column_has_its_own_sum)
