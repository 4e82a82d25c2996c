// SPDX-License-Identifier: Apache-2.0

#include "serial/onnx/utf16.h"

#include "tests/test.h"

typedef struct row {
    const char *why;
    const char *utf16;
    size_t len;
    const char *utf8; // NULL: refused
} row;

TEST(utf16_becomes_utf8)
{
    static const row rows[] = {
        {"ASCII", "A\0b\0", 4, "Ab"},
        {"nothing", "", 0, ""},
        {"two and three bytes", "\xe4\0\xac\x20", 4, "\xc3\xa4\xe2\x82\xac"},
        {"a pair of surrogates", "\x3d\xd8\x00\xde", 4, "\xf0\x9f\x98\x80"},
        {"the longest form", "\xff\xff\xff\xff", 4, "\xef\xbf\xbf\xef\xbf\xbf"},
        {"half a unit", "A\0b", 3, NULL},
        {"a zero character", "A\0\0\0", 4, NULL},
        {"a high surrogate at the end", "\x3d\xd8", 2, NULL},
        {"a high surrogate before a letter",
         "\x3d\xd8"
         "A\0",
         4, NULL},
        {"a low surrogate alone", "\x00\xde", 2, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        char out[LN_UTF16_CAPACITY(4)];
        ln_onnx_bytes bytes = {.at = (const uint8_t *)r->utf16, .len = r->len};
        bool is_utf16 = ln_utf16_to_utf8(bytes, out);
        if (is_utf16 != (r->utf8 != NULL) || (is_utf16 && strcmp(out, r->utf8) != 0))
            fail_msg("%s", r->why);
    }
}

TEST_LIST(utf16_becomes_utf8)
