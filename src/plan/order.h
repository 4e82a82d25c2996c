// SPDX-License-Identifier: Apache-2.0
// Order: permutations of the steps, within the data flow, that may need less memory.
//
// Finding the best one is hard, so there are a few cheap ways to go, none of which is best
// everywhere. The caller tries them and keeps what the planner likes best.

#ifndef LN_PLAN_ORDER_H
#define LN_PLAN_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/plan.h>
#include <lightnet/status.h>

typedef enum ln_order_way {
    LN_ORDER_SMALLEST, // always what adds the fewest bytes
    LN_ORDER_NEWEST,   // what frees bytes, else what goes on with the newest result
    LN_ORDER_DEEPEST,  // branch by branch, first the one that needs the most while it is computed
    LN_ORDER_WAYS,
} ln_order_way;

// Fills in the `step_count` elements of `order`: which step comes first, second, ... `owners[i]` is
// the value that value i views, or i; `makers[i]` the step that comes before all that read value i.
// Steps that write nothing and read something have effects elsewhere: they keep their order.
// LN_INVALID for bad indexes, or steps that wait for each other. Takes time in proportion to the
// reads and writes, but for a logarithm.
ln_status ln_plan_order(const ln_plan_value *values, const uint32_t *owners, const uint32_t *makers,
                        size_t value_count, const ln_plan_step *steps, size_t step_count,
                        ln_order_way way, uint32_t *order);

#endif
