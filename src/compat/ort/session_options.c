// SPDX-License-Identifier: Apache-2.0
// Options of sessions. What has no effect says why beside it.

#include "compat/ort/ort.h"

#include <limits.h>
#include <string.h>

// ---- Life ----

static ort_status *CreateSessionOptions(ort_session_options **out)
{
    OUT(out, NULL);
    ort_session_options *options = ln_alloc(sizeof *options);
    if (!options)
        return ort_fail_memory();
    options->severity = -1;
    options->cancel = ln_cancel_create();
    if (!options->cancel) {
        ln_free(options);
        return ort_fail_memory();
    }
    *out = options;
    return NULL;
}

static void ReleaseSessionOptions(ort_session_options *options)
{
    if (!options)
        return;
    ort_pairs_free(options->entries);
    ort_pairs_free(options->symbols);
    ort_initializers_free(options->initializers);
    ort_files_free(options->files);
    ort_customs_free(options->customs);
    ln_cancel_release(options->cancel);
    ln_free(options->log_id);
    ln_free(options->written_path);
    ln_free(options->profile);
    ln_free(options);
}

static ort_status *copy_owned(ort_session_options *to, const ort_session_options *from)
{
    to->log_id = ln_strdup(from->log_id);
    to->written_path = ln_strdup(from->written_path);
    to->profile = ln_strdup(from->profile);
    if ((from->log_id && !to->log_id) || (from->written_path && !to->written_path) ||
        (from->profile && !to->profile))
        return ort_fail_memory();
    TRY(ort_pairs_copy(&to->entries, from->entries));
    TRY(ort_pairs_copy(&to->symbols, from->symbols));
    TRY(ort_files_copy(&to->files, from->files));
    TRY(ort_customs_copy(&to->customs, from->customs));
    return ort_initializers_copy(&to->initializers, from->initializers);
}

static ort_status *CloneSessionOptions(const ort_session_options *options,
                                       ort_session_options **out)
{
    OUT(out, NULL);
    NEED(options);
    ort_session_options *clone = ln_alloc(sizeof *clone);
    if (!clone)
        return ort_fail_memory();
    *clone = *options;
    clone->entries = clone->symbols = NULL;
    clone->initializers = NULL;
    clone->files = NULL;
    clone->customs = NULL;
    clone->cancel = ln_cancel_retain(options->cancel);
    ort_status *status = copy_owned(clone, options);
    if (status) {
        ReleaseSessionOptions(clone);
        return status;
    }
    *out = clone;
    return NULL;
}

// ---- Threads ----

// 0 and less are the default, as there.
static ort_status *SetIntraOpNumThreads(ort_session_options *options, int count)
{
    NEED(options);
    options->threads = count > LN_MAX_THREADS ? LN_MAX_THREADS : count;
    return NULL;
}

// Operators run one after the other, in either mode.
static ort_status *SetInterOpNumThreads(ort_session_options *options, int count)
{
    (void)count;
    NEED(options);
    return NULL;
}

static ort_status *SetSessionExecutionMode(ort_session_options *options, int mode)
{
    NEED(options);
    if (mode != 0 && mode != 1)
        return ort_fail(ORT_INVALID_ARGUMENT, "execution mode %d is not 0 or 1", mode);
    options->mode = mode;
    return NULL;
}

static ort_status *GetSessionExecutionMode(const ort_session_options *options, int *out)
{
    OUT(out, 0);
    NEED(options);
    *out = options->mode;
    return NULL;
}

static ort_status *DisablePerSessionThreads(ort_session_options *options)
{
    NEED(options);
    options->uses_threads_of_env = true;
    return NULL;
}

// ---- Rewriting ----

// Levels differ in speed there; here rewriting is how a model comes to fast kernels at all.
static ort_status *SetSessionGraphOptimizationLevel(ort_session_options *options, int level)
{
    NEED(options);
    if (level != 0 && level != 1 && level != 2 && level != 3 && level != 99)
        return ort_fail(ORT_INVALID_ARGUMENT, "optimization level %d is not 0, 1, 2, 3 or 99",
                        level);
    return NULL;
}

