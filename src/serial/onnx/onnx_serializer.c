// SPDX-License-Identifier: Apache-2.0
// ONNX models: the file is mapped and checked, then its nodes become operators. Weights stay where
// they are, in the file or beside it, as long as the context lives.

#include <lightnet/serializer.h>

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/context.h>
#include <lightnet/util.h>

#include "desc/rule.h"
#include "serial/onnx/builder.h"
#include "serial/onnx/value.h"
#include "serial/onnx/writer.h"

// A model begins with its IR version, a graph, a producer or a list of opsets; these first tags are
// no text that the other formats begin with.
static int onnx_probe(const ln_serializer *serializer, const char *path, const char *bytes,
                      size_t byte_count)
{
    (void)serializer;
    const uint8_t *at = (const uint8_t *)bytes, *end = at + byte_count;
    int is_named = path && ln_suffixed(path, ".onnx");
    ln_wire_field field;
    if (at == end)
        return is_named ? 50 : 0;
    uint8_t tag = *at;
    if (tag == 0x08 && !ln_wire_next(&at, end, &field) && field.bits >= 1 && field.bits < 1000)
        return 90;
    if (is_named)
        return 85;
    if (tag == 0x12 || tag == 0x3a) // a producer or a graph, of which not all may be here
        return 40;
    return tag == 0x42 && !ln_wire_next(&at, end, &field) ? 40 : 0;
}

// ---- Where bytes are ----

// The folder of a path, in new memory.
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ln_strdup(".");
    if (slash == path)
        return ln_strdup("/");
    return ln_strdup_printf("%.*s", (int)(slash - path), path);
}

// The context keeps what is mapped, whether or not reading succeeds.
static ln_status keep(ln_context *ctx, ln_onnx_mapping *mapping)
{
    ln_onnx_bytes bytes = mapping->bytes;
    bool is_mapped = bytes.len > 0 && !mapping->is_callers;
    LN_TRY(ln_context_keep(ctx, mapping, ln_onnx_mapping_destroy));
    return is_mapped ? ln_context_keep_mapped(ctx, bytes.at, bytes.len) : LN_OK;
}

static ln_status keep_all(ln_context *ctx, ln_onnx_mapping *first)
{
    ln_status status = LN_OK;
    while (first) {
        ln_onnx_mapping *next = first->next;
        ln_status kept = keep(ctx, first);
        status = status == LN_OK ? kept : status;
        first = next;
    }
    return status;
}

static ln_status read_source(ln_serializer *serializer, ln_context *ctx, ln_onnx_source *source,
                             ln_preflight *report)
{
    source->is_strict = ctx->is_strict;
    source->files = ctx->files;
    source->budget = ln_onnx_budget_of(source->bytes.len, ctx->limits.memory_byte_count);
    ln_onnx_findings findings;
    LN_TRY(ln_onnx_check(LN_ONNX_MODEL, source->bytes, source->name, &findings));
    source->unknown_field = findings.unknown_field;
    if (findings.bad_name)
        LN_TRY(ln_onnx_tolerate(source, findings.bad_name,
                                "such names are escaped as \\xNN, byte by byte",
                                "a name is not UTF-8"));
    ln_status status = ln_onnx_build(serializer, ctx, source, report);
    ln_status kept = keep_all(ctx, source->mapped);
    source->mapped = NULL;
    return status != LN_OK ? status : kept;
}

static ln_status read_file(ln_serializer *serializer, ln_context *ctx, const char *path,
                           bool is_quiet, ln_preflight *report)
{
    ln_onnx_mapping *mapping;
    LN_TRY(ln_onnx_map_model(path, &mapping));
    ln_onnx_source source = {
        .name = path, .path = path, .bytes = mapping->bytes, .is_quiet = is_quiet};
    LN_TRY(keep(ctx, mapping));
    char *folder = folder_of(path);
    if (!folder)
        return LN_NO_MEMORY;
    source.folder = folder;
    ln_status status = read_source(serializer, ctx, &source, report);
    ln_free(folder);
    return status;
}

// The caller's bytes may go once they are read, so the context keeps a copy.
static ln_status read_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                          size_t byte_count, const char *name, bool is_quiet, ln_preflight *report)
{
    char *copy = ln_alloc(byte_count);
    if (!copy)
        return LN_NO_MEMORY;
    if (byte_count > 0)
        memcpy(copy, bytes, byte_count);
    LN_TRY(ln_context_keep(ctx, copy, ln_free));
    ln_onnx_source source = {.name = name,
                             .bytes = {.at = (const uint8_t *)copy, .len = byte_count},
                             .folder = ctx->folder,
                             .is_quiet = is_quiet};
    return read_source(serializer, ctx, &source, report);
}

// ---- The serializer ----

static ln_status load(ln_serializer *serializer, ln_context *ctx, const char *path,
                      const char *bytes, size_t byte_count, const char *name)
{
    ln_preflight *report = ln_preflight_new(serializer->name);
    if (!report)
        return LN_NO_MEMORY;
    ln_status status = path ? read_file(serializer, ctx, path, false, report)
                            : read_mem(serializer, ctx, bytes, byte_count, name, false, report);
    if (status == LN_OK && report->problem_count > 0)
        status = ln_preflight_fail(report, name);
    ln_preflight_destroy(report);
    return status;
}

static ln_status onnx_load_file(ln_serializer *serializer, ln_context *ctx, const char *path)
{
    return load(serializer, ctx, path, NULL, 0, path);
}

static ln_status onnx_load_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                               size_t byte_count, const char *name)
{
    return load(serializer, ctx, NULL, bytes, byte_count, name);
}

// The operators go to a context that nobody else sees.
static ln_status onnx_preflight(ln_serializer *serializer, const char *path, const char *bytes,
                                size_t byte_count, const char *name, ln_preflight *report)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return LN_NO_MEMORY;
    ln_status status = path ? read_file(serializer, ctx, path, true, report)
                            : read_mem(serializer, ctx, bytes, byte_count, name, true, report);
    ln_context_free(ctx);
    return status;
}

// ---- Writing ----

static ln_status onnx_write(ln_serializer *serializer, const ln_context *ctx, char **out_bytes,
                            size_t *out_byte_count)
{
    (void)serializer;
    return ln_onnx_write_mem(ctx, out_bytes, out_byte_count);
}

static ln_status onnx_write_file(ln_serializer *serializer, const ln_context *ctx, const char *path,
                                 unsigned flags)
{
    (void)serializer;
    return ln_onnx_write_file(ctx, path, (flags & LN_WRITE_WEIGHTS_BESIDE) != 0);
}

extern const ln_rule_set ln_rules_onnx; // to_onnx.rules

static const char *const onnx_extensions[] = {".onnx", NULL};

ln_serializer ln_serializer_onnx = {
    .name = "onnx",
    .doc = "ONNX models, opsets 1 to 28",
    .extensions = onnx_extensions,
    .probe = onnx_probe,
    .load_file = onnx_load_file,
    .maps_files = 1,
    .load_mem = onnx_load_mem,
    .preflight = onnx_preflight,
    .write = onnx_write,
    .write_file = onnx_write_file,
    .read_value = ln_onnx_value_read,
    .rules = &ln_rules_onnx,
};
