// SPDX-License-Identifier: Apache-2.0
// The budget of memory: compared with a plan before anything is allocated.

#ifndef LN_COMPILE_BUDGET_H
#define LN_COMPILE_BUDGET_H

#include <stddef.h>

#include <lightnet/plan.h>

// LN_LIMIT if the peak of one memory type is above `byte_count`; the message has the figures, and
// names the tensors that are largest where it peaks. Offsets and lifetimes are filled in.
ln_status ln_plan_check_budget(const ln_plan *plan, size_t byte_count);

#endif
