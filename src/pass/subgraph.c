// SPDX-License-Identifier: Apache-2.0
// The archs' subgraph functions: operators anywhere in the data flow graph are replaced by others.

#include "pass/pass.h"

#include "pass/firing.h"

// Replaces the operators, unless that is to be skipped. *out_done says whether it has happened.
static ln_status exchange(ln_compilation *compilation, const ln_arch *arch, size_t index,
                          ln_list *old_ops, ln_list *new_ops, bool *out_done)
{
    ln_firing_names names;
    ln_firing firing = ln_firing_of_function(arch, "subgraph", index, old_ops->data, &names);
    bool fires;
    *out_done = false;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    LN_TRY(ln_firing_done(compilation, &firing,
                          ln_context_subgraph(compilation->ctx, old_ops, new_ops)));
    *out_done = true;
    return LN_OK;
}

static ln_status substitute(ln_compilation *compilation, const ln_arch *arch, size_t index)
{
    ln_list *old_ops = NULL;
    ln_error_clear();
    ln_list *new_ops = arch->sg_funcs[index](compilation->ctx, &old_ops);
    ln_status status = LN_OK;
    bool is_done = false;
    if (old_ops)
        status = exchange(compilation, arch, index, old_ops, new_ops, &is_done);
    else if (ln_error_status() == LN_NO_MEMORY)
        status = LN_NO_MEMORY;
    if (is_done)
        ln_list_free(new_ops); // the operators are the context's now
    else
        ln_pass_free_refused(compilation->ctx, new_ops);
    ln_list_free(old_ops);
    return status;
}

ln_status ln_pass_subgraph(ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        const ln_arch *arch = compilation->archs[i];
        for (size_t k = 0; arch->sg_funcs && arch->sg_funcs[k]; k++)
            LN_TRY(substitute(compilation, arch, k));
    }
    return LN_OK;
}
