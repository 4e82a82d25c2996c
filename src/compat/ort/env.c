// SPDX-License-Identifier: Apache-2.0
// Environments, their threads, and what the library says about itself.

#include "compat/ort/ort.h"

#include <string.h>

// ---- Options of threads ----

typedef struct ort_threading {
    int threads;
} ort_threading;

static ort_status *CreateThreadingOptions(ort_threading **out)
{
    OUT(out, NULL);
    *out = ln_alloc(sizeof **out);
    return *out ? NULL : ort_fail_memory();
}

static void ReleaseThreadingOptions(ort_threading *options)
{
    ln_free(options);
}

// 0 and less are the default, as there.
static ort_status *SetGlobalIntraOpNumThreads(ort_threading *options, int count)
{
    NEED(options);
    options->threads = count > LN_MAX_THREADS ? LN_MAX_THREADS : count;
    return NULL;
}

// Operators run one after the other.
static ort_status *SetGlobalInterOpNumThreads(ort_threading *options, int count)
{
    (void)count;
    NEED(options);
    return NULL;
}

// Threads spin as LightNet has them do.
static ort_status *SetGlobalSpinControl(ort_threading *options, int allows)
{
    NEED(options);
    if (allows != 0 && allows != 1)
        return ort_fail(ORT_INVALID_ARGUMENT, "spin control %d is not 0 or 1", allows);
    return NULL;
}

// Subnormal numbers are kept: results are the same on every processor.
static ort_status *SetGlobalDenormalAsZero(ort_threading *options)
{
    NEED(options);
    return NULL;
}

// ---- Environments ----

// A context without a model has the threads.
static ort_status *make_threads(ort_env *env, int count)
{
    if (count <= 0)
        return NULL;
    env->threads = ln_context_create();
    if (!env->threads)
        return ort_fail_memory();
    return ln_context_set_threads(env->threads, (size_t)count) == LN_OK
               ? NULL
               : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

ort_status *ort_env_give_threads(ort_env *env, ln_context *ctx)
{
    if (!env->threads)
        return NULL;
    pthread_mutex_lock(&env->lock);
    ln_status status = ln_context_set_threads_of(ctx, env->threads);
    pthread_mutex_unlock(&env->lock);
    return status == LN_OK ? NULL : ort_fail_lightnet(ORT_FAIL);
}

static ort_status *env_new(int level, const char *id, ort_log_function function, void *user,
                           const ort_threading *threading, ort_env **out)
{
    if (ln_arch_init() != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    ort_log_start();
    size_t id_size = strlen(id) + 1;
    ort_env *env = ln_alloc(sizeof *env + id_size);
    if (!env)
        return ort_fail_memory();
    atomic_init(&env->holder_count, 1);
    atomic_init(&env->level, level);
    env->log = function;
    env->log_user = user;
    memcpy(env->id, id, id_size);
    pthread_mutex_init(&env->lock, NULL);
    ort_status *status = threading ? make_threads(env, threading->threads) : NULL;
    if (status) {
        ort_env_release(env);
        return status;
    }
    *out = env;
    return NULL;
}

ort_env *ort_env_retain(ort_env *env)
{
    atomic_fetch_add_explicit(&env->holder_count, 1, memory_order_relaxed);
    return env;
}

void ort_env_release(ort_env *env)
{
    if (!env || atomic_fetch_sub_explicit(&env->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    ln_context_free(env->threads);
    pthread_mutex_destroy(&env->lock);
    ln_free(env);
}

static ort_status *CreateEnv(int level, const char *id, ort_env **out)
{
    OUT(out, NULL);
    NEED(id);
    return env_new(level, id, NULL, NULL, NULL, out);
}

static ort_status *CreateEnvWithCustomLogger(ort_log_function function, void *user, int level,
                                             const char *id, ort_env **out)
{
    OUT(out, NULL);
    NEED(function);
    NEED(id);
    return env_new(level, id, function, user, NULL, out);
}

static ort_status *CreateEnvWithGlobalThreadPools(int level, const char *id,
                                                  const ort_threading *threading, ort_env **out)
{
    OUT(out, NULL);
    NEED(id);
    NEED(threading);
    return env_new(level, id, NULL, NULL, threading, out);
}

static ort_status *CreateEnvWithCustomLoggerAndGlobalThreadPools(ort_log_function function,
                                                                 void *user, int level,
                                                                 const char *id,
                                                                 const ort_threading *threading,
                                                                 ort_env **out)
{
    OUT(out, NULL);
    NEED(function);
    NEED(id);
    NEED(threading);
    return env_new(level, id, function, user, threading, out);
}

// As clients know it.
typedef struct ort_env_options {
    uint32_t version;
    int32_t level;
    const char *id;
    ort_log_function function;
    void *user;
    const ort_threading *threading;
} ort_env_options;

static ort_status *CreateEnvWithOptions(const ort_env_options *options, ort_env **out)
{
    OUT(out, NULL);
    NEED(options);
    NEED(options->id);
    return env_new(options->level, options->id, options->function, options->user,
                   options->threading, out);
}

// There is no telemetry.
static ort_status *accept_env(ort_env *env)
{
    NEED(env);
    return NULL;
}

static ort_status *SetLanguageProjection(const ort_env *env, int language)
{
    (void)language; // of use for telemetry alone
    NEED(env);
    return NULL;
}

static ort_status *UpdateEnvWithCustomLogLevel(ort_env *env, int level)
{
    NEED(env);
    atomic_store(&env->level, level);
    return NULL;
}

// ---- The library ----

static ort_status *GetAvailableProviders(char ***out, int *count)
{
    OUT(out, NULL);
    OUT(count, 0);
    static char *providers[] = {"CPUExecutionProvider", NULL};
    *out = providers;
    *count = 1;
    return NULL;
}

static ort_status *ReleaseAvailableProviders(char **providers, int count)
{
    (void)count;
    NEED(providers);
    return NULL;
}

static const char *GetBuildInfoString(void)
{
    return "ORT Build Info: LightNet " LN_VERSION;
}

const ort_row ort_env_slots[] = {
    SLOT(CreateThreadingOptions),
    SLOT(ReleaseThreadingOptions),
    SLOT(SetGlobalIntraOpNumThreads),
    SLOT(SetGlobalInterOpNumThreads),
    SLOT(SetGlobalSpinControl),
    SLOT(SetGlobalDenormalAsZero),
    SLOT(CreateEnv),
    SLOT(CreateEnvWithCustomLogger),
    SLOT(CreateEnvWithGlobalThreadPools),
    SLOT(CreateEnvWithCustomLoggerAndGlobalThreadPools),
    SLOT(CreateEnvWithOptions),
    SLOT_AS(EnableTelemetryEvents, accept_env),
    SLOT_AS(DisableTelemetryEvents, accept_env),
    SLOT_AS(ReleaseEnv, ort_env_release),
    SLOT(GetAvailableProviders),
    SLOT(ReleaseAvailableProviders),
    SLOT(SetLanguageProjection),
    SLOT(UpdateEnvWithCustomLogLevel),
    SLOT(GetBuildInfoString),
    SLOT_END,
};
