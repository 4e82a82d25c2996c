// SPDX-License-Identifier: Apache-2.0
// Options of sessions.

#include "compat/ort/ort.h"

#include <limits.h>
#include <string.h>

static ort_status *CreateSessionOptions(ort_session_options **out)
{
    OUT(out, NULL);
    *out = calloc(1, sizeof **out);
    return *out ? NULL : ort_fail_memory();
}

static void ReleaseSessionOptions(ort_session_options *options)
{
    if (!options)
        return;
    ort_pairs_free(options->entries);
    ort_pairs_free(options->symbols);
    free(options);
}

static ort_status *CloneSessionOptions(const ort_session_options *options,
                                       ort_session_options **out)
{
    OUT(out, NULL);
    NEED(options);
    ort_session_options *clone = calloc(1, sizeof *clone);
    if (!clone)
        return ort_fail_memory();
    clone->threads = options->threads;
    ort_status *status = NULL;
    for (ort_pair *p = options->entries; p && !status; p = p->next)
        if (!ort_pair_find(clone->entries, p->key))
            status = ort_pair_add(&clone->entries, p->key, p->value, p->number);
    for (ort_pair *p = options->symbols; p && !status; p = p->next)
        if (!ort_pair_find(clone->symbols, p->key))
            status = ort_pair_add(&clone->symbols, p->key, p->value, p->number);
    if (status) {
        ReleaseSessionOptions(clone);
        return status;
    }
    *out = clone;
    return NULL;
}

static ort_status *SetIntraOpNumThreads(ort_session_options *options, int count)
{
    NEED(options);
    if (count < 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "%d threads: has to be 0 (the default) or more",
                        count);
    options->threads = count;
    return NULL;
}

static ort_status *AddSessionConfigEntry(ort_session_options *options, const char *key,
                                         const char *value)
{
    NEED(options);
    NEED(key);
    NEED(value);
    if (!*key || strlen(key) > 1024 || strlen(value) > 8192)
        return ort_fail(ORT_INVALID_ARGUMENT, "a key has 1 to 1024 bytes, a value at most 8192");
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
        return ort_fail(ORT_FAIL, "there is no configuration entry '%s'", key);
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

ORT_EXPORT ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                                    int use_arena);
ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                         int use_arena)
{
    (void)use_arena;
    NEED(options);
    return NULL;
}

// Hints that ask for nothing that results depend on.
static ort_status *accept_options(ort_session_options *options)
{
    NEED(options);
    return NULL;
}

static ort_status *accept_number(ort_session_options *options, int number)
{
    (void)number;
    NEED(options);
    return NULL;
}

static ort_status *SetSessionGraphOptimizationLevel(ort_session_options *options, int level)
{
    NEED(options);
    if (level != 0 && level != 1 && level != 2 && level != 3 && level != 99)
        return ort_fail(ORT_INVALID_ARGUMENT, "optimization level %d is not 0, 1, 2, 3 or 99",
                        level);
    return NULL;
}

static ort_status *SetSessionLogId(ort_session_options *options, const char *id)
{
    NEED(options);
    NEED(id);
    return NULL;
}

static ort_status *SetDeterministicCompute(ort_session_options *options, bool value)
{
    (void)value; // results are the same from run to run in any case
    NEED(options);
    return NULL;
}

const ort_row ort_session_option_slots[] = {
    SLOT(CreateSessionOptions),
    SLOT(CloneSessionOptions),
    SLOT_AS(SetSessionExecutionMode, accept_number),
    SLOT_AS(DisableProfiling, accept_options),
    SLOT_AS(EnableMemPattern, accept_options),
    SLOT_AS(DisableMemPattern, accept_options),
    SLOT_AS(EnableCpuMemArena, accept_options),
    SLOT_AS(DisableCpuMemArena, accept_options),
    SLOT(SetSessionLogId),
    SLOT_AS(SetSessionLogVerbosityLevel, accept_number),
    SLOT_AS(SetSessionLogSeverityLevel, accept_number),
    SLOT(SetSessionGraphOptimizationLevel),
    SLOT(SetIntraOpNumThreads),
    SLOT_AS(SetInterOpNumThreads, accept_number),
    SLOT(ReleaseSessionOptions),
    SLOT(AddFreeDimensionOverrideByName),
    SLOT(AddSessionConfigEntry),
    SLOT(SessionOptionsAppendExecutionProvider),
    SLOT(HasSessionConfigEntry),
    SLOT(GetSessionConfigEntry),
    SLOT(SetDeterministicCompute),
    SLOT_END,
};
