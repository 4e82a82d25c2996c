// SPDX-License-Identifier: Apache-2.0
// The algorithms of a template's operators: those that depend on sizes are chosen anew for each
// shape, as the passes would choose for it.

#ifndef LN_COMPILE_CHOICES_H
#define LN_COMPILE_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include "compile/facts.h"
#include "pass/choice.h"

// An operator of a template, what packs its weights, and the dimensions of what it reads.
typedef struct ln_chosen {
    const ln_choice *choice;
    ln_op *op, *pack;
    ln_expression src_dims[TL_MAXDIM];
} ln_chosen;

typedef struct ln_choices {
    ln_chosen *rows;
    size_t count, capacity;
    bool avoids_winograd;
} ln_choices;

void ln_choices_deinit(ln_choices *choices);

// Notes operator `name` of the witnesses' rewritten models, of which the first becomes the
// template. *out_is_fit: its arch says how both algorithms were chosen.
ln_status ln_choices_note(ln_choices *choices, const ln_facts *facts,
                          ln_context *const witnesses[LN_WITNESS_COUNT], const char *name,
                          bool *out_is_fit);

// Whether the algorithm of `op` is one that is chosen.
bool ln_choices_have(const ln_choices *choices, const ln_op *op);

// Lets the operators say the algorithms for the shape whose facts are derived. *out_is_fit: they
// can.
ln_status ln_choices_make(const ln_choices *choices, const ln_facts *facts, bool *out_is_fit);

#endif
