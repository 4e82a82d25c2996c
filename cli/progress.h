// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says what a command is doing, while it takes long.
//
//     progress_begin("converting %s", path);
//     for (size_t i = 0; i < count; i++) {
//         convert(i);
//         progress_set(i + 1, count);
//     }
//     progress_end();
//
// Nothing is shown in the first second, and nothing at all when standard error is no terminal. One
// activity at a time; all calls come from one thread.

#ifndef LN_CLI_PROGRESS_H
#define LN_CLI_PROGRESS_H

#include <stddef.h>

#include <lightnet/export.h>

// Starts an activity. A thread of its own shows it, so that one long call needs no more than this.
void progress_begin(const char *fmt, ...) LN_PRINTF(1, 2);

// How much is done, of how much; cheap.
void progress_set(size_t done, size_t total);

// Takes the line away. Without an activity it does nothing.
void progress_end(void);

// Takes the line away and keeps it away, for something else to be printed in between.
void progress_lock(void);
void progress_unlock(void);

#endif
