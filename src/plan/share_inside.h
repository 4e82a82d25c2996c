// SPDX-License-Identifier: Apache-2.0
// What the two halves of sharing have in common: share.c searches, share_decide.c decides.

#ifndef LN_PLAN_SHARE_INSIDE_H
#define LN_PLAN_SHARE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/share.h"

#define LN_SHARE_AT_END UINT32_MAX

// What is known about a tree; at its root.
typedef struct ln_share_tree {
    uint8_t align;  // divides the offsets at which it may be in another
    bool is_fixed;  // bytes change in a way that is not ours to plan
    bool has_input; // holds bytes of the caller
} ln_share_tree;

typedef struct ln_sharer {
    const ln_plan_value *values;
    const uint32_t *given_owners;
    const uint8_t *aligns;
    size_t count;
    const ln_plan_step *steps;
    size_t step_count;
    const ln_share *choices;
    size_t choice_count;
    uint32_t *first; // the first and last step that touch a value
    uint32_t *last;  // LN_SHARE_AT_END: it is needed after the last step
    bool *is_fixed;  // of each value: a step writes it over its owner, as given

    bool *is_banned; // of each choice
    bool is_kind_banned[3];
    bool is_early_first; // of two wholes that want a part, the earlier one gets it

    uint32_t *owners; // the decision ...
    size_t *offsets;  // ... and where in their owners values are
    bool *is_taken;   // of each choice
    uint32_t *up;     // shortcuts to the root ...
    size_t *distance; // ... and how far after its start a value begins
    ln_share_tree *trees;
    uint32_t *content;       // of each value: the root after the first round ...
    size_t *content_offset;  // ... and where in it
    uint32_t *sharers;       // all values by content
    uint32_t *sharers_end;   // of each content root
    int64_t *change;         // by step: bytes that come and go
    uint32_t *tree_first;    // by root
    uint32_t *tree_last;     //
    uint32_t *best_owners;   // of the best decision so far
    size_t *best_offsets;    //
    bool *best_taken;        //
    uint32_t *best_first;    // by root
    uint32_t *best_last;     //
    size_t best_peak;        //
    size_t last_peak;        // of the last decision
    uint32_t best_peak_step; //
    uint32_t mtypes;         // a bit for each memory type that a value has
    size_t work;
    size_t decision_count;
} ln_sharer;

// Behind the last choice of the step that choice k is about.
size_t ln_share_end_of_step(const ln_sharer *s, size_t k);

// Decides anew, without the choices that are banned; keeps the decision if it is the best so far,
// and says whether it is.
bool ln_share_try(ln_sharer *s);

#endif