static ort_status *set_text(char **text, const char *value)
{
    char *copy = ln_strdup(value);
    if (!copy)
        return ort_fail_memory();
    ln_free(*text);
    *text = copy;
    return NULL;
}

// What rewriting makes has operators of this library alone: the model as it was read is written.
static ort_status *SetOptimizedModelFilePath(ort_session_options *options, const char *path)
{
    NEED(options);
    NEED(path);
    return set_text(&options->written_path, path);
}

// Results are the same from run to run in any case.
static ort_status *SetDeterministicCompute(ort_session_options *options, bool value)
{
    (void)value;
    NEED(options);
    return NULL;
}

// ---- Memory: each session plans its own, whatever is asked for here ----

static ort_status *EnableMemPattern(ort_session_options *options)
{
    NEED(options);
    options->has_no_mem_pattern = false;
    return NULL;
}

static ort_status *DisableMemPattern(ort_session_options *options)
{
    NEED(options);
    options->has_no_mem_pattern = true;
    return NULL;
}

static ort_status *GetMemPatternEnabled(const ort_session_options *options, int *out)
{
    OUT(out, 0);
    NEED(options);
    *out = !options->has_no_mem_pattern;
    return NULL;
}

static ort_status *accept_options(ort_session_options *options)
{
    NEED(options);
    return NULL;
}

// ---- Profiles ----

static ort_status *EnableProfiling(ort_session_options *options, const char *prefix)
{
    NEED(options);
    NEED(prefix);
    return set_text(&options->profile, prefix);
}

static ort_status *DisableProfiling(ort_session_options *options)
{
    NEED(options);
    ln_free(options->profile);
    options->profile = NULL;
    return NULL;
}

// ---- Messages ----

static ort_status *SetSessionLogId(ort_session_options *options, const char *id)
{
    NEED(options);
    NEED(id);
    return set_text(&options->log_id, id);
}

static ort_status *SetSessionLogSeverityLevel(ort_session_options *options, int severity)
{
    NEED(options);
    options->severity = severity;
    return NULL;
}

// There is one kind of verbose message.
static ort_status *SetSessionLogVerbosityLevel(ort_session_options *options, int level)
{
    (void)level;
    NEED(options);
    return NULL;
}

static ort_status *SetUserLoggingFunction(ort_session_options *options, ort_log_function function,
                                          void *user)
{
    NEED(options);
    NEED(function);
    options->log = function;
    options->log_user = user;
    return NULL;
}

// ---- Entries ----

// Those that ask for what is not there; docs/onnxruntime.md lists what is honoured.
static ort_status *check_entry(const char *key, const char *value)
{
    if (!*key || strlen(key) > 1024 || strlen(value) > 8192)
        return ort_fail(ORT_INVALID_ARGUMENT, "a key has 1 to 1024 bytes, a value at most 8192");
    bool is_refused =
        (strcmp(key, "session.load_model_format") == 0 && strcmp(value, "ORT") == 0) ||
        strcmp(key, "session.save_model_format") == 0 ||
        (strcmp(key, "ep.context_enable") == 0 && strcmp(value, "1") == 0) ||
        strcmp(key, "session.intra_op_thread_affinities") == 0;
    return is_refused ? ort_fail(ORT_NOT_IMPLEMENTED,
                                 "liblightnet-ort: AddSessionConfigEntry does not implement "
                                 "'%s' = '%s'",
                                 key, value)
                      : NULL;
}

static ort_status *AddSessionConfigEntry(ort_session_options *options, const char *key,
                                         const char *value)
{
    NEED(options);
    NEED(key);
    NEED(value);
    TRY(check_entry(key, value));
    return ort_pair_add(&options->entries, key, value, 0);
}

static ort_status *HasSessionConfigEntry(const ort_session_options *options, const char *key,
                                         int *out)
{
    OUT(out, 0);
    NEED(options);
    NEED(key);
    *out = ort_pair_find(options->entries, key) != NULL;
    return NULL;
}

