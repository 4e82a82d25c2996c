// SPDX-License-Identifier: Apache-2.0
// Bytes that may be off by one unit: what a model means, given the bytes that a run has made.

#ifndef LN_CLI_UNITS_H
#define LN_CLI_UNITS_H

#include <lightnet/hash.h>
#include <lightnet/optimize.h>

#include "compare.h"
#include "trial.h"

// Tensors of quantized bytes that a run has within one unit of what their operators make of the
// same operands.
typedef struct unit_list {
    deviation *items; // the worst element of each
    size_t count;
    int is_short; // of memory: some are missing
} unit_list;

void unit_list_release(unit_list *list);
const deviation *unit_list_find(const unit_list *list, const char *tensor); // or NULL

// The operators whose numbers a compilation may round otherwise than the model as read: rules
// tagged other than `exact` have rewritten them, or they have kernels of floats.
typedef struct rounding_list {
    ln_hash *ops; // by name; NULL: none
    int is_short; // of memory
} rounding_list;

void rounding_list_note(rounding_list *list, const ln_firing *firing);
void rounding_list_release(rounding_list *list);

// Runs `reference`, whose plan reuses no memory, once more, but an operator that reads bytes which
// `got` has within one unit, where a compilation of `rounded` may round otherwise, reads those of
// `got`: so a unit is not taken for an error of what follows, and two units are. The caller
// releases *out_list even if it fails.
ln_status units_follow(ln_context *reference, ln_context *got, const rounding_list *rounded,
                       unit_list *out_list);

// The same with `model` as it was read, as trial_reference runs it. The caller closes *out_loaded,
// which is NULL if there are no such bytes, and releases *out_list even if it fails.
ln_status units_reference(const ln_context *model, const trial_data *data, ln_context *got,
                          const rounding_list *rounded, ln_context **out_loaded,
                          unit_list *out_list);

#endif
