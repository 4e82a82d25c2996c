// SPDX-License-Identifier: Apache-2.0

#include "base/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_COMPONENT 255

typedef struct request {
    const char *path;
    const char *what; // "external data"
    const char *root; // what messages call the folder
    int flags;        // of the file itself
    bool creates;
} request;

static request reading(const char *path, const char *what)
{
    // Without O_NONBLOCK, opening a pipe without a writer would never return.
    return (request){path, what, "the model's folder", O_RDONLY | O_NONBLOCK, false};
}

static request creating(const char *path, const char *what)
{
    return (request){path, what, "the folder", O_WRONLY | O_APPEND | O_CREAT | O_EXCL, true};
}

static ln_status fail_system(const char *verb, const char *what, const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s %s '%s': %s", verb, what, path, reason);
}

// ---- The words of a path ----

static bool is_bad_component(const char *component, size_t len, bool creates)
{
    return len == 0 || (creates && component[0] == '.') || (len == 1 && component[0] == '.') ||
           (len == 2 && component[0] == '.' && component[1] == '.');
}

bool ln_is_creatable_below(const char *path)
{
    while (path && *path != '/') {
        size_t len = strcspn(path, "/");
        if (is_bad_component(path, len, true) || len > MAX_COMPONENT)
            return false;
        path += len;
        if (*path == '\0')
            return true;
        path++;
    }
    return false;
}

static ln_status check_path(const request *r)
{
    if (*r->path == '/')
        return LN_FAIL(LN_INVALID, "%s '%s' is an absolute path; only files below %s are %s",
                       r->what, r->path, r->root, r->creates ? "created" : "opened");
    for (const char *p = r->path;;) {
        size_t len = strcspn(p, "/");
        if (len > MAX_COMPONENT)
            return LN_FAIL(LN_LIMIT, "%s: a part of the path '%.40s...' has more than %d bytes",
                           r->what, r->path, MAX_COMPONENT);
        if (is_bad_component(p, len, r->creates))
            return LN_FAIL(LN_INVALID,
                           "%s '%s' has '%.*s' as a part; name folders and a file below %s",
                           r->what, r->path, (int)len, p, r->root);
        if (p[len] == '\0')
            return LN_OK;
        p += len + 1;
    }
}

// ---- One component after the other ----

static ln_status fail_component(const request *r, int folder, const char *component, int error)
{
    if (r->creates && error == EEXIST)
        return LN_FAIL(LN_EXISTS, "%s '%s' is there already; remove it, or allow another folder",
                       r->what, r->path);
    // With O_DIRECTORY, systems report a link as "not a directory".
    struct stat info;
    if (error == ELOOP || error == EMLINK ||
        (fstatat(folder, component, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)))
        return LN_FAIL(LN_IO,
                       "cannot open %s '%s': a symbolic link may lead out of %s; put the file "
                       "itself there",
                       r->what, r->path, r->root);
    return fail_system(r->creates ? "create" : "open", r->what, r->path, error);
}

static ln_status open_path(const request *r, const char *folder, int *out_fd)
{
    LN_TRY(check_path(r));
    int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_system("open", "the folder", folder, errno);
    for (const char *p = r->path;;) {
        char component[MAX_COMPONENT + 1];
        size_t len = strcspn(p, "/");
        bool is_last = p[len] == '\0';
        memcpy(component, p, len);
        component[len] = '\0';
        int flags = is_last ? r->flags : O_RDONLY | O_DIRECTORY;
        int next = openat(fd, component, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
        ln_status status = next < 0 ? fail_component(r, fd, component, errno) : LN_OK;
        close(fd);
        LN_TRY(status);
        fd = next;
        if (is_last)
            break;
        p += len + 1;
    }
    *out_fd = fd;
    return LN_OK;
}

static ln_status check_opened(const request *r, int fd, size_t *out_byte_count)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_system("read", r->what, r->path, errno);
    if (!S_ISREG(info.st_mode))
        return LN_FAIL(LN_IO, "cannot read %s '%s': not a regular file", r->what, r->path);
    if (info.st_nlink > 1)
        return LN_FAIL(LN_IO,
                       "cannot read %s '%s': the file has a second name elsewhere (hard link); "
                       "copy it into %s",
                       r->what, r->path, r->root);
    if (info.st_size < 0 || (uintmax_t)info.st_size > SIZE_MAX / 2)
        return LN_FAIL(LN_LIMIT, "%s '%s' is too large", r->what, r->path);
    *out_byte_count = (size_t)info.st_size;
    return LN_OK;
}

// ---- The two ways ----

ln_status ln_open_below(const char *folder, const char *path, const char *what, int *out_fd,
                        size_t *out_byte_count)
{
    *out_fd = -1;
    *out_byte_count = 0;
    if (!folder)
        return LN_FAIL(LN_INVALID,
                       "%s '%s' of a model that was read from memory; read it from its file, so "
                       "that it has a folder",
                       what, path);
    const request r = reading(path, what);
    int fd;
    LN_TRY(open_path(&r, folder, &fd));
    ln_status status = check_opened(&r, fd, out_byte_count);
    if (status != LN_OK) {
        close(fd);
        return status;
    }
    *out_fd = fd;
    return LN_OK;
}

ln_status ln_create_below(const char *folder, const char *path, const char *what, int *out_fd)
{
    *out_fd = -1;
    const request r = creating(path, what);
    return open_path(&r, folder, out_fd);
}
