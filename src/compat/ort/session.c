// SPDX-License-Identifier: Apache-2.0
// Sessions: how they are created, and the names and types of their inputs and outputs.

#include "compat/ort/ort.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/ort/wire.h"

// ---- Life ----

static void ends_free(ort_ends *ends)
{
    for (size_t i = 0; i < ends->count; i++) {
        ln_free(ends->items[i].name);
        ort_type_free(ends->items[i].type);
        ln_object_release(ends->items[i].first);
    }
    ln_free(ends->items);
}

static void runners_free(ort_runners *runners)
{
    while (runners->idle) {
        ort_idle *idle = runners->idle;
        runners->idle = idle->next;
        ln_session_free(idle->session);
        ln_free(idle);
    }
    ln_program_release(runners->program);
}

ort_session *ort_session_retain(ort_session *session)
{
    atomic_fetch_add_explicit(&session->holder_count, 1, memory_order_relaxed);
    return session;
}

void ort_session_release(ort_session *session)
{
    if (!session || atomic_fetch_sub_explicit(&session->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    runners_free(&session->runners);
    runners_free(&session->replacing);
    ln_context_free(session->ready);
    ends_free(&session->inputs);
    ends_free(&session->outputs);
    ends_free(&session->initializers);
    ln_free(session->log_id);
    ort_nodes_free(session->nodes); // after what runs them
    ln_free(session->kept);         // after what reads it
    ort_profile_close(session->profile);
    ort_env_release(session->env);
    pthread_cond_destroy(&session->is_free);
    pthread_mutex_destroy(&session->lock);
    ln_free(session);
}

static ort_status *session_new(ort_env *env, const ort_session_options *options, ort_session **out)
{
    ort_session *session = ln_alloc(sizeof *session);
    if (!session)
        return ort_fail_memory();
    atomic_init(&session->holder_count, 1);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->is_free, NULL);
    session->env = ort_env_retain(env);
    bool has_log = options && options->log;
    session->log = has_log ? options->log : env->log;
    session->log_user = has_log ? options->log_user : env->log_user;
    session->severity = options ? options->severity : -1;
    session->log_id = ln_strdup(options && options->log_id ? options->log_id : env->id);
    if (!session->log_id) {
        ort_session_release(session);
        return ort_fail_memory();
    }
    *out = session;
    return NULL;
}

// ---- Reading the model ----

typedef struct source {
    const char *path; // NULL: from memory
    const void *bytes;
    size_t byte_count;
    void *owned; // `bytes`, if they were made here
} source;

static ort_status *read_file(source *model)
{
    FILE *file = fopen(model->path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void *bytes = size >= 0 && fseek(file, 0, SEEK_SET) == 0 ? ln_alloc((size_t)size + 1) : NULL;
    bool is_read = bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    if (file)
        fclose(file);
    if (!is_read) {
        ln_free(bytes);
        return ort_fail(ORT_FAIL, "cannot read '%s'", model->path);
    }
    model->owned = bytes;
    model->bytes = bytes;
    model->byte_count = (size_t)size;
    return NULL;
}

static ort_status *replace_initializers(source *model, const ort_initializer *first)
{
    void *replaced;
    size_t byte_count;
    if (!model->bytes)
        TRY(read_file(model));
    TRY(ort_initializers_replace(first, model->bytes, model->byte_count, &replaced, &byte_count));
    ln_free(model->owned);
    model->owned = replaced;
    model->bytes = replaced;
    model->byte_count = byte_count;
    return NULL;
}

static ort_status *take_custom_nodes(source *model, ort_session *session,
                                     const ort_session_options *options)
{
    void *rewritten;
    size_t byte_count;
    if (!model->bytes)
        TRY(read_file(model));
    TRY(ort_nodes_take(session->env, options, model->bytes, model->byte_count, &session->nodes,
                       &rewritten, &byte_count));
    if (!rewritten)
        return NULL;
    ln_free(model->owned);
    model->owned = rewritten;
    model->bytes = rewritten;
    model->byte_count = byte_count;
    return NULL;
}

// Files with weights are beside a model that was a file.
static ort_status *set_folder(ln_context *ctx, const source *model,
                              const ort_session_options *options)
{
    const ort_pair *entry =
        options ? ort_pair_find(options->entries,
                                "session.model_external_initializers_file_folder_path")
                : NULL;
    const char *slash = model->path ? strrchr(model->path, '/') : NULL;
    char *folder = NULL;
    if (entry)
        folder = ln_strdup(entry->value);
    else if (model->path)
        folder = slash ? ln_strdup_printf("%.*s", (int)(slash - model->path + 1), model->path)
                       : ln_strdup(".");
    else
        return NULL;
    if (!folder)
        return ort_fail_memory();
    ln_status status = ln_context_set_folder(ctx, folder);
    ln_free(folder);
    return status == LN_OK ? NULL : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

// The client's bytes may go once the session is there.
static ort_status *add_files(ln_context *ctx, ort_session *session, const ort_file *first)
{
    size_t byte_count = 0;
    for (const ort_file *f = first; f; f = f->next) {
        if (f->byte_count > SIZE_MAX / 2 - byte_count - LN_MEM_ALIGN)
            return ort_fail_memory();
        byte_count += (f->byte_count + LN_MEM_ALIGN - 1) / LN_MEM_ALIGN * LN_MEM_ALIGN;
    }
    char *at = session->kept = ln_alloc(byte_count + 1);
    if (!at)
        return ort_fail_memory();
    for (const ort_file *f = first; f; f = f->next) {
        if (f->byte_count > 0)
            memcpy(at, f->bytes, f->byte_count);
        if (ln_context_add_file(ctx, f->name, at, f->byte_count) != LN_OK)
            return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
        at += (f->byte_count + LN_MEM_ALIGN - 1) / LN_MEM_ALIGN * LN_MEM_ALIGN;
    }
    return NULL;
}

static ort_status *fail_load(ort_code invalid)
{
    return ln_error_status() == LN_CANCELLED
               ? ort_status_new(ORT_MODEL_LOAD_CANCELED, ln_error_message())
               : ort_fail_lightnet(invalid);
}

// Bytes that are no model at all are what LightNet has no reader for. A model that can be looked
// into has operators that it does not know, or a graph that is none.
static ort_status *fail_read(const source *model)
{
    ort_status *status = fail_load(ORT_INVALID_GRAPH);
    if (ln_error_status() != LN_UNSUPPORTED)
        return status;
    ln_preflight *report = NULL;
    bool is_model =
        (model->bytes ? ln_preflight_create_mem(model->bytes, model->byte_count, NULL, &report)
                      : ln_preflight_create(model->path, &report)) == LN_OK;
    ln_preflight_destroy(report);
    ort_status *other = ort_status_new(is_model ? ORT_INVALID_GRAPH : ORT_INVALID_PROTOBUF,
                                       ort_status_text(status));
    ort_status_free(status);
    return other;
}

static ort_status *take_options(ln_context *ctx, ort_session *session, source *model,
                                const ort_session_options *options)
{
    if (options)
        (void)ln_context_set_cancel(ctx, options->cancel);
    if (options && options->files)
        TRY(add_files(ctx, session, options->files));
    if (options && options->initializers)
        TRY(replace_initializers(model, options->initializers));
    if (options && options->customs)
        TRY(take_custom_nodes(model, session, options));
    return set_folder(ctx, model, options);
}

static ort_status *read_model(ln_context *ctx, const source *model)
{
    ln_status status = model->bytes
                           ? ln_context_init_mem(ctx, model->bytes, model->byte_count, model->path)
                           : ln_context_init(ctx, model->path);
    return status == LN_OK ? NULL : fail_read(model);
}

static ort_status *set_options(ln_context *ctx, const ort_session *session,
                               const ort_session_options *options)
{
    for (const ort_pair *p = options ? options->symbols : NULL; p; p = p->next)
        if (ln_context_set_symbol(ctx, p->key, (int)p->number) != LN_OK &&
            ln_error_status() != LN_NOT_FOUND)
            return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    if (options && options->threads_of) {
        if (ln_context_set_threads_of(ctx, options->threads_of) != LN_OK)
            return ort_fail_lightnet(ORT_FAIL);
    } else if (options && options->uses_threads_of_env)
        return ort_env_give_threads(session->env, ctx);
    if (options && options->threads > 0 &&
        ln_context_set_threads(ctx, (size_t)options->threads) != LN_OK)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    return NULL;
}

// A file that is not there, beside `path`, whose name says that it is ONNX.
static char *free_name(const char *path)
{
    char *name = ln_strdup_printf("%s.onnx", path);
    for (int i = 1; name && access(name, F_OK) == 0; i++) {
        ln_free(name);
        name = ln_strdup_printf("%s.%d.onnx", path, i);
    }
    return name;
}

// The model as it was read, with the values of options in it, as ONNX whatever the name.
static ort_status *write_model(const ln_context *ctx, const ort_session *session, const char *path)
{
    if (session->nodes)
        return ort_fail(ORT_NOT_IMPLEMENTED, "a model with custom operators cannot be written");
    size_t len = strlen(path);
    if (len > 5 && strcmp(path + len - 5, ".onnx") == 0)
        return ln_context_print(ctx, path) == LN_OK ? NULL : ort_fail_lightnet(ORT_FAIL);
    char *with_end = free_name(path);
    if (!with_end)
        return ort_fail_memory();
    ort_status *status = NULL;
    if (ln_context_print(ctx, with_end) != LN_OK) {
        status = ort_fail_lightnet(ORT_FAIL);
    } else if (rename(with_end, path) != 0) {
        status = ort_fail(ORT_FAIL, "cannot write '%s'", path);
        remove(with_end);
    }
    ln_free(with_end);
    return status;
}

static ort_status *make_program(ln_context *ctx, ln_program **out)
{
    if (ln_context_compile(ctx, "cpu,ref") != LN_OK || ln_context_load(ctx, NULL) != LN_OK)
        return fail_load(ORT_INVALID_GRAPH);
    return ln_program_create(ctx, out) == LN_OK ? NULL : fail_load(ORT_FAIL);
}

// ---- Inputs and outputs ----

const ort_end *ort_end_find(const ort_ends *ends, const char *name)
{
    for (size_t i = 0; i < ends->count; i++)
        if (strcmp(ends->items[i].name, name) == 0)
            return &ends->items[i];
    return NULL;
}

// What LightNet knows only as an object is in the file as a sequence, a map or an optional.
typedef struct stated {
    const source *model;
    ln_preflight *report;
    bool was_asked;
} stated;

static const char *stated_type(stated *of, const char *name)
{
    if (!of->was_asked) {
        of->was_asked = true;
        (void)(of->model->bytes ? ln_preflight_create_mem(of->model->bytes, of->model->byte_count,
                                                          NULL, &of->report)
                                : ln_preflight_create(of->model->path, &of->report));
    }
    for (size_t i = 0; of->report && i < of->report->output_count; i++)
        if (strcmp(of->report->outputs[i].name, name) == 0)
            return of->report->outputs[i].type;
    for (size_t i = 0; of->report && i < of->report->input_count; i++)
        if (strcmp(of->report->inputs[i].name, name) == 0)
            return of->report->inputs[i].type;
    return "";
}

static bool set_shape(ort_shape *shape, const ln_context *ctx, const ln_program *program,
                      const char *name)
{
    shape->ndim = ctx ? ln_context_tensor_rank(ctx, name) : ln_program_tensor_rank(program, name);
    for (int i = 0; i < shape->ndim; i++) {
        shape->dims[i] =
            ctx ? ln_context_tensor_dim(ctx, name, i) : ln_program_tensor_dim(program, name, i);
        bool is_dynamic = !ctx && shape->dims[i] < 0; // what is bound is a number alone
        const char *symbol = is_dynamic ? ln_program_tensor_symbol(program, name, i) : NULL;
        if (symbol && !(shape->symbols[i] = ln_strdup(symbol)))
            return false;
    }
    return true;
}

// Of `ctx`, or of the program if that is NULL.
static ort_status *end_init(ort_end *end, const char *name, const ln_context *ctx,
                            const ln_program *program, stated *of)
{
    int element = ort_element_of(ctx ? ln_context_tensor_dtype(ctx, name)
                                     : ln_program_tensor_dtype(program, name));
    end->name = ln_strdup(name);
    end->type = element ? ort_type_new(ORT_TENSOR) : ort_type_parse(stated_type(of, name));
    if (!end->name || !end->type)
        return ort_fail_memory();
    if (element) {
        end->type->shape.type = element;
        if (!set_shape(&end->type->shape, ctx, program, name))
            return ort_fail_memory();
    }
    return NULL;
}

static ort_status *ends_init(ort_ends *ends, size_t count)
{
    ends->items = ln_alloc_array(count + 1, sizeof *ends->items);
    if (!ends->items)
        return ort_fail_memory();
    ends->count = count;
    return NULL;
}

static ort_status *note_ends(ort_session *session, stated *of)
{
    const ln_program *program = session->runners.program;
    const ln_model_info *info = ln_program_info(program);
    const char *name;
    TRY(ends_init(&session->inputs, ln_program_input_count(program)));
    TRY(ends_init(&session->outputs, ln_program_output_count(program)));
    for (size_t i = 0; i < session->inputs.count; i++) {
        (void)ln_program_input(program, i, &name, NULL);
        TRY(end_init(&session->inputs.items[i], name, NULL, program, of));
    }
    for (size_t i = 0; i < session->outputs.count; i++) {
        (void)ln_program_output(program, i, &name, NULL);
        TRY(end_init(&session->outputs.items[i], name, NULL, program, of));
    }
    if (!session->ready)
        return NULL;
    TRY(ends_init(&session->initializers, info->default_count));
    for (size_t i = 0; i < info->default_count; i++)
        TRY(end_init(&session->initializers.items[i], info->defaults[i], session->ready, NULL, of));
    return NULL;
}

// ---- Creating ----

// LightNet's 0 is one that is stated, or none.
static int64_t version_of(const ln_model_info *info, const source *model)
{
    bool is_stated =
        info->version != 0 || (model->bytes ? ort_states_version(model->bytes, model->byte_count)
                                            : ort_file_states_version(model->path));
    return is_stated ? info->version : INT64_MAX;
}

static ort_status *fill(ln_context *ctx, ort_session *session, const source *model,
                        const ort_session_options *options)
{
    TRY(read_model(ctx, model));
    TRY(set_options(ctx, session, options));
    if (options && options->written_path && *options->written_path)
        TRY(write_model(ctx, session, options->written_path));
    if (ln_context_info(ctx)->default_count > 0 && ln_context_clone(ctx, &session->ready) != LN_OK)
        return fail_load(ORT_FAIL);
    TRY(make_program(ctx, &session->runners.program));
    session->version = version_of(ln_program_info(session->runners.program), model);
    stated of = {.model = model};
    ort_status *status = note_ends(session, &of);
    ln_preflight_destroy(of.report);
    return status ? status : ort_nodes_start(session->nodes, &session->initializers);
}

static ort_status *take_and_fill(ln_context *ctx, ort_session *session, source *model,
                                 const ort_session_options *options)
{
    ort_scope scope;
    if (options && options->profile)
        TRY(ort_profile_open(options->profile, &session->profile));
    int64_t began = ort_profile_now(session->profile);
    TRY(take_options(ctx, session, model, options));
    ort_scope_enter(&scope, session->nodes, true);
    TRY(ort_scope_leave(&scope, fill(ctx, session, model, options)));
    ort_profile_note(session->profile, "session_initialization", began);
    return NULL;
}

static ort_status *create(const ort_env *env, source *model, const ort_session_options *options,
                          ort_session **out)
{
    ort_session *session;
    TRY(session_new((ort_env *)(uintptr_t)env, options, &session));
    const ort_logger logger = {session->log, session->log_user,
                               session->severity >= 0 ? session->severity
                                                      : atomic_load(&session->env->level),
                               session->log_id};
    const ort_logger *before = ort_log_to(&logger);
    ln_context *ctx = ln_context_create();
    ort_status *status =
        ort_log_failure(ctx ? take_and_fill(ctx, session, model, options) : ort_fail_memory());
    ort_log_to(before);
    ln_context_free(ctx);
    ln_free(model->owned);
    if (status) {
        ort_session_release(session);
        return status;
    }
    *out = session;
    return NULL;
}

static ort_status *CreateSession(const ort_env *env, const char *path,
                                 const ort_session_options *options, ort_session **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(path);
    if (access(path, F_OK) != 0)
        return ort_fail(ORT_NO_SUCHFILE, "there is no file '%s'", path);
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return ort_fail(ORT_INVALID_ARGUMENT, "'%s' is a folder, not a model", path);
    return create(env, &(source){.path = path}, options, out);
}

ort_status *ort_session_create(const ort_env *env, const void *bytes, size_t byte_count,
                               const ort_session_options *options, ort_session **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(bytes);
    if (byte_count == 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "the model has no bytes");
    return create(env, &(source){.bytes = bytes, .byte_count = byte_count}, options, out);
}

// Initializers become inputs, whose first values are what runs use that do not give them.
ort_status *ort_session_make_replacing(ort_session *session)
{
    ln_context *ctx;
    if (ln_context_clone(session->ready, &ctx) != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    ln_program *program = NULL;
    ln_session *first = NULL;
    ort_status *status = NULL;
    for (size_t i = 0; i < session->initializers.count && !status; i++)
        if (ln_context_make_input(ctx, session->initializers.items[i].name) != LN_OK)
            status = ort_fail_lightnet(ORT_FAIL);
    if (!status)
        status = make_program(ctx, &program);
    if (!status && ln_session_create(program, &first) != LN_OK)
        status = ort_fail_lightnet(ORT_FAIL);
    for (size_t i = 0; i < session->initializers.count && !status; i++) {
        ort_end *end = &session->initializers.items[i];
        if (!end->first && ln_session_get_object(first, end->name, &end->first) != LN_OK)
            status = ort_fail_lightnet(ORT_FAIL);
    }
    ln_session_free(first);
    ln_context_free(ctx);
    if (status) {
        ln_program_release(program);
        return status;
    }
    session->replacing.program = program;
    return NULL;
}

// ---- Weights that sessions would share: each has its own, in the layout of its kernels ----

typedef struct ort_prepacked {
    char none;
} ort_prepacked;

static ort_status *CreatePrepackedWeightsContainer(ort_prepacked **out)
{
    OUT(out, NULL);
    *out = ln_alloc(sizeof **out);
    return *out ? NULL : ort_fail_memory();
}

static void ReleasePrepackedWeightsContainer(ort_prepacked *container)
{
    ln_free(container);
}

static ort_status *CreateSessionWithPrepackedWeightsContainer(const ort_env *env, const char *path,
                                                              const ort_session_options *options,
                                                              ort_prepacked *container,
                                                              ort_session **out)
{
    OUT(out, NULL);
    NEED(container);
    return CreateSession(env, path, options, out);
}

static ort_status *CreateSessionFromArrayWithPrepackedWeightsContainer(
    const ort_env *env, const void *bytes, size_t byte_count, const ort_session_options *options,
    ort_prepacked *container, ort_session **out)
{
    OUT(out, NULL);
    NEED(container);
    return ort_session_create(env, bytes, byte_count, options, out);
}

// ---- Asked by clients ----

static ort_status *find_end(const ort_ends *ends, size_t index, const ort_end **out)
{
    if (index >= ends->count)
        return ort_fail(ORT_FAIL, "index %zu, of %zu", index, ends->count);
    *out = &ends->items[index];
    return NULL;
}

static ort_status *copy_name(const ort_ends *ends, size_t index, ort_allocator *allocator,
                             char **out)
{
    const ort_end *end;
    NEED(allocator);
    TRY(find_end(ends, index, &end));
    return ort_copy_text(allocator, end->name, out);
}

static ort_status *copy_type(const ort_ends *ends, size_t index, ort_type **out)
{
    const ort_end *end;
    TRY(find_end(ends, index, &end));
    *out = ort_type_copy(end->type);
    return *out ? NULL : ort_fail_memory();
}

#define ENDS(count_slot, name_slot, type_slot, ends)                                               \
    static ort_status *count_slot(const ort_session *session, size_t *out)                         \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(session);                                                                             \
        *out = session->ends.count;                                                                \
        return NULL;                                                                               \
    }                                                                                              \
    static ort_status *name_slot(const ort_session *session, size_t index,                         \
                                 ort_allocator *allocator, char **out)                             \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(session);                                                                             \
        return copy_name(&session->ends, index, allocator, out);                                   \
    }                                                                                              \
    static ort_status *type_slot(const ort_session *session, size_t index, ort_type **out)         \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(session);                                                                             \
        return copy_type(&session->ends, index, out);                                              \
    }
ENDS(SessionGetInputCount, SessionGetInputName, SessionGetInputTypeInfo, inputs)
ENDS(SessionGetOutputCount, SessionGetOutputName, SessionGetOutputTypeInfo, outputs)
ENDS(SessionGetOverridableInitializerCount, SessionGetOverridableInitializerName,
     SessionGetOverridableInitializerTypeInfo, initializers)

static ort_status *list_memory(const ort_ends *ends, const ort_memory **out, size_t count)
{
    if (count > 0)
        NEED(out);
    if (count != ends->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu descriptions for %zu inputs or outputs", count,
                        ends->count);
    for (size_t i = 0; i < count; i++)
        out[i] = ort_cpu();
    return NULL;
}

static ort_status *SessionGetMemoryInfoForInputs(const ort_session *session, const ort_memory **out,
                                                 size_t count)
{
    NEED(session);
    return list_memory(&session->inputs, out, count);
}

static ort_status *SessionGetMemoryInfoForOutputs(const ort_session *session,
                                                  const ort_memory **out, size_t count)
{
    NEED(session);
    return list_memory(&session->outputs, out, count);
}

const ort_row ort_session_slots[] = {
    SLOT(CreateSession),
    SLOT_AS(CreateSessionFromArray, ort_session_create),
    SLOT(CreatePrepackedWeightsContainer),
    SLOT(ReleasePrepackedWeightsContainer),
    SLOT(CreateSessionWithPrepackedWeightsContainer),
    SLOT(CreateSessionFromArrayWithPrepackedWeightsContainer),
    SLOT_AS(ReleaseSession, ort_session_release),
    SLOT(SessionGetInputCount),
    SLOT(SessionGetInputName),
    SLOT(SessionGetInputTypeInfo),
    SLOT(SessionGetOutputCount),
    SLOT(SessionGetOutputName),
    SLOT(SessionGetOutputTypeInfo),
    SLOT(SessionGetOverridableInitializerCount),
    SLOT(SessionGetOverridableInitializerName),
    SLOT(SessionGetOverridableInitializerTypeInfo),
    SLOT(SessionGetMemoryInfoForInputs),
    SLOT(SessionGetMemoryInfoForOutputs),
    SLOT_END,
};
