// SPDX-License-Identifier: Apache-2.0
// Bytes that are looked up against their table, for every set of instructions of this machine.

#include "arch/cpu/kernels/quant/look_up.h"

#include "arch/cpu/kernels/kernel_test.h"

static const ln_cpu_isa sets[] = {
#define SET(set, word, features, ...) features,
    LN_CPU_I8_LIST(SET, )
#undef SET
};

#define LEN (3 * 256 + 32)

static void check(ln_look_up_i8_fn *look_up, const uint8_t *table, size_t n, bool is_in_place)
{
    uint8_t x[LEN], y[LEN];
    for (size_t i = 0; i < LEN; i++) {
        x[i] = n > 256 ? (uint8_t)i : (uint8_t)test_random();
        y[i] = is_in_place ? x[i] : 0x5a;
    }
    look_up(table, n, is_in_place ? y : x, y);
    for (size_t i = 0; i < LEN; i++)
        CHECK_EQ(y[i], i < n ? table[x[i]] : is_in_place ? x[i] : 0x5a);
}

TEST(all_bytes_are_looked_up)
{
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        if (!ln_cpu_isa_runs(ln_cpu_isa_get(), sets[s]))
            continue;
        for (size_t n = 0; n < LEN; n += 1 + n / 7) {
            uint8_t table[256];
            for (size_t i = 0; i < 256; i++)
                table[i] = (uint8_t)test_random();
            check(ln_look_up_i8_select(sets[s]), table, n, n % 2);
        }
    }
}

TEST_LIST(all_bytes_are_looked_up)
