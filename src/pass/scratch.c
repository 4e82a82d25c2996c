// SPDX-License-Identifier: Apache-2.0
// Operators list the memory that they work in, so that it is planned as all memory is.
//
// Only once all operators are lowered is it known how much that is; those that need none, or of
// which only a run knows, stay as they are.

#include "pass/pass.h"

#include "op/call.h"
#include "pass/build.h"

ln_status ln_pass_scratch(ln_compilation *compilation)
{
    for (ln_list *position = compilation->ctx->ops; position; position = position->next) {
        const ln_op *op = position->data;
        size_t byte_count = ln_call_unplanned_workspace(op->op_arg);
        if (byte_count > 0 && byte_count != SIZE_MAX)
            LN_TRY(ln_build_with_scratch(compilation->ctx, &position));
    }
    return LN_OK;
}
