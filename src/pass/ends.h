// SPDX-License-Identifier: Apache-2.0
// Keeps the inputs and outputs of a model what and where they are while passes run.

#ifndef LN_PASS_ENDS_H
#define LN_PASS_ENDS_H

#include "pass/pass.h"

typedef struct ln_ends_order {
    ln_hash *places[2]; // of inputs and of outputs: the place of each name, from 1
} ln_ends_order;

// Names the outputs by `output` operators where none does and an arch of the target has that
// operator, and notes the order of both ends. Whatever the result, it is released with
// ln_ends_order_deinit.
ln_status ln_ends_order_init(ln_ends_order *order, const ln_compilation *compilation);
void ln_ends_order_deinit(ln_ends_order *order);

// Moves `input` operators to the front and `output` operators to the end, in that order.
ln_status ln_ends_order_restore(const ln_ends_order *order, ln_context *ctx);

#endif
