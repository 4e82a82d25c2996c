// SPDX-License-Identifier: Apache-2.0
// Work of the host while devices compute.

#ifndef LN_PASS_OVERLAP_H
#define LN_PASS_OVERLAP_H

#include "pass/pass.h"

// Part of the pass `schedule`: puts operators of the host that do not depend on an asynchronous
// group between its start and a `wait` for it. The list stays as it is where there are none.
ln_status ln_overlap(ln_compilation *compilation);

#endif
