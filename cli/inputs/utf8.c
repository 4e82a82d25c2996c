// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, up to U+10FFFF.

#include "utf8.h"

static int is_code_point(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (!is_code_point(code))
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[count] | code);
    return count;
}

uint32_t utf8_decode(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    ++*text;
    if (count == 1)
        return at[0];
    if (count == 0 || at[0] > 0xf4)
        return UTF8_REPLACEMENT;
    uint32_t code = at[0] & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80) // also the NUL at the end
            return UTF8_REPLACEMENT;
        code = code << 6 | (at[i] & 0x3f);
    }
    if (code < least[count] || !is_code_point(code))
        return UTF8_REPLACEMENT;
    *text += count - 1;
    return code;
}
