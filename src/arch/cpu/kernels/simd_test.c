// SPDX-License-Identifier: Apache-2.0
// The generic fused multiply-add, which other processors have as an instruction.

#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/kernel_test.h"

static void check_fma(float a, float b, float c)
{
    vf r = vf_fma(vf_set1(a), vf_set1(b), vf_set1(c));
    float expected = fmaf(a, b, c);
    for (size_t i = 0; i < VF_LANES; i++) {
        if (!same_bits(r[i], expected))
            fail_msg("fma(%a, %a, %a) = %a, expected %a", (double)a, (double)b, (double)c,
                     (double)r[i], (double)expected);
    }
}

static float random_bits(void)
{
    uint32_t bits = test_random() * 2 + (test_random() & 1);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

TEST(any_floats_are_rounded_once)
{
    for (int i = 0; i < 200000; i++)
        check_fma(random_bits(), random_bits(), random_bits());
}

// Sums whose first rounding, to double, makes a tie for the second, to float.
TEST(ties_made_by_the_first_rounding_are_broken)
{
    for (int i = 0; i < 200000; i++) {
        float half = ldexpf(1, -24 - (int)(test_random() % 3));
        float tiny = ldexpf(1 + (float)(test_random() % 4), -(int)(test_random() % 100));
        float c = 1 + (float)(test_random() % 8) * 0x1p-23f;
        check_fma(half * (1 + tiny), 1 + tiny, c);
        check_fma(half * (1 - tiny), 1 + tiny, -c);
        check_fma(0x1p-12f + 0x1p-35f * (float)(test_random() % 3), 0x1p-12f, c);
    }
}

TEST(results_below_the_normal_range_are_rounded_once)
{
    for (int i = 0; i < 200000; i++) {
        float a = ldexpf(1 + (float)test_random() * 0x1p-31f, -60 - (int)(test_random() % 20));
        float b = ldexpf(1 + (float)test_random() * 0x1p-31f, -60 - (int)(test_random() % 40));
        float c = ldexpf((float)(test_random() % 64), -149 + (int)(test_random() % 5));
        check_fma(a, b, c);
        check_fma(-a, b, c);
        check_fma(0x1p-75f, 0x1p-75f * (1 + 0x1p-23f * (float)(test_random() % 3)), c);
    }
}

TEST(odd_values_give_what_the_standard_says)
{
    for (size_t i = 0; i < ODD_COUNT; i++) {
        for (size_t j = 0; j < ODD_COUNT; j++) {
            for (size_t k = 0; k < ODD_COUNT; k++)
                check_fma(odd_values[i], odd_values[j], odd_values[k]);
        }
    }
}

TEST_LIST(any_floats_are_rounded_once, ties_made_by_the_first_rounding_are_broken,
          results_below_the_normal_range_are_rounded_once, odd_values_give_what_the_standard_says)
