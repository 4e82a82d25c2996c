// SPDX-License-Identifier: Apache-2.0
// Operators as devices see them: their tensors in the order of the type's description, whichever
// order the model names them in.

#ifndef LN_ARCH_ORDERED_H
#define LN_ARCH_ORDERED_H

#include <lightnet/op.h>

// A copy whose lists of tensors have an entry for each argument of the description, in its order:
// one that is left out has the name "". Variadic ones are in the order of their numbers, and
// attributes come last. All else is the operator's. ln_free frees it.
ln_status ln_op_order(const ln_op *op, ln_op **out_ordered);

#endif
