// SPDX-License-Identifier: Apache-2.0
// The priority of each thread's run.

#include "base/priority.h"

static _Thread_local int current;

int ln_priority_set(int priority)
{
    int before = current;
    current = priority;
    return before;
}

int ln_priority_get(void)
{
    return current;
}
