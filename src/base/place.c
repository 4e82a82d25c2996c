// SPDX-License-Identifier: Apache-2.0
// Affinity masks of Linux.

#define _GNU_SOURCE // sched_getcpu, masks of processors

#include "base/place.h"

#include <sched.h>

#ifdef __linux__

int ln_place_now(void)
{
    return sched_getcpu();
}

bool ln_place_apart(pthread_t thread, int place, size_t least, int *barred)
{
    cpu_set_t own, mask;
    if (place < 0 || place >= CPU_SETSIZE ||
        pthread_getaffinity_np(pthread_self(), sizeof own, &own) != 0 ||
        pthread_getaffinity_np(thread, sizeof mask, &mask) != 0)
        return false;
    if (*barred >= 0 && CPU_ISSET(*barred, &own))
        CPU_SET(*barred, &mask);
    CPU_CLR(place, &mask);
    if ((size_t)CPU_COUNT(&mask) < least || pthread_setaffinity_np(thread, sizeof mask, &mask) != 0)
        return false;
    *barred = place;
    return true;
}

#else

int ln_place_now(void)
{
    return LN_PLACE_UNKNOWN;
}

bool ln_place_apart(pthread_t thread, int place, size_t least, int *barred)
{
    (void)thread, (void)place, (void)least, (void)barred;
    return false;
}

#endif
