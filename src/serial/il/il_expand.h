// SPDX-License-Identifier: Apache-2.0
// Replaces macros in a stream of tokens, by the rules of C.
//
// Arguments are expanded before they are put in, except beside `##`; the result is read again for
// more macros; a macro is not expanded inside itself. Tokens are made when they are asked for, so a
// macro that would expand to very much costs no more than what is read of it.

#ifndef LN_SERIAL_IL_IL_EXPAND_H
#define LN_SERIAL_IL_IL_EXPAND_H

#include "serial/il/il_macro.h"
#include "serial/il/il_names.h"
#include "serial/il/il_token.h"

LN_CPPSTART

// Where tokens come from that no macro made.
typedef struct ln_il_feed {
    // The next token. Inside a macro's arguments (`is_in_call`) a directive is an error, and the
    // end of a file is the end.
    ln_status (*read)(void *user, bool is_in_call, ln_il_token *out_token);
    // True when the next token would be '('; consumes nothing, fails never.
    bool (*is_call_next)(void *user);
    void *user;
} ln_il_feed;

typedef struct ln_il_expander {
    ln_document *arena;
    ln_il_budget *budget;
    ln_il_feed feed;
    ln_il_names macros; // the `item` of a name is its ln_il_macro, NULL after #undef
    struct ln_il_context *contexts;
    size_t context_count;
    size_t context_capacity;
    bool has_pending_space; // a macro that left nothing had a space before it
} ln_il_expander;

// The macro with the token's name, or NULL.
ln_il_macro *ln_il_expander_find(const ln_il_expander *expander, const ln_il_token *name);

// The next token after all expansion.
ln_status ln_il_expander_next(ln_il_expander *expander, ln_il_token *out_token);

// Expands a list by itself and appends the result to `out`.
ln_status ln_il_expander_list(ln_il_expander *expander, const ln_il_token *tokens, size_t count,
                              ln_il_tokens *out);

// Releases what an unfinished expansion holds.
void ln_il_expander_deinit(ln_il_expander *expander);

LN_CPPEND

#endif
