// SPDX-License-Identifier: Apache-2.0
// Powers against those of the C library in double.

#include "arch/cpu/kernels/eltwise/power.h"

#include <math.h>
#include <stdint.h>

#include "tests/random.h"
#include "tests/test.h"

// The exact value rounds to the one or to its neighbour, if it lies in the middle but for 1/100.
static void check_power(float x, float y)
{
    float got = ln_power_f32(x, y);
    double exact = pow((double)x, (double)y);
    if (isnan(exact) ? isnan(got) : got == (float)exact)
        return;
    double ulp = (double)nextafterf(fabsf(got), INFINITY) - (double)fabsf(got);
    if (!(fabs((double)got - exact) <= 0.51 * ulp))
        fail_msg("%a to the power of %a is %a, not %a", (double)x, (double)y, (double)got, exact);
}

TEST(odd_bases_and_exponents_are_those_of_c)
{
    static const float odd[] = {
        0.0f,         -0.0f,   1,        -1,        INFINITY,  -INFINITY,
        NAN,          0.5f,    -0.5f,    2,         -2,        3,
        -3,           1.5f,    -1.5f,    0x1p-149f, 0x1p-126f, 0x1p23f,
        -0x1p23f,     0x1p24f, -0x1p24f, 8388607,   16777215,  0x1.fffffep127f,
        0x1p-100f,    1e20f,   -1e-20f,  127,       -149,      0x1.fffffep-1f,
        0x1.000002p0f};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        for (size_t j = 0; j < sizeof odd / sizeof odd[0]; j++) {
            float got = ln_power_f32(odd[i], odd[j]), want = powf(odd[i], odd[j]);
            check_power(odd[i], odd[j]);
            CHECK(isnan(want) || signbit(got) == signbit(want));
        }
}

TEST(all_bases_and_exponents_stay_within_the_limit)
{
    test_random random = test_random_start();
    for (int i = 0; i < 300000; i++) {
        uint64_t both = test_random_next(&random);
        uint32_t bits[2] = {(uint32_t)both, (uint32_t)(both >> 32)};
        float x, y;
        memcpy(&x, &bits[0], sizeof x);
        memcpy(&y, &bits[1], sizeof y);
        check_power(x, y);
        // Bases and exponents of which many give a result in the range.
        float base = (float)(bits[0] >> 8) * 0x1p-20f, exponent = ((float)(bits[1] >> 8) - 0x1p23f);
        check_power(base, exponent * 0x1p-19f);
        check_power(1 + base * 0x1p-12f, exponent * 0x1p-9f);
    }
}

TEST_LIST(odd_bases_and_exponents_are_those_of_c, all_bases_and_exponents_stay_within_the_limit)
