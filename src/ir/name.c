// SPDX-License-Identifier: Apache-2.0
// A new name is its prefix and one more than the largest number in use after that prefix, so that
// names rise in the order of their making and none comes back.

#include "ir/name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

ln_status ln_name_check(const char *name, const char *what)
{
    if (!name)
        return LN_FAIL(LN_INVALID, "the name of %s is NULL", what);
    if (strnlen(name, LN_MAX_NAME_LEN) == LN_MAX_NAME_LEN)
        return LN_FAIL(LN_LIMIT, "the name '%.32s...' of %s has %d bytes or more", name, what,
                       LN_MAX_NAME_LEN);
    return LN_OK;
}

int ln_name_serial(const char *name, const char *prefix)
{
    if (!ln_is_prefix_plus_digit(name, prefix))
        return -1;
    long long serial = 0;
    for (const char *digit = name + strlen(prefix); *digit; digit++) {
        serial = serial * 10 + (*digit - '0');
        if (serial > INT_MAX)
            return -1;
    }
    return (int)serial;
}

int ln_name_next(int serial)
{
    return serial < INT_MAX ? serial + 1 : -1;
}

int ln_name_print(char *buf, const char *prefix, int serial)
{
    char name[LN_MAX_NAME_LEN];
    int len = snprintf(name, sizeof name, "%s%d", prefix, serial);
    if (serial < 0) {
        ln_fail(LN_LIMIT, "no number is left for a name that begins with '%.32s'", prefix);
        return -1;
    }
    if (len < 0 || len >= LN_MAX_NAME_LEN) {
        ln_fail(LN_LIMIT, "a name that begins with '%.32s...' would have %d bytes or more", prefix,
                LN_MAX_NAME_LEN);
        return -1;
    }
    memcpy(buf, name, (size_t)len + 1);
    return serial;
}
