// SPDX-License-Identifier: Apache-2.0
// Parameters of operators that may be absent.

#ifndef LN_IR_OP_PARAM_H
#define LN_IR_OP_PARAM_H

#include <lightnet/op.h>
#include <lightnet/param.h>

LN_CPPSTART

// The integer `name` of an operator; `usual` if the model does not give it.
static inline int ln_op_int_param(const ln_op *op, const char *name, int usual)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param ? param->value_int : usual;
}

LN_CPPEND

#endif