static ort_status *GetSessionConfigEntry(const ort_session_options *options, const char *key,
                                         char *value, size_t *size)
{
    NEED(options);
    NEED(key);
    NEED(size);
    const ort_pair *pair = ort_pair_find(options->entries, key);
    if (!pair)
        return ort_fail(ORT_INVALID_ARGUMENT, "there is no configuration entry '%s'", key);
    size_t needed = strlen(pair->value) + 1, given = *size;
    *size = needed;
    if (!value)
        return NULL;
    if (given < needed)
        return ort_fail(ORT_INVALID_ARGUMENT, "entry '%s' has %zu bytes, the buffer has %zu", key,
                        needed, given);
    memcpy(value, pair->value, needed);
    return NULL;
}

static ort_status *GetSessionOptionsConfigEntries(const ort_session_options *options,
                                                  ort_pairs **out)
{
    OUT(out, NULL);
    NEED(options);
    return ort_pairs_new(options->entries, out);
}

// ---- Models ----

static ort_status *AddFreeDimensionOverrideByName(ort_session_options *options, const char *name,
                                                  int64_t dim)
{
    NEED(options);
    NEED(name);
    if (dim < 0 || dim > INT_MAX)
        return ort_fail(ORT_INVALID_ARGUMENT, "dimension '%s' is %lld: has to be 0 to %d", name,
                        (long long)dim, INT_MAX);
    return ort_pair_add(&options->symbols, name, "", dim);
}

// A request that is taken back is for sessions that are created later.
static ort_status *SessionOptionsSetLoadCancellationFlag(ort_session_options *options, bool cancel)
{
    NEED(options);
    if (cancel) {
        ln_cancel_request(options->cancel);
        return NULL;
    }
    if (!ln_cancel_is_requested(options->cancel))
        return NULL;
    ln_cancel *fresh = ln_cancel_create();
    if (!fresh)
        return ort_fail_memory();
    ln_cancel_release(options->cancel);
    options->cancel = fresh;
    return NULL;
}

// ---- Execution providers ----

static ort_status *SessionOptionsAppendExecutionProvider(ort_session_options *options,
                                                         const char *name, const char *const *keys,
                                                         const char *const *values, size_t count)
{
    (void)keys, (void)values, (void)count;
    NEED(options);
    NEED(name);
    if (strcmp(name, "CPU") == 0 || strcmp(name, "CPUExecutionProvider") == 0)
        return NULL;
    return ort_fail(ORT_INVALID_ARGUMENT,
                    "execution provider '%s' is not known; there is CPUExecutionProvider", name);
}

ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                         int use_arena)
{
    (void)use_arena;
    NEED(options);
    return NULL;
}

const ort_row ort_session_option_slots[] = {
    SLOT(CreateSessionOptions),
    SLOT(ReleaseSessionOptions),
    SLOT(CloneSessionOptions),
    SLOT(SetIntraOpNumThreads),
    SLOT(SetInterOpNumThreads),
    SLOT(SetSessionExecutionMode),
    SLOT(GetSessionExecutionMode),
    SLOT(DisablePerSessionThreads),
    SLOT(SetSessionGraphOptimizationLevel),
    SLOT(SetOptimizedModelFilePath),
    SLOT(SetDeterministicCompute),
    SLOT(EnableMemPattern),
    SLOT(DisableMemPattern),
    SLOT(GetMemPatternEnabled),
    SLOT_AS(EnableCpuMemArena, accept_options),
    SLOT_AS(DisableCpuMemArena, accept_options),
    SLOT(EnableProfiling),
    SLOT(DisableProfiling),
    SLOT(SetSessionLogId),
    SLOT(SetSessionLogSeverityLevel),
    SLOT(SetSessionLogVerbosityLevel),
    SLOT(SetUserLoggingFunction),
    SLOT(AddSessionConfigEntry),
    SLOT(HasSessionConfigEntry),
    SLOT(GetSessionConfigEntry),
    SLOT(GetSessionOptionsConfigEntries),
    SLOT(AddFreeDimensionOverrideByName),
    SLOT(SessionOptionsSetLoadCancellationFlag),
    SLOT(SessionOptionsAppendExecutionProvider),
    SLOT_END,
};
