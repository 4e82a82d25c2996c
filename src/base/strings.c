// SPDX-License-Identifier: Apache-2.0
// Short strings: comparing, taking apart, joining.

#include <lightnet/util.h>

#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

ln_bool ln_streq(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

ln_bool ln_streqn(const char *a, const char *b, size_t n)
{
    return a && b && strncmp(a, b, n) == 0;
}

ln_bool ln_suffixed(const char *s, const char *suffix)
{
    if (!s || !suffix)
        return LN_FALSE;
    size_t len = strlen(s);
    size_t suffix_len = strlen(suffix);
    return len >= suffix_len && strcmp(s + len - suffix_len, suffix) == 0;
}

ln_bool ln_is_prefix_plus_digit(const char *s, const char *prefix)
{
    if (!s || !prefix)
        return LN_FALSE;
    size_t prefix_len = strlen(prefix);
    if (strncmp(s, prefix, prefix_len) != 0 || s[prefix_len] == '\0')
        return LN_FALSE;
    for (const char *c = s + prefix_len; *c; c++)
        if (*c < '0' || *c > '9')
            return LN_FALSE;
    return LN_TRUE;
}

int ln_digit_num(int64_t number)
{
    int count = 1;
    while (number /= 10)
        count++;
    return count;
}

const char *ln_next_token(const char *s, char c)
{
    const char *found = s && c ? strchr(s, c) : NULL;
    return found ? found + 1 : NULL;
}

static char *join(const char *a, const char *b, const char *delim, size_t delim_len)
{
    if (!a || !b) {
        ln_fail(LN_INVALID, "no string to join");
        return NULL;
    }
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    size_t byte_count;
    if (!ln_size_add(a_len, b_len, &byte_count) ||
        !ln_size_add(byte_count, delim_len + 1, &byte_count)) {
        ln_fail(LN_LIMIT, "strings of %zu and %zu bytes are too long to join", a_len, b_len);
        return NULL;
    }
    char *joined = ln_alloc(byte_count);
    if (!joined)
        return NULL;
    memcpy(joined, a, a_len);
    memcpy(joined + a_len, delim, delim_len);
    memcpy(joined + a_len + delim_len, b, b_len);
    return joined;
}

char *ln_strcat_alloc(const char *a, const char *b)
{
    return join(a, b, "", 0);
}

char *ln_strcat_delim_alloc(const char *a, const char *b, char delim)
{
    return join(a, b, &delim, 1);
}
