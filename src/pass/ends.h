// SPDX-License-Identifier: Apache-2.0
// Keeps the inputs and outputs of a model what and where they are while passes run.

#ifndef LN_PASS_ENDS_H
#define LN_PASS_ENDS_H

#include "pass/pass.h"

typedef struct ln_ends_places {
    ln_hash *first; // name of a tensor -> the first place where it stands, from 1
    size_t *next;   // place - 1 -> the next place of the same tensor, or 0
} ln_ends_places;

typedef struct ln_ends_order {
    ln_ends_places places[2]; // of inputs and of outputs
} ln_ends_order;

// Names the outputs by `output` operators where none does and an arch of the target has that
// operator, and notes the order of both ends. Whatever the result, it is released with
// ln_ends_order_deinit.
ln_status ln_ends_order_init(ln_ends_order *order, const ln_compilation *compilation);
void ln_ends_order_deinit(ln_ends_order *order);

// Moves `input` operators to the front and `output` operators to the end, in that order. Once.
ln_status ln_ends_order_restore(ln_ends_order *order, ln_context *ctx);

#endif
