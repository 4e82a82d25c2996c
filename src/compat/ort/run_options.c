// SPDX-License-Identifier: Apache-2.0
// Options of runs.

#include "compat/ort/ort.h"

#include <string.h>

static ort_status *CreateRunOptions(ort_run_options **out)
{
    OUT(out, NULL);
    ort_run_options *options = calloc(1, sizeof *options);
    ln_cancel *cancel = ln_cancel_create();
    if (!options || !cancel || pthread_mutex_init(&options->lock, NULL) != 0) {
        ln_cancel_release(cancel);
        free(options);
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
    free(options->tag);
    free(options);
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
    char *copy = strdup(tag);
    if (!copy)
        return ort_fail_memory();
    free(options->tag);
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
    SLOT_END,
};
