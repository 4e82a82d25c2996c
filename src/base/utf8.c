// SPDX-License-Identifier: Apache-2.0
// Code points of UTF-8 strings, read and written (RFC 3629).

#include "base/utf8.h"

size_t ln_utf8_get(const char *s, uint32_t *out_code)
{
    // The least code point of each length: longer forms than needed are not valid.
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)s;
    *out_code = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    size_t len = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    uint32_t code = bytes[0] & (0x7Fu >> len);
    *out_code = LN_UTF8_BAD;
    if (bytes[0] < 0xC0 || bytes[0] > 0xF7)
        return 1;
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 1;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    if (code < least[len] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return 1;
    *out_code = code;
    return len;
}

size_t ln_utf8_put(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)((0xF00 >> len & 0xFF) | code);
    return len;
}
