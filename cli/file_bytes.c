// SPDX-License-Identifier: Apache-2.0
// Files as bytes.

#include "file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_INPUT_BYTES ((size_t)1 << 32)

// A regular file as a whole; a pipe or a device could go on for ever.
static ln_status open_regular(const char *path, FILE **out_file, size_t *out_size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out_file = NULL;
    if (fd < 0 && strcmp(path, "-") == 0)
        return LN_FAIL(LN_IO, "standard input cannot be read for data; they come from files");
    if (fd < 0 || fstat(fd, &info) != 0 ||
        (S_ISREG(info.st_mode) && !(*out_file = fdopen(fd, "rb")))) {
        ln_status status = strstr(path, "://")
                               ? LN_FAIL(LN_IO,
                                         "cannot open %s: addresses are not fetched; "
                                         "download the file first",
                                         path)
                               : LN_FAIL(LN_IO, "cannot open %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    if (!*out_file) {
        close(fd);
        if (S_ISDIR(info.st_mode))
            return LN_FAIL(LN_IO, "cannot read %s: it is a folder, and a file is needed", path);
        return LN_FAIL(
            LN_IO,
            "cannot read %s: not a regular file; data come from files, a pipe's go to one "
            "first",
            path);
    }
    *out_size = (size_t)info.st_size;
    return LN_OK;
}

ln_status file_check_writable(const char *path)
{
    struct stat info;
    if (!path || strcmp(path, "-") == 0)
        return LN_OK;
    const char *slash = strrchr(path, '/');
    int is_there = stat(path, &info) == 0, is_bad;
    if (is_there) {
        is_bad = access(path, W_OK) != 0;
        if (!is_bad && S_ISDIR(info.st_mode)) {
            is_bad = 1;
            errno = EISDIR;
        }
    } else {
        char folder[4096] = ".";
        if (slash)
            snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
        is_bad = access(folder, W_OK | X_OK) != 0;
    }
    return is_bad ? LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno)) : LN_OK;
}

ln_status file_read(const char *path, char **out_bytes, size_t *out_count)
{
    *out_bytes = NULL;
    FILE *file;
    size_t size;
    LN_TRY(open_regular(path, &file, &size));
    ln_status status = LN_OK;
    char *bytes = NULL;
    if (size > MAX_INPUT_BYTES)
        status = LN_FAIL(LN_LIMIT, "%s has more than %zu bytes", path, MAX_INPUT_BYTES);
    else if (!(bytes = malloc(size + 1)))
        status = LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    size_t count = bytes ? fread(bytes, 1, size, file) : 0;
    if (status == LN_OK && ferror(file))
        status = LN_FAIL(LN_IO, "cannot read %s: %s", path, strerror(errno));
    fclose(file);
    if (status != LN_OK) {
        free(bytes);
        return status;
    }
    bytes[count] = '\0';
    *out_bytes = bytes;
    *out_count = count;
    return LN_OK;
}

size_t file_peek(const char *path, void *bytes, size_t size)
{
    FILE *file;
    size_t file_size;
    if (open_regular(path, &file, &file_size) != LN_OK)
        return 0;
    size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

void file_discard(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        remove(path);
}
