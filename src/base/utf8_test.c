// SPDX-License-Identifier: Apache-2.0

#include "base/utf8.h"

#include <string.h>

#include "tests/test.h"

TEST(code_points_are_written_and_read_again)
{
    static const struct {
        uint32_t code;
        const char *bytes;
    } rows[] = {{'a', "a"},
                {0x7F, "\x7f"},
                {0x80, "\xc2\x80"},
                {0x7FF, "\xdf\xbf"},
                {0x800, "\xe0\xa0\x80"},
                {0xFFFF, "\xef\xbf\xbf"},
                {0x10000, "\xf0\x90\x80\x80"},
                {0x10FFFF, "\xf4\x8f\xbf\xbf"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[LN_UTF8_MAX_LEN + 1] = "";
        uint32_t code;
        CHECK_EQ(ln_utf8_put(rows[i].code, out), strlen(rows[i].bytes));
        CHECK_STR_EQ(out, rows[i].bytes);
        CHECK_EQ(ln_utf8_get(out, &code), strlen(out));
        CHECK_EQ(code, rows[i].code);
    }
}

TEST(what_is_no_code_point_is_bad_and_one_byte_long)
{
    static const char *const rows[] = {
        "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xc3", "\xe2\x82", "\xff"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t code;
        CHECK_EQ(ln_utf8_get(rows[i], &code), 1);
        CHECK_EQ(code, LN_UTF8_BAD);
    }
}

TEST_LIST(code_points_are_written_and_read_again, what_is_no_code_point_is_bad_and_one_byte_long)
