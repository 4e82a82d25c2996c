// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite models: the file is mapped, and its operators become those of ONNX. Weights stay
// where they are in the file as long as the context lives.

#include <lightnet/serializer.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "serial/tflite/builder.h"

// The identifier that follows the offset of the root.
static bool has_identifier(const char *bytes, size_t byte_count)
{
    return byte_count >= 8 && memcmp(bytes + 4, "TFL3", 4) == 0;
}

static int tflite_probe(const ln_serializer *serializer, const char *path, const char *bytes,
                        size_t byte_count)
{
    (void)serializer;
    if (has_identifier(bytes, byte_count))
        return 100;
    return path && ln_suffixed(path, ".tflite") ? 85 : 0;
}

// ---- Where bytes are ----

typedef struct mapping {
    void *at;
    size_t len;
} mapping;

static void unmap(void *block)
{
    mapping *m = block;
    if (m->len > 0)
        munmap(m->at, m->len);
    ln_free(m);
}

static ln_status fail_system(const char *verb, const char *path)
{
    char reason[256];
    int error = errno;
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s '%s': %s", verb, path, reason);
}

static ln_status map_open(int fd, const char *path, mapping *m)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_system("read", path);
    if (!S_ISREG(info.st_mode))
        return LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    if (info.st_size < 0 || (uintmax_t)info.st_size > SIZE_MAX / 2)
        return LN_FAIL(LN_LIMIT, "'%s' is too large to be mapped", path);
    if (info.st_size == 0)
        return LN_OK;
    void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return fail_system("map", path);
    m->at = at;
    m->len = (size_t)info.st_size;
    return LN_OK;
}

// The context keeps what is mapped, whether or not reading succeeds.
static ln_status map_file(ln_context *ctx, const char *path, ln_flat *out_file)
{
    mapping *m = ln_alloc(sizeof *m);
    if (!m)
        return LN_NO_MEMORY;
    // Without O_NONBLOCK, opening a pipe without a writer would never return.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ln_status status = fd < 0 ? fail_system("open", path) : map_open(fd, path, m);
    if (fd >= 0)
        close(fd);
    if (status != LN_OK) {
        unmap(m);
        return status;
    }
    *out_file = ln_flat_of(m->len ? m->at : "", m->len, path);
    LN_TRY(ln_context_keep(ctx, m, unmap));
    return m->len ? ln_context_keep_mapped(ctx, m->at, m->len) : LN_OK;
}

// The caller's bytes may go once they are read, so the context keeps a copy.
static ln_status copy_bytes(ln_context *ctx, const char *bytes, size_t byte_count, const char *name,
                            ln_flat *out_file)
{
    char *copy = ln_alloc(byte_count);
    if (!copy)
        return LN_NO_MEMORY;
    if (byte_count > 0)
        memcpy(copy, bytes, byte_count);
    *out_file = ln_flat_of(copy, byte_count, name);
    return ln_context_keep(ctx, copy, ln_free);
}

static ln_status read_bytes(ln_serializer *serializer, ln_context *ctx, const char *path,
                            const char *bytes, size_t byte_count, const char *name,
                            const ln_read_options *options, ln_preflight *report)
{
    ln_flat file = {0};
    LN_TRY(path ? map_file(ctx, path, &file) : copy_bytes(ctx, bytes, byte_count, name, &file));
    if (!has_identifier((const char *)file.bytes, file.len))
        return ln_flat_fail(&file, 4, LN_SYNTAX,
                            "the identifier TFL3 of a TensorFlow Lite model is not there");
    report->ir_version = 3; // of the schema
    return ln_tflite_build(serializer, ctx, &file, options, report);
}

// ---- The serializer ----

static ln_status tflite_load_with(ln_serializer *serializer, ln_context *ctx, const char *path,
                                  const char *bytes, size_t byte_count, const char *name,
                                  const ln_read_options *options)
{
    ln_preflight *report = ln_preflight_new(serializer->name);
    if (!report)
        return LN_NO_MEMORY;
    ln_status status = read_bytes(serializer, ctx, path, bytes, byte_count, name, options, report);
    if (status == LN_OK && report->problem_count > 0)
        status = ln_preflight_fail(report, name);
    ln_preflight_destroy(report);
    return status;
}

static ln_status tflite_load_file(ln_serializer *serializer, ln_context *ctx, const char *path)
{
    return tflite_load_with(serializer, ctx, path, NULL, 0, path, NULL);
}

static ln_status tflite_load_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                                 size_t byte_count, const char *name)
{
    return tflite_load_with(serializer, ctx, NULL, bytes, byte_count, name, NULL);
}

// The operators go to a context of their own.
static ln_status tflite_preflight(ln_serializer *serializer, const char *path, const char *bytes,
                                  size_t byte_count, const char *name, ln_preflight *report)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return LN_NO_MEMORY;
    ln_status status = read_bytes(serializer, ctx, path, bytes, byte_count, name, NULL, report);
    ln_context_free(ctx);
    return status;
}

static const char *const tflite_extensions[] = {".tflite", NULL};

ln_serializer ln_serializer_tflite = {
    .name = "tflite",
    .doc = "TensorFlow Lite models, read only",
    .extensions = tflite_extensions,
    .probe = tflite_probe,
    .load_file = tflite_load_file,
    .maps_files = 1,
    .load_mem = tflite_load_mem,
    .preflight = tflite_preflight,
    .load_with = tflite_load_with,
};
