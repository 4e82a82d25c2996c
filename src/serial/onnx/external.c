// SPDX-License-Identifier: Apache-2.0
// Maps a model, and the files with weights that it names, which `base/open_below.h` keeps below its
// folder.

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
#include <lightnet/msg.h>

#include "base/open_below.h"
#include "ir/given_file.h"

#define MAX_PATH 4096

static ln_status fail_at(const ln_onnx_source *source, const uint8_t *at, ln_status status,
                         const char *fmt, va_list ap)
{
    ln_vfail(status, fmt, ap);
    uintptr_t start = (uintptr_t)source->bytes.at, here = (uintptr_t)at;
    if (at && here >= start && here - start <= source->bytes.len)
        return ln_fail_prefix("%s: byte %zu", source->name, (size_t)(here - start));
    return ln_fail_prefix("%s", source->name);
}

ln_status ln_onnx_fail(const ln_onnx_source *source, const uint8_t *at, ln_status status,
                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    status = fail_at(source, at, status, fmt, ap);
    va_end(ap);
    return status;
}

ln_status ln_onnx_tolerate(const ln_onnx_source *source, const uint8_t *at, const char *remedy,
                           const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_status status = fail_at(source, at, LN_INVALID, fmt, ap);
    va_end(ap);
    if (source->is_strict)
        return status;
    if (!source->is_quiet)
        ln_msg_warn("%s; %s", ln_error_message(), remedy);
    return LN_OK;
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
    if (m->bytes.len > 0 && !m->is_callers)
        munmap((void *)(uintptr_t)m->bytes.at, m->bytes.len);
    ln_free(m->location);
    ln_free(m);
}

// Maps `len` bytes of the open file and closes it.
static ln_status map_and_close(int fd, const char *path, size_t len, ln_onnx_mapping **out_mapping)
{
    ln_onnx_mapping *mapping = ln_alloc(sizeof *mapping);
    if (!mapping) {
        close(fd);
        return LN_NO_MEMORY;
    }
    mapping->bytes.at = (const uint8_t *)"";
    if (len > 0) {
        void *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) {
            ln_status status = fail_system("map", path, errno);
            ln_free(mapping);
            close(fd);
            return status;
        }
        mapping->bytes = (ln_onnx_bytes){.at = at, .len = len};
    }
    close(fd);
    *out_mapping = mapping;
    return LN_OK;
}

static ln_status check_model(int fd, const char *path, size_t *out_len)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_system("read", path, errno);
    if (!S_ISREG(info.st_mode))
        return LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    if (info.st_size < 0 || (uintmax_t)info.st_size > SIZE_MAX / 2)
        return LN_FAIL(LN_LIMIT, "'%s' is too large to be mapped", path);
    *out_len = (size_t)info.st_size;
    return LN_OK;
}

ln_status ln_onnx_map_model(const char *path, ln_onnx_mapping **out_mapping)
{
    *out_mapping = NULL;
    // Without O_NONBLOCK, opening a pipe without a writer would never return.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system("open", path, errno);
    size_t len = 0;
    ln_status status = check_model(fd, path, &len);
    if (status != LN_OK) {
        close(fd);
        return status;
    }
    return map_and_close(fd, path, len, out_mapping);
}

// ---- Files with weights ----

static ln_onnx_mapping *find_mapped(const ln_onnx_source *source, const char *location)
{
    for (ln_onnx_mapping *m = source->mapped; m; m = m->next) {
        if (strcmp(m->location, location) == 0)
            return m;
    }
    return NULL;
}

// What the caller has given goes first.
static ln_status open_file(const ln_onnx_source *source, const char *location,
                           ln_onnx_mapping **out_mapping)
{
    const ln_given_file *given = ln_given_file_find(source->files, location);
    if (!given) {
        int fd;
        size_t len;
        LN_TRY(ln_open_below_model(source->folder, source->path, location, "external data", &fd,
                                   &len));
        return map_and_close(fd, location, len, out_mapping);
    }
    ln_onnx_mapping *mapping = ln_alloc(sizeof *mapping);
    if (!mapping)
        return LN_NO_MEMORY;
    mapping->bytes = (ln_onnx_bytes){.at = given->bytes, .len = given->byte_count};
    mapping->is_callers = true;
    *out_mapping = mapping;
    return LN_OK;
}

static ln_status open_mapped(ln_onnx_source *source, const char *location,
                             ln_onnx_mapping **out_mapping)
{
    *out_mapping = find_mapped(source, location);
    if (*out_mapping)
        return LN_OK;
    if (source->mapped_count >= LN_ONNX_MAX_FILES)
        return LN_FAIL(LN_LIMIT, "the weights are in more than %d files", LN_ONNX_MAX_FILES);
    ln_onnx_mapping *mapping;
    LN_TRY(open_file(source, location, &mapping));
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
    ln_onnx_mapping *mapping;
    LN_TRY(open_mapped(source, path, &mapping));
    if (offset > mapping->bytes.len || len > mapping->bytes.len - offset)
        return LN_FAIL(
            LN_INVALID, "external data '%s' has %zu bytes; %llu from byte %llu on are not there",
            path, mapping->bytes.len, (unsigned long long)len, (unsigned long long)offset);
    *out_bytes = (ln_onnx_bytes){.at = mapping->bytes.at + offset, .len = (size_t)len};
    return LN_OK;
}
