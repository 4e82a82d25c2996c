// SPDX-License-Identifier: Apache-2.0
// SipHash as others compute it.

#include "base/siphash.h"

#include <string.h>

#include "tests/test.h"

TEST(the_paper_s_example_comes_out)
{
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    unsigned char bytes[15];
    for (unsigned char i = 0; i < 15; i++)
        bytes[i] = i;
    CHECK(ln_siphash(key, bytes, sizeof bytes, 2, 4) == 0xa129ca6149be45e5u);
}

// Python 3.11 hashes bytes with SipHash-1-3; PYTHONHASHSEED=0 makes the key zero.
TEST(one_round_and_three_at_the_end)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } cases[] = {
        {"a", 0x407448d2b89b1813u},
        {"abc", 0xc03bc3a0042630f2u},
        {"0123456", 0x810aaf7acf670379u},
        {"conv2d_1", 0xdd4bc130de6fbb79u},
        {"123456789", 0x0fbc0f0007965fcfu},
        {"0123456789abc", 0x6c5a77666b0b9ac0u},
        {"0123456789abcdef", 0x1d42b30f7e060c24u},
    };
    const uint64_t key[2] = {0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(ln_siphash(key, cases[i].text, strlen(cases[i].text), 1, 3) == cases[i].hash);
}

TEST_LIST(the_paper_s_example_comes_out, one_round_and_three_at_the_end)
