// SPDX-License-Identifier: Apache-2.0
// Keys of hash tables.

#include <lightnet/util.h>

#include "tests/test.h"

TEST(strings_hash_by_djb2)
{
    CHECK_EQ(ln_str_hash(""), 5381);
    CHECK_EQ(ln_str_hash("a"), 5381u * 33 + 'a');
    CHECK_EQ(ln_str_hash("ab"), (5381u * 33 + 'a') * 33 + 'b');
    CHECK_EQ(ln_str_hash("\xff"), 5381u * 33 + 255);
    CHECK_EQ(ln_str_hash(NULL), 0);
}

TEST(strings_are_ordered)
{
    char a[] = "conv", b[] = "conv";
    CHECK_EQ(ln_str_cmp(a, b), 0);
    CHECK(ln_str_cmp("a", "b") < 0);
    CHECK(ln_str_cmp("b", "a") > 0);
    CHECK_EQ(ln_str_cmp(NULL, NULL), 0);
    CHECK(ln_str_cmp(NULL, "") < 0);
    CHECK(ln_str_cmp("", NULL) > 0);
}

TEST(pointers_are_keys_themselves)
{
    int pair[2];
    CHECK_EQ(ln_direct_hash(NULL), 0);
    CHECK_EQ(ln_direct_hash((void *)(uintptr_t)77), 77);
    CHECK_NE(ln_direct_hash(&pair[0]), ln_direct_hash(&pair[1]));
    CHECK_EQ(ln_direct_cmp(&pair[0], &pair[0]), 0);
    CHECK(ln_direct_cmp(&pair[0], &pair[1]) < 0);
    CHECK(ln_direct_cmp(&pair[1], &pair[0]) > 0);
    CHECK(ln_direct_cmp(NULL, &pair[0]) < 0);
}

TEST_LIST(strings_hash_by_djb2, strings_are_ordered, pointers_are_keys_themselves)
