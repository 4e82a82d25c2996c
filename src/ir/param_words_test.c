// SPDX-License-Identifier: Apache-2.0
// What is said of a parameter's text that names nothing.

#include "ir/param_words.h"

#include "tests/test.h"

TEST(names_what_was_meant)
{
    static const struct {
        const char *arg_name, *text, *words;
    } cases[] = {
        {"dtype", "float32", "; did you mean 'TL_FLOAT'?"},
        {"dtype", "TL_FLOATS", "; did you mean 'TL_FLOAT'?"},
        {"dtype", "FP16", "; did you mean 'TL_FLOAT16'?"},
        {"dtype", "tl_float", "; did you mean 'TL_FLOAT'?"},
        {"dtype", "u8", "; did you mean 'TL_UINT8'?"},
        {"dtype", "flaot", "; did you mean 'TL_FLOAT'?"},
        {"dtype", "colour", "; known: TL_DOUBLE, TL_FLOAT, TL_INT32"},
        {"dtype", NULL, "; known: TL_DOUBLE, TL_FLOAT, TL_INT32"},
        {"elew_op", "TL_MULT", "; did you mean 'TL_MUL'?"},
        {"elew_op", "add", "; known: TL_MUL"},
        {"act", "rleu", "; did you mean 'relu'?"},
        {"dir", "TL_SORT_DIR_DESCENDIG", "; did you mean 'TL_SORT_DIR_DESCENDING'?"},
        {"colour", "red", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[512];
        ln_param_choice_words(cases[i].arg_name, cases[i].text, words, sizeof words);
        if (strncmp(words, cases[i].words, strlen(cases[i].words)) != 0 ||
            (!*cases[i].words && *words))
            fail_msg("%s: '%s'%s", cases[i].arg_name, cases[i].text, words);
    }
}

TEST(short_buffers_are_cut)
{
    char words[16];
    CHECK_STR_EQ(ln_dtype_words("colour", words, sizeof words), "; known: TL_DOU");
}

TEST_LIST(names_what_was_meant, short_buffers_are_cut)
