// SPDX-License-Identifier: Apache-2.0

#define _XOPEN_SOURCE 700 // realpath

#include "base/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
    bool *has_link; // set when a link is met; may be NULL
} request;

static request reading(const char *path, const char *what)
{
    // Without O_NONBLOCK, opening a pipe without a writer would never return.
    return (request){path, what, "the model's folder", O_RDONLY | O_NONBLOCK, false, NULL};
}

static request creating(const char *path, const char *what)
{
    return (request){path, what, "the folder", O_WRONLY | O_APPEND | O_CREAT | O_EXCL, true, NULL};
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
        (fstatat(folder, component, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))) {
        if (r->has_link)
            *r->has_link = true;
        return LN_FAIL(LN_IO,
                       "cannot open %s '%s': a symbolic link may lead out of %s; put the file "
                       "itself there",
                       r->what, r->path, r->root);
    }
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

// ---- Links of a store ----

// What is left of `path` below the folder `root`; NULL: it is not below it. Both are resolved.
static const char *path_below(const char *path, const char *root)
{
    size_t len = strlen(root);
    if (len == 1) // "/"
        return path[1] ? path + 1 : NULL;
    return strncmp(path, root, len) == 0 && path[len] == '/' && path[len + 1] ? path + len + 1
                                                                              : NULL;
}

// The folder of the file that `model` is, links resolved.
static bool find_home(const char *model, char home[PATH_MAX])
{
    if (!realpath(model, home))
        return false;
    char *slash = strrchr(home, '/');
    if (slash == home)
        slash++;
    *slash = '\0';
    return true;
}

// Opens a resolved path below `root`, where it may not have become a link since.
static ln_status open_resolved(const request *r, const char *root, const char *path, int *out_fd)
{
    request resolved = *r;
    resolved.path = path;
    resolved.has_link = NULL;
    return open_path(&resolved, root, out_fd);
}

// A link leads to a file below the model's folder, or below the folder that the model itself lies
// in when its links are resolved: caches of hubs have the model and its data as links into one
// store. Nowhere else.
static ln_status open_linked(const request *r, const char *folder, const char *model, int *out_fd)
{
    char joined[PATH_MAX], target[PATH_MAX], root[PATH_MAX];
    int len = snprintf(joined, sizeof joined, "%s/%s", *folder ? folder : ".", r->path);
    if (len < 0 || (size_t)len >= sizeof joined || !realpath(joined, target))
        return fail_system("open", r->what, r->path, len < 0 ? EINVAL : errno);
    const char *below = realpath(*folder ? folder : ".", root) ? path_below(target, root) : NULL;
    if (!below)
        below = find_home(model, root) ? path_below(target, root) : NULL;
    if (below)
        return open_resolved(r, root, below, out_fd);
    return LN_FAIL(LN_IO,
                   "cannot open %s '%s': a symbolic link leads out of the model's folder, and out "
                   "of the folder of the file that the model is a link to; put the file itself "
                   "there",
                   r->what, r->path);
}

// ---- The two ways ----

// `model` NULL: links are refused.
static ln_status open_to_read(const char *folder, const char *model, const char *path,
                              const char *what, int *out_fd, size_t *out_byte_count)
{
    *out_fd = -1;
    *out_byte_count = 0;
    if (!folder)
        return LN_FAIL(LN_INVALID,
                       "%s '%s' of a model that was read from memory; give the file "
                       "(ln_context_add_file) or its folder (ln_context_set_folder), or read the "
                       "model from its file",
                       what, path);
    bool has_link = false;
    request r = reading(path, what);
    r.has_link = &has_link;
    int fd;
    ln_status status = open_path(&r, folder, &fd);
    if (status != LN_OK && has_link && model) {
        ln_error_clear();
        status = open_linked(&r, folder, model, &fd);
    }
    LN_TRY(status);
    status = check_opened(&r, fd, out_byte_count);
    if (status != LN_OK) {
        close(fd);
        return status;
    }
    *out_fd = fd;
    return LN_OK;
}

ln_status ln_open_below(const char *folder, const char *path, const char *what, int *out_fd,
                        size_t *out_byte_count)
{
    return open_to_read(folder, NULL, path, what, out_fd, out_byte_count);
}

ln_status ln_open_below_model(const char *folder, const char *model, const char *path,
                              const char *what, int *out_fd, size_t *out_byte_count)
{
    return open_to_read(folder, model, path, what, out_fd, out_byte_count);
}

ln_status ln_create_below(const char *folder, const char *path, const char *what, int *out_fd)
{
    *out_fd = -1;
    const request r = creating(path, what);
    return open_path(&r, folder, out_fd);
}
