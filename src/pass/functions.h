// SPDX-License-Identifier: Apache-2.0
// What expressions of rules may call, and how expressions are computed.
//
// The list is desc/rule_functions.inc. Each is a pure function over a checked context: it changes
// and allocates nothing. One that has no value for its arguments (an index outside of an array, a
// division by 0) returns false; a rule that needs the value does not fire.

#ifndef LN_PASS_FUNCTIONS_H
#define LN_PASS_FUNCTIONS_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "desc/rule.h"

// An argument or a result. Arrays and names are borrowed.
typedef struct ln_expr_value {
    ln_rule_value_kind kind; // NUMBER, STRING, BOOL, ARRAY (of numbers), or NAME: tensors
    double number;
    const char *string;
    bool boolean;
    const double *numbers;
    const char *const *tensors;
    size_t count; // of numbers or tensors
} ln_expr_value;

// `buffer` is where a resulting array goes; *out then points to it.
#define F(name, signature, sign, meaning)                                                          \
    bool ln_function_##name(const ln_context *ctx, const ln_expr_value *args,                      \
                            double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out);
#include "desc/rule_functions.inc"
#undef F

// Calls `function`, if the arguments are of its signature's kinds.
bool ln_function_call(const ln_context *ctx, ln_rule_function function, const ln_expr_value *args,
                      double buffer[LN_RULE_MAX_ELEMENTS], ln_expr_value *out);

// What every element of a tensor is, if its operator's description says so: a `create` with equal
// data that is no input of the model, `zeros`, or a view of these.
bool ln_find_fill(const ln_context *ctx, const char *tensor, double *out_number);

#endif
