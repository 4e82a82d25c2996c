// SPDX-License-Identifier: Apache-2.0
// The registry of serializers, and the way from an operator in a file to an operator in a context.

#include <lightnet/serializer.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/param.h>
#include <lightnet/spelling.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

#include "base/registry.h"
#include "base/sized.h"
#include "serial/choose.h"
#include "serial/unknown_types.h"
#include "tensor/foreign.h"

static const char *name_of(const void *item)
{
    return ((const ln_serializer *)item)->name;
}

static ln_registry serializers = LN_REGISTRY_INIT("serializer", name_of);

// Held by whoever reads or writes a model. Nobody waits for it to be free: a reader that
// unregisters would wait for itself.
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER;

void ln_serializers_enter(void)
{
    (void)pthread_rwlock_rdlock(&in_use);
}

void ln_serializers_leave(void)
{
    (void)pthread_rwlock_unlock(&in_use);
}

// ---- Operator loaders ----

typedef struct loader_row {
    char *optype;
    int version;
    ln_op_loader loader;
    void *user;
} loader_row;

typedef struct ln_op_loader_table {
    loader_row *rows;
    size_t count;
} ln_op_loader_table;

static pthread_mutex_t loaders_lock = PTHREAD_MUTEX_INITIALIZER;

static loader_row *find_row(const ln_serializer *serializer, const char *optype, int version)
{
    const ln_op_loader_table *table = serializer->loaders;
    for (size_t i = 0; table && i < table->count; i++) {
        if (table->rows[i].version == version && ln_streq(table->rows[i].optype, optype))
            return &table->rows[i];
    }
    return NULL;
}

static ln_status add_row(ln_serializer *serializer, const char *optype, int version,
                         ln_op_loader loader, void *user)
{
    if (find_row(serializer, optype, version))
        return LN_FAIL(LN_EXISTS, "serializer '%s' has a loader for '%s' version %d already",
                       serializer->name, optype, version);
    if (!serializer->loaders) {
        serializer->loaders = ln_alloc(sizeof *serializer->loaders);
        if (!serializer->loaders)
            return LN_NO_MEMORY;
    }
    ln_op_loader_table *table = serializer->loaders;
    loader_row *rows = ln_realloc(table->rows, (table->count + 1) * sizeof *rows);
    if (!rows)
        return LN_NO_MEMORY;
    table->rows = rows;
    char *copy = ln_strdup(optype);
    if (!copy)
        return LN_NO_MEMORY;
    rows[table->count++] =
        (loader_row){.optype = copy, .version = version, .loader = loader, .user = user};
    return LN_OK;
}

static void free_loaders(ln_serializer *serializer)
{
    ln_op_loader_table *table = serializer->loaders;
    for (size_t i = 0; table && i < table->count; i++)
        ln_free(table->rows[i].optype);
    if (table)
        ln_free(table->rows);
    ln_free(table);
    serializer->loaders = NULL;
}

ln_status ln_serializer_register_op_loader(ln_serializer *serializer, const char *optype,
                                           int version, ln_op_loader loader, void *user)
{
    if (!serializer || !optype || !loader)
        return LN_FAIL(LN_INVALID, "an operator loader needs a serializer, a type and a function");
    serializer = ln_sized_whole(serializer);
    pthread_mutex_lock(&loaders_lock);
    ln_status status = add_row(serializer, optype, version, loader, user);
    pthread_mutex_unlock(&loaders_lock);
    return status;
}

ln_status ln_serializer_unregister_op_loader(ln_serializer *serializer, const char *optype,
                                             int version)
{
    if (!serializer || !optype)
        return LN_FAIL(LN_INVALID, "an operator loader is named by a serializer and a type");
    if (pthread_rwlock_trywrlock(&in_use) != 0)
        return LN_FAIL(LN_STATE,
                       "the loader for '%s' may be in use: a model is being read or written; wait "
                       "until that is done",
                       optype);
    serializer = ln_sized_whole(serializer);
    pthread_mutex_lock(&loaders_lock);
    loader_row *row = find_row(serializer, optype, version);
    if (row) {
        ln_op_loader_table *table = serializer->loaders;
        ln_free(row->optype);
        *row = table->rows[--table->count];
        if (table->count == 0)
            free_loaders(serializer);
    }
    pthread_mutex_unlock(&loaders_lock);
    (void)pthread_rwlock_unlock(&in_use);
    return row ? LN_OK
               : LN_FAIL(LN_NOT_FOUND, "serializer '%s' has no loader for '%s' version %d",
                         serializer->name, optype, version);
}

// ---- The registry ----

static ln_status add_serializer(ln_serializer *serializer)
{
    LN_TRY(ln_registry_add(&serializers, serializer));
    ln_status status = serializer->init ? serializer->init(serializer) : LN_OK;
    if (status != LN_OK)
        (void)ln_registry_remove(&serializers, serializer->name, NULL);
    return status;
}

