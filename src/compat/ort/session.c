// SPDX-License-Identifier: Apache-2.0
// Sessions: a program, and the names and types of its inputs and outputs.

#include "compat/ort/ort.h"

#include <string.h>
#include <unistd.h>

static void ReleaseSession(ort_session *session)
{
    if (!session)
        return;
    for (ort_idle *idle = session->idle; idle;) {
        ort_idle *next = idle->next;
        ln_session_free(idle->session);
        free(idle);
        idle = next;
    }
    ln_program_release(session->program);
    pthread_cond_destroy(&session->is_free);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

static ort_status *session_of(ln_context *ctx, const ort_session_options *options,
                              ort_session **out)
{
    for (ort_pair *p = options ? options->symbols : NULL; p; p = p->next)
        if (ort_pair_find(options->symbols, p->key) == p &&
            ln_context_set_symbol(ctx, p->key, (int)p->number) != LN_OK &&
            ln_error_status() != LN_NOT_FOUND)
            return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    if (options && options->threads > 0 &&
        ln_context_set_threads(ctx, (size_t)options->threads) != LN_OK)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    if (ln_context_compile(ctx, "cpu,ref") != LN_OK || ln_context_load(ctx, NULL) != LN_OK)
        return ort_fail_lightnet(ORT_INVALID_GRAPH);
    ort_session *session = calloc(1, sizeof *session);
    if (!session)
        return ort_fail_memory();
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->is_free, NULL);
    if (ln_program_create(ctx, &session->program) != LN_OK) {
        ort_status *status = ort_fail_lightnet(ORT_FAIL);
        ReleaseSession(session);
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
        return ort_fail(ORT_NO_SUCHFILE, "model '%s' is not there", path);
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return ort_fail_memory();
    ort_status *status = ln_context_init(ctx, path) == LN_OK ? session_of(ctx, options, out)
                                                             : ort_fail_lightnet(ORT_INVALID_GRAPH);
    ln_context_free(ctx);
    return status;
}

static ort_status *CreateSessionFromArray(const ort_env *env, const void *bytes, size_t byte_count,
                                          const ort_session_options *options, ort_session **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(bytes);
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return ort_fail_memory();
    ort_status *status = ln_context_init_mem(ctx, bytes, byte_count, NULL) == LN_OK
                             ? session_of(ctx, options, out)
                             : ort_fail_lightnet(ORT_INVALID_GRAPH);
    ln_context_free(ctx);
    return status;
}

const char *ort_end_name(const ort_session *session, bool is_output, size_t index)
{
    const char *name = NULL;
    if (is_output)
        (void)ln_program_output(session->program, index, &name, NULL);
    else
        (void)ln_program_input(session->program, index, &name, NULL);
    return name;
}

size_t ort_end_count(const ort_session *session, bool is_output)
{
    return is_output ? ln_program_output_count(session->program)
                     : ln_program_input_count(session->program);
}

bool ort_end_is(const ort_session *session, bool is_output, const char *name)
{
    for (size_t i = 0; i < ort_end_count(session, is_output); i++)
        if (strcmp(ort_end_name(session, is_output, i), name) == 0)
            return true;
    return false;
}

static ort_status *end_type(const ort_session *session, bool is_output, size_t index,
                            ort_type **out)
{
    OUT(out, NULL);
    NEED(session);
    const ln_program *program = session->program;
    const char *name = ort_end_name(session, is_output, index);
    if (!name)
        return ort_fail(ORT_INVALID_ARGUMENT, "index %zu, of %zu", index,
                        ort_end_count(session, is_output));
    ort_type *type = calloc(1, sizeof *type);
    if (!type)
        return ort_fail_memory();
    type->shape.type = ort_element_of(ln_program_tensor_dtype(program, name));
    type->kind = type->shape.type ? ORT_TENSOR : ORT_UNKNOWN;
    type->shape.ndim = ln_program_tensor_rank(program, name);
    for (int i = 0; i < type->shape.ndim; i++) {
        type->shape.dims[i] = ln_program_tensor_dim(program, name, i);
        const char *symbol = ln_program_tensor_symbol(program, name, i);
        if (symbol && !(type->shape.symbols[i] = strdup(symbol))) {
            ort_shape_clear(&type->shape);
            free(type);
            return ort_fail_memory();
        }
    }
    *out = type;
    return NULL;
}

static ort_status *end_text(const ort_session *session, bool is_output, size_t index,
                            ort_allocator *allocator, char **out)
{
    OUT(out, NULL);
    NEED(session);
    NEED(allocator);
    const char *name = ort_end_name(session, is_output, index);
    return name ? ort_copy_text(allocator, name, out)
                : ort_fail(ORT_INVALID_ARGUMENT, "index %zu, of %zu", index,
                           ort_end_count(session, is_output));
}

#define ENDS(count_slot, name_slot, type_slot, is_output)                                          \
    static ort_status *count_slot(const ort_session *session, size_t *out)                         \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(session);                                                                             \
        *out = ort_end_count(session, is_output);                                                  \
        return NULL;                                                                               \
    }                                                                                              \
    static ort_status *name_slot(const ort_session *session, size_t index,                         \
                                 ort_allocator *allocator, char **out)                             \
    {                                                                                              \
        return end_text(session, is_output, index, allocator, out);                                \
    }                                                                                              \
    static ort_status *type_slot(const ort_session *session, size_t index, ort_type **out)         \
    {                                                                                              \
        return end_type(session, is_output, index, out);                                           \
    }
ENDS(SessionGetInputCount, SessionGetInputName, SessionGetInputTypeInfo, false)
ENDS(SessionGetOutputCount, SessionGetOutputName, SessionGetOutputTypeInfo, true)

static ort_status *SessionGetOverridableInitializerCount(const ort_session *session, size_t *out)
{
    OUT(out, 0);
    NEED(session);
    return NULL;
}

const ort_row ort_session_slots[] = {
    SLOT(CreateSession),
    SLOT(CreateSessionFromArray),
    SLOT(SessionGetInputCount),
    SLOT(SessionGetOutputCount),
    SLOT(SessionGetOverridableInitializerCount),
    SLOT(SessionGetInputTypeInfo),
    SLOT(SessionGetOutputTypeInfo),
    SLOT(SessionGetInputName),
    SLOT(SessionGetOutputName),
    SLOT(ReleaseSession),
    SLOT_END,
};
