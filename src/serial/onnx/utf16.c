// SPDX-License-Identifier: Apache-2.0
// Texts that a program has written as UTF-16 where ONNX wants UTF-8 (RFC 2781).

#include "serial/onnx/utf16.h"

#include "base/utf8.h"

static uint32_t unit_at(ln_onnx_bytes bytes, size_t at)
{
    return at + 1 < bytes.len ? (uint32_t)bytes.at[at] | (uint32_t)bytes.at[at + 1] << 8 : 0;
}

bool ln_utf16_to_utf8(ln_onnx_bytes utf16, char *out)
{
    size_t len = 0;
    if (utf16.len % 2 != 0)
        return false;
    for (size_t at = 0; at < utf16.len; at += 2) {
        uint32_t code = unit_at(utf16, at);
        if (code >= 0xD800 && code < 0xDC00) {
            uint32_t low = unit_at(utf16, at += 2);
            if (low < 0xDC00 || low > 0xDFFF)
                return false;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code == 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
            return false;
        }
        len += ln_utf8_put(code, out + len);
    }
    out[len] = '\0';
    return true;
}
