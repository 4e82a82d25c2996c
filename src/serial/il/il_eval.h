// SPDX-License-Identifier: Apache-2.0
// Arithmetic over tokens: what ${eval ...} and #if compute. No names, no state, nothing to call
// but a few functions of numbers.
//
// From weak to strong: ?:  ||  &&  == !=  < <= > >=  + -  * / %  unary ! - +  **
// `**` groups from the right and binds tighter than a minus on its left: -2**2 is -4.
// && and || give the operand that decided, and do not compute the right one when the left decides.
// Functions: int abs min max sqrt floor ceil round.

#ifndef LN_SERIAL_IL_IL_EVAL_H
#define LN_SERIAL_IL_IL_EVAL_H

#include "serial/il/il_token.h"

LN_CPPSTART

// An integer as long as it can be one: 64 bits, and a double beyond.
typedef struct ln_il_number {
    bool is_whole;
    int64_t whole;
    double real;
} ln_il_number;

typedef enum ln_il_arithmetic {
    LN_IL_ARITHMETIC_EVAL, // 7 / 2 is 3.5; a whole result too large for 64 bits becomes a double
    LN_IL_ARITHMETIC_IF,   // integers only, 7 / 2 is 3, names are 0; overflow is an error
} ln_il_arithmetic;

// Computes the expression that all of the tokens form. `start` is what it belongs to, for messages
// about what is missing. Division by zero, results that are no finite number and the like are
// LN_INVALID, with the place of the operator.
ln_status ln_il_eval(const ln_il_token *tokens, size_t count, const ln_il_token *start,
                     ln_il_arithmetic arithmetic, ln_il_number *out_number);

// Prints like Perl: integers in full, others with 15 significant digits, so that 0.29 * 100
// gives 29 and not 28.999999999999996.
void ln_il_number_print(const ln_il_number *number, char out_text[32]);

LN_CPPEND

#endif
