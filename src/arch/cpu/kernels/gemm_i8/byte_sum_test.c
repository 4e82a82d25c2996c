// SPDX-License-Identifier: Apache-2.0

#include "arch/cpu/kernels/gemm_i8/byte_sum.h"

#include <stdlib.h>

#include "arch/cpu/kernels/kernel_test.h"

static void check_sum(const uint8_t *bytes, size_t count, uint8_t flip)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += bytes[i] >= flip ? bytes[i] - flip : bytes[i] + flip;
    CHECK_EQ(byte_sum(bytes, count, flip), sum);
}

static void check_sums(const uint8_t *bytes, size_t count)
{
    check_sum(bytes, count, 0);
    check_sum(bytes, count, 128);
}

TEST(rows_of_all_lengths_and_addresses_are_summed)
{
    uint8_t bytes[100];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(test_random() % 256);
    for (size_t first = 0; first < 17; first++)
        for (size_t count = 0; first + count <= sizeof bytes; count++)
            check_sums(bytes + first, count);
}

TEST(lanes_do_not_overflow)
{
    enum { VECTOR = 16, COUNT = 3 * 257 * VECTOR + 5 };
    uint8_t *bytes = calloc(COUNT, 1);
    CHECK_NOT_NULL(bytes);
    memset(bytes, 255, COUNT);
    for (size_t steps = 255; steps <= 3 * 257; steps += 1)
        check_sum(bytes, steps * VECTOR + 5, 0);
    memset(bytes, 127, COUNT);
    for (size_t steps = 255; steps <= 3 * 257; steps += 1)
        check_sum(bytes, steps * VECTOR + 5, 128);
    free(bytes);
}

TEST_LIST(rows_of_all_lengths_and_addresses_are_summed, lanes_do_not_overflow)
