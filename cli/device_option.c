// SPDX-License-Identifier: Apache-2.0
// --device.

#include "device_option.h"

#include <string.h>

#define MAX_GIVEN 32

static const char *given[MAX_GIVEN];
static int given_count;

int take_device(void *unused, const char *verb, const char *text)
{
    (void)unused;
    size_t len = strcspn(text, ",");
    if (len == 0 || len >= LN_MAX_NAME_LEN || !text[len] || !text[len + 1])
        return say_usage_error(
            verb,
            "--device: '%s' is not NAME,OPTION=VALUE,...; the target, such as -t "
            "cpu, says which device computes",
            text);
    if (given_count == MAX_GIVEN)
        return say_usage_error(verb, "--device: %d are the most", MAX_GIVEN);
    given[given_count++] = text;
    return EXIT_OK;
}

ln_status device_option_apply(ln_context *ctx)
{
    for (int i = 0; i < given_count; i++) {
        char name[LN_MAX_NAME_LEN];
        size_t len = strcspn(given[i], ",");
        memcpy(name, given[i], len);
        name[len] = '\0';
        if (ln_context_set_device_text(ctx, name, given[i] + len + 1) != LN_OK)
            return ln_fail_prefix("--device");
    }
    return LN_OK;
}
