// SPDX-License-Identifier: Apache-2.0
// Widening of all 16-bit floats against their definition.

#include "tensor/packing.h"

#include <math.h>

#include "tests/test.h"

// The value by definition: (-1)^s * 2^(e - bias) * 1.m, without the 1 where e is 0.
static double value_of(unsigned bits, int exponent_bits, int mantissa_bits)
{
    int exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double mantissa = (double)(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias);
    return sign * ldexp(1 + mantissa, exponent - bias);
}

// All values at once, from an odd address.
static void check_all(ln_packing packing, int exponent_bits, int mantissa_bits)
{
    static unsigned char packed[2 * 65536 + 1];
    static float data[65536];
    for (unsigned i = 0; i < 65536; i++) {
        packed[1 + 2 * i] = (unsigned char)i;
        packed[2 + 2 * i] = (unsigned char)(i >> 8);
    }
    ln_unpack(data, TL_FLOAT, packed + 1, packing, 65536);
    for (unsigned i = 0; i < 65536; i++) {
        double wanted = value_of(i, exponent_bits, mantissa_bits);
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        int is_same = isnan(wanted) ? isnan(data[i]) && (bits & 0x7fffff) >> (23 - mantissa_bits) ==
                                                            (i & ((1u << mantissa_bits) - 1))
                                    : data[i] == wanted;
        if (!is_same || bits >> 31 != i >> 15)
            fail_msg("0x%04x becomes %a, not %a", i, (double)data[i], wanted);
    }
}

TEST(every_binary16_becomes_the_same_value)
{
    check_all(LN_PACKED_F16, 5, 10);
}

TEST(every_bfloat16_becomes_the_same_value)
{
    check_all(LN_PACKED_BF16, 8, 7);
}

TEST(a_byte_that_is_not_0_is_true)
{
    tl_bool data[4] = {7, 7, 7, 7};
    ln_unpack(data, TL_BOOL, "\0\1\x80", LN_PACKED_BOOL, 3);
    CHECK_EQ(data[0], 0);
    CHECK_EQ(data[1], 1);
    CHECK_EQ(data[2], 1);
    CHECK_EQ(data[3], 7);
}

TEST(elements_have_the_size_of_their_packing)
{
    CHECK_EQ(ln_packed_size(LN_PACKED_SAME, TL_DOUBLE), 8);
    CHECK_EQ(ln_packed_size(LN_PACKED_BOOL, TL_BOOL), 1);
    CHECK_EQ(ln_packed_size(LN_PACKED_F16, TL_FLOAT), 2);
    CHECK_EQ(ln_packed_size(LN_PACKED_BF16, TL_FLOAT), 2);
    ln_unpack(NULL, TL_FLOAT, NULL, LN_PACKED_SAME, 0);
}

TEST_LIST(every_binary16_becomes_the_same_value, every_bfloat16_becomes_the_same_value,
          a_byte_that_is_not_0_is_true, elements_have_the_size_of_their_packing)
