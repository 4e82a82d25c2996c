// SPDX-License-Identifier: Apache-2.0
// The devices `echo` and `echo2` of tests/echo/echo.h as a plug-in: what computes is a library of
// its own within it, whose messages are passed on to the host.
//
// LN_ECHO in the environment is a list of settings: "left_out=20 seed=7 seconds=-1 sync devices=2
// spoil=func0". "fail_run=2" and "fail_wait=2": the third such call fails.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>
#include <lightnet/plugin.h>

#include "tests/echo/echo.h"

static const ln_plugin_host *host;
static ln_arch inner;       // the functions of both
static ln_arch *devices[2]; // as the tests have them
static ln_arch archs[2];    // as the host does

static ln_status pass_on(ln_status status)
{
    if (status != LN_OK)
        host->fail(status, "%s", ln_error_message());
    return status;
}

static ln_status describe(void *priv, const ln_op *op)
{
    return pass_on(inner.describe(priv, op));
}

static ln_status evaluate(void *priv, const ln_op *const *ops, size_t count, double *out_seconds)
{
    return pass_on(inner.evaluate(priv, ops, count, out_seconds));
}

static ln_status prepare(void *priv, const ln_list *ops, void **out_group)
{
    return pass_on(inner.prepare(priv, ops, out_group));
}

static ln_status run(void *priv, void *group, tl_tensor *const *addresses)
{
    return pass_on(inner.run(priv, group, addresses));
}

static ln_status run_async(void *priv, void *group, tl_tensor *const *addresses)
{
    return pass_on(inner.run_async(priv, group, addresses));
}

static ln_status wait_for(void *priv, void *group, tl_tensor *const *addresses)
{
    return pass_on(inner.wait(priv, group, addresses));
}

static echo_settings read_settings(void)
{
    echo_settings settings = {ECHO_DEFAULTS};
    const char *text = getenv("LN_ECHO");
    for (; text && *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        static char name[64];
        unsigned number;
        double seconds;
        if (sscanf(text, "left_out=%u", &number) == 1)
            settings.left_out = number;
        else if (sscanf(text, "seed=%u", &number) == 1)
            settings.seed = number;
        else if (sscanf(text, "seconds=%lf", &seconds) == 1)
            settings.seconds = seconds;
        else if (sscanf(text, "devices=%u", &number) == 1)
            settings.device_count = (int)number;
        else if (sscanf(text, "devices=%u", &number) == 1)
            settings.device_count = (int)number;
        else if (sscanf(text, "fail_run=%u", &number) == 1)
            echo_fail(ECHO_RUN, (int)number);
        else if (sscanf(text, "fail_wait=%u", &number) == 1)
            echo_fail(ECHO_WAIT, (int)number);
        else if (sscanf(text, "spoil=%63s", name) == 1)
            settings.spoiled = name;
        else if (strncmp(text, "sync", strlen("sync")) == 0)
            settings.is_async = false;
    }
    return settings;
}

static ln_status open_devices(const ln_plugin_host *given)
{
    host = given;
    ln_status status = pass_on(ln_arch_init());
    echo_settings settings = read_settings();
    for (int i = 0; i < 2 && status == LN_OK; i++) {
        devices[i] = echo_create(&settings);
        inner = archs[i] = *devices[i];
        archs[i].describe = describe;
        archs[i].evaluate = inner.evaluate ? evaluate : NULL;
        archs[i].prepare = prepare;
        archs[i].run = inner.run ? run : NULL;
        archs[i].run_async = inner.run_async ? run_async : NULL;
        archs[i].wait = inner.wait ? wait_for : NULL;
        archs[i].doc = "the operators of ref, in memory of its own";
        status = host->arch_register_sized(&archs[i], sizeof archs[i]);
        settings.name = "echo2";
        settings.mtype = LN_MEM_CUDA;
        settings.seed += 1000;
    }
    return status;
}

static void close_devices(void)
{
    for (int i = 0; i < 2; i++)
        if (devices[i])
            echo_destroy(devices[i]);
    devices[0] = devices[1] = NULL;
    ln_arch_cleanup();
}

LN_PLUGIN_EXPORT const ln_plugin lightnet_plugin = {LN_PLUGIN_HEAD, .name = "echo",
                                                    .doc = "devices of the tests",
                                                    .open = open_devices, .close = close_devices};
