// SPDX-License-Identifier: Apache-2.0
// The two halves of the plan checker, and how they name things in messages.

#ifndef LN_PLAN_CHECK_H
#define LN_PLAN_CHECK_H

#include <stdint.h>

#include <lightnet/plan.h>

// Messages say "'conv1.y' [128, 192)". Names are cut, so that a hostile one cannot hide the rest.
#define PLAN_VALUE         "'%.200s' [%zu, %zu)"
#define PLAN_VALUE_ARGS(v) (v)->name, (v)->offset, (v)->offset + (v)->byte_count
// What is at one offset in different spaces is apart.
#define PLAN_SPACE(v)      ((int)(v)->mtype + ((v)->is_load ? LN_MEM_TYPE_SIZE : 0))
#define PLAN_STEP          "step %u '%.200s'"

// Follows the steps and watches who owns which bytes. The records are sound one by one, `roots`
// holds for each value the one at the end of its chain of owners, and roots alive at the same
// declared step do not overlap.
ln_status ln_plan_replay(const ln_plan *plan, const uint32_t *roots);

#endif
