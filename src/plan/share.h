// SPDX-License-Identifier: Apache-2.0
// Sharing: which values are in the memory of others, where operators leave the choice.
//
// An element-wise operator may write over its input, the parts of a concat may be computed where
// the whole will be, a slice may be a view. Each such choice saves a copy, or memory, or both; all
// of them together may not be possible, and some may cost memory, because a part that lives long
// keeps its whole alive. The choice falls on what lowers the peak, and else saves the most copies.

#ifndef LN_PLAN_SHARE_H
#define LN_PLAN_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/plan.h>
#include <lightnet/status.h>

typedef enum ln_share_kind {
    // `inner` is written exactly over `outer`, an operand of the step; if it is several operands,
    // there is one choice for each that may be overwritten
    LN_SHARE_OVER,
    LN_SHARE_INSIDE, // `inner` is a view of `outer`, which the step reads
    LN_SHARE_AROUND, // `inner`, which the step reads, is made where `outer` will be
} ln_share_kind;

// A choice that step `step` leaves.
typedef struct ln_share {
    ln_share_kind kind;
    uint32_t step;
    uint32_t inner;
    uint32_t outer;
    size_t offset; // of `inner` after the start of `outer`
} ln_share;

// Bytes that are alive at once.
typedef struct ln_share_needs {
    size_t shared;         // with the choices that are taken
    size_t apart;          // without any
    size_t decision_count; // that were made to find out, each as long as the model
} ln_share_needs;

// Extends `owners` and the `offset` of values, which are as ln_plan_layout takes them: owners that
// are given stay, and values without one may get one. `choices` are in the order of the steps;
// `aligns[i]` divides the offsets at which value i may be in another. Steps with given owners
// whose aliasing is not VIEW change bytes, so nothing else is laid there.
// *out_needs receives what no arena can stay below, all memory types together. LN_INVALID for
// records that contradict each other; owners and values are then unchanged.
ln_status ln_plan_share(ln_plan_value *values, uint32_t *owners, const uint8_t *aligns,
                        size_t value_count, const ln_plan_step *steps, size_t step_count,
                        const ln_share *choices, size_t choice_count, ln_share_needs *out_needs);

#endif
