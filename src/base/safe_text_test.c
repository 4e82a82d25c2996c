// SPDX-License-Identifier: Apache-2.0
#include "base/safe_text.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "tests/test.h"

static const struct {
    const char *text, *shown, *why;
} rows[] = {
    {"", "", "nothing"},
    {"a\tb\nc", "a\tb\nc", "the white space of text"},
    {"\x1b[2J\a\r\x7f", "\\x1b[2J\\x07\\x0d\\x7f", "C0 and DEL"},
    {"\xc2\x80\xc2\x9b"
     "31m\xc2\x9f",
     "\\u0080\\u009b31m\\u009f", "C1"},
    {"\xc2\xa0\xc3\xa9", "\xc2\xa0\xc3\xa9", "what follows C1, and letters"},
    {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f", "marks of direction"},
    {"\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", "\\u202a\\u202e\\u2066\\u2069",
     "overrides and isolates"},
    {"\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
     "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", "their neighbours"},
    {"a\x9b\xff\xc3", "a\\x9b\\xff\\xc3", "bytes that are no UTF-8"},
    {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80", "a longer form, and a surrogate"},
    {"\xf0\x9f\x98\x80\xef\xbf\xbd", "\xf0\x9f\x98\x80\xef\xbf\xbd", "four bytes; U+FFFD itself"},
};

TEST(what_steers_a_terminal_is_written_out_and_stays_so)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char once[128], twice[128];
        print_message("%s\n", rows[i].why);
        CHECK_EQ(ln_sprint_safe(once, sizeof once, rows[i].text), strlen(rows[i].shown));
        CHECK_STR_EQ(once, rows[i].shown);
        ln_sprint_safe(twice, sizeof twice, once);
        CHECK_STR_EQ(twice, once);
        FILE *file = tmpfile();
        CHECK_NOT_NULL(file);
        CHECK_EQ(ln_fprint_safe(file, rows[i].text), 0);
        rewind(file);
        twice[fread(twice, 1, sizeof twice - 1, file)] = '\0';
        fclose(file);
        CHECK_STR_EQ(twice, once);
    }
}

TEST(a_text_is_cut_between_characters)
{
    static const char text[] = "a\xc2\x9b\xc3\xa9z"; // shown: a \u009b (2 bytes) z
    for (size_t size = 0; size <= 12; size++) {
        char shown[16];
        memset(shown, '#', sizeof shown);
        CHECK_EQ(ln_sprint_safe(shown, size, text), 10);
        const char *want = size < 2    ? ""
                           : size < 8  ? "a"
                           : size < 10 ? "a\\u009b"
                           : size < 11 ? "a\\u009b\xc3\xa9"
                                       : "a\\u009b\xc3\xa9z";
        if (size > 0)
            CHECK_STR_EQ(shown, want);
        CHECK_EQ(shown[size], '#');
    }
    CHECK_EQ(ln_sprint_safe(NULL, 0, NULL), 0);
}

static void keep(const ln_msg *msg, void *user)
{
    snprintf(user, 64, "%s", msg->text);
}

TEST(messages_are_safe_where_they_are_made)
{
    char text[64] = "";
    ln_fail(LN_INVALID, "tensor '%s'",
            "x\xc2\x9b"
            "31m\x1b");
    CHECK_STR_EQ(ln_error_message(), "tensor 'x\\u009b31m\\x1b'");
    ln_fail_prefix("%s", "m\xe2\x80\xae");
    CHECK_STR_EQ(ln_error_message(), "m\\u202e: tensor 'x\\u009b31m\\x1b'");
    ln_msg_set_handler(keep, text);
    ln_msg_emit(LN_MSG_WARN, "operator '%s'", "\xe2\x81\xa6\xff");
    ln_msg_set_handler(NULL, NULL);
    CHECK_STR_EQ(text, "operator '\\u2066\\xff'");
}

TEST_LIST(what_steers_a_terminal_is_written_out_and_stays_so, a_text_is_cut_between_characters,
          messages_are_safe_where_they_are_made)
