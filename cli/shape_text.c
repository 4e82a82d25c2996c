// SPDX-License-Identifier: Apache-2.0
// The grammar of -s, without a model.

#include "shape_text.h"

#include <stdlib.h>
#include <string.h>

int shape_parse(const char *text, int *out_ndim, int dims[TL_MAXDIM])
{
    *out_ndim = 0;
    int has_bracket = *text == '[';
    text += has_bracket;
    while (*text && *text != ']') {
        char *end;
        unsigned long dim = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || dim > INT32_MAX || *out_ndim == TL_MAXDIM)
            return 0;
        dims[(*out_ndim)++] = (int)dim;
        text = end;
        if ((*text == 'x' || *text == ',') && text[1] >= '0' && text[1] <= '9')
            text++;
        else if (*text && *text != ']')
            return 0;
    }
    return has_bracket ? text[0] == ']' && !text[1] : !*text;
}

int shape_parse_range(const char *text, int *out_from, int *out_to)
{
    int ndim, from[TL_MAXDIM], to[TL_MAXDIM];
    const char *dots = strstr(text, "..");
    char first[16];
    if (!dots || dots == text || (size_t)(dots - text) >= sizeof first || !dots[2])
        return 0;
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = '\0';
    if (!shape_parse(first, &ndim, from) || ndim != 1 || !shape_parse(dots + 2, &ndim, to) ||
        ndim != 1)
        return 0;
    *out_from = from[0];
    *out_to = to[0];
    return 1;
}

size_t shape_name_len(const char *text)
{
    const char *equals = strrchr(text, '=');
    return equals ? (size_t)(equals - text) : 0;
}

ln_status shape_fail(const char *text)
{
    const char *equals = strchr(text, '=');
    for (const char *at = equals ? equals + 1 : text; *at; at += strspn(at, "0123456789")) {
        at += strcspn(at, "0123456789");
        if (strtoull(at, NULL, 10) > INT32_MAX)
            return LN_FAIL(LN_INVALID, "-s %s: a dimension is at most %d", text, INT32_MAX);
    }
    return LN_FAIL(LN_INVALID, "-s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not '%s'",
                   text);
}

ln_status shape_check(const char *text)
{
    const char *equals = strrchr(text, '=');
    int ndim, dims[TL_MAXDIM], from, to;
    if (equals && strstr(equals, "..")) {
        if (equals == text || !shape_parse_range(equals + 1, &from, &to))
            return LN_FAIL(LN_INVALID, "-s takes a range as SYMBOL=1..32, not '%s'", text);
        if (from > to)
            return LN_FAIL(LN_INVALID, "-s %s: a range begins with the smaller size: %.*s=%d..%d",
                           text, (int)(equals - text), text, to, from);
        return LN_OK;
    }
    const char *shape = equals ? equals + 1 : text;
    return equals == text || !*shape || !shape_parse(shape, &ndim, dims) ? shape_fail(text) : LN_OK;
}

ln_status shape_check_pair(const char *first, const char *second)
{
    size_t len = shape_name_len(first);
    if (len != shape_name_len(second) || strncmp(first, second, len) != 0)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "-s is given twice for one name, with '%s' and '%s'", first, second);
}
