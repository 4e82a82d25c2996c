// SPDX-License-Identifier: Apache-2.0
// A compiled model comes from anywhere, so that the name in it may lead nowhere else: it is one
// file in the model's folder, no link, of the tensors that the model's text describes.

#include "compile/beside.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/param.h>
#include <lightnet/tensor_file.h>
#include <lightnet/util.h>

#include "base/open_below.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/fill.h"
#include "ir/given_file.h"

#define MAX_NAME 255

const char *ln_beside_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- The file ----

typedef struct mapping {
    void *bytes;
    size_t byte_count;
} mapping;

static void unmap(void *block)
{
    mapping *m = block;
    if (m->byte_count > 0)
        munmap(m->bytes, m->byte_count);
    ln_free(m);
}

static void close_file(void *file)
{
    ln_tensor_file_close(file);
}

static ln_status fail_file(const char *name, const char *problem)
{
    return LN_FAIL(LN_IO, "cannot read weights '%s': %s", name, problem);
}

static ln_status map_open(int fd, const char *name, size_t byte_count, mapping **out_mapping)
{
    if (byte_count == 0)
        return fail_file(name, "the file is empty");
    mapping *m = ln_alloc(sizeof *m);
    if (!m)
        return LN_NO_MEMORY;
    void *bytes = mmap(NULL, byte_count, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        ln_free(m);
        return fail_file(name, "it cannot be mapped");
    }
    *m = (mapping){bytes, byte_count};
    *out_mapping = m;
    return LN_OK;
}

static ln_status map_file(const char *folder, const char *name, mapping **out_mapping)
{
    int fd;
    size_t byte_count;
    LN_TRY(ln_open_below(folder, name, "weights", &fd, &byte_count));
    ln_status status = map_open(fd, name, byte_count, out_mapping);
    close(fd);
    return status;
}

static ln_status check_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > MAX_NAME || strchr(name, '/') || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return LN_FAIL(LN_INVALID,
                       "the weights '%.80s' must be named by a file in the model's folder, without "
                       "another folder",
                       name);
    return LN_OK;
}

// What the caller has given, else a file of the folder, which the context keeps mapped.
static ln_status find_bytes(ln_context *ctx, const char *folder, const ln_given_file *files,
                            mapping *out_bytes)
{
    mapping *m = NULL;
    const ln_given_file *given = ln_given_file_find(files, ctx->weights);
    if (given) {
        *out_bytes = (mapping){(void *)(uintptr_t)given->bytes, given->byte_count};
        return LN_OK;
    }
    LN_TRY(map_file(folder, ctx->weights, &m));
    *out_bytes = *m;
    LN_TRY(ln_context_keep(ctx, m, unmap)); // which frees it if it fails
    return ln_context_keep_mapped(ctx, out_bytes->bytes, out_bytes->byte_count);
}

// The context lets the file go before its bytes.
static ln_status open_beside(ln_context *ctx, const char *folder, const ln_given_file *files,
                             ln_tensor_file **out_file)
{
    mapping m;
    ln_status status = find_bytes(ctx, folder, files, &m);
    if (status == LN_OK)
        status = ln_tensor_file_open_mem(m.bytes, m.byte_count, out_file);
    if (status == LN_OK)
        status = ln_context_keep(ctx, *out_file, close_file);
    return status == LN_OK ? LN_OK : ln_fail_prefix("%s%s", folder ? folder : "", ctx->weights);
}

// ---- The tensors ----

typedef struct carrying {
    ln_context *ctx;
    ln_tensor_file *file;
} carrying;

// What the file has must be what the text says; the operator says so again when it is checked.
static ln_status carry_tensor(const carrying *c, const char *name, tl_dtype dtype)
{
    const tl_tensor *there = ln_attached_find(c->ctx->attached, name);
    if (there && there->dtype == dtype)
        return LN_OK; // graphs may read what the model around them reads
    int index = ln_tensor_file_find(c->file, name);
    if (index < 0)
        return LN_FAIL(LN_NOT_FOUND, "%s: tensor '%s' is missing", c->ctx->weights, name);
    if (!ln_tensor_file_holds(c->file, index, dtype))
        return LN_FAIL(LN_INVALID, "%s: tensor '%s' is not of type %s", c->ctx->weights, name,
                       tl_dtype_title(dtype));
    const tl_tensor *known = ln_tensor_file_describe(c->file, index);
    if (known->dtype == dtype) {
        known = ln_tensor_file_tensor(c->file, index);
        return known ? ln_context_carry(c->ctx, name, dtype, known->ndim, known->dims, known->data)
                     : ln_error_status();
    }
    size_t byte_count = (size_t)known->len * tl_size_of(dtype);
    void *copy = ln_alloc(byte_count ? byte_count : 1);
    if (!copy)
        return LN_NO_MEMORY;
    LN_TRY(ln_context_keep(c->ctx, copy, ln_free));
    LN_TRY(ln_tensor_file_read_as(c->file, index, dtype, copy));
    return ln_context_carry(c->ctx, name, dtype, known->ndim, known->dims, copy);
}

static ln_status carry_op(const carrying *c, const ln_op *op)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "dtype");
    const char *name = param && param->value_string ? param->value_string : "TL_FLOAT";
    tl_dtype dtype = tl_dtype_from_str(name);
    if ((int)dtype < 0)
        return LN_OK; // which its check refuses
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out)
        LN_TRY(carry_tensor(c, out->name, dtype));
    return LN_OK;
}

// Its weights come from the file, which may have the first value of an input as well.
static bool is_in_file(const carrying *c, const ln_op *op)
{
    const ln_list *out = op->op_arg->tensors_out;
    if (ln_op_is_from_file(op) || !out || !ln_op_is_first_from_file(op))
        return ln_op_is_from_file(op);
    return ln_tensor_file_find(c->file, ((const ln_tensor_list_entry *)out->data)->name) >= 0;
}

static ln_status carry_graph(ln_context *graph, void *user)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops) {
        if (is_in_file(user, op))
            LN_TRY(carry_op(user, op));
    }
    return LN_OK;
}

// Of the file at `path`; of what was read from memory, as the caller says.
static ln_status copy_folder(const ln_context *ctx, const char *path, char **out_folder)
{
    *out_folder = NULL;
    if (path)
        *out_folder = ln_strdup_printf("%.*s", (int)(ln_beside_name(path) - path), path);
    else if (ctx->folder)
        *out_folder = ln_strdup_printf("%s/", ctx->folder);
    return *out_folder || (!path && !ctx->folder) ? LN_OK : LN_NO_MEMORY;
}

ln_status ln_beside_attach(ln_context *ctx, const char *path, const struct ln_given_file *files)
{
    char *folder;
    carrying c = {.ctx = ctx};
    LN_TRY(check_name(ctx->weights));
    LN_TRY(copy_folder(ctx, path, &folder));
    ln_status status = open_beside(ctx, folder, files, &c.file);
    ln_free(folder);
    LN_TRY(status);
    LN_TRY(carry_graph(ctx, &c));
    return ln_context_each_graph(ctx, carry_graph, &c);
}
