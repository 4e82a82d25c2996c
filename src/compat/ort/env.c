// SPDX-License-Identifier: Apache-2.0
// Environments, and what the library says about itself.

#include "compat/ort/ort.h"

static ort_status *CreateEnv(int level, const char *id, ort_env **out)
{
    OUT(out, NULL);
    NEED(id);
    if (ln_arch_init() != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    ort_env *env = malloc(sizeof *env);
    if (!env)
        return ort_fail_memory();
    env->level = level;
    *out = env;
    return NULL;
}

static ort_status *CreateEnvWithCustomLogger(void *function, void *user, int level, const char *id,
                                             ort_env **out)
{
    (void)user;
    OUT(out, NULL);
    NEED(function);
    return CreateEnv(level, id, out);
}

static void ReleaseEnv(ort_env *env)
{
    free(env);
}

static ort_status *accept_env(ort_env *env)
{
    NEED(env);
    return NULL;
}

static ort_status *SetLanguageProjection(const ort_env *env, int language)
{
    (void)language;
    NEED(env);
    return NULL;
}

static ort_status *UpdateEnvWithCustomLogLevel(ort_env *env, int level)
{
    NEED(env);
    env->level = level;
    return NULL;
}

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
    SLOT(CreateEnv),
    SLOT(CreateEnvWithCustomLogger),
    SLOT_AS(EnableTelemetryEvents, accept_env),
    SLOT_AS(DisableTelemetryEvents, accept_env),
    SLOT(ReleaseEnv),
    SLOT(GetAvailableProviders),
    SLOT(ReleaseAvailableProviders),
    SLOT(SetLanguageProjection),
    SLOT(UpdateEnvWithCustomLogLevel),
    SLOT(GetBuildInfoString),
    SLOT_END,
};
