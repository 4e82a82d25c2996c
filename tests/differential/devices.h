// SPDX-License-Identifier: Apache-2.0
// Devices beside the host as sides: the two of the tests, with memory of their own, of which each
// takes a random part of the operators.

#ifndef LN_TESTS_DIFFERENTIAL_DEVICES_H
#define LN_TESTS_DIFFERENTIAL_DEVICES_H

#include <stddef.h>

#include "tests/random.h"

// Registers `echo` and `echo2`, which compute as `ref` does.
void devices_open(test_random *random);
void devices_close(void);

// A run of a group, or a wait, fails once.
void devices_fail(test_random *random);

// A target of two to five of echo, echo2, null, ref and cpu in random order, at least one of the
// last two, which may come first and leave nothing to a device.
void devices_draw_target(test_random *random, char *target, size_t len);

// What was opened, for who wants to run it again.
const char *devices_text(void);

#endif
