// SPDX-License-Identifier: Apache-2.0
// Liveness: for each value, the first and last step that touches it.
//
// Knows steps and indexes only; the caller turns operators into steps.

#ifndef LN_PLAN_LIVENESS_H
#define LN_PLAN_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/plan.h>
#include <lightnet/status.h>

typedef struct ln_live_value {
    const char *name;    // for messages, may be NULL
    uint32_t root;       // index of the value whose memory it views, or its own index
    bool is_input;       // lives from the start to the end
    bool is_output;      // lives to the end
    bool is_static;      // lives always, on its own ground
    bool is_scratch;     // lives only at the one step that writes it
    uint32_t first_step; // out, inclusive
    uint32_t last_step;  // out, inclusive
} ln_live_value;

// Fills in the lifetimes of all values. `root` may be a view itself, and is replaced by the value
// at the end of the chain. The lifetime of such a root spans those of its views; a view's is its
// own. A value that nobody reads and that is no output dies at the step that writes it. LN_INVALID
// for a bad index or cycle, a value that is read before it is written, written twice or never, and
// for contradicting flags; *values is then unchanged.
ln_status ln_plan_liveness(ln_live_value *values, size_t value_count, const ln_plan_step *steps,
                           size_t step_count);

#endif
