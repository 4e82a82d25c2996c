// SPDX-License-Identifier: Apache-2.0
// Files with weights beside a model, held inside its folder.
//
// One component of the path is opened after the other, each without following a link and none being
// "..". So nothing that is exchanged between a check and its use leads out of the folder, on every
// POSIX system and not only where the kernel could be asked to do the same.

#include "serial/onnx/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#define MAX_PATH      4096
#define MAX_COMPONENT 255

ln_status ln_onnx_fail(const ln_onnx_source *source, const uint8_t *at, ln_status status,
                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_vfail(status, fmt, ap);
    va_end(ap);
    uintptr_t start = (uintptr_t)source->bytes.at, here = (uintptr_t)at;
    if (at && here >= start && here - start <= source->bytes.len)
        return ln_fail_prefix("%s: byte %zu", source->name, (size_t)(here - start));
    return ln_fail_prefix("%s", source->name);
}

static ln_status fail_system(const char *verb, const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s '%s': %s", verb, path, reason);
}

// ---- Mapping ----

void ln_onnx_mapping_destroy(void *mapping)
{
    ln_onnx_mapping *m = mapping;
    if (!m)
        return;
    if (m->bytes.len > 0)
        munmap((void *)(uintptr_t)m->bytes.at, m->bytes.len);
    ln_free(m->location);
    ln_free(m);
}

void ln_onnx_mapping_destroy_all(ln_onnx_mapping *first)
{
    while (first) {
        ln_onnx_mapping *next = first->next;
        ln_onnx_mapping_destroy(first);
        first = next;
    }
}

static ln_status map_bytes(int fd, const char *path, const struct stat *info,
                           ln_onnx_mapping **out_mapping)
{
    if (info->st_size < 0 || (uintmax_t)info->st_size > SIZE_MAX / 2)
        return LN_FAIL(LN_LIMIT, "'%s' is too large to be mapped", path);
    size_t len = (size_t)info->st_size;
    ln_onnx_mapping *mapping = ln_alloc(sizeof *mapping);
    if (!mapping)
        return LN_NO_MEMORY;
    mapping->bytes.at = (const uint8_t *)"";
    if (len > 0) {
        void *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) {
            ln_status status = fail_system("map", path, errno);
            ln_free(mapping);
            return status;
        }
        mapping->bytes = (ln_onnx_bytes){.at = at, .len = len};
    }
    *out_mapping = mapping;
    return LN_OK;
}

// Maps the open file and closes it.
static ln_status map_and_close(int fd, const char *path, int may_have_links,
                               ln_onnx_mapping **out_mapping)
{
    struct stat info;
    ln_status status = LN_OK;
    if (fstat(fd, &info) != 0)
        status = fail_system("read", path, errno);
    else if (!S_ISREG(info.st_mode))
        status = LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    else if (!may_have_links && info.st_nlink > 1)
        status = LN_FAIL(LN_INVALID,
                         "cannot read '%s': the file has a second name elsewhere (hard link); "
                         "copy it into the model's folder",
                         path);
    if (status == LN_OK)
        status = map_bytes(fd, path, &info, out_mapping);
    close(fd);
    return status;
}

ln_status ln_onnx_map_model(const char *path, ln_onnx_mapping **out_mapping)
{
    *out_mapping = NULL;
    // Without O_NONBLOCK, opening a pipe that nobody writes would never return.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system("open", path, errno);
    return map_and_close(fd, path, 1, out_mapping);
}

// ---- Staying in the folder ----

static ln_status check_location(const char *location)
{
    if (*location == '/')
        return LN_FAIL(LN_INVALID,
                       "external data '%s' is an absolute path; it must lie beside the model",
                       location);
    for (const char *p = location;;) {
        size_t len = strcspn(p, "/");
        if (len == 0 || (len == 1 && p[0] == '.') || (len == 2 && p[0] == '.' && p[1] == '.'))
            return LN_FAIL(LN_INVALID,
                           "external data '%s' has '%.*s' as a part of its path; it must be "
                           "named by folders and a file beside the model",
                           location, (int)len, p);
        if (len > MAX_COMPONENT)
            return LN_FAIL(LN_LIMIT, "a part of the path '%.40s...' has more than %d bytes",
                           location, MAX_COMPONENT);
        if (p[len] == '\0')
            return LN_OK;
        p += len + 1;
    }
}

