// SPDX-License-Identifier: Apache-2.0
// Distances between words.

#include "base/spelling.h"

#include "tests/test.h"

TEST(counts_the_edits)
{
    static const struct {
        const char *a, *b;
        size_t distance;
        const char *why;
    } cases[] = {
        {"", "", 0, "nothing to do"},
        {"conv2d", "conv2d", 0, "same"},
        {"conv", "conv2d", 2, "two inserted"},
        {"covn2d", "conv2d", 2, "a swap is two"},
        {"relu", "lrelu", 1, "one inserted"},
        {"abc", "", 3, "all deleted"},
        {"kitten", "sitting", 3, "replace and insert"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (ln_spelling_distance(cases[i].a, cases[i].b) != cases[i].distance)
            fail_msg("%s", cases[i].why);
        CHECK_EQ(ln_spelling_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

TEST(long_words_are_far_apart)
{
    char word[100];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK(ln_spelling_distance(word, "a") == SIZE_MAX);
}

TEST_LIST(counts_the_edits, long_words_are_far_apart)
