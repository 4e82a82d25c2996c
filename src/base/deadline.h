// SPDX-License-Identifier: Apache-2.0
// A time after which, or a request on which, what this thread does is no longer wanted.
//
// Whoever starts a run sets them and fails the run once one has come; both never go back. What
// happens in between need not fail: a long loop that asks leaves early, and what it has not written
// is never read.

#ifndef LN_BASE_DEADLINE_H
#define LN_BASE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/cancel.h>
#include <lightnet/export.h>

LN_CPPSTART

// Nanoseconds of a clock that never goes back.
int64_t ln_now_ns(void);

// Sets the deadline of this thread on that clock; 0: none. Returns the one before.
int64_t ln_deadline_set(int64_t deadline_ns);
int64_t ln_deadline_get(void);

// Sets the request that this thread looks at, borrowed; NULL: none. Returns the one before.
const ln_cancel *ln_cancel_watch(const ln_cancel *cancel);
const ln_cancel *ln_cancel_watched(void);

// Whether the deadline has passed or the end was requested. Costs a few nanoseconds without a
// deadline, some tens with one.
bool ln_deadline_passed(void);

// The same for loops whose turns are short, such as one element: looks in one of 4096 turns.
static inline bool ln_deadline_passed_at(size_t turn)
{
    return (turn & 4095) == 0 && ln_deadline_passed();
}

LN_CPPEND

#endif
