// SPDX-License-Identifier: Apache-2.0
// The core's element-wise operators: shapes, and what their parameters say.

#ifndef LN_OP_ELEMENTWISE_H
#define LN_OP_ELEMENTWISE_H

#include <lightnet/act.h>
#include <lightnet/call.h>

LN_CPPSTART

// What can be computed with element by element.
#define LN_TYPES_ELEMENT (LN_TYPES_NUMBER | LN_TYPE(TL_BOOL))

// An activation with its numbers.
typedef struct ln_act_of {
    ln_act act;
    float alpha, beta;
} ln_act_of;

// What the parameters `act`, `alpha` and `beta` say.
ln_status ln_act_read(ln_call *call, ln_act_of *out_act);

// What the parameter `elew_op` says.
ln_status ln_elew_op_read(ln_call *call, tl_elew_op *out_op);

// For `commutes`.
int ln_elew_commutes(const ln_call *call);

LN_CPPEND

#endif
