// SPDX-License-Identifier: Apache-2.0
// Layout: from values and steps to a whole plan, ready for the checker.
//
// Ties liveness and arena together: one static region and one workspace for each memory type, as
// lightnet/plan.h draws them.

#ifndef LN_PLAN_LAYOUT_H
#define LN_PLAN_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/plan.h>
#include <lightnet/status.h>

// Fills in `offset`, `first_step`, `last_step` and `owner` of all values, and the totals.
// `owners[i]` is the index of the value that value i is in, or i; a view's `offset` says on entry
// how many bytes after the start of that owner it begins. `owner` borrows the owner's name.
// Static values are in the order of the list, one after the other.
// LN_INVALID for records that contradict each other, LN_LIMIT when the sizes overflow; the values
// are then unchanged.
ln_status ln_plan_layout(ln_plan_value *values, const uint32_t *owners, size_t value_count,
                         const ln_plan_step *steps, size_t step_count,
                         ln_plan_totals totals[LN_MEM_TYPE_SIZE]);

#endif
