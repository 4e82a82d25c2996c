// SPDX-License-Identifier: Apache-2.0
// Names of classes, one a line; blank lines at the end are none.

#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/model_info.h>
#include <lightnet/util.h>

#include "file_bytes.h"
#include "zip.h"

// A list or an object of names: JSON, which has no name a line.
static int is_json(const char *text)
{
    text += strspn(text, " \t\r\n");
    return *text == '{' || (*text == '[' && strspn(text + 1, " \t\r\n\"") > 0);
}

// `out->text` has the names, `size` bytes and a NUL.
static ln_status split(const char *path, size_t size, labels *out)
{
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

ln_status labels_read(const char *path, labels *out)
{
    *out = (labels){0};
    size_t size;
    LN_TRY(file_read(path, &out->text, &size));
    out->path = path;
    return split(path, size, out);
}

// ---- Labels of the model ----

// The file that the model states for an output, if it states one, or the only attached file, if it
// is called labels.
static const char *find_name(const ln_context *ctx)
{
    static const char prefix[] = "labels ";
    const ln_model_info *info = ln_context_info(ctx);
    const char *found = NULL, *files = NULL;
    for (size_t i = 0; i < info->property_count; i++) {
        const ln_model_property *p = &info->properties[i];
        if (strcmp(p->key, "files") == 0)
            files = p->value;
        if (strncmp(p->key, prefix, sizeof prefix - 1) != 0)
            continue;
        if (found && strcmp(found, p->value) != 0)
            return NULL; // which list is whose is not known here
        found = p->value;
    }
    if (!found && files && !strchr(files, ',') && strstr(files, "label") &&
        ln_suffixed(files, ".txt"))
        found = files;
    return found;
}

static ln_status extract(const char *path, const char *name, const char *bytes, size_t size,
                         labels *out)
{
    zip_archive zip;
    zip_member member;
    int has_member;
    LN_TRY(zip_open(path, bytes, size, &zip));
    do {
        LN_TRY(zip_next(&zip, &member, &has_member));
    } while (has_member && strcmp(member.name, name) != 0);
    if (!has_member)
        return LN_FAIL(LN_NOT_FOUND, "%s: there is no file '%s' in it", path, name);
    LN_TRY(zip_extract(&zip, &member, &out->text, &size));
    return split(name, size, out);
}

void labels_find(const ln_context *ctx, const char *path, labels *out)
{
    const char *name = find_name(ctx);
    char *bytes = NULL;
    size_t size;
    *out = (labels){0};
    if (!name || strcmp(path, "-") == 0)
        return;
    ln_status status = file_read(path, &bytes, &size);
    if (status == LN_OK)
        status = extract(path, name, bytes, size, out);
    if (status == LN_OK)
        out->packed = ln_strdup_printf("%s in %s", name, path);
    free(bytes);
    if (!out->packed)
        labels_free(out);
}

void labels_free(labels *l)
{
    free(l->text);
    free(l->lines);
    ln_free(l->packed);
    *l = (labels){0};
}
