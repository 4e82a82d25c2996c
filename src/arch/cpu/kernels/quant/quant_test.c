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
            if (round % 8 == 0) // infinite numbers, whose differences are none
                p.a.scale = p.b.scale = 3e38f;
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

static int greatest_in(const ln_quant_window *w, size_t channel)
{
    int greatest = -129;
    for (size_t i = 0; i < w->rows; i++) {
        for (size_t j = 0; j < w->columns; j++) {
            uint8_t x = ((const uint8_t *)w->x)[i * w->row_step + j * w->column_step + channel];
            int value = w->is_signed ? (int8_t)x : x;
            greatest = value > greatest ? value : greatest;
        }
    }
    return greatest;
}

TEST(the_greatest_bytes_of_windows_are_kept)
{
    FOR_EACH_ISA(isa)
    {
        for (size_t channels = 1; channels <= 70; channels++) {
            guarded x = guarded_make(12 * 20, true);
            uint8_t y[72];
            for (size_t i = 0; i < 12 * 20 * 4; i++)
                ((uint8_t *)x.p)[i] = (uint8_t)test_random();
            ln_quant_window w = {.rows = 1 + channels % 3,
                                 .columns = 1 + test_random() % 3,
                                 .channels = channels,
                                 .row_step = 4 * 72,
                                 .column_step = channels + channels % 2,
                                 .is_signed = channels % 4 < 2};
            // The last byte is that of the end of the memory.
            w.x = (uint8_t *)x.p + 12 * 20 * 4 - (w.rows - 1) * w.row_step -
                  (w.columns - 1) * w.column_step - channels;
            memset(y, 77, sizeof y);
            ln_quant_select(isa)->greatest(&w, y);
            for (size_t c = 0; c < channels; c++)
                CHECK_EQ(y[c], (uint8_t)greatest_in(&w, c));
            CHECK_EQ(y[channels], 77);
            guarded_free(&x);
        }
    }
}

TEST_LIST(numbers_become_bytes_and_bytes_numbers, two_become_one, ranges_leave_nan_out,
          the_greatest_bytes_of_windows_are_kept)
