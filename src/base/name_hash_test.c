// SPDX-License-Identifier: Apache-2.0
// The hash of names: names that collide elsewhere, and what differs in one place.

#include "base/name_hash.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/util.h>

#include "tests/test.h"

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// "bA" and "ab" in place of each other leave djb2 the same, so 2^k names collide.
TEST(names_that_collide_under_djb2_do_not_here)
{
    static const char *const parts[] = {"bA", "ab"};
    enum { BITS = 10, COUNT = 1 << BITS };
    static uint32_t hashes[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        char name[2 * BITS + 1] = "";
        for (unsigned bit = 0; bit < BITS; bit++)
            strcat(name, parts[i >> bit & 1]);
        CHECK_EQ(ln_str_hash(name), ln_str_hash("bAbAbAbAbAbAbAbAbAbA"));
        hashes[i] = ln_name_hash(name);
    }
    unsigned same = 0;
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < i; j++)
            same += hashes[i] == hashes[j];
    CHECK(same <= 3); // 0.0001 are expected
}

TEST(equal_names_hash_alike_and_NULL_is_0)
{
    char a[] = "conv", b[] = "conv";
    CHECK_EQ(ln_name_hash(a), ln_name_hash(b));
    CHECK_EQ(ln_name_hash(NULL), 0);
}

// Bytes in each place and lengths up to those of several blocks count: of 110,000 names, whose
// hashes are 32 bits of chance, 1.4 pairs are expected to meet.
TEST(each_byte_and_the_length_count)
{
    enum { LEN = 600, COUNT = LEN * 250 + LEN + 1 };
    static uint32_t hashes[COUNT];
    size_t count = 0;
    for (size_t len = 1; len <= LEN / 2; len = 2 * len + 7) {
        for (size_t at = 0; at < len; at++) {
            for (int byte = 1; byte < 251; byte++) {
                char name[LEN + 1] = "";
                memset(name, 'x', len);
                name[at] = (char)byte;
                if (byte != 'x')
                    hashes[count++] = ln_name_hash(name);
            }
        }
    }
    for (size_t len = 0; len <= LEN; len++) {
        char name[LEN + 1] = "";
        memset(name, 'x', len);
        hashes[count++] = ln_name_hash(name);
    }
    qsort(hashes, count, sizeof *hashes, ascending);
    unsigned same = 0;
    for (size_t i = 1; i < count; i++)
        same += hashes[i] == hashes[i - 1];
    CHECK(count > 100000);
    CHECK(same <= 12);
}

TEST_LIST(each_byte_and_the_length_count, names_that_collide_under_djb2_do_not_here,
          equal_names_hash_alike_and_NULL_is_0)
