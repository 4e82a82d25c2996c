// SPDX-License-Identifier: Apache-2.0
// The archs' subgraph functions: operators anywhere in the data flow graph are replaced by others.

#include "pass/pass.h"

static ln_status substitute(ln_compilation *compilation, ln_subgraph_func function)
{
    ln_list *old_ops = NULL;
    ln_error_clear();
    ln_list *new_ops = function(compilation->ctx, &old_ops);
    ln_status status = LN_OK;
    if (old_ops) {
        status = ln_context_subgraph(compilation->ctx, old_ops, new_ops);
        if (status == LN_OK)
            compilation->firing_count++;
    } else if (ln_error_status() == LN_NO_MEMORY) {
        status = LN_NO_MEMORY;
    }
    if (status == LN_OK)
        ln_list_free(new_ops); // the operators are the context's now
    else
        ln_pass_free_refused(compilation->ctx, new_ops);
    ln_list_free(old_ops);
    return status;
}

ln_status ln_pass_subgraph(ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        ln_subgraph_func *function = compilation->archs[i]->sg_funcs;
        for (; function && *function; function++)
            LN_TRY(substitute(compilation, *function));
    }
    return LN_OK;
}
