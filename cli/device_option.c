// SPDX-License-Identifier: Apache-2.0
// --device.

#include "device_option.h"

#include <string.h>

#define MAX_GIVEN 32

static const char *given[MAX_GIVEN];
static int given_count;
static int is_used[MAX_GIVEN], is_any_target;

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

static void copy_name(int at, char name[LN_MAX_NAME_LEN])
{
    size_t len = strcspn(given[at], ",");
    memcpy(name, given[at], len);
    name[len] = '\0';
}

// "echo:0" is "echo".
static size_t plain_len(const char *name, size_t len)
{
    return len > 2 && strncmp(name + len - 2, ":0", 2) == 0 ? len - 2 : len;
}

void device_option_note(const ln_context *ctx)
{
    for (const char *at = ln_context_target(ctx); at && *at; at += strspn(at, ",")) {
        size_t len = strcspn(at, ",");
        is_any_target = 1;
        for (int i = 0; i < given_count; i++) {
            size_t given_len = plain_len(given[i], strcspn(given[i], ","));
            if (given_len == plain_len(at, len) && strncmp(given[i], at, given_len) == 0)
                is_used[i] = 1;
        }
        at += len;
    }
}

void device_option_warn(void)
{
    char name[LN_MAX_NAME_LEN];
    for (int i = 0; i < given_count && is_any_target; i++) {
        if (is_used[i])
            continue;
        copy_name(i, name);
        say_warning("--device: no device '%s' is in the target; -t %s,cpu uses it", name, name);
    }
}

ln_status device_option_apply(ln_context *ctx)
{
    for (int i = 0; i < given_count; i++) {
        char name[LN_MAX_NAME_LEN];
        copy_name(i, name);
        if (ln_context_set_device_text(ctx, name, strchr(given[i], ',') + 1) != LN_OK)
            return ln_fail_prefix("--device");
    }
    return LN_OK;
}
