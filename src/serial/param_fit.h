// SPDX-License-Identifier: Apache-2.0
// Parameters that a file cannot say outright: numbers that are not finite, and arrays of nothing.
//
// JSON has no word for infinities and NaN. They are written as the strings "inf", "-inf" and "nan",
// which are numbers where the operator's description has a number.

#ifndef LN_SERIAL_PARAM_FIT_H
#define LN_SERIAL_PARAM_FIT_H

#include <lightnet/list.h>
#include <lightnet/op.h>
#include <lightnet/status.h>

// The word for a number that is not finite; NULL for others.
const char *ln_number_word(double number);

// 1 if `word` is one of the three.
int ln_number_from_word(const char *word, double *out_number);

// Gives parameters the type that the description of `proto` says: words become numbers, empty
// arrays those of strings or bools, and where numbers are whole the fraction of others is cut off,
// as the old system did, with a warning that begins with `place` and names `opname`. What does not
// fit stays as it is. NULL is fine.
ln_status ln_params_fit(ln_list *params, const ln_op *proto, const char *opname, const char *place);

#endif
