// SPDX-License-Identifier: Apache-2.0
// Attaches weights from a file to a model that is not loaded, and saves attached weights.

#include <lightnet/context.h>

#include <lightnet/allocator.h>
#include <lightnet/param.h>
#include <lightnet/tensor_file.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/fill.h"

// ---- The tensors that are meant ----

typedef struct weight_walk {
    ln_status (*visit)(void *user, ln_context *ctx, const ln_tensor_entry *entry);
    void *user;
} weight_walk;

static ln_status visit_own(ln_context *ctx, void *user)
{
    const weight_walk *walk = user;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *k = ln_op_takes_weights(ctx, op) ? op->op_arg->tensors_out : NULL; k;
             k = k->next) {
            const ln_tensor_list_entry *out = k->data;
            LN_TRY(
                walk->visit(walk->user, ctx, ln_tensor_table_find(ctx->tensor_table, out->name)));
        }
    }
    return LN_OK;
}

// Those of the model first, then those of its graphs.
static ln_status visit_weights(ln_context *ctx, weight_walk walk)
{
    LN_TRY(visit_own(ctx, &walk));
    return ln_context_each_graph(ctx, visit_own, &walk);
}

// ---- Into the model ----

typedef struct carrying {
    const ln_tensor_file *file;
    const char *path;
} carrying;

// The file's own elements where the model computes with them, else a copy.
static ln_status carry_tensor(ln_context *ctx, const ln_tensor_file *file, int index,
                              const ln_tensor_entry *entry)
{
    const tl_tensor *t = entry->tensor;
    if (ln_tensor_file_describe(file, index)->dtype == t->dtype) {
        const tl_tensor *found = ln_tensor_file_tensor(file, index);
        return found ? ln_context_carry(ctx, entry->name, t->dtype, t->ndim, t->dims, found->data)
                     : ln_error_status();
    }
    size_t byte_count = tl_tensor_size(t);
    void *copy = ln_alloc(byte_count ? byte_count : 1);
    if (!copy)
        return LN_NO_MEMORY;
    LN_TRY(ln_context_keep(ctx, copy, ln_free));
    LN_TRY(ln_tensor_file_read_as(file, index, t->dtype, copy));
    return ln_context_carry(ctx, entry->name, t->dtype, t->ndim, t->dims, copy);
}

static ln_status attach(void *user, ln_context *ctx, const ln_tensor_entry *entry)
{
    const carrying *c = user;
    if (ln_attached_find(ln_context_root(ctx)->attached, entry->name))
        return LN_OK;
    int index = ln_tensor_file_find(c->file, entry->name);
    if (index < 0)
        return LN_FAIL(LN_NOT_FOUND, "%s: tensor '%s' is missing", c->path, entry->name);
    LN_TRY(ln_check_fits(c->file, index, entry, c->path));
    return carry_tensor(ctx, c->file, index, entry);
}

static void close_file(void *file)
{
    ln_tensor_file_close(file);
}

ln_status ln_context_carry_file(ln_context *ctx, const char *datafile)
{
    if (!ctx || !datafile)
        return LN_FAIL(LN_INVALID, "carrying weights needs a context and a data file");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "weights are attached to a model that is read and not compiled");
    ln_tensor_file *file;
    LN_TRY(ln_tensor_file_open(datafile, &file));
    LN_TRY(ln_context_keep(ctx, file, close_file));
    carrying c = {.file = file, .path = datafile};
    return visit_weights(ctx, (weight_walk){.visit = attach, .user = &c});
}

// ---- Out of it ----

typedef struct saving {
    ln_named_tensor *tensors; // NULL while they are counted
    size_t count;
    ln_hash *names; // of those that are there: graphs may take the same one
} saving;

static ln_status save(void *user, ln_context *ctx, const ln_tensor_entry *entry)
{
    saving *s = user;
    const tl_tensor *attached = ln_attached_find(ln_context_root(ctx)->attached, entry->name);
    if (!attached || (s->tensors && ln_hash_find(s->names, entry->name)))
        return LN_OK;
    if (s->tensors && ln_hash_insert(s->names, entry->name, s) < 0)
        return ln_error_status();
    if (s->tensors)
        s->tensors[s->count] = (ln_named_tensor){entry->name, attached};
    s->count++;
    return LN_OK;
}

ln_status ln_context_save_weights(const ln_context *ctx, const char *path, size_t *out_count)
{
    if (out_count)
        *out_count = 0;
    if (!ctx || !path || !out_count)
        return LN_FAIL(LN_INVALID, "saving weights needs a context, a file and a result");
    saving s = {0};
    weight_walk walk = {.visit = save, .user = &s};
    ln_context *walked = (ln_context *)(uintptr_t)ctx; // which changes nothing
    LN_TRY(visit_weights(walked, walk));
    if (s.count == 0)
        return LN_OK;
    ln_tensor_file_format format;
    LN_TRY(ln_tensor_file_format_of(path, &format));
    s.tensors = ln_alloc_array(s.count, sizeof *s.tensors);
    s.names = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    s.count = 0;
    ln_status status = s.tensors && s.names ? visit_weights(walked, walk) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_tensor_file_save(path, format, s.tensors, s.count);
    if (status == LN_OK)
        *out_count = s.count;
    ln_hash_free(s.names);
    ln_free(s.tensors);
    return status;
}
