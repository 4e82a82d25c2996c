// SPDX-License-Identifier: Apache-2.0
// Failures of a device's functions: their statuses are what a plug-in returns, and any number.

#include "base/error_state.h"

#include <stdio.h>

#define NAME(name, text) +1
enum { STATUS_COUNT = LN_STATUS_LIST(NAME) };
#undef NAME

// That the program has no more time, or cancels, is not a device's to tell.
static ln_status status_of(ln_status returned)
{
    bool is_known = (unsigned)returned < STATUS_COUNT && returned != LN_OK;
    return is_known && returned != LN_TIMEOUT && returned != LN_CANCELLED ? returned : LN_INTERNAL;
}

ln_status ln_fail_of_device(ln_status returned, const char *fmt, ...)
{
    char what[1024], number[48];
    ln_status status = status_of(returned);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    bool has_reason = ln_error_status() != LN_OK && *ln_error_message();
    snprintf(number, sizeof number, "it returns %d, which is not its to say", (int)returned);
    const char *text =
        returned == LN_INTERNAL ? "it returns LN_INTERNAL, and no reason" : ln_status_text(status);
    const char *reason = has_reason ? ln_error_message() : status == returned ? text : number;
    bool has_both = has_reason && status != returned;
    ln_fail(status, "%s: %s%s%s%s", what, reason, has_both ? " (" : "", has_both ? number : "",
            has_both ? ")" : "");
    return ln_error_note_device(status);
}
