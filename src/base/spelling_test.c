// SPDX-License-Identifier: Apache-2.0
// Distances between words.

#include <lightnet/spelling.h>

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
        {"covn2d", "conv2d", 1, "a swap of neighbours is one"},
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

// "-": none of them is near.
TEST(names_what_is_near_and_nothing_else)
{
    static const struct {
        const char *word, *names[4], *nearest, *why;
    } cases[] = {
        {"inpsect", {"inspect", "bench"}, "inspect", "a swap"},
        {"Crop", {"Loop", "Drop3"}, "-", "two edits of four bytes are another word"},
        {"Send", {"Gelu", "Selu"}, "-", "so are three"},
        {"rleu", {"relu", "elu"}, "relu", "one edit of four bytes"},
        {"CONV2D", {"conv1d", "conv2d"}, "conv2d", "capitals do not count"},
        {"conv", {"Conv", "conv"}, "conv", "but decide between equals"},
        {"conv", {"conv", "Conv"}, "conv", "in any order"},
        {"ab", {"cd", "xy"}, "-", "all of a short word is too much"},
        {"dim", {"dims", "dtype"}, "dims", "a letter more"},
        {"batchnormm", {"batchnorm"}, "batchnorm", "a long word"},
        {"thraeds", {"threads", "treads"}, "threads", "the nearest, not the first"},
        {"x", {"y"}, "-", "nothing in common"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_nearest nearest = ln_nearest_to(cases[i].word);
        for (int k = 0; k < 4 && cases[i].names[k]; k++)
            ln_nearest_try(&nearest, cases[i].names[k]);
        if (strcmp(nearest.name ? nearest.name : "-", cases[i].nearest) != 0)
            fail_msg("%s: %s gives %s", cases[i].why, cases[i].word,
                     nearest.name ? nearest.name : "nothing");
    }
}

TEST_LIST(counts_the_edits, long_words_are_far_apart, names_what_is_near_and_nothing_else)
