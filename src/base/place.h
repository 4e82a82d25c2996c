// SPDX-License-Identifier: Apache-2.0
// Where threads run, and keeping two of them on different processors.
//
// A scheduler that finds all processors busy leaves a thread where it was woken, which is where the
// thread that woke it runs: the two then take turns for as long as the others last, and what they
// share out is done by one at a time. On systems other than Linux nothing is known or done.

#ifndef LN_BASE_PLACE_H
#define LN_BASE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include <pthread.h>

#define LN_PLACE_UNKNOWN (-1)

// The processor that the calling thread runs on.
int ln_place_now(void);

// Forbids `thread` the processor `place`, and allows it `*barred`, the one that a call before has
// forbidden, if the calling thread may run there too. Does nothing and returns false where this
// leaves it fewer than `least` processors, or the system refuses.
bool ln_place_apart(pthread_t thread, int place, size_t least, int *barred);

#endif
