// SPDX-License-Identifier: Apache-2.0
// Numbers and bytes against the same in plain steps, for every set of instructions: ties, NaN,
// infinities, zero points at the ends, tails.

#include "arch/cpu/kernels/quant/quant.h"

#include "arch/cpu/kernels/kernel_test.h"

#define N 133

static uint8_t byte_of(float number, const ln_quant_of *of)
{
    int least = of->is_signed ? -128 : 0;
    float low = (float)(least - of->zero), high = low + 255;
    number = !(number > low) ? low : number > high ? high : number;
    return (uint8_t)((int)rintf(number) + of->zero);
}

static float number_of(uint8_t byte, const ln_quant_of *of)
{
    int value = of->is_signed ? (int8_t)byte : byte;
    return (float)(value - of->zero) * of->scale;
}

static ln_quant_of random_of(void)
{
    ln_quant_of of = {.is_signed = test_random() % 2, .scale = 0.25f};
    static const int ends[] = {0, 255, 128};
    of.zero = (test_random() % 2 ? (int)(test_random() % 256) : ends[test_random() % 3]) -
              (of.is_signed ? 128 : 0);
    if (test_random() % 2)
        of.scale = (float)(test_random() % 1000 + 1) / 777;
    return of;
}

static void fill_numbers(float *x)
{
    for (size_t i = 0; i < N; i++)
        x[i] = (float)((int)(test_random() % 4000) - 2000) / 8;
    x[3] = NAN;
    x[40] = INFINITY;
    x[N - 1] = -INFINITY;
}

TEST(numbers_become_bytes_and_bytes_numbers)
{
    FOR_EACH_ISA(isa)
    {
        const ln_quant_kernels *k = ln_quant_select(isa);
        for (int round = 0; round < 100; round++) {
            ln_quant_of of = random_of();
            float x[N], back[N + 1];
            uint8_t y[N + 1];
            size_t n = test_random() % (N + 1);
            fill_numbers(x);
            y[n] = 0x5a;
            back[n] = 7;
            k->to_bytes(&of, n, x, y);
            for (size_t i = 0; i < n; i++)
                CHECK_EQ(y[i], byte_of(x[i] / of.scale, &of));
            CHECK_EQ(y[n], 0x5a);
            k->to_floats(&of, n, y, back);
            for (size_t i = 0; i < n; i++)
                CHECK(back[i] == number_of(y[i], &of));
            CHECK(back[n] == 7);
        }
    }
}

static float joined(const ln_quant_pair *p, float a, float b)
{
    float number = p->op == LN_QUANT_SUM ? a + b : p->op == LN_QUANT_DIFFERENCE ? a - b : a * b;
    number = number < p->low ? p->low : number;
    return number > p->high ? p->high : number;
}

TEST(two_become_one)
{
    FOR_EACH_ISA(isa)
    {
        for (int round = 0; round < 100; round++) {
            ln_quant_pair p = {.op = (ln_quant_op)(test_random() % 3),
                               .a = random_of(),
                               .b = random_of(),
                               .y = random_of(),
                               .low = test_random() % 2 ? 0 : -INFINITY,
                               .high = test_random() % 2 ? 6 : INFINITY,
                               .a_step = test_random() % 4 != 0,
                               .b_step = test_random() % 4 != 0};
            uint8_t a[N], b[N], y[N];
            for (size_t i = 0; i < N; i++) {
                a[i] = (uint8_t)test_random();
                b[i] = (uint8_t)test_random();
            }
            ln_quant_select(isa)->join(&p, N, a, b, y);
            for (size_t i = 0; i < N; i++) {
                float number =
                    joined(&p, number_of(a[i * p.a_step], &p.a), number_of(b[i * p.b_step], &p.b));
                CHECK_EQ(y[i], byte_of(number / p.y.scale, &p.y));
            }
        }
    }
}

TEST(ranges_leave_nan_out)
{
    FOR_EACH_ISA(isa)
    {
        float x[N], low = 0, high = 0;
        fill_numbers(x);
        x[40] = 300;
        x[N - 1] = -301;
        ln_quant_select(isa)->range(N, x, &low, &high);
        CHECK(low == -301 && high == 300);
        low = high = 0;
        ln_quant_select(isa)->range(0, x, &low, &high);
        CHECK(low == 0 && high == 0);
    }
}

TEST(the_greater_byte_is_kept)
{
    FOR_EACH_ISA(isa)
    {
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            uint8_t x[N], y[N], before[N];
            for (size_t i = 0; i < N; i++) {
                x[i] = (uint8_t)test_random();
                before[i] = y[i] = (uint8_t)test_random();
            }
            ln_quant_select(isa)->keep_greater(is_signed, N - 1, x, y);
            for (size_t i = 0; i + 1 < N; i++) {
                bool is_x = is_signed ? (int8_t)x[i] > (int8_t)before[i] : x[i] > before[i];
                CHECK_EQ(y[i], is_x ? x[i] : before[i]);
            }
            CHECK_EQ(y[N - 1], before[N - 1]);
        }
    }
}

TEST_LIST(numbers_become_bytes_and_bytes_numbers, two_become_one, ranges_leave_nan_out,
          the_greater_byte_is_kept)
