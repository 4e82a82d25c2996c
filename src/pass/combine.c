// SPDX-License-Identifier: Apache-2.0
// The archs' combiner functions: a window of neighbours slides over the operator list, again and
// again until nothing matches.
//
// A combiner that keeps matching for ever is stopped: each match should leave less to combine, so
// more matches than operators (with room for those it makes) is a defect of the function.

#include "pass/firing.h"
#include "pass/pass.h"

#define WINDOW 2

// A combiner function of an arch.
typedef struct combiner {
    const ln_arch *arch;
    size_t index;
} combiner;

// The window's operators become `new_ops`, unless that is to be skipped; the list is then freed.
static ln_status exchange(ln_compilation *compilation, const combiner *c, ln_list **position,
                          ln_list *new_ops, int *out_matched)
{
    ln_context *ctx = compilation->ctx;
    ln_firing_names names;
    ln_firing firing =
        ln_firing_of_function(c->arch, "combiner", c->index, (*position)->data, &names);
    bool fires;
    ln_status status = ln_firing_decide(compilation, &firing, &fires);
    if (status == LN_OK && fires)
        status = ln_firing_done(compilation, &firing,
                                ln_context_replace_ops(ctx, position, WINDOW, new_ops));
    *out_matched = status == LN_OK && fires;
    if (!*out_matched)
        ln_pass_free_refused(ctx, new_ops);
    return status;
}

static ln_status combine_at(ln_compilation *compilation, const combiner *c, ln_list **position,
                            int *out_matched)
{
    *out_matched = 0;
    ln_error_clear();
    ln_list *new_ops =
        c->arch->cb_funcs[c->index](compilation->ctx, *position, WINDOW, out_matched);
    if (!*out_matched)
        return LN_OK;
    if (!new_ops && ln_error_status() == LN_NO_MEMORY)
        return LN_NO_MEMORY;
    return exchange(compilation, c, position, new_ops, out_matched);
}

static ln_status sweep(ln_compilation *compilation, const combiner *c, size_t limit,
                       size_t *match_count)
{
    ln_list *position = compilation->ctx->ops;
    while (position && position->next) {
        int matched;
        LN_TRY(combine_at(compilation, c, &position, &matched));
        if (matched && ++*match_count > limit)
            return LN_FAIL(LN_LIMIT,
                           "a combiner function matched %zu times and does not come to an end",
                           *match_count);
        if (position)
            position = position->next;
    }
    return LN_OK;
}

static ln_status combine_with(ln_compilation *compilation, const combiner *c)
{
    size_t limit = 100 + 10 * (size_t)ln_list_length(compilation->ctx->ops);
    size_t match_count = 0, before;
    do {
        before = match_count;
        LN_TRY(sweep(compilation, c, limit, &match_count));
    } while (match_count > before);
    return LN_OK;
}

ln_status ln_pass_combine(ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        combiner c = {.arch = compilation->archs[i]};
        for (; c.arch->cb_funcs && c.arch->cb_funcs[c.index]; c.index++)
            LN_TRY(combine_with(compilation, &c));
    }
    return LN_OK;
}
