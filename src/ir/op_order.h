// SPDX-License-Identifier: Apache-2.0
// An order of execution for operators.

#ifndef LN_IR_OP_ORDER_H
#define LN_IR_OP_ORDER_H

#include <lightnet/op.h>

// *out_ordered receives a new list of the same operators in which each comes after those that make
// its inputs; where that leaves a choice, the order of `ops` decides, so an order that is right
// stays as it is. Tensors that none of them makes are ignored. LN_INVALID if operators wait for
// each other.
ln_status ln_op_list_order(const ln_list *ops, ln_list **out_ordered);

#endif
