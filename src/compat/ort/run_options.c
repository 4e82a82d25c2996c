// SPDX-License-Identifier: Apache-2.0
// Options of runs.

#include "compat/ort/ort.h"

#include <string.h>

static ort_status *CreateRunOptions(ort_run_options **out)
{
    OUT(out, NULL);
    ort_run_options *options = ln_alloc(sizeof *options);
    ln_cancel *cancel = ln_cancel_create();
    if (!options || !cancel || pthread_mutex_init(&options->lock, NULL) != 0) {
        ln_cancel_release(cancel);
        ln_free(options);
        return ort_fail_memory();
    }
    options->cancel = cancel;
    options->severity = -1;
    *out = options;
    return NULL;
}

static void ReleaseRunOptions(ort_run_options *options)
{
    if (!options)
        return;
    ln_cancel_release(options->cancel);
    pthread_mutex_destroy(&options->lock);
    ort_pairs_free(options->entries);
    ln_free(options->tag);
    ln_free(options);
}

static ort_status *RunOptionsSetTerminate(ort_run_options *options)
{
    NEED(options);
    pthread_mutex_lock(&options->lock);
    ln_cancel_request(options->cancel);
    pthread_mutex_unlock(&options->lock);
    return NULL;
}

static ort_status *RunOptionsUnsetTerminate(ort_run_options *options)
{
    NEED(options);
    ln_cancel *cancel = ln_cancel_create();
    if (!cancel)
        return ort_fail_memory();
    pthread_mutex_lock(&options->lock);
    ln_cancel_release(options->cancel);
    options->cancel = cancel;
    pthread_mutex_unlock(&options->lock);
    return NULL;
}

#define RUN_FIELD(set, get, field)                                                                 \
    static ort_status *set(ort_run_options *options, int value)                                    \
    {                                                                                              \
        NEED(options);                                                                             \
        options->field = value;                                                                    \
        return NULL;                                                                               \
    }                                                                                              \
    static ort_status *get(const ort_run_options *options, int *out)                               \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(options);                                                                             \
        *out = options->field;                                                                     \
        return NULL;                                                                               \
    }
RUN_FIELD(RunOptionsSetRunLogVerbosityLevel, RunOptionsGetRunLogVerbosityLevel, verbosity)
RUN_FIELD(RunOptionsSetRunLogSeverityLevel, RunOptionsGetRunLogSeverityLevel, severity)

static ort_status *RunOptionsSetRunTag(ort_run_options *options, const char *tag)
{
    NEED(options);
    NEED(tag);
    char *copy = ln_strdup(tag);
    if (!copy)
        return ort_fail_memory();
    ln_free(options->tag);
    options->tag = copy;
    return NULL;
}

static ort_status *RunOptionsGetRunTag(const ort_run_options *options, const char **out)
{
    OUT(out, NULL);
    NEED(options);
    *out = options->tag ? options->tag : "";
    return NULL;
}

// Kept, and without effect: they are about arenas and devices, which there are none of.
static ort_status *AddRunConfigEntry(ort_run_options *options, const char *key, const char *value)
{
    NEED(options);
    NEED(key);
    NEED(value);
    if (!*key || strlen(key) > 1024 || strlen(value) > 8192)
        return ort_fail(ORT_INVALID_ARGUMENT, "a key has 1 to 1024 bytes, a value at most 8192");
    return ort_pair_add(&options->entries, key, value, 0);
}

static const char *GetRunConfigEntry(const ort_run_options *options, const char *key)
{
    const ort_pair *pair = options && key ? ort_pair_find(options->entries, key) : NULL;
    return pair ? pair->value : NULL;
}

static ort_status *RunOptionsDisableProfiling(ort_run_options *options)
{
    NEED(options);
    return NULL;
}

const ort_row ort_run_option_slots[] = {
    SLOT(CreateRunOptions),
    SLOT(RunOptionsSetRunLogVerbosityLevel),
    SLOT(RunOptionsSetRunLogSeverityLevel),
    SLOT(RunOptionsSetRunTag),
    SLOT(RunOptionsGetRunLogVerbosityLevel),
    SLOT(RunOptionsGetRunLogSeverityLevel),
    SLOT(RunOptionsGetRunTag),
    SLOT(RunOptionsSetTerminate),
    SLOT(RunOptionsUnsetTerminate),
    SLOT(ReleaseRunOptions),
    SLOT(AddRunConfigEntry),
    SLOT(GetRunConfigEntry),
    SLOT(RunOptionsDisableProfiling),
    SLOT_END,
};