ln_status ln_serializer_register_sized(ln_serializer *serializer, size_t byte_count)
{
    if (!serializer)
        return LN_FAIL(LN_INVALID, "cannot register a NULL serializer");
    void *whole;
    size_t least = LN_SIZE_UP_TO(ln_serializer, extensions);
    LN_TRY(
        ln_sized_adopt(serializer, byte_count, sizeof *serializer, least, "ln_serializer", &whole));
    ln_status status = add_serializer(whole);
    if (status != LN_OK)
        (void)ln_sized_give_back(whole);
    return status;
}

// For programs that were linked before the structure's size came along.
ln_status(ln_serializer_register)(ln_serializer *serializer)
{
    return ln_serializer_register_sized(serializer, LN_SIZE_UP_TO(ln_serializer, rules));
}

static void close_serializer(ln_serializer *serializer)
{
    if (serializer->release)
        serializer->release(serializer);
    pthread_mutex_lock(&loaders_lock);
    free_loaders(serializer);
    pthread_mutex_unlock(&loaders_lock);
    (void)ln_sized_give_back(serializer);
}

ln_status ln_serializer_unregister(const char *name)
{
    void *serializer;
    if (pthread_rwlock_trywrlock(&in_use) != 0)
        return LN_FAIL(
            LN_STATE,
            "serializer '%s' may be in use: a model is being read or written; wait until "
            "that is done",
            name ? name : "(null)");
    ln_status status = ln_registry_remove(&serializers, name, &serializer);
    (void)pthread_rwlock_unlock(&in_use);
    LN_TRY(status);
    close_serializer(serializer);
    return LN_OK;
}

ln_serializer *ln_serializer_find(const char *name)
{
    return ln_registry_find(&serializers, name);
}

ln_serializer *ln_serializer_find_at(size_t index)
{
    return ln_registry_find_at(&serializers, index);
}

size_t ln_serializer_count(void)
{
    return ln_registry_count(&serializers);
}

void ln_serializer_release(void)
{
    ln_serializer *serializer;
    while ((serializer = ln_registry_pop(&serializers)))
        close_serializer(serializer);
}

static ln_serializer *probe(const char *path, const char *bytes, size_t byte_count, int *out_score)
{
    ln_serializer *best = NULL, *serializer;
    *out_score = 0;
    for (size_t i = 0; (serializer = ln_serializer_find_at(i)); i++) {
        int score = serializer->probe ? serializer->probe(serializer, path, bytes, byte_count) : 0;
        if (score > *out_score) {
            best = serializer;
            *out_score = score;
        }
    }
    return best;
}

ln_serializer *ln_serializer_probe(const char *path, const char *bytes, size_t byte_count)
{
    int score;
    return probe(path, bytes, byte_count, &score);
}

// "onnx (.onnx), ir (.json)": the formats that have a reader.
static void list_readers(char *buffer, size_t size)
{
    const ln_serializer *serializer;
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; (serializer = ln_serializer_find_at(i)) && used < size; i++) {
        if (!serializer->load_file && !serializer->load_mem)
            continue;
        int has_extension = serializer->extensions && serializer->extensions[0];
        int len =
            snprintf(buffer + used, size - used, "%s%s%s%s%s", used ? ", " : "", serializer->name,
                     has_extension ? " (" : "", has_extension ? serializer->extensions[0] : "",
                     has_extension ? ")" : "");
        used += len < 0 ? 0 : (size_t)len;
    }
}

ln_status ln_serializer_choose(const char *path, const char *bytes, size_t byte_count,
                               const char *name, ln_serializer **out_serializer)
{
    int score;
    *out_serializer = probe(path, bytes, byte_count, &score);
    if (score >= LN_PROBE_SURE)
        return LN_OK;
    const ln_foreign *foreign = ln_foreign_find(path, bytes, byte_count);
    if (foreign)
        return LN_FAIL(LN_UNSUPPORTED, "%s: this is %s, not a model that LightNet reads; %s", name,
                       foreign->what, foreign->remedy);
    if (*out_serializer)
        return LN_OK;
    if (ln_serializer_count() == 0)
        return LN_FAIL(LN_STATE, "%s: no format is registered; call ln_arch_init first", name);
    if (byte_count == 0)
        return LN_FAIL(LN_SYNTAX, "%s: the model is empty (0 bytes)", name);
    char readers[512];
    list_readers(readers, sizeof readers);
    return LN_FAIL(LN_UNSUPPORTED, "%s: no reader knows this format; the formats of models are %s",
                   name, readers);
}

ln_serializer *ln_serializer_for_path(const char *path)
{
    ln_serializer *serializer;
    for (size_t i = 0; path && (serializer = ln_serializer_find_at(i)); i++) {
        const char *const *extension = serializer->extensions;
        for (; serializer->write && extension && *extension; extension++) {
            if (ln_suffixed(path, *extension))
                return serializer;
        }
    }
    return NULL;
}

