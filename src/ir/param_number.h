// SPDX-License-Identifier: Apache-2.0
// The float and the int of a number, as lightnet/param.h says. (param.c)

#ifndef LN_IR_PARAM_NUMBER_H
#define LN_IR_PARAM_NUMBER_H

#include <lightnet/export.h>

LN_CPPSTART

float ln_param_saturate_float(double number);
int ln_param_saturate_int(double number);

LN_CPPEND

#endif
