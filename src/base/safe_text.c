// SPDX-License-Identifier: Apache-2.0
// Text of files that is safe to show: what could steer a terminal, or turn text around, is written
// out. The result has none of it, so that making it safe again changes nothing.

#include <lightnet/util.h>

#include <stdbool.h>
#include <string.h>

#include "base/safe_text.h"
#include "base/utf8.h"

bool ln_is_safe_code(uint32_t code)
{
    bool is_control =
        (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
    bool is_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                        (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return !is_control && !is_direction;
}

static size_t show_step(const char *text, char out[LN_SAFE_BYTES], size_t *out_len)
{
    uint32_t code;
    size_t taken = ln_utf8_get(text, &code);
    bool is_broken = code == LN_UTF8_BAD && taken == 1;
    if (!is_broken && ln_is_safe_code(code)) {
        memcpy(out, text, taken);
        *out_len = taken;
    } else {
        // Bytes that are no text, and characters of ASCII, as bytes.
        unsigned shown = is_broken ? (unsigned char)*text : (unsigned)code;
        *out_len = (size_t)snprintf(out, LN_SAFE_BYTES,
                                    shown < 0x80 || is_broken ? "\\x%02x" : "\\u%04x", shown);
    }
    return taken;
}

size_t ln_sprint_safe(char *buf, size_t size, const char *text)
{
    size_t len = 0;
    char shown[LN_SAFE_BYTES];
    bool fits = size > 0;
    for (size_t shown_len; text && *text; len += shown_len) {
        text += show_step(text, shown, &shown_len);
        fits = fits && len + shown_len < size;
        if (fits)
            memcpy(buf + len, shown, shown_len);
        else if (len < size)
            buf[len] = '\0', size = len;
    }
    if (fits)
        buf[len] = '\0';
    return len;
}

int ln_fprint_safe(FILE *fp, const char *text)
{
    char shown[LN_SAFE_BYTES];
    for (size_t len; text && *text;) {
        text += show_step(text, shown, &len);
        if (fwrite(shown, 1, len, fp) != len)
            return -1;
    }
    return 0;
}
