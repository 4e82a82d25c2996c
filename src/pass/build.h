// SPDX-License-Identifier: Apache-2.0
// Making the operators that take the place of matched ones.

#ifndef LN_PASS_BUILD_H
#define LN_PASS_BUILD_H

#include <lightnet/context.h>

#include "pass/match.h"

// New operators as the result of the matched rule says, in its order, not yet checked and not yet
// part of the context. The caller frees them with ln_op_list_free_lists_too.
ln_status ln_build_result(const ln_context *ctx, ln_match *match, ln_list **out_ops);

// Exchanges the operator at *position for one of type `proto` with its name, tensors and
// parameters, and with the scratch outputs that `proto` has and it has not.
ln_status ln_build_in_place(ln_context *ctx, const ln_op *proto, ln_list **position);

// Adds the scratch outputs of `proto` that are not in the list; they are named after the operator,
// and differ from tensors of the context and of `new_ops`, which are not part of it yet.
ln_status ln_build_scratch(const ln_context *ctx, const ln_list *new_ops, const ln_op *proto,
                           const char *op_name, ln_list **outs);

// Exchanges the operator at *position for one that lists its scratch memory.
ln_status ln_build_with_scratch(ln_context *ctx, ln_list **position);

#endif
