// SPDX-License-Identifier: Apache-2.0
// The wall clock.

#include <lightnet/util.h>

#include <time.h>

double ln_clock(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
