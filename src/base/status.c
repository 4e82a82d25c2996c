// SPDX-License-Identifier: Apache-2.0
// The last failure of each thread: a code and one message in a fixed buffer.
//
// Recording a failure must work when memory is gone, so nothing here allocates.

#include <lightnet/status.h>

#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

#include "base/error_state.h"

#define MESSAGE_BYTES sizeof((ln_error_state *)0)->message

static _Thread_local ln_status last_status = LN_OK;
static _Thread_local bool is_of_device;
static _Thread_local char last_message[MESSAGE_BYTES];

static const struct {
    const char *name;
    const char *text;
} statuses[] = {
#define STATUS_ROW(name, text) {#name, text},
    LN_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

#define STATUS_COUNT (sizeof statuses / sizeof statuses[0])

const char *ln_status_name(ln_status status)
{
    return (size_t)status < STATUS_COUNT ? statuses[status].name : "LN_UNKNOWN";
}

const char *ln_status_text(ln_status status)
{
    return (size_t)status < STATUS_COUNT ? statuses[status].text : "unknown status";
}

const char *ln_error_message(void)
{
    return last_message;
}

ln_status ln_error_status(void)
{
    return last_status;
}

void ln_error_clear(void)
{
    last_status = LN_OK;
    is_of_device = false;
    last_message[0] = '\0';
}

void ln_vfail(ln_status status, const char *fmt, va_list ap)
{
    // Arguments may point into the old message, so the new one is made beside it.
    char message[MESSAGE_BYTES];
    vsnprintf(message, sizeof message, fmt, ap);
    // Messages quote files, which must not steer the terminal that shows them.
    ln_sprint_safe(last_message, sizeof last_message, message);
    last_status = status;
    is_of_device = false;
}

void ln_fail(ln_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_vfail(status, fmt, ap);
    va_end(ap);
}

ln_status ln_fail_prefix(const char *fmt, ...)
{
    char prefix[MESSAGE_BYTES / 4];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    bool was_of_device = is_of_device;
    ln_fail(last_status, "%s: %s", prefix, last_message);
    is_of_device = was_of_device;
    return last_status;
}

ln_status ln_error_note_device(ln_status status)
{
    is_of_device = status != LN_OK;
    return status;
}

bool ln_error_is_of_device(void)
{
    return is_of_device;
}

void ln_error_save(ln_error_state *out_state)
{
    out_state->status = last_status;
    out_state->is_of_device = is_of_device;
    strcpy(out_state->message, last_message);
}

void ln_error_restore(const ln_error_state *state)
{
    last_status = state->status;
    is_of_device = state->is_of_device;
    strcpy(last_message, state->message);
}
