// SPDX-License-Identifier: Apache-2.0
// Files of a folder in the order of their names' bytes, which no locale changes.

#include "folder_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lightnet/lightnet.h>

#include "given_options.h"
#include "output_folder.h"

#define MAX_FILES 1000000

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// "NAME=FOLDER" names an input, unless a folder has that name as a whole.
static const char *folder_of(const char *text)
{
    return given_path(text, is_folder);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static ln_status add(folder_input *f, const char *text, const char *file)
{
    struct stat info;
    size_t len = strlen(text);
    while (len > 1 && text[len - 1] == '/')
        len--;
    f->file_at = len + 1;
    char *joined = ln_strdup_printf("%.*s/%s", (int)len, text, file);
    if (!joined)
        return LN_NO_MEMORY;
    const char *path = joined + (folder_of(text) - text);
    if (stat(path, &info) != 0 || S_ISDIR(info.st_mode)) {
        ln_free(joined);
        return LN_OK;
    }
    char **texts = f->count < MAX_FILES ? realloc(f->texts, (f->count + 1) * sizeof *texts) : NULL;
    if (!texts) {
        ln_free(joined);
        return LN_FAIL(LN_LIMIT, "%s has too many files", text);
    }
    f->texts = texts;
    f->texts[f->count++] = joined;
    return LN_OK;
}

static ln_status list_files(folder_input *f, const char *text)
{
    DIR *dir = opendir(folder_of(text));
    if (!dir)
        return LN_FAIL(LN_IO, "cannot open folder %s: %s", folder_of(text), strerror(errno));
    ln_status status = LN_OK;
    const struct dirent *entry;
    while (status == LN_OK && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            status = add(f, text, entry->d_name);
    }
    closedir(dir);
    LN_TRY(status);
    if (f->count == 0)
        return LN_FAIL(LN_NOT_FOUND, "folder %s has no files", folder_of(text));
    qsort(f->texts, f->count, sizeof *f->texts, compare_texts);
    return LN_OK;
}

ln_status folder_input_find(const option_texts *inputs, folder_input *out)
{
    *out = (folder_input){.at = -1};
    for (int i = 0; i < inputs->count; i++) {
        const char *folder = folder_of(inputs->items[i]);
        if (!folder || output_folder_is(folder))
            continue;
        if (out->at >= 0)
            return LN_FAIL(LN_INVALID, "-i %s and -i %s are folders; one input may be one",
                           inputs->items[out->at], inputs->items[i]);
        out->at = i;
    }
    return out->at < 0 ? LN_OK : list_files(out, inputs->items[out->at]);
}

void folder_input_free(folder_input *f)
{
    for (size_t i = 0; i < f->count; i++)
        ln_free(f->texts[i]);
    free(f->texts);
    *f = (folder_input){.at = -1};
}
