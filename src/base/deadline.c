// SPDX-License-Identifier: Apache-2.0
// The deadline of each thread.

#include "base/deadline.h"

#include <time.h>

static _Thread_local int64_t deadline;

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

bool ln_deadline_passed(void)
{
    return deadline != 0 && ln_now_ns() >= deadline;
}
