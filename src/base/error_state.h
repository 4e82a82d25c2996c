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

#endif
