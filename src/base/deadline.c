// SPDX-License-Identifier: Apache-2.0
// The deadline of each thread, and the request that it looks at.

#include "base/deadline.h"

#include <time.h>

static _Thread_local int64_t deadline;
static _Thread_local const ln_cancel *watched;

int64_t ln_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ln_deadline_set(int64_t deadline_ns)
{
    int64_t before = deadline;
    deadline = deadline_ns;
    return before;
}

int64_t ln_deadline_get(void)
{
    return deadline;
}

const ln_cancel *ln_cancel_watch(const ln_cancel *cancel)
{
    const ln_cancel *before = watched;
    watched = cancel;
    return before;
}

const ln_cancel *ln_cancel_watched(void)
{
    return watched;
}

bool ln_deadline_passed(void)
{
    return (watched && ln_cancel_is_requested(watched)) ||
           (deadline != 0 && ln_now_ns() >= deadline);
}
