// SPDX-License-Identifier: Apache-2.0
// Doing what a match says: the matched operators leave the model, the rule's result enters it.

#ifndef LN_PASS_APPLY_H
#define LN_PASS_APPLY_H

#include <lightnet/context.h>

#include "pass/match.h"

// Where in the list the result of a wide rule goes: between operators that it may need and those
// that may need it.
//
//     first matched ... last matched        becomes        before | new operators | after
typedef struct ln_window {
    ln_list *first; // node of ctx->ops
    size_t count;   // nodes
    ln_op **before; // operators that stay and depend on no removed one
    size_t before_count;
    ln_op **after; // operators that stay and depend on a removed one
    size_t after_count;
} ln_window;

// *out_window is NULL if there is no such place, because the result reads what depends on what it
// makes, or if the matched operators are further apart than 4096 others.
ln_status ln_window_create(const ln_context *ctx, const ln_match *match, ln_window **out_window);
void ln_window_destroy(ln_window *window); // accepts NULL

// Exchanges the operators for `new_ops`, which it takes whatever the result. `nodes` has the node
// of ctx->ops for every operator, and follows. `window` is NULL for a rule that is not wide; the
// root then stands at *position. *position becomes the first node whose operator may match anew. On
// failure the model is as before, or as after the firing with an operator `forward` left that could
// go. *out_is_refused: a new operator has refused its inputs, types or parameters (LN_INVALID,
// LN_UNSUPPORTED), and the model is as before.
ln_status ln_match_apply(ln_context *ctx, const ln_match *match, const ln_window *window,
                         ln_list *new_ops, ln_hash *nodes, ln_list **position,
                         bool *out_is_refused);

#endif
