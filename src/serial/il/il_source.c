// SPDX-License-Identifier: Apache-2.0
// Opens one path component after the other with O_NOFOLLOW, so that nothing between check and use
// can be exchanged for a link.

#include "serial/il/il_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_COMPONENT 255

static ln_status fail_system(const char *verb, const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s '%s': %s", verb, path, reason);
}

static ln_status fail_open(const char *path, int error)
{
    if (error == ELOOP || error == EMLINK) // what systems say when O_NOFOLLOW meets a link
        return LN_FAIL(
            LN_IO, "cannot open '%s': a symbolic link leads away from the model's folder", path);
    return fail_system("open", path, error);
}

static ln_status check_path(const char *path)
{
    if (*path == '/')
        return LN_FAIL(LN_INVALID, "'%s' is an absolute path; included files lie below the model",
                       path);
    for (const char *p = path;;) {
        size_t len = strcspn(p, "/");
        if (len == 0 || (len == 1 && p[0] == '.') || (len == 2 && p[0] == '.' && p[1] == '.'))
            return LN_FAIL(LN_INVALID,
                           "'%s' has '%.*s' as a part; included files are named by "
                           "folders and a file below the model",
                           path, (int)len, p);
        if (len > MAX_COMPONENT)
            return LN_FAIL(LN_LIMIT, "a part of the path '%.40s...' has more than %d bytes", path,
                           MAX_COMPONENT);
        if (p[len] == '\0')
            return LN_OK;
        p += len + 1;
    }
}

// Opens the last component of a checked path. The caller closes *out_fd.
static ln_status open_below(const char *folder, const char *path, int *out_fd)
{
    *out_fd = -1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_system("open", folder, errno);
    for (const char *p = path;;) {
        char name[MAX_COMPONENT + 1];
        size_t len = strcspn(p, "/");
        bool is_last = p[len] == '\0';
        memcpy(name, p, len);
        name[len] = '\0';
        // Without O_NONBLOCK, opening a pipe that nobody writes would never return.
        int next = openat(fd, name,
                          O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (is_last ? O_NONBLOCK : O_DIRECTORY));
        int error = errno;
        struct stat info;
        if (next < 0 && fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
            error = ELOOP; // with O_DIRECTORY a link is reported as "not a directory"
        close(fd);
        if (next < 0)
            return fail_open(path, error);
        fd = next;
        if (is_last)
            break;
        p += len + 1;
    }
    *out_fd = fd;
    return LN_OK;
}

static ln_status check_file(int fd, const char *path, size_t max_byte_count, size_t *out_len)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_system("read", path, errno);
    if (!S_ISREG(info.st_mode))
        return LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    if (info.st_nlink > 1)
        return LN_FAIL(LN_IO, "cannot read '%s': the file has a second name elsewhere (hard link)",
                       path);
    if (info.st_size < 0 || (unsigned long long)info.st_size > max_byte_count)
        return LN_FAIL(LN_LIMIT, "'%s' has more than %zu bytes", path, max_byte_count);
    *out_len = (size_t)info.st_size;
    return LN_OK;
}

// A file that shrinks while it is read ends early; what it grows by is not read.
static ln_status read_bytes(int fd, const char *path, char *bytes, size_t *inout_len)
{
    size_t len = 0;
    while (len < *inout_len) {
        ssize_t got = read(fd, bytes + len, *inout_len - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_system("read", path, errno);
        if (got == 0)
            break;
        len += (size_t)got;
    }
    bytes[len] = '\0';
    *inout_len = len;
    return LN_OK;
}

ln_status ln_il_source_read(ln_document *arena, const char *folder, const char *path,
                            size_t max_byte_count, const char **out_text, size_t *out_len)
{
    *out_text = NULL;
    *out_len = 0;
    LN_TRY(check_path(path));
    int fd;
    LN_TRY(open_below(folder, path, &fd));

    size_t len = 0;
    char *bytes = NULL;
    ln_status status = check_file(fd, path, max_byte_count, &len);
    if (status == LN_OK) {
        bytes = ln_document_alloc(arena, len + 1);
        status = bytes ? read_bytes(fd, path, bytes, &len) : LN_NO_MEMORY;
    }
    close(fd);
    if (status != LN_OK)
        return status;
    *out_text = bytes;
    *out_len = len;
    return LN_OK;
}
