// SPDX-License-Identifier: Apache-2.0
// Drawing devices and targets.

#include "tests/differential/devices.h"

#include <stdio.h>
#include <string.h>

#include "tests/echo/echo.h"

static ln_arch *opened[2];
static char text[160];

void devices_open(test_random *random)
{
    echo_settings settings = {ECHO_DEFAULTS};
    text[0] = '\0';
    for (int i = 0; i < 2; i++) {
        settings.name = i ? "echo2" : "echo";
        settings.mtype = i ? LN_MEM_CUDA : LN_MEM_DPU;
        settings.is_async = test_random_below(random, 3) != 0;
        settings.shares_main = test_random_below(random, 6) == 0;
        settings.left_out = (unsigned)test_random_below(random, 50);
        settings.seed = test_random_below(random, 1000);
        opened[i] = echo_open(&settings);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s left_out=%u seed=%u%s%s; ", settings.name,
                 settings.left_out, (unsigned)settings.seed, settings.is_async ? "" : " sync",
                 settings.shares_main ? " in main memory" : "");
    }
}

void devices_fail(test_random *random)
{
    echo_fail(test_random_below(random, 2) ? ECHO_RUN : ECHO_WAIT,
              (int)test_random_below(random, 3));
}

void devices_close(void)
{
    echo_fail(ECHO_NOTHING, 0);
    for (int i = 2; i-- > 0;)
        echo_close(opened[i]);
}

const char *devices_text(void)
{
    return text;
}

static bool is_host(const char *arch)
{
    return strcmp(arch, "ref") == 0 || strcmp(arch, "cpu") == 0;
}

static void swap(const char **a, const char **b)
{
    const char *was = *a;
    *a = *b;
    *b = was;
}

void devices_draw_target(test_random *random, char *target, size_t len)
{
    const char *archs[] = {"echo", "echo2", "null", "ref", "cpu"};
    const size_t count = sizeof archs / sizeof archs[0];
    for (size_t i = count; i-- > 1;)
        swap(&archs[i], &archs[test_random_below(random, i + 1)]);
    if (test_random_below(random, 6) != 0) // the host first leaves nothing to others
        for (size_t i = 0, end = count; i < end;)
            is_host(archs[i]) ? swap(&archs[i], &archs[--end]) : (void)i++;
    size_t wanted = 2 + test_random_below(random, count - 1);
    bool has_host = false;
    target[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i >= wanted && (has_host || !is_host(archs[i])))
            continue;
        has_host = has_host || is_host(archs[i]);
        size_t used = strlen(target);
        snprintf(target + used, len - used, "%s%s", used ? "," : "", archs[i]);
    }
}
