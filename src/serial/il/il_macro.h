// SPDX-License-Identifier: Apache-2.0
// What #define defines.

#ifndef LN_SERIAL_IL_IL_MACRO_H
#define LN_SERIAL_IL_IL_MACRO_H

#include "serial/il/il_names.h"
#include "serial/il/il_token.h"

LN_CPPSTART

// One token of a macro's body; the `##` between two parts is a mark on the first.
typedef struct ln_il_part {
    ln_il_token token;
    int param;      // the parameter that it names, -1 for none
    bool is_string; // `#param`: the argument as it is written, in quotes
    bool is_joined_to_next;
} ln_il_part;

typedef struct ln_il_macro {
    const char *name; // NUL-terminated
    ln_place place;
    bool is_function; // takes arguments
    bool is_variadic; // the last parameter takes all that is left: `...`, which the body calls
                      // __VA_ARGS__, or `name...`
    bool is_active;   // being expanded, so its name stands for itself
    size_t param_count;
    ln_il_token *params;
    size_t part_count;
    ln_il_part *parts;
} ln_il_macro;

// Makes a macro from the tokens after `#define` up to the end of the line. All lives in `arena`.
ln_status ln_il_macro_parse(ln_document *arena, const ln_il_token *directive,
                            const ln_il_token *tokens, size_t count, ln_il_macro **out_macro);

// True when both have the same parameters and the same body, white space aside.
bool ln_il_macro_is_equal(const ln_il_macro *a, const ln_il_macro *b);

LN_CPPEND

#endif