static ln_status fail_part(int folder_fd, const char *part, const char *location, int error)
{
    struct stat info;
    int is_link =
        error == ELOOP || error == EMLINK ||
        (fstatat(folder_fd, part, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode));
    if (is_link)
        return LN_FAIL(LN_INVALID,
                       "cannot open external data '%s': a symbolic link may lead out of the "
                       "model's folder; put the file itself there",
                       location);
    return fail_system("open external data", location, error);
}

static ln_status open_below(const char *folder, const char *location, int *out_fd)
{
    *out_fd = -1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_system("open", folder, errno);
    for (const char *p = location;;) {
        char part[MAX_COMPONENT + 1];
        size_t len = strcspn(p, "/");
        int is_last = p[len] == '\0';
        memcpy(part, p, len);
        part[len] = '\0';
        int next = openat(fd, part,
                          O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (is_last ? O_NONBLOCK : O_DIRECTORY));
        ln_status status = next < 0 ? fail_part(fd, part, location, errno) : LN_OK;
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

static ln_onnx_mapping *find_mapped(const ln_onnx_source *source, const char *location)
{
    for (ln_onnx_mapping *m = source->mapped; m; m = m->next) {
        if (strcmp(m->location, location) == 0)
            return m;
    }
    return NULL;
}

static ln_status open_mapped(ln_onnx_source *source, const char *location,
                             ln_onnx_mapping **out_mapping)
{
    *out_mapping = find_mapped(source, location);
    if (*out_mapping)
        return LN_OK;
    if (source->mapped_count >= LN_ONNX_MAX_FILES)
        return LN_FAIL(LN_LIMIT, "the weights lie in more than %d files", LN_ONNX_MAX_FILES);
    LN_TRY(check_location(location));
    int fd;
    LN_TRY(open_below(source->folder, location, &fd));
    ln_onnx_mapping *mapping;
    LN_TRY(map_and_close(fd, location, 0, &mapping));
    mapping->location = ln_strdup(location);
    if (!mapping->location) {
        ln_onnx_mapping_destroy(mapping);
        return LN_NO_MEMORY;
    }
    mapping->next = source->mapped;
    source->mapped = mapping;
    source->mapped_count++;
    ln_onnx_budget_raise(&source->budget, mapping->bytes.len);
    *out_mapping = mapping;
    return LN_OK;
}

ln_status ln_onnx_external(ln_onnx_source *source, ln_onnx_bytes location, uint64_t offset,
                           uint64_t len, ln_onnx_bytes *out_bytes)
{
    *out_bytes = (ln_onnx_bytes){0};
    char path[MAX_PATH];
    if (location.len == 0 || location.len >= sizeof path)
        return LN_FAIL(LN_INVALID, "external data with a path of %zu bytes", location.len);
    if (memchr(location.at, '\0', location.len))
        return LN_FAIL(LN_INVALID, "external data with a 0 byte in its path");
    memcpy(path, location.at, location.len);
    path[location.len] = '\0';
    if (!source->folder)
        return LN_FAIL(LN_INVALID,
                       "external data '%s' of a model that was read from memory; read it from "
                       "its file, so that it has a folder",
                       path);
    ln_onnx_mapping *mapping;
    LN_TRY(open_mapped(source, path, &mapping));
    if (offset > mapping->bytes.len || len > mapping->bytes.len - offset)
        return LN_FAIL(
            LN_INVALID, "external data '%s' has %zu bytes; %llu from byte %llu on are not there",
            path, mapping->bytes.len, (unsigned long long)len, (unsigned long long)offset);
    *out_bytes = (ln_onnx_bytes){.at = mapping->bytes.at + offset, .len = (size_t)len};
    return LN_OK;
}
