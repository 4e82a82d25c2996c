// SPDX-License-Identifier: Apache-2.0
// Integers in another scale against the steps of gemmlowp, one number after the other, for every
// set of instructions: ties, ends of the types, all shifts, tails.

#include "arch/cpu/kernels/rescale/rescale.h"

#include "arch/cpu/kernels/kernel_test.h"

#define N LN_RESCALE_SPAN

static int64_t saturated(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

// SaturatingRoundingDoublingHighMul: the quotient goes toward zero.
static int64_t doubled_high(int64_t x, int64_t multiplier)
{
    const int64_t product = x * multiplier;
    const int64_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return saturated((product + nudge) / ((int64_t)1 << 31));
}

// RoundingDivideByPOT.
static int64_t divided(int64_t x, int by)
{
    const int64_t size = x < 0 ? -x : x, half = by > 0 ? (int64_t)1 << (by - 1) : 0;
    return x < 0 ? -((size + half) >> by) : (size + half) >> by;
}

typedef struct span_factors {
    int32_t multiplier[N], left[N], right[N], half[N];
} span_factors;

static int64_t expected(const ln_rescale_of *of, const span_factors *f, size_t i, int64_t x)
{
    const int64_t moved = saturated((x - of->src_zero) * ((int64_t)1 << f->left[i]));
    const int64_t y = divided(doubled_high(moved, f->multiplier[i]), f->right[i]) + of->dst_zero;
    return y < of->low ? of->low : y > of->high ? of->high : y;
}

// ---- Numbers of each type ----

static const int64_t least[] = {INT8_MIN, 0, INT16_MIN, INT32_MIN};
static const int64_t most[] = {INT8_MAX, UINT8_MAX, INT16_MAX, INT32_MAX};
static const size_t sizes[] = {1, 1, 2, 4};

static int64_t random_of(ln_rescale_type type)
{
    const int64_t range = most[type] - least[type] + 1;
    const uint64_t kind = test_random() % 8;
    return kind == 0   ? least[type]
           : kind == 1 ? most[type]
                       : least[type] + (int64_t)(test_random() % (uint64_t)range);
}

// Of 31 bits, the ends among them.
static int64_t small_number(void)
{
    const int64_t end = ((int64_t)1 << 30) - 1;
    const uint64_t kind = test_random() % 8;
    return kind == 0   ? end
           : kind == 1 ? -end
                       : (int64_t)(test_random() % (2 * (uint64_t)end + 1)) - end;
}

static void put(void *at, size_t i, ln_rescale_type type, int64_t x)
{
    if (type == LN_RESCALE_INT32)
        ((int32_t *)at)[i] = (int32_t)x;
    else if (type == LN_RESCALE_INT16)
        ((int16_t *)at)[i] = (int16_t)x;
    else
        ((uint8_t *)at)[i] = (uint8_t)x;
}

static int64_t get(const void *at, size_t i, ln_rescale_type type)
{
    switch (type) {
    case LN_RESCALE_INT8: return ((const int8_t *)at)[i];
    case LN_RESCALE_UINT8: return ((const uint8_t *)at)[i];
    case LN_RESCALE_INT16: return ((const int16_t *)at)[i];
    default: return ((const int32_t *)at)[i];
    }
}

static int32_t zero_of(ln_rescale_type type)
{
    return type == LN_RESCALE_INT32 ? 0 : (int32_t)random_of(type);
}

// Half of the multipliers make ties.
static void fill_factors(span_factors *f, const ln_rescale_of *of)
{
    static const int32_t special[] = {1 << 30, INT32_MAX, INT32_MIN, 3 << 29, -(1 << 30), 0};
    for (size_t i = 0; i < N; i++) {
        f->multiplier[i] = test_random() % 2 ? special[test_random() % 6] : (int32_t)test_random();
        f->left[i] = of->has_left ? (int32_t)(test_random() % 32) : 0;
        f->right[i] = of->is_small ? 1 + (int32_t)(test_random() % 31)
                                   : (int32_t)(test_random() % 32) * (int32_t)(test_random() % 2);
        f->half[i] = of->is_small ? 1 << (f->right[i] - 1) : 0;
    }
}

static ln_rescale_of random_rescale(int round)
{
    ln_rescale_of of = {.src = round % 4, .dst = round / 4 % 4, .has_left = round / 16 % 2};
    of.is_small = of.src == LN_RESCALE_INT32 && !of.has_left && round / 32 % 2;
    of.src_zero = zero_of(of.src);
    of.dst_zero = zero_of(of.dst);
    of.low = (int32_t)(test_random() % 2 ? least[of.dst] : random_of(of.dst));
    of.high = (int32_t)(test_random() % 2 ? most[of.dst] : random_of(of.dst));
    of.high = of.high < of.low ? of.low : of.high;
    return of;
}

TEST(each_number_is_that_of_gemmlowp)
{
    static int32_t x[N], y[N + 1];
    static span_factors f;
    const ln_rescale_factors factors = {f.multiplier, f.left, f.right, f.half};
    FOR_EACH_ISA(isa)
    {
        for (int round = 0; round < 640; round++) {
            const ln_rescale_of of = random_rescale(round);
            const size_t n = round < 32 ? N : test_random() % (N + 1);
            fill_factors(&f, &of);
            for (size_t i = 0; i < n; i++)
                put(x, i, of.src, of.is_small ? small_number() : random_of(of.src));
            memset(y, 0x5a, sizeof y);
            ln_rescale_select(isa)(&of, &factors, n, x, y);
            for (size_t i = 0; i < n; i++)
                CHECK_EQ(get(y, i, of.dst), expected(&of, &f, i, get(x, i, of.src)));
            CHECK_EQ(((const uint8_t *)y)[n * sizes[of.dst]], 0x5a);
        }
    }
}

TEST(a_type_of_the_same_size_may_be_in_the_same_memory)
{
    static int32_t x[N], y[N];
    static span_factors f;
    const ln_rescale_factors factors = {f.multiplier, f.left, f.right, f.half};
    const ln_rescale_of of = {
        .src = LN_RESCALE_INT16, .dst = LN_RESCALE_INT16, .low = INT16_MIN, .high = INT16_MAX};
    fill_factors(&f, &of);
    for (size_t i = 0; i < N; i++)
        put(x, i, of.src, random_of(of.src));
    FOR_EACH_ISA(isa)
    {
        memcpy(y, x, sizeof y);
        ln_rescale_select(isa)(&of, &factors, N, y, y);
        for (size_t i = 0; i < N; i++)
            CHECK_EQ(get(y, i, of.dst), expected(&of, &f, i, get(x, i, of.src)));
    }
}

// Of `count` columns, for as many rows as LN_RESCALE_NARROW holds.
static void repeat_factors(span_factors *f, size_t count)
{
    const ln_rescale_of of = {.is_small = true};
    fill_factors(f, &of);
    for (size_t i = count; i < N; i++) {
        f->multiplier[i] = f->multiplier[i - count];
        f->right[i] = f->right[i - count];
        f->half[i] = f->half[i - count];
    }
}

// All columns or some, with gaps after the rows of either side.
static void check_rows(ln_cpu_isa isa, size_t count, size_t rows, size_t gap)
{
    static span_factors f;
    static int32_t sums[40 * 80];
    static uint8_t y[40 * 80];
    const size_t first = test_random() % 3 ? 0 : test_random() % count;
    const size_t n = test_random() % 2 ? count - first : (count - first + 1) / 2;
    const size_t sums_step = n + test_random() % 2 * gap, y_step = n + test_random() % 2 * gap;
    const ln_rescale_columns columns = {.of = {.src = LN_RESCALE_INT32,
                                               .dst = LN_RESCALE_UINT8,
                                               .dst_zero = 7,
                                               .low = 3,
                                               .high = 250,
                                               .is_small = true},
                                        .factors = {f.multiplier, f.left, f.right, f.half},
                                        .kernel = ln_rescale_select(isa),
                                        .count = count,
                                        .repeats = test_random() % (LN_RESCALE_NARROW / count + 1)};
    repeat_factors(&f, count);
    for (size_t i = 0; i < rows * sums_step; i++)
        sums[i] = (int32_t)small_number();
    memset(y, 0x55, sizeof y);
    ln_rescale_rows(&columns, first, rows, n, sums, sums_step, y, y_step);
    for (size_t i = 0; i <= rows * y_step; i++) {
        const size_t row = i / y_step, at = i % y_step;
        const bool is_there = row < rows && at < n;
        CHECK_EQ(y[i], is_there ? expected(&columns.of, &f, first + at, sums[row * sums_step + at])
                                : 0x55);
    }
}

TEST(rows_are_rescaled_alone_and_together)
{
    FOR_EACH_ISA(isa)
    {
        for (int i = 0; i < 300; i++)
            check_rows(isa, 1 + test_random() % 64, 1 + test_random() % 39, test_random() % 9);
    }
}

TEST_LIST(each_number_is_that_of_gemmlowp, a_type_of_the_same_size_may_be_in_the_same_memory,
          rows_are_rescaled_alone_and_together)
