// SPDX-License-Identifier: Apache-2.0
// Quotients of halves that are computed in floats.

#include "tests/differential/quotients.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION "precision=TL_FLOAT"

static size_t line_len(const char *text)
{
    const size_t len = strcspn(text, "\n");
    return len + (text[len] == '\n');
}

static bool has(const char *line, size_t len, const char *what)
{
    const char *found = strstr(line, what);
    return found && found < line + len;
}

// Whether a leaf of this name is of halves.
static bool is_half(const char *text, const char *name, size_t name_len)
{
    char dst[96];
    snprintf(dst, sizeof dst, " dst=%.*s |", (int)name_len, name);
    for (size_t len; *text; text += len) {
        len = line_len(text);
        const bool is_leaf = strncmp(text, "create(", 7) == 0 || strncmp(text, "input(", 6) == 0;
        if (is_leaf && has(text, len, dst))
            return has(text, len, "dtype=TL_FLOAT16,") || has(text, len, "dtype=TL_BFLOAT16,");
    }
    return false;
}

// Where the parameters of a line begin that is to have another one; NULL: it stays.
static const char *params_of(const char *text, const char *line, size_t len)
{
    const char *scale = strstr(line, " scale="), *dst = strstr(line, "| dst=");
    if (strncmp(line, "quantize(", 9) != 0 || has(line, len, "precision=") || !scale || !dst ||
        scale > dst)
        return NULL;
    scale += strlen(" scale=");
    const char *params = strstr(dst + 1, "| ");
    const bool is_changed = params && is_half(text, scale, strcspn(scale, ", "));
    return is_changed ? params + strlen("| ") : NULL;
}

char *with_float_quotients(const char *text)
{
    size_t lines = 1, len;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    char *out = malloc(strlen(text) + lines * sizeof PRECISION ", "), *to = out;
    bool is_changed = false;
    for (const char *line = text; out && *line; line += len) {
        len = line_len(line);
        const char *params = params_of(text, line, len);
        const size_t before = params ? (size_t)(params - line) : 0;
        memcpy(to, line, before);
        to += before;
        if (params)
            to += sprintf(to, "%s%s", PRECISION, *params == ')' ? "" : ", ");
        memcpy(to, line + before, len - before);
        to += len - before;
        is_changed = is_changed || params;
    }
    if (out)
        *to = '\0';
    if (is_changed)
        return out;
    free(out);
    return NULL;
}
