// SPDX-License-Identifier: Apache-2.0
// Names of classes, one a line; blank lines at the end are none.

#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "file_bytes.h"

// A list or an object of names: JSON, which has no name a line.
static int is_json(const char *text)
{
    text += strspn(text, " \t\r\n");
    return *text == '{' || (*text == '[' && strspn(text + 1, " \t\r\n\"") > 0);
}

ln_status labels_read(const char *path, labels *out)
{
    *out = (labels){0};
    size_t size;
    LN_TRY(file_read(path, &out->text, &size));
    out->path = path;
    if (memchr(out->text, '\0', size))
        return LN_FAIL(LN_INVALID, "%s is not a text; it has the names of the classes one a line",
                       path);
    if (is_json(out->text))
        return LN_FAIL(LN_INVALID, "%s is JSON; write the names of the classes one a line", path);
    while (size > 0 && (out->text[size - 1] == '\n' || out->text[size - 1] == '\r'))
        out->text[--size] = '\0';
    size_t line_count = size > 0;
    for (size_t i = 0; i < size; i++)
        line_count += out->text[i] == '\n';
    out->lines = calloc(line_count + 1, sizeof *out->lines);
    if (!out->lines)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    char *at = out->text;
    while (out->count < line_count) {
        out->lines[out->count++] = at;
        char *stop = strchr(at, '\n');
        if (!stop)
            break; // the last line
        *stop = '\0';
        if (stop > at && stop[-1] == '\r')
            stop[-1] = '\0';
        at = stop + 1;
    }
    return LN_OK;
}

void labels_free(labels *l)
{
    free(l->text);
    free(l->lines);
    *l = (labels){0};
}
