// SPDX-License-Identifier: Apache-2.0

#include "ir/given_file.h"

#include <string.h>

#include <lightnet/allocator.h>

const ln_given_file *ln_given_file_find(const ln_given_file *first, const char *location)
{
    while (first && strcmp(first->location, location) != 0)
        first = first->next;
    return first;
}

void ln_given_files_free(ln_given_file *first)
{
    while (first) {
        ln_given_file *next = first->next;
        ln_free(first->location);
        ln_free(first);
        first = next;
    }
}

ln_status ln_context_add_file(ln_context *ctx, const char *location, const void *bytes,
                              size_t byte_count)
{
    if (!ctx || !location || !*location || (!bytes && byte_count > 0))
        return LN_FAIL(LN_INVALID, "a file in memory needs a context, a name and bytes");
    if (ln_given_file_find(ctx->files, location))
        return LN_FAIL(LN_EXISTS, "file '%s' has been given already", location);
    ln_given_file *file = ln_alloc(sizeof *file);
    if (!file)
        return LN_NO_MEMORY;
    *file = (ln_given_file){.next = ctx->files,
                            .location = ln_strdup(location),
                            .bytes = bytes ? bytes : "",
                            .byte_count = byte_count};
    if (!file->location) {
        ln_free(file);
        return LN_NO_MEMORY;
    }
    ctx->files = file;
    return LN_OK;
}

ln_status ln_context_set_folder(ln_context *ctx, const char *folder)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    char *copy = folder ? ln_strdup(folder) : NULL;
    if (folder && !copy)
        return LN_NO_MEMORY;
    ln_free(ctx->folder);
    ctx->folder = copy;
    return LN_OK;
}
