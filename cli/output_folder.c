// SPDX-License-Identifier: Apache-2.0
// A scan of outputs.json: names and files of the outermost objects.

#include "output_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "file_bytes.h"

#define LIST_NAME "outputs.json"
#define MAX_FILES 1000000

static char *list_path(const char *folder)
{
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    return ln_strdup_printf("%.*s/" LIST_NAME, (int)len, folder);
}

int output_folder_is(const char *path)
{
    char *list = list_path(path), byte;
    int is_list = list && file_peek(list, &byte, 1) == 1 && byte == '[';
    ln_free(list);
    return is_list;
}

static output_file *add_file(output_folder *folder)
{
    output_file *files = folder->count < MAX_FILES
                             ? realloc(folder->files, (folder->count + 1) * sizeof *files)
                             : NULL;
    if (!files)
        return NULL;
    folder->files = files;
    files[folder->count] = (output_file){0};
    return &files[folder->count++];
}

// The length of the string at `text`, its quotes included; 0 if it does not end.
static size_t string_len(const char *text)
{
    size_t len = 1;
    while (text[len] && text[len] != '"')
        len += text[len] == '\\' && text[len + 1] ? 2 : 1;
    return text[len] ? len + 1 : 0;
}

// A file name as `run -o` gives them.
static int is_plain_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '/' || text[i] == '\\')
            return 0;
    return len > 0 && text[0] != '.';
}

static ln_status take_member(const char *folder, const char *key, const char *value, size_t len,
                             output_file *file)
{
    if (strncmp(key, "\"name\"", 6) == 0 && !file->name) {
        file->name = ln_strdup_printf("%.*s", (int)len, value);
        return file->name ? LN_OK : LN_NO_MEMORY;
    }
    if (strncmp(key, "\"file\"", 6) != 0 || file->path)
        return LN_OK;
    if (!is_plain_name(value + 1, len - 2))
        return LN_FAIL(LN_SYNTAX, "%s/" LIST_NAME " names a file %.*s outside the folder", folder,
                       (int)len, value);
    file->path = ln_strdup_printf("%s/%.*s", folder, (int)(len - 2), value + 1);
    return file->path ? LN_OK : LN_NO_MEMORY;
}

// Brackets are counted, strings passed over; depth 1 is the list, 2 an output.
static ln_status scan(const char *folder, const char *text, output_folder *out)
{
    int depth = 0;
    output_file *file = NULL;
    const char *key = NULL; // the string before a colon
    for (const char *at = text; *at; at++) {
        if (*at == '"') {
            size_t len = string_len(at);
            if (len == 0)
                break;
            if (depth == 2 && key)
                LN_TRY(take_member(folder, key, at, len, file));
            const char *after = at + len + strspn(at + len, " \t\r\n");
            key = *after == ':' ? at : NULL;
            at += len - 1;
        } else if (*at == '[' || *at == '{') {
            if (++depth == 2 && !(file = add_file(out)))
                return LN_FAIL(LN_LIMIT, "%s/" LIST_NAME " lists too many outputs", folder);
            key = NULL;
        } else if (*at == ']' || *at == '}') {
            if (--depth == 0)
                return LN_OK;
            key = NULL;
        } else if (depth == 1 && *at == 'n') { // null
            if (!add_file(out))
                return LN_FAIL(LN_LIMIT, "%s/" LIST_NAME " lists too many outputs", folder);
            at += strspn(at, "nul") - 1;
        }
    }
    return LN_FAIL(LN_SYNTAX, "%s/" LIST_NAME " is cut off", folder);
}

ln_status output_folder_read(const char *path, output_folder *out)
{
    *out = (output_folder){0};
    char *list = list_path(path), *bytes;
    size_t count;
    if (!list)
        return LN_NO_MEMORY;
    ln_status status = file_read(list, &bytes, &count);
    list[strlen(list) - strlen("/" LIST_NAME)] = '\0';
    if (status == LN_OK) {
        status = scan(list, bytes, out);
        free(bytes);
    }
    ln_free(list);
    return status;
}

void output_folder_free(output_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        ln_free(folder->files[i].name);
        ln_free(folder->files[i].path);
    }
    free(folder->files);
    *folder = (output_folder){0};
}

const output_file *output_folder_find(const output_folder *folder, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_json_string(out, name);
    fclose(out);
    const output_file *found = NULL;
    for (size_t i = 0; text && i < folder->count && !found; i++)
        if (folder->files[i].name && strcmp(folder->files[i].name, text) == 0)
            found = &folder->files[i];
    free(text);
    return found;
}
