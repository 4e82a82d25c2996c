// SPDX-License-Identifier: Apache-2.0
// Keeps the thread's failure while something is cleaned up: the reason of a failure must outlive
// the undoing that follows it, even if that calls functions which fail in their turn.

#ifndef LN_BASE_ERROR_STATE_H
#define LN_BASE_ERROR_STATE_H

#include <stdbool.h>

#include <lightnet/status.h>

typedef struct ln_error_state {
    ln_status status;
    bool is_of_device;
    char message[4096];
} ln_error_state;

void ln_error_save(ln_error_state *out_state);
void ln_error_restore(const ln_error_state *state);

// Notes that the failure that was recorded last is that of a device, and returns `status`.
ln_status ln_error_note_device(ln_status status);

// Whether it is, and nothing else has failed since.
bool ln_error_is_of_device(void);

// Records and returns the failure that a function of a device has returned, after its message if it
// has recorded one since the last `ln_error_clear`, else with what the status means. A number that
// is no status, LN_TIMEOUT and LN_CANCELLED, which are the program's, become LN_INTERNAL.
ln_status ln_fail_of_device(ln_status returned, const char *fmt, ...) LN_PRINTF(2, 3);

#endif