// ---- Operators of a file ----

// The arch that alone computes the type, which it calls by its own name as well; NULL: none does.
static const ln_arch *find_only_arch(const char *optype)
{
    char variant[LN_MAX_NAME_LEN];
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++) {
        int len = snprintf(variant, sizeof variant, "%s_%s", optype, arch->arch_name);
        if (len < (int)sizeof variant && ln_op_find(variant))
            return arch;
    }
    return NULL;
}

static ln_status fail_unknown(const ln_context *ctx, const ln_op_source *source)
{
    static const char remedy[] = "; compile the model that it came from again";
    const ln_arch *arch = find_only_arch(source->optype);
    ln_nearest nearest = ln_nearest_to(source->optype);
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        ln_nearest_try(&nearest, op->op_arg->optype);
    if (arch)
        ln_fail(LN_UNSUPPORTED, "operator '%s': type '%s' is of arch '%s' alone, as '%s_%s'%s",
                source->name, source->optype, arch->arch_name, source->optype, arch->arch_name,
                remedy);
    else
        ln_fail(LN_UNSUPPORTED, "operator '%s': type '%s' is not registered%s%s%s", source->name,
                source->optype,
                ctx->compiled  ? remedy
                : nearest.name ? "; did you mean '"
                               : "; `lightnet ops` lists what is",
                nearest.name && !ctx->compiled ? nearest.name : "",
                nearest.name && !ctx->compiled ? "'?" : "");
    return source->place ? ln_fail_prefix("%s", source->place) : LN_UNSUPPORTED;
}

static ln_status add_from_proto(ln_context *ctx, const ln_op_source *source, const ln_op *proto)
{
    ln_op *op = ln_op_create_from_proto(proto, source->name, NULL, NULL, NULL, ctx->tensor_table);
    if (!op)
        return ln_error_status();
    ln_op_arg *arg = op->op_arg;
    arg->tensors_in = ln_tensor_list_copy(source->tensors_in);
    arg->tensors_out = ln_tensor_list_copy(source->tensors_out);
    arg->params = source->own_params ? source->params : ln_param_list_copy(source->params);
    if (source->own_params)
        *source->own_params = NULL;
    arg->place = ln_strdup(source->place);

    int is_whole = (arg->tensors_in || !source->tensors_in) &&
                   (arg->tensors_out || !source->tensors_out) && (arg->params || !source->params) &&
                   (arg->place || !source->place);
    ln_status status = is_whole ? ln_context_append_op(ctx, op) : LN_NO_MEMORY;
    if (status != LN_OK)
        ln_op_free_lists_too(op);
    return status;
}

static loader_row find_loader(ln_serializer *serializer, const char *optype, int version)
{
    loader_row row = {0};
    if (!serializer)
        return row;
    pthread_mutex_lock(&loaders_lock);
    const loader_row *found = find_row(serializer, optype, version);
    if (!found)
        found = find_row(serializer, optype, 0);
    if (found)
        row = *found;
    pthread_mutex_unlock(&loaders_lock);
    return row;
}

int ln_serializer_knows(ln_serializer *serializer, const char *optype)
{
    return find_loader(serializer, optype, 0).loader != NULL || ln_op_find(optype) != NULL;
}

static ln_status add_source(ln_serializer *serializer, ln_context *ctx, const ln_op_source *source)
{
    if (!ctx || !source->name || !source->optype)
        return LN_FAIL(LN_INVALID, "an operator needs a context, a name and a type");

    loader_row row = find_loader(serializer, source->optype, source->version);
    if (row.loader) {
        ln_op_source lent = *source; // with other parameters, it may be what the loader adds
        lent.own_params = NULL;
        return row.loader(serializer, ctx, &lent, row.user);
    }

    const ln_op *proto = ln_op_find(source->optype);
    if (!proto)
        return fail_unknown(ctx, source);
    return add_from_proto(ctx, source, proto);
}

ln_status ln_serializer_add_op_sized(ln_serializer *serializer, ln_context *ctx,
                                     const ln_op_source *source, size_t byte_count)
{
    if (!source)
        return LN_FAIL(LN_INVALID, "an operator needs a context, a name and a type");
    ln_op_source whole = {0};
    size_t least = LN_SIZE_UP_TO(ln_op_source, place);
    LN_TRY(ln_sized_read(&whole, sizeof whole, source, byte_count, least, "ln_op_source"));
    if (whole.own_params)
        whole.params = *whole.own_params;
    return add_source(serializer, ctx, &whole);
}

// For programs that were linked before the structure's size came along.
ln_status(ln_serializer_add_op)(ln_serializer *serializer, ln_context *ctx,
                                const ln_op_source *source)
{
    return ln_serializer_add_op_sized(serializer, ctx, source, LN_SIZE_UP_TO(ln_op_source, place));
}
